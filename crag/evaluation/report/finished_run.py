"""A finished run as the report shows it: its name, labels and verdicts, and its worst questions."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from crag.core.files import DatasetError
from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import FEWEST, UNLABELLED, Metrics, compute_metrics
from crag.evaluation.report.candidates import likeliest_candidate
from crag.evaluation.results import count_lost
from crag.evaluation.retrieval_quality import IN_CONTEXT, SUPPORTED
from crag.evaluation.store import RESULTS, SavedRun, row_key

SHOWN = 5
"""Rows of a list at the beginning of the page."""

_REQUIRED = ("score", "ci", "intervals", "accuracy", "hallucination", "missing", "n", "unscored")
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

    def worst_labels(self, name: str) -> list[dict[str, Any]]:
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
        worst: list[dict[str, Any]] = []
        for label in ordered[:SHOWN]:
            not_right = wrong[label] + missing[label]
            worst.append({"label": label, "wrong": wrong[label], "missing": missing[label], "sum": not_right})
        return worst

    def metrics_by_finding(self, name: str) -> dict[str, Metrics]:
        """The metrics of the questions for which a field of `RETRIEVAL_TITLES` is yes, and no; without empty groups."""
        groups: dict[str, list[Verdict]] = {}
        for record in self.records:
            groups.setdefault(yes_or_no(record, name), []).append(Verdict(record["verdict"]))
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
        raise DatasetError(f"{path}: cannot be read ({error}); --resume writes it again") from None
    if missing:
        raise DatasetError(
            f"{path}: not the results of a run: {', '.join(missing)} missing; --resume writes them again"
        )
    return FinishedRun(saved, results)


def yes_or_no(record: Mapping[str, Any], name: str) -> str:
    """``yes`` or ``no`` for a field of `RETRIEVAL_TITLES`; `UNLABELLED` if the run did not measure it."""
    value = record.get(name)
    if value is None:
        return UNLABELLED
    return "yes" if value else "no"
