"""How long a run's stages took per question, and what the preset's clock allows them."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from crag.evaluation.report.candidates import is_number
from crag.evaluation.report.finished_run import FinishedRun
from crag.evaluation.signature import settings_hash
from crag.settings import SettingsError, load_settings

WHOLE_BATCH = "whole batch"


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
