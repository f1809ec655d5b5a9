"""The report's data: a finished run, the rows of its table, and the seconds of its stages."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crag.core.files import DatasetError
from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import FEWEST, UNLABELLED, Metrics, compute_metrics, field_title
from crag.evaluation.report.candidates import is_number, likeliest_candidate
from crag.evaluation.results import count_lost
from crag.evaluation.retrieval_quality import IN_CONTEXT, RANK, SUPPORTED
from crag.evaluation.signature import settings_hash
from crag.evaluation.store import RESULTS, SavedRun, row_key
from crag.settings import SettingsError, load_settings

WHOLE_BATCH = "whole batch"
SHOWN = 5
"""Rows of a list at the beginning of the page."""
LONGEST_RULE_NAME = 30
"""Characters; what is longer before the colon of a reason is prose of another judge."""

_REQUIRED = ("score", "ci", "intervals", "accuracy", "hallucination", "missing", "n", "unscored")
_FACET_TITLES = {"gates": "gate", "source": "answer from", "lost": "lost to"}
RETRIEVAL_TITLES = {IN_CONTEXT: "answer in context", SUPPORTED: "evidence supports answer"}
"""Fields that are true or false, as the report calls them."""


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
        """The preset, or the own agent: ``cpu``, ``cpu, changed``, ``MyAgent``, ``MyAgent on cpu``."""
        preset, _, _ = str(self.signature.get("preset") or "").partition("@")
        _, _, agent = str(self.signature.get("agent") or "").rpartition(":")
        # A preset may be the path of a file.
        name = Path(preset).stem or agent or "a run"
        if preset and agent and self.signature.get("code"):
            name = f"{agent} on {name}"
        return f"{name}, changed" if self.signature.get("set") else name

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

        score = f"{self.results['score']:+.2f}"
        if self.results["n"] < FEWEST:
            return score
        low, high = self.results["ci"]
        return f"{score} [{low:+.2f}, {high:+.2f}]"

    @cached_property
    def labels(self) -> list[str]:
        """The label fields that results.json slices by and that questions have."""
        # A row only has the labels that its question had
        fields = set().union(*self.records)
        slices = self.results.get("slices") or ()
        return [name for name in slices if name in fields]

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
        candidate = likeliest_candidate(self.trace(record))
        return float(candidate["probability"]) if candidate else None

    def losses(self, name: str) -> list[dict[str, Any]]:
        """The labels of a field with most wrong answers; of equals, those with most questions unanswered."""
        wrong: Counter[str] = Counter()
        missing: Counter[str] = Counter()
        labels: set[str] = set()
        for record in self.records:
            if not record.get(name):
                continue
            label = str(record[name])
            labels.add(label)
            wrong[label] += record["verdict"] == Verdict.INCORRECT
            missing[label] += record["verdict"] == Verdict.MISSING

        # The name comes last, so that equal labels keep one order
        ordered = sorted(labels, key=lambda label: (-wrong[label], -missing[label], label))
        return [
            {
                "label": label,
                "wrong": wrong[label],
                "missing": missing[label],
                "sum": wrong[label] + missing[label],
            }
            for label in ordered[:SHOWN]
        ]

    def metrics_by_finding(self, name: str) -> dict[str, Metrics]:
        """The metrics of the questions for which a field of `RETRIEVAL_TITLES` is yes, and no; without empty groups."""
        groups: dict[str, list[Verdict]] = {}
        for record in self.records:
            groups.setdefault(_finding(record, name), []).append(Verdict(record["verdict"]))
        return {finding: compute_metrics(groups[finding]) for finding in ("yes", "no") if finding in groups}

    def surest_wrong(self) -> list[dict[str, Any]]:
        """The wrong answers with the highest P(correct)."""
        wrong = [record for record in self.records if record["verdict"] == Verdict.INCORRECT]
        return sorted(wrong, key=lambda record: -(self.probability(record) or 0.0))[:SHOWN]


def read_finished_run(folder: Path) -> FinishedRun:
    """Read the folder of a finished run; raises DatasetError: the run is unfinished, or a file is unreadable."""
    saved = SavedRun.read(folder)
    path = folder / RESULTS
    if not path.is_file():
        raise DatasetError(f"{folder}: the run is not finished ({RESULTS} is missing); continue it with --resume")

    try:
        results = json.loads(path.read_text(encoding="utf-8"))
        # TypeError below: the file holds something else than an object
        missing = [name for name in _REQUIRED if name not in results]
    except (OSError, ValueError, TypeError) as error:
        raise DatasetError(f"{path}: {error}") from None
    if missing:
        raise DatasetError(
            f"{path}: not the results of a run: {', '.join(missing)} missing; --resume writes them again"
        )
    return FinishedRun(saved, results)


# --- rows of the table of questions -----------------------------------------------------------------------------------


def facet_title(field: str) -> str:
    """A field's display name."""
    return _FACET_TITLES.get(field) or RETRIEVAL_TITLES.get(field) or field_title(field)


