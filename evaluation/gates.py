"""The effect of the agent's gates: judges the withheld answers as if they had been given."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluation.batches import Question
from evaluation.judge import Claim, Judge, Verdict, judge_claims
from evaluation.metrics import VALUE, bootstrap_interval

Firing = dict[str, Any]
"""A firing in a row of predictions.jsonl: ``{name, reason, answer, withheld, withheld_verdict}``."""


def judged_firings(
    judge: Judge, trim: Callable[[str], str], questions: Sequence[Question], traces: Sequence[Mapping[str, Any]]
) -> list[list[Firing]]:
    """The firings in a batch's traces, one list per question, with verdicts of the withheld answers.

    ``withheld_verdict`` is None if the withheld answer was not generated. An agent without traces has no firings.
    """
    firings = [_firings(traces[position]) if position < len(traces) else [] for position in range(len(questions))]
    asked = [
        (firing, Claim(question.row["query"], question.golds, firing["withheld"]))
        for question, closed in zip(questions, firings, strict=True)
        for firing in closed
        if firing["withheld"] is not None
    ]
    judgements = judge_claims(judge, [claim for _, claim in asked], trim)
    for (firing, _), judgement in zip(asked, judgements, strict=True):
        firing["withheld_verdict"] = judgement.verdict.value
    return firings


def _firings(trace: Mapping[str, Any]) -> list[Firing]:
    """The firings of one trace; another agent's trace may have any form."""
    entries = trace.get("gates")
    return [
        {
            "name": entry["name"],
            "reason": str(entry.get("reason", "")),
            "answer": str(entry.get("answer", "")),
            "withheld": entry["withheld"] if isinstance(entry.get("withheld"), str) else None,
            "withheld_verdict": None,
        }
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str)
    ]


def gate_effects(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What each gate cost and saved, by name, in numbers of questions; empty if no gate closed.

    ``fired``: the gate closed. ``right_lost``: it withheld a right answer, and the final answer is not right.
    ``wrong_saved``: it withheld a wrong one, and the final answer is not wrong. ``missing``: it withheld an "i don't
    know". ``unknown``: the withheld answer was not generated. The rest made no difference or cannot be judged.

    ``score_effect`` is the run's score minus the score with the withheld answers. ``ci`` is its 95 % interval, paired
    by question. Both are over the ``questions`` with a known effect (the scored ones minus the unknown), and None if no
    withheld answer is known. Two gates may close on one question, so the effects of several gates do not add up.
    """
    names = dict.fromkeys(firing["name"] for record in records for firing in record.get("gates", ()))
    return {name: _effect(records, name) for name in names}


def _effect(records: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    outcomes = [(_withheld(record, name), Verdict(record["verdict"])) for record in records if _closed(record, name)]
    known = [(withheld, final) for withheld, final in outcomes if withheld in VALUE and final in VALUE]
    changes = [VALUE[final] - VALUE[withheld] for withheld, final in known if withheld is not None]
    untouched = sum(Verdict(record["verdict"]) in VALUE and not _closed(record, name) for record in records)
    questions = len(changes) + untouched
    interval = bootstrap_interval(changes + [0.0] * untouched)
    return {
        "fired": len(outcomes),
        "right_lost": sum(w is Verdict.CORRECT and f is not Verdict.CORRECT for w, f in known),
        "wrong_saved": sum(w is Verdict.INCORRECT and f is not Verdict.INCORRECT for w, f in known),
        "missing": sum(withheld is Verdict.MISSING for withheld, _ in outcomes),
        "unknown": sum(withheld is None for withheld, _ in outcomes),
        "questions": questions,
        "score_effect": sum(changes) / questions if known else None,
        "ci": [interval.low, interval.high] if known else None,
    }


def _closed(record: Mapping[str, Any], name: str) -> bool:
    return any(firing["name"] == name for firing in record.get("gates", ()))


def _withheld(record: Mapping[str, Any], name: str) -> Verdict | None:
    """The verdict of the first answer that the gate withheld."""
    verdicts = (firing["withheld_verdict"] for firing in record["gates"] if firing["name"] == name)
    return next((Verdict(verdict) for verdict in verdicts if verdict is not None), None)
