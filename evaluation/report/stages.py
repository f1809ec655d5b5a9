"""Seconds of the agent's stages, and what the preset's clock set aside for them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.settings import KnowledgeGraphSettings, Settings, SettingsError, load_settings
from evaluation.report.run_folder import FinishedRun
from evaluation.signature import settings_hash

WHOLE_BATCH = "whole batch"

Batch = tuple[Any, Any]
"""Number and attempt of a batch."""


class StageSeconds(NamedTuple):
    """Seconds per question (those of a batch divided by its questions) of one stage over the batches that ran it.

    `budget` is what the clock gives it if every stage uses all of its own; None where nobody can tell any more.
    """

    stage: str
    batches: int
    median: float
    p95: float
    worst: float
    budget: float | None = None


def stage_seconds(run: FinishedRun) -> list[StageSeconds]:
    """Each stage that traces tell of, in the order of the first trace that names it, and `WHOLE_BATCH` last."""
    batches: dict[str, dict[Batch, float]] = {}
    whole: dict[Batch, float] = {}
    for record in run.records:
        batch = (record.get("batch"), record.get("attempt"))
        whole[batch] = float(record.get("seconds", 0.0))
        for stage, seconds in _of_trace(run.trace(record)).items():
            batches.setdefault(stage, {})[batch] = seconds
    budgets = stage_budgets(run)
    return [
        _summary(stage, list(seconds.values()), budgets.get(stage))
        for stage, seconds in {**batches, WHOLE_BATCH: whole}.items()
        if seconds
    ]


def _of_trace(trace: Mapping[str, Any]) -> dict[str, float]:
    size, stages = trace.get("batch_size"), trace.get("seconds")
    if not isinstance(stages, Mapping) or not isinstance(size, int) or size < 1:
        return {}
    return {
        stage: seconds / size
        for stage, seconds in stages.items()
        if isinstance(seconds, int | float) and math.isfinite(seconds)
    }


def _summary(stage: str, seconds: Sequence[float], budget: float | None) -> StageSeconds:
    median, p95, worst = np.percentile(seconds, [50, 95, 100])
    return StageSeconds(stage, len(seconds), float(median), float(p95), float(worst), budget)


def stage_budgets(run: FinishedRun) -> dict[str, float]:
    """Seconds per question of each stage by the shares of the preset's clock, in batches as large as the run's largest.

    Empty where the preset of the run is not the one of that name now, or the agent has none.
    """
    settings = _settings(run)
    if settings is None or not run.records:
        return {}
    clock, graph = settings.deadline, settings.knowledge_graph or KnowledgeGraphSettings()
    shares = clock.shares(review=settings.answering.looks_twice, web_first=graph.source_policy == "by_dynamism")
    size = max(record.get("batch_size", 1) for record in run.records)
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