def table_data(run: FinishedRun) -> dict[str, Any]:
    """The data of the page's script: ``rows``, and ``facets``, fields to filter by, with titles.

    Facets with only one value are left out.
    """
    rows = [_table_row(run, record, position) for position, record in enumerate(run.records)]
    facets: list[dict[str, str]] = []
    for field in ("verdict", "lost", *run.labels, "gates", "judged_by", "source", *RETRIEVAL_TITLES):
        values = {str(row[field]) for row in rows}
        # A filter with one value would select everything
        if len(values) > 1:
            facets.append({"field": field, "title": facet_title(field)})
    return {"rows": rows, "facets": facets, "limit": run.limit}


def _table_row(run: FinishedRun, record: Mapping[str, Any], position: int) -> dict[str, Any]:
    answer = run.trace(record).get("answer")
    # Another agent's trace may have any form
    source = answer.get("source") if isinstance(answer, Mapping) else None
    probability = run.probability(record)

    labels = {name: record.get(name) or UNLABELLED for name in run.labels}
    gates = {firing["name"] for firing in record.get("gates", ())}

    return {
        "id": row_id(record),
        "place": position,
        "query": record["query"],
        "prediction": record["prediction"],
        "gold": record.get("answer"),
        "verdict": record["verdict"],
        "lost": record.get("lost") or UNLABELLED,
        **labels,
        "gates": sorted(gates) or [UNLABELLED],
        "judged_by": _rule_name(record.get("reason") or ""),
        "source": source if isinstance(source, str) and source else UNLABELLED,
        **{name: _finding(record, name) for name in RETRIEVAL_TITLES},
        RANK: record.get(RANK),
        "probability": None if probability is None else round(probability, 4),
        "seconds": record["seconds"],
    }


def _finding(record: Mapping[str, Any], name: str) -> str:
    """``yes`` or ``no``; `UNLABELLED` if the run did not measure it."""
    value = record.get(name)
    if value is None:
        return UNLABELLED
    return "yes" if value else "no"


def _rule_name(reason: str) -> str:
    """The rule's name, with which a judge's reason starts."""
    # "number: both say 5" -> "number"
    name, colon, _ = reason.partition(":")
    return name if colon and len(name) <= LONGEST_RULE_NAME else UNLABELLED


def row_id(record: Mapping[str, Any]) -> str:
    """The question's name in links: its interaction id and, from the second row of that id on, which one."""
    if not record["occurrence"]:
        return str(record["interaction_id"])
    return f"{record['interaction_id']}:{record['occurrence']}"


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
    budgets = stage_budgets(run)
    rows: list[StageSeconds] = []
    for stage, questions in _seconds_by_stage(run).items():
        # Every question of a batch has the batch's seconds.
        seconds = list(dict(questions).values())
        median, p95, worst = np.percentile(seconds, [50, 95, 100])
        # Over questions, while the percentiles are over batches
        total = sum(value for _, value in questions)
        budget = budgets.get(stage)
        over = 0 if budget is None else sum(value > budget for value in seconds)

        rows.append(
            StageSeconds(
                stage=stage,
                batches=len(seconds),
                # Batches that skipped the stage count as 0 seconds
                mean=total / len(run.records),
                median=float(median),
                p95=float(p95),
                worst=float(worst),
                budget=budget,
                over=over,
            )
        )
    return rows


def _seconds_by_stage(run: FinishedRun) -> dict[str, list[tuple[int, float]]]:
    """For each stage and question the batch, and the batch's seconds divided by its questions."""
    stages: dict[str, list[tuple[int, float]]] = {}
    for record in run.records:
        trace = run.trace(record)
        size = trace.get("batch_size")
        seconds = trace.get("seconds")

        # Another agent's trace may have other fields of these names.
        if not isinstance(seconds, Mapping) or not isinstance(size, int) or size <= 0:
            continue
        for stage, value in seconds.items():
            if is_number(value):
                questions = stages.setdefault(stage, [])
                questions.append((record["batch"], value / size))

    # The evaluator's own measurement: it exists without traces, and is listed last.
    whole = [(record["batch"], float(record["seconds"])) for record in run.records]
    if whole:
        stages[WHOLE_BATCH] = whole
    return stages


def stage_budgets(run: FinishedRun) -> dict[str, float]:
    """Seconds per question of each stage by the preset's clock, for batches of the run's largest size.

    Empty if the preset has changed since the run, or the agent has none.
    """
    name, _, digest = str(run.signature.get("preset") or "").partition("@")
    # The preset as it is now, with the changes of the run
    changes = str(run.signature.get("set") or "").split("; ")
    try:
        settings = load_settings(name, changes)
    except SettingsError:
        return {}

    # Budgets of other settings would be wrong for these seconds
    if settings_hash(settings) != digest or not run.records:
        return {}

    # The reserve is the batch's, so a question pays its part of it.
    clock = settings.deadline
    size = max(record["batch_size"] for record in run.records)
    seconds = max(0.0, clock.seconds_per_query - clock.reserve_seconds / size)

    # The shares are relative, so they are divided by their sum
    shares = clock.shares(review=settings.answering.asks_again)
    total = sum(shares.values())
    budgets = {stage: seconds * share / total for stage, share in shares.items()}
    return {**budgets, WHOLE_BATCH: seconds}
