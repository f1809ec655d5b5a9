"""The report's data: rows and traces, P(correct), seconds of stages, rows of the table."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.common.contracts import INVALID_QUESTION
from agents.pipeline.case import time_shares
from agents.settings import Settings, SettingsError, load_settings
from evaluation.batches import RowKey
from evaluation.judge import Verdict
from evaluation.metrics import UNLABELLED, VALUE, Interval, field_title
from evaluation.report.packing import BLOCK_QUESTIONS
from evaluation.signature import settings_hash
from evaluation.store import RESULTS, SavedRun, StoreError, row_key

RELIABILITY_BINS = 10
THRESHOLDS = tuple(step / 50 for step in range(51))
NORMAL_95 = 1.959964
"""The 97.5th percentile of the standard normal distribution."""
WHOLE_BATCH = "whole batch"

_HEADLINE = ("score", "ci", "intervals", "accuracy", "hallucination", "missing", "n", "unscored")
_OWN_TITLES = {"gates": "gate", "source": "answer from", "lost": "lost to"}


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """`results` is results.json; `records` are the rows of predictions.jsonl, one per question in the order asked.

    `traces` are of the same attempts. Another agent's may be missing or have any form, so do not rely on fields.
    """

    results: Mapping[str, Any]
    records: Sequence[Mapping[str, Any]]
    traces: Mapping[RowKey, Mapping[str, Any]]
    origin: Mapping[str, Any] = field(default_factory=dict)
    """That of the last start: see `evaluation.runner.origin_of`."""

    @property
    def signature(self) -> Mapping[str, Any]:
        """The signature of the run."""
        return self.results.get("signature") or {}

    @property
    def limit(self) -> float | None:
        """The time limit per question in seconds, if the signature has it."""
        limit = self.signature.get("seconds_per_query")
        return float(limit) if limit else None

    def trace(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """The trace of a question; may be empty."""
        return self.traces.get(row_key(record), {})


def read_run(folder: Path) -> FinishedRun:
    """Read the folder of a finished run. The last attempt of a question counts.

    Raises:
        StoreError: the run is unfinished, or a file is unreadable.
    """
    saved = SavedRun.read(folder)
    path = folder / RESULTS
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        missing = [name for name in _HEADLINE if name not in results]
    except FileNotFoundError:
        raise StoreError(
            f"{folder}: the run is not finished ({RESULTS} is missing); continue it with --resume"
        ) from None
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"{path}: {error}") from None
    if missing:
        raise StoreError(f"{path}: not the results of a run: {', '.join(missing)} missing; --resume writes them again")
    return FinishedRun(results, list(saved.records.values()), saved.traces, saved.origin)


# --- rows of the table of questions -----------------------------------------------------------------------------------


def title(field: str) -> str:
    """A field's display name."""
    return _OWN_TITLES.get(field) or field_title(field)


def labels(run: FinishedRun) -> list[str]:
    """The label fields that results.json slices by and that questions have."""
    return [field for field in run.results.get("slices") or () if any(field in record for record in run.records)]


def table_data(run: FinishedRun) -> dict[str, Any]:
    """The data of the page's script: ``rows``, and ``facets``, fields to filter by, with titles.

    Facets with only one value are left out.
    """
    fields = labels(run)
    rows = [_table_row(run, record, place, fields) for place, record in enumerate(run.records)]
    names = ("verdict", "lost", *fields, "gates", "judged_by", "source")
    facets = [{"field": name, "title": title(name)} for name in names if len({str(row[name]) for row in rows}) > 1]
    return {"rows": rows, "facets": facets, "limit": run.limit, "block_questions": BLOCK_QUESTIONS}


