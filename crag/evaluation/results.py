"""The results of a run: the contents of results.json. `crag.evaluation.results_text` shows them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crag.core.contracts import Lost
from crag.evaluation.gates import gate_effects
from crag.evaluation.judge import Verdict, is_hedged, no_verdict_line
from crag.evaluation.metrics import compute_metrics, metrics_by_slice
from crag.evaluation.retrieval_quality import summarise_retrieval

COUNTS = {"out_of_time": ("not_begun", "cut_short"), "tokens": ("prompt", "completion")}
"""Generations that ran out of time: before their first token, and later. Tokens that were read and written."""
COUNT_FIELDS = {"out_of_time": "out_of_time", "tokens": "batch_tokens"}
"""The fields of a row of predictions.jsonl with the counts of its whole batch."""


def summarise(
    records: Sequence[Mapping[str, Any]],
    measured: Mapping[str, Any],
    signature: Mapping[str, Any],
) -> dict[str, Any]:
    """The contents of results.json: the fields of `Metrics`, the signature, and

    * `slices`: the same metrics by label;
    * `gates`: see `gate_effects`;
    * `seconds`: `total` is the agent's time over all batches, `startup` and `first_answer` are of its last start;
    * `peak_memory_mb`: of its last start too;
    * `timeouts`, `errors`: numbers of batches;
    * `generations_out_of_time`: how many generations of any task the clock ended, ``not_begun`` and ``cut_short``;
    * `tokens`: what the language model read and wrote;
    * `last_error`: the last line of the last error, of a traceback the exception and its place;
    * `lost`: questions without an answer, by what it was lost to (`crag.core.contracts.Lost`);
    * `asked_again`: questions that were asked more than once;
    * `retrieval`: see `crag.evaluation.retrieval_quality`;
    * `hedged_abstentions`: answers such as "I'm not sure", which are incorrect;
    * `no_verdict`: for how many answers the judge's model gave no verdict, and why.
    """
    # Every row of a batch has the fields of the whole batch, so one row of each is enough.
    by_batch = {(record["batch"], record["batch_seconds"]): record for record in records}
    batches = by_batch.values()
    verdicts = [Verdict(record["verdict"]) for record in records]

    reasons = [record.get("reason") or "" for record in records]

    return {
        **asdict(compute_metrics(verdicts)),
        "slices": _slice_metrics(records),
        "gates": gate_effects(records),
        "signature": dict(signature),
        "seconds": _summarise_seconds(records, batches, measured),
        "peak_memory_mb": measured.get("peak_memory_mb", 0.0),
        "timeouts": sum(bool(batch["timed_out"]) for batch in batches),
        "errors": sum(_has_failed(batch) for batch in batches),
        "generations_out_of_time": _sum_counts("out_of_time", batches),
        "tokens": _sum_counts("tokens", batches),
        "last_error": _last_error(records),
        "lost": count_lost(records),
        "asked_again": sum(record.get("attempts", 1) > 1 for record in records),
        "retrieval": summarise_retrieval(records),
        "hedged_abstentions": sum(map(is_hedged, reasons)),
        "no_verdict": no_verdict_line(reasons),
    }


def _slice_metrics(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    slices: dict[str, dict[str, Any]] = {}
    for field, groups in metrics_by_slice(records).items():
        slices[field] = {label: asdict(metrics) for label, metrics in groups.items()}
    return slices


def _summarise_seconds(
    records: Sequence[Mapping[str, Any]],
    batches: Collection[Mapping[str, Any]],
    measured: Mapping[str, Any],
) -> dict[str, float | None]:
    # The agent's time, without reading and judging
    total = sum(batch["batch_seconds"] for batch in batches)
    slowest = max((record["seconds"] for record in records), default=0.0)
    return {
        "total": round(total, 3),
        "per_question": round(total / len(records), 3) if records else 0.0,
        "slowest_batch_per_question": round(slowest, 3),
        "startup": measured.get("startup_seconds"),
        "first_answer": measured.get("first_answer_seconds"),
    }


def _has_failed(row: Mapping[str, Any]) -> bool:
    """Whether the agent failed in the row's batch. The error of a timeout is only the agent's stack."""
    return bool(row["error"]) and not row["timed_out"]


def _last_error(records: Sequence[Mapping[str, Any]]) -> str | None:
    failed = [record for record in records if _has_failed(record)]
    if not failed:
        return None
    return last_line(str(failed[-1]["error"])) or None


def last_line(error: str) -> str:
    """The last line of an error; of a traceback, after the file and line of the exception. Empty for no text."""
    if not error.strip():
        return ""
    text = error.strip().splitlines()[-1].strip()
    # The innermost frame is the last
    frames = re.findall(r'^ *File "([^"\n]+)", line (\d+)', error, re.MULTILINE)
    if not frames:
        return text

    path, line_number = frames[-1]
    return f"{Path(path).name}, line {line_number}: {text}"


def _sum_counts(name: str, batches: Collection[Mapping[str, Any]]) -> dict[str, int]:
    totals = dict.fromkeys(COUNTS[name], 0)
    for batch in batches:
        # A row of an older version may lack the field
        counts = batch.get(COUNT_FIELDS[name], {})
        for kind in totals:
            totals[kind] += counts.get(kind, 0)
    return totals


def count_lost(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many answers were lost to what; every `Lost` has a count."""
    counts = {cause.value: 0 for cause in Lost}
    for record in records:
        cause = record.get("lost")
        if cause in counts:
            counts[cause] += 1
    return counts
