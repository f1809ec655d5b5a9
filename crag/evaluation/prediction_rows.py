"""Rows of predictions.jsonl: a question, its answer, the verdict, and what the batch took."""

from collections.abc import Mapping, Sequence
from typing import Any

from crag.core.contracts import Lost
from crag.evaluation.batches import Question
from crag.evaluation.gates import Firing
from crag.evaluation.judge import Judgement
from crag.evaluation.lost import why_lost
from crag.evaluation.results import COUNT_FIELDS, COUNTS, last_line
from crag.evaluation.retrieval_quality import measure_question
from crag.evaluation.split import Split
from crag.evaluation.worker import BatchResult


def key_fields(question: Question) -> dict[str, Any]:
    """The fields that a question's rows in predictions.jsonl and in traces.jsonl have in common."""
    return {**question.key._asdict(), "batch": question.batch}


def prediction_row(
    question: Question,
    answer: str,
    judgement: Judgement,
    trace: Mapping[str, Any],
    firings: Sequence[Firing],
    result: BatchResult,
) -> dict[str, Any]:
    """A row of predictions.jsonl without the fields of `attempt_fields`.

    `batch_seconds` and the `COUNT_FIELDS` are of the whole batch. The fields about retrieval: `retrieval_quality`.
    """
    source = question.row
    row = {
        **key_fields(question),
        "query": source["query"],
        "prediction": answer,
        "answer": source.get("answer"),
        "alt_ans": source.get("alt_ans", []),
        "verdict": judgement.verdict.value,
        "reason": judgement.reason,
        **question.labels,
    }
    split = source.get(Split.FIELD)
    if isinstance(split, int):
        row[Split.FIELD] = split

    evidence = trace.get("evidence")
    row |= {
        "batch_seconds": round(result.seconds, 3),
        "timed_out": result.timed_out,
        "error": result.error,
        "lost": _lost(result, trace),
        "lost_because": _why_lost(result, trace),
        "evidence": evidence if isinstance(evidence, dict) else None,
        "tokens": _question_tokens(trace),
        **measure_question(source, answer, trace),
    }
    for name, count_field in COUNT_FIELDS.items():
        row[count_field] = _batch_counts(result, name, COUNTS[name])

    row["gates"] = firings
    return row


def attempt_fields(earlier: Mapping[str, Any] | None, result: BatchResult, question_count: int) -> dict[str, Any]:
    """The fields about how the question was asked, together with how many.

    `seconds` are the batch's divided by its questions. Lost questions are asked again without their batch mates; in the
    file their batch stays what it was, so `batch_size` is that of the first time.
    """
    attempts = 1 if earlier is None else earlier.get("attempts", 1) + 1
    return {
        "seconds": round(result.seconds / question_count, 3),
        "attempts": attempts,
        "batch_size": question_count if earlier is None else earlier["batch_size"],
    }


def _lost(result: BatchResult, trace: Mapping[str, Any]) -> str | None:
    """What the answer was lost to: the batch's end by the evaluator, or what the agent's trace says."""
    if result.answers is None:
        return Lost.CLOCK if result.timed_out else Lost.FAULT

    cause = trace.get("lost")
    return cause if isinstance(cause, str) and cause in set(Lost) else None


def _why_lost(result: BatchResult, trace: Mapping[str, Any]) -> str | None:
    """Why the answer was lost, in one line; None if it was not."""
    if _lost(result, trace) is None:
        return None
    if result.timed_out:
        return "the batch exceeded its time limit"
    return last_line(result.error or "") or why_lost(trace)


def _question_tokens(trace: Mapping[str, Any]) -> dict[str, int]:
    """The tokens of the question's generations. Another agent's trace may have any form."""
    totals = dict.fromkeys(COUNTS["tokens"], 0)
    generations = trace.get("generations")
    if not isinstance(generations, Mapping):
        return totals

    for generation in generations.values():
        if not isinstance(generation, Mapping):
            continue
        for kind in totals:
            count = generation.get(f"{kind}_tokens")
            if type(count) is int:  # a bool is not a count
                totals[kind] += count
    return totals


def _batch_counts(result: BatchResult, name: str, kinds: Sequence[str]) -> dict[str, int]:
    """The batch's counts from the agent's traces, which may have none or invalid ones."""
    # Every trace of a batch has the same counts of the whole batch.
    counts = result.traces[0].get(name) if result.traces else None
    if not isinstance(counts, dict):
        return {}

    valid: dict[str, int] = {}
    for kind in kinds:
        count = counts.get(kind)
        if type(count) is int:  # a bool is not a count
            valid[kind] = count
    return valid