def _table_row(run: FinishedRun, record: Mapping[str, Any], place: int, fields: Sequence[str]) -> dict[str, Any]:
    trace = run.trace(record)
    candidate = likeliest(trace)
    answer = trace.get("answer")
    source = answer.get("source") if isinstance(answer, Mapping) else None
    kind, colon, _ = (record.get("reason") or "").partition(":")  # a judge's reason starts with its rule
    return {
        "id": row_id(record),
        "place": place,
        "query": record["query"],
        "prediction": record["prediction"],
        "gold": record.get("answer"),
        "verdict": record["verdict"],
        "lost": record.get("lost") or UNLABELLED,
        **{field: record.get(field) or UNLABELLED for field in fields},
        "gates": sorted({firing["name"] for firing in record.get("gates", ())}) or [UNLABELLED],
        "judged_by": kind if colon and len(kind) <= 30 else UNLABELLED,
        "source": source if isinstance(source, str) and source else UNLABELLED,
        "probability": candidate and round(float(candidate["probability"]), 4),
        "seconds": record["seconds"],
    }


def row_id(record: Mapping[str, Any]) -> str:
    """What a question is called in links: its interaction id and, from the second row of that id on, which one."""
    return f"{record['interaction_id']}" + (f":{record['occurrence']}" if record["occurrence"] else "")


# --- P(correct) -------------------------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """P(correct) of a question's likeliest candidate, and its score: 1 if right, 0 if missing, -1 if wrong."""

    probability: float
    value: float


class Confidence(NamedTuple):
    """The estimates of a run. `unjudged`: likeliest candidates without a known verdict. `without`: no estimate."""

    estimates: Sequence[Estimate]
    unjudged: int
    without: int


