"""What the agent's gates cost and saved: the answers that they withheld, judged as if they had been given."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from crag.evaluation.batches import Question, gold_answers
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims
from crag.evaluation.metrics import VALUE, bootstrap_interval

Firing = dict[str, Any]
"""A firing in a row of predictions.jsonl: ``{name, reason, answer, withheld, withheld_verdict}``."""


def judged_firings(
    judge: Judge,
    trim: Callable[[str], str],
    questions: Sequence[Question],
    traces: Sequence[Mapping[str, Any]],
) -> list[list[Firing]]:
    """The firings in a batch's traces, one list per question, with the verdicts of the withheld answers.

    ``withheld_verdict`` is None if the withheld answer was not generated.
    """
    rows = [question.row for question in questions]
    firings = [_read_firings(trace) for trace in traces]
    judge_withheld(judge, trim, rows, firings)
    return firings


def judge_withheld(
    judge: Judge,
    trim: Callable[[str], str],
    rows: Sequence[Mapping[str, Any]],
    firings: Sequence[Sequence[Firing]],
) -> None:
    """Set the verdicts of the withheld answers. `firings` are those of each row, a question with gold answers."""
    # One call of the judge for all: a language model judges many claims at once.
    claims: list[Claim] = []
    judged: list[Firing] = []
    for row, row_firings in zip(rows, firings, strict=True):
        for firing in row_firings:
            withheld = firing["withheld"]
            if withheld is not None:
                judged.append(firing)
                claims.append(Claim(row["query"], gold_answers(row), withheld))

    judgements = judge_claims(judge, claims, trim)
    for firing, judgement in zip(judged, judgements, strict=True):
        firing["withheld_verdict"] = judgement.verdict.value


def _read_firings(trace: Mapping[str, Any]) -> list[Firing]:
    """The firings of one trace; another agent's trace may have any form."""
    entries = trace.get("gates")
    if not isinstance(entries, list):
        return []

    firings: list[Firing] = []
    for entry in entries:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            continue
        withheld = entry.get("withheld")
        firings.append(
            {
                "name": entry["name"],
                "reason": str(entry.get("reason", "")),
                "answer": str(entry.get("answer", "")),
                "withheld": withheld if isinstance(withheld, str) else None,
                "withheld_verdict": None,
            }
        )
    return firings


def gate_effects(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What each gate cost and saved, by name, in numbers of questions; empty if no gate closed.

    ``fired``: the gate closed. ``right_lost``: it withheld a right answer, and the final answer is not right.
    ``wrong_saved``: it withheld a wrong one, and the final answer is not wrong. ``missing``: it withheld an "i don't
    know". ``unknown``: the withheld answer was not generated. The rest made no difference or cannot be judged.

    ``score_effect`` is the run's score minus the score with the withheld answers. ``ci`` is its 95 % interval, paired
    by question. Both are over the ``questions`` with a known effect (the scored ones minus the unknown), and None if no
    withheld answer is known. Two gates may close on one question, so the effects of several gates do not add up.
    """
    # A dict instead of a set: gates are listed in the order in which they first closed.
    names: dict[str, None] = {}
    for record in records:
        for firing in record.get("gates", ()):
            names[firing["name"]] = None
    return {name: _gate_effect(records, name) for name in names}


class _Outcome(NamedTuple):
    """The verdicts of the answer that a gate withheld (None: not generated) and of the final answer."""

    withheld: Verdict | None
    final: Verdict

    @property
    def change(self) -> float | None:
        """By how much the gate changed the question's value; None if one of the verdicts has none."""
        if self.withheld is None or self.withheld not in VALUE or self.final not in VALUE:
            return None
        return VALUE[self.final] - VALUE[self.withheld]


def _gate_effect(records: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    # Questions on which the gate closed, and the number of scored ones that it did not touch.
    outcomes: list[_Outcome] = []
    untouched = 0
    for record in records:
        final = Verdict(record["verdict"])
        firings = [firing for firing in record.get("gates", ()) if firing["name"] == name]
        if firings:
            outcomes.append(_Outcome(_first_verdict(firings), final))
        elif final in VALUE:
            untouched += 1

    known = [outcome for outcome in outcomes if outcome.change is not None]
    # An untouched question is a change of 0: the effect is on the score of the whole run.
    changes = [outcome.change or 0.0 for outcome in known] + [0.0] * untouched

    withheld_verdicts = [outcome.withheld for outcome in outcomes]
    return {
        "fired": len(outcomes),
        "right_lost": _count_undone(known, Verdict.CORRECT),
        "wrong_saved": _count_undone(known, Verdict.INCORRECT),
        "missing": withheld_verdicts.count(Verdict.MISSING),
        "unknown": withheld_verdicts.count(None),
        "questions": len(changes),
        "score_effect": sum(changes) / len(changes) if known else None,
        "ci": list(bootstrap_interval(changes)) if known else None,
    }


def _count_undone(outcomes: Sequence[_Outcome], verdict: Verdict) -> int:
    """How many withheld answers had the verdict, and the final answers have not."""
    return sum(outcome.withheld is verdict and outcome.final is not verdict for outcome in outcomes)


def _first_verdict(firings: Sequence[Firing]) -> Verdict | None:
    """The first answer that the gate withheld is the one that would have been given."""
    for firing in firings:
        if firing["withheld_verdict"] is not None:
            return Verdict(firing["withheld_verdict"])
    return None
