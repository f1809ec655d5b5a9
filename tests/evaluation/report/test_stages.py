"""Seconds and budgets of stages."""

from pathlib import Path

import pytest

from agents.settings import load_settings
from evaluation.report.run_folder import read_run
from evaluation.report.stages import WHOLE_BATCH, stage_budgets, stage_seconds
from evaluation.signature import settings_hash
from tests.evaluation.report.example import record, trace, write_run


def test_a_batch_counts_once_however_many_traces_tell_of_it(tmp_path: Path) -> None:
    records = [record(0), record(1), record(2, seconds=9.0), record(3, seconds=9.0)]
    slow = {"retrieve": 4.0, "generate": 16.0}
    traces = [trace(0), trace(1), trace(2, seconds=slow), trace(3, seconds=slow)]
    stages = {stage.stage: stage for stage in stage_seconds(read_run(write_run(tmp_path, records, traces)))}
    assert list(stages) == ["retrieve", "generate", WHOLE_BATCH]
    generate = stages["generate"]
    assert (generate.batches, generate.worst) == (2, 8.0)
    assert generate.median == pytest.approx(4.75)
    assert generate.p95 == pytest.approx(1.5 + 0.95 * 6.5)
    assert (stages[WHOLE_BATCH].median, stages[WHOLE_BATCH].worst) == (5.5, 9.0)


@pytest.mark.parametrize("seconds", [None, "long", {"retrieve": "long"}, {"retrieve": 1e999}, [1.0]])
def test_seconds_of_another_shape_are_passed_over(tmp_path: Path, seconds: object) -> None:
    run = read_run(write_run(tmp_path, [record(0), record(1)], [trace(0, seconds=seconds)]))
    assert [stage.stage for stage in stage_seconds(run)] == [WHOLE_BATCH]


def test_budgets_are_the_shares_of_the_preset_s_clock(tmp_path: Path) -> None:
    changes = ["deadline.generate = 100.0", "deadline.reserve_seconds = 6.0"]
    settings = load_settings("scripted", changes)
    signature = {"preset": f"scripted@{settings_hash(settings)}", "set": "; ".join(changes)}
    budgets = stage_budgets(read_run(write_run(tmp_path, signature=signature)))
    assert budgets[WHOLE_BATCH] == 27.0, "30 less the reserve over a batch of two"
    stages = {name: seconds for name, seconds in budgets.items() if name != WHOLE_BATCH}
    assert sum(stages.values()) == pytest.approx(27.0)
    assert max(stages, key=lambda stage: stages[stage]) == "generate"


@pytest.mark.parametrize("preset", ["scripted@ffffffffffff", "nowhere@0", None])
def test_no_budgets_of_a_preset_that_is_not_the_one_of_the_run(tmp_path: Path, preset: str | None) -> None:
    assert stage_budgets(read_run(write_run(tmp_path, signature={"preset": preset}))) == {}
