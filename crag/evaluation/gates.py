"""What the agent's gates cost and saved: the answers that they withheld, judged as if they had been given."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crag.evaluation.batches import Question, gold_answers
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims
from crag.evaluation.metrics import VALUE, bootstrap_interval

Firing = dict[str, Any]
"""A firing in a row of predictions.jsonl: ``{name, reason, answer, withheld, withheld_verdict}``."""


def judged_firings(
    judge: Judge, trim: Callable[[str], str], questions: Sequence[Question], traces: Sequence[Mapping[str, Any]]
) -> list[list[Firing]]:
    """The firings in a batch's traces, one list per question, with the verdicts of the withheld answers.

    ``withheld_verdict`` is None if the withheld answer was not generated.
    """
    firings = [_read_firings(trace) for trace in traces]
    judge_withheld(judge, trim, [question.row for question in questions], firings)
    return firings


def judge_withheld(
    judge: Judge, trim: Callable[[str], str], rows: Sequence[Mapping[str, Any]], firings: Sequence[Sequence[Firing]]
) -> None:
    """Set the verdicts of the withheld answers. `firings` are those of each row, a question with gold answers."""
    # One call of the judge for all: a language model judges many claims at once.
    claims: list[Claim] = []
    judged: list[Firing] = []
    for row, row_firings in zip(rows, firings, strict=True):
        for firing in row_firings:
            if firing["withheld"] is not None:
                judged.append(firing)
                claims.append(Claim(row["query"], gold_answers(row), firing["withheld"]))

    for firing, judgement in zip(judged, judge_claims(judge, claims, trim), strict=True):
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
    names = dict.fromkeys(firing["name"] for record in records for firing in record.get("gates", ()))
    return {name: _gate_effect(records, name) for name in names}


def _gate_effect(records: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    outcomes: list[tuple[Verdict | None, Verdict]] = []  # verdicts of the withheld answer and of the final one
    untouched = 0
    for record in records:
        final = Verdict(record["verdict"])
        verdicts = [firing["withheld_verdict"] for firing in record.get("gates", ()) if firing["name"] == name]
        if verdicts:
            outcomes.append((_first_verdict(verdicts), final))
        elif final in VALUE:
            untouched += 1

    changes: list[float] = []
    right_lost = 0
    wrong_saved = 0
    for withheld, final in outcomes:
        if withheld is None or withheld not in VALUE or final not in VALUE:
            continue
        changes.append(VALUE[final] - VALUE[withheld])
        right_lost += withheld is Verdict.CORRECT and final is not Verdict.CORRECT
        wrong_saved += withheld is Verdict.INCORRECT and final is not Verdict.INCORRECT

    questions = len(changes) + untouched
    return {
        "fired": len(outcomes),
        "right_lost": right_lost,
        "wrong_saved": wrong_saved,
        "missing": sum(withheld is Verdict.MISSING for withheld, _ in outcomes),
        "unknown": sum(withheld is None for withheld, _ in outcomes),
        "questions": questions,
        "score_effect": sum(changes) / questions if changes else None,
        "ci": list(bootstrap_interval(changes + [0.0] * untouched)) if changes else None,
    }


def _first_verdict(verdicts: Sequence[str | None]) -> Verdict | None:
    """The first answer that the gate withheld is the one that would have been given."""
    for verdict in verdicts:
        if verdict is not None:
            return Verdict(verdict)
    return None
