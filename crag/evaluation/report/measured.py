"""The report's data: one object for a run, with what the templates show of it."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crag.core.contracts import INVALID_QUESTION
from crag.core.files import DatasetError
from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import FEWEST, UNLABELLED, VALUE, Interval, field_title, wilson_interval
from crag.evaluation.results import count_lost
from crag.evaluation.signature import settings_hash
from crag.evaluation.store import RESULTS, SavedRun, row_key
from crag.settings import SettingsError, load_settings

RELIABILITY_BINS = 10
THRESHOLDS = tuple(step / 50 for step in range(51))
NORMAL_95 = 1.959964
"""The 97.5th percentile of the standard normal distribution."""
WHOLE_BATCH = "whole batch"
SHOWN = 5
"""Rows of a list at the beginning of the page."""

_HEADLINE = ("score", "ci", "intervals", "accuracy", "hallucination", "missing", "n", "unscored")
_OWN_TITLES = {"gates": "gate", "source": "answer from", "lost": "lost to"}


@dataclass(frozen=True)
class FinishedRun:
    """A run with its metrics: `results` is results.json, or the same of a part of the questions.

    Another agent's traces may be missing or have any form, so do not rely on fields.
    """

    saved: SavedRun
    results: Mapping[str, Any]

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The rows of predictions.jsonl, one per question in the order asked."""
        return list(self.saved.records.values())

    @property
    def signature(self) -> Mapping[str, Any]:
        """The signature of the run."""
        return self.results.get("signature") or {}

    @property
    def limit(self) -> float | None:
        """The time limit per question in seconds, if the signature has it."""
        limit = self.signature.get("seconds_per_query")
        return float(limit) if limit else None

    @property
    def name(self) -> str:
        """The preset, or the agent if it has none: ``cpu``, ``cpu, changed``, ``MyAgent``."""
        name = Path(str(self.signature.get("preset") or "").partition("@")[0]).stem
        agent = str(self.signature.get("agent") or "").rpartition(":")[2]
        return (name or agent or "a run") + (", changed" if self.signature.get("set") else "")

    @property
    def task(self) -> int:
        """CRAG's task: 1 without a graph, 3 if the data's name says so, else 2."""
        if "task_3" in str(self.signature.get("data")):
            return 3
        return 1 if self.signature.get("kg") in {"no", None} else 2

    @property
    def score(self) -> str:
        """``-0.05 [-0.27, +0.16]``."""
        if not self.results["n"]:
            return "nothing scored"
        interval = " [{:+.2f}, {:+.2f}]".format(*self.results["ci"]) if self.results["n"] >= FEWEST else ""
        return f"{self.results['score']:+.2f}{interval}"

    @cached_property
    def labels(self) -> list[str]:
        """The label fields that results.json slices by and that questions have."""
        slices = self.results.get("slices") or ()
        return [name for name in slices if any(name in record for record in self.records)]

    @cached_property
    def verdicts(self) -> Counter[str]:
        """How many questions have which verdict."""
        return Counter(record["verdict"] for record in self.records)

    @cached_property
    def lost(self) -> dict[str, int]:
        """How many answers were lost to what."""
        return count_lost(self.records)

    def trace(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """The trace of a question; may be empty."""
        return self.saved.traces.get(row_key(record), {})

    def probability(self, record: Mapping[str, Any]) -> float | None:
        """P(correct) of the question's likeliest candidate."""
        candidate = likeliest(self.trace(record))
        return float(candidate["probability"]) if candidate else None

    def losses(self, name: str) -> list[dict[str, Any]]:
        """The labels of a field with most wrong answers; of equals, those with most questions unanswered."""
        counts = Counter((str(record[name]), record["verdict"]) for record in self.records if record.get(name))
        both = {label: (counts[label, "incorrect"], counts[label, "missing"]) for label, _ in counts}
        ordered = sorted(both.items(), key=lambda loss: (-loss[1][0], -loss[1][1], loss[0]))[:SHOWN]
        return [
            {"label": label, "wrong": wrong, "missing": missing, "sum": wrong + missing}
            for label, (wrong, missing) in ordered
        ]

    def surest_wrong(self) -> list[dict[str, Any]]:
        """The wrong answers with the highest P(correct)."""
        wrong = [record for record in self.records if record["verdict"] == Verdict.INCORRECT]
        return sorted(wrong, key=lambda record: -(self.probability(record) or 0.0))[:SHOWN]


def read_finished_run(folder: Path) -> FinishedRun:
    """Read the folder of a finished run; raises DatasetError: the run is unfinished, or a file is unreadable."""
    saved, path = SavedRun.read(folder), folder / RESULTS
    if not path.is_file():
        raise DatasetError(f"{folder}: the run is not finished ({RESULTS} is missing); continue it with --resume")
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        missing = [name for name in _HEADLINE if name not in results]
    except (OSError, ValueError, TypeError) as error:
        raise DatasetError(f"{path}: {error}") from None
    if missing:
        raise DatasetError(
            f"{path}: not the results of a run: {', '.join(missing)} missing; --resume writes them again"
        )
    return FinishedRun(saved, results)


# --- rows of the table of questions -----------------------------------------------------------------------------------


def title(field: str) -> str:
    """A field's display name."""
    return _OWN_TITLES.get(field) or field_title(field)


def table_data(run: FinishedRun) -> dict[str, Any]:
    """The data of the page's script: ``rows``, and ``facets``, fields to filter by, with titles.

    Facets with only one value are left out.
    """
    rows = [_table_row(run, record, place) for place, record in enumerate(run.records)]
    names = ("verdict", "lost", *run.labels, "gates", "judged_by", "source")
    facets = [{"field": name, "title": title(name)} for name in names if len({str(row[name]) for row in rows}) > 1]
    return {"rows": rows, "facets": facets, "limit": run.limit}


def _table_row(run: FinishedRun, record: Mapping[str, Any], place: int) -> dict[str, Any]:
    answer, probability = run.trace(record).get("answer"), run.probability(record)
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
        **{name: record.get(name) or UNLABELLED for name in run.labels},
        "gates": sorted({firing["name"] for firing in record.get("gates", ())}) or [UNLABELLED],
        "judged_by": kind if colon and len(kind) <= 30 else UNLABELLED,
        "source": source if isinstance(source, str) and source else UNLABELLED,
        "probability": None if probability is None else round(probability, 4),
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
    some = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    known = [entry for entry in some if _is_number(entry.get("probability"))]
    return max(known, key=lambda entry: float(entry["probability"]), default=None)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def confidence(run: FinishedRun) -> Confidence:
    """P(correct) and verdict of each question's likeliest candidate."""
    candidates = [(record, candidate) for record in run.records if (candidate := likeliest(run.trace(record)))]
    verdicts = [_verdict(record, str(candidate.get("text", ""))) for record, candidate in candidates]
    estimates = [
        Estimate(float(candidate["probability"]), VALUE[verdict])
        for (_, candidate), verdict in zip(candidates, verdicts, strict=True)
        if verdict in VALUE
    ]
    return Confidence(estimates, len(candidates) - len(estimates), len(run.records) - len(candidates))


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
    probabilities, values = np.array(estimates).T
    bins = np.minimum((probabilities * RELIABILITY_BINS).astype(int), RELIABILITY_BINS - 1)
    points = []
    for number in np.unique(bins):
        mean, right = float(probabilities[bins == number].mean()), int((values[bins == number] > 0).sum())
        count = int((bins == number).sum())
        points.append(ReliabilityBin(mean, right / count, wilson_interval(right, count), count))
    return points


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
    found: dict[str, list[tuple[int, float]]] = {}
    for record in run.records:
        size, seconds = (run.trace(record).get(name) for name in ("batch_size", "seconds"))
        if isinstance(seconds, Mapping) and isinstance(size, int) and size > 0:
            for stage, value in seconds.items():
                if _is_number(value):
                    found.setdefault(stage, []).append((record["batch"], value / size))
    if run.records:
        found[WHOLE_BATCH] = [(record["batch"], float(record["seconds"])) for record in run.records]
    budgets, rows = stage_budgets(run), []
    for stage, of_questions in found.items():
        values, budget = list(dict(of_questions).values()), budgets.get(stage)
        over = 0 if budget is None else sum(value > budget for value in values)
        median, p95, worst = map(float, np.percentile(values, [50, 95, 100]))
        mean = sum(value for _, value in of_questions) / len(run.records)
        rows.append(StageSeconds(stage, len(values), mean, median, p95, worst, budget, over))
    return rows


def stage_budgets(run: FinishedRun) -> dict[str, float]:
    """Seconds per question of each stage by the preset's clock, for batches of the run's largest size.

    Empty if the preset has changed since the run, or the agent has none.
    """
    name, _, digest = str(run.signature.get("preset") or "").partition("@")
    try:
        settings = load_settings(name, str(run.signature.get("set") or "").split("; "))
    except SettingsError:
        return {}
    if settings_hash(settings) != digest or not run.records:
        return {}
    clock = settings.deadline
    shares = clock.shares(review=settings.answering.refine is not None)
    size = max(record["batch_size"] for record in run.records)
    seconds = max(0.0, clock.seconds_per_query - clock.reserve_seconds / size)
    budgets = {stage: seconds * share / sum(shares.values()) for stage, share in shares.items()}
    return {**budgets, WHOLE_BATCH: seconds}