def likeliest(trace: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The candidate with the highest P(correct), or None if no candidate has one."""
    entries = trace.get("candidates")
    known = [
        entry
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, Mapping) and _is_number(entry.get("probability"))
    ]
    return max(known, key=lambda entry: float(entry["probability"]), default=None)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def confidence(run: FinishedRun) -> Confidence:
    """P(correct) and verdict of each question's likeliest candidate."""
    estimates: list[Estimate] = []
    unjudged = without = 0
    for record in run.records:
        candidate = likeliest(run.trace(record))
        if candidate is None:
            without += 1
            continue
        verdict = _verdict(record, str(candidate.get("text", "")))
        if verdict in VALUE:
            estimates.append(Estimate(float(candidate["probability"]), VALUE[verdict]))
        else:
            unjudged += 1
    return Confidence(estimates, unjudged, without)


def _verdict(record: Mapping[str, Any], text: str) -> Verdict:
    """The verdict of a candidate: that of the answer, or of the gate that withheld it; otherwise unscored.

    "invalid question" is right if it is the gold answer.
    """
    if _same(text, record["prediction"]):
        return Verdict(record["verdict"])
    for firing in record.get("gates", ()):
        if _same(text, firing.get("withheld")) and firing.get("withheld_verdict"):
            return Verdict(firing["withheld_verdict"])
    if _same(text, INVALID_QUESTION) and record.get("answer") is not None:
        return Verdict.CORRECT if _same(text, record["answer"]) else Verdict.INCORRECT
    return Verdict.UNSCORED


def _same(text: str, other: object) -> bool:
    return isinstance(other, str) and text.strip().casefold() == other.strip().casefold()


class ThresholdPoint(NamedTuple):
    """The score, its 95 % interval and the answered share when answering only if P(correct) >= `threshold`."""

    threshold: float
    score: float
    interval: Interval
    answered: float


def threshold_curve(estimates: Sequence[Estimate]) -> list[ThresholdPoint]:
    """The score when abstaining below each of `THRESHOLDS`, with normal-distribution intervals."""
    probabilities, values = np.array(estimates).T
    points = []
    for threshold in THRESHOLDS:
        given = probabilities >= threshold
        kept = np.where(given, values, 0.0)
        score, margin = float(kept.mean()), NORMAL_95 * float(kept.std()) / math.sqrt(len(kept))
        points.append(ThresholdPoint(threshold, score, Interval(score - margin, score + margin), float(given.mean())))
    return points


class ReliabilityBin(NamedTuple):
    """Candidates of similar P(correct): its mean, the share right with a Wilson interval, and their number."""

    probability: float
    right: float
    interval: Interval
    questions: int


def reliability(estimates: Sequence[Estimate]) -> list[ReliabilityBin]:
    """Bins of equal width over P(correct), without empty ones; a bin includes its lower end."""
    bins: dict[int, list[Estimate]] = {}
    for estimate in estimates:
        number = min(int(estimate.probability * RELIABILITY_BINS), RELIABILITY_BINS - 1)
        bins.setdefault(number, []).append(estimate)
    found = []
    for _, members in sorted(bins.items()):
        count = len(members)
        right = sum(estimate.value > 0 for estimate in members) / count
        mean = sum(estimate.probability for estimate in members) / count
        found.append(ReliabilityBin(mean, right, wilson_interval(right, count), count))
    return found


def wilson_interval(share: float, count: int) -> Interval:
    """The 95 % interval of a share of `count` trials (Wilson, 1927)."""
    square = NORMAL_95**2 / count
    centre = (share + square / 2) / (1 + square)
    margin = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return Interval(centre - margin, centre + margin)


# --- seconds ----------------------------------------------------------------------------------------------------------


class StageSeconds(NamedTuple):
    """Seconds per question (of a batch divided by its questions) of one stage, over the batches that ran it.

    `mean` is over all questions of the run. `budget` is the stage's share of the preset's clock; None if the preset is
    unknown. `over` batches took longer than the budget.
    """

    stage: str
    batches: int
    mean: float
    median: float
    p95: float
    worst: float
    budget: float | None = None
    over: int = 0


def stage_seconds(run: FinishedRun) -> list[StageSeconds]:
    """Each stage in the traces, in the order of the first trace that has it, and `WHOLE_BATCH` last."""
    stages: dict[str, dict[int, float]] = {}
    whole: dict[int, float] = {}
    sums: Counter[str] = Counter()
    for record in run.records:
        batch = record["batch"]
        whole[batch] = float(record["seconds"])
        trace = run.trace(record)
        size, seconds = trace.get("batch_size"), trace.get("seconds")
        if isinstance(seconds, Mapping) and isinstance(size, int) and size > 0:
            for stage, value in seconds.items():
                if _is_number(value):
                    stages.setdefault(stage, {})[batch] = value / size
                    sums[stage] += value / size
        sums[WHOLE_BATCH] += record["seconds"]
    budgets = stage_budgets(run)
    found = []
    for stage, seconds in {**stages, WHOLE_BATCH: whole}.items():
        if seconds:
            median, p95, worst = map(float, np.percentile(list(seconds.values()), [50, 95, 100]))
            mean, budget = sums[stage] / len(run.records), budgets.get(stage)
            over = sum(value > budget for value in seconds.values()) if budget is not None else 0
            found.append(StageSeconds(stage, len(seconds), mean, median, p95, worst, budget, over))
    return found


def stage_budgets(run: FinishedRun) -> dict[str, float]:
    """Seconds per question of each stage by the preset's clock, for batches of the run's largest size.

    Empty if the preset has changed since the run, or the agent has none.
    """
    settings = _settings(run)
    if settings is None or not run.records:
        return {}
    clock, shares = settings.deadline, time_shares(settings)
    size = max(record["batch_size"] for record in run.records)
    seconds = max(0.0, clock.seconds_per_query - clock.reserve_seconds / size)
    budgets = {stage: seconds * share / sum(shares.values()) for stage, share in shares.items()}
    return {**budgets, WHOLE_BATCH: seconds}


def _settings(run: FinishedRun) -> Settings | None:
    name, _, digest = str(run.signature.get("preset") or "").partition("@")
    changes = str(run.signature.get("set") or "").split("; ")
    try:
        settings = load_settings(name, changes)
    except SettingsError:
        return None
    return settings if settings_hash(settings) == digest else None
