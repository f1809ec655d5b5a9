"""What the report shows of a run."""

from pathlib import Path
from typing import Any

import pytest

from crag.core.files import DatasetError
from crag.evaluation.report.confidence import Estimate, collect_estimates, reliability
from crag.evaluation.report.finished_run import read_finished_run
from crag.evaluation.report.stage_seconds import WHOLE_BATCH, stage_budgets
from crag.evaluation.signature import settings_hash
from crag.settings import load_settings
from tests.evaluation.report.example import FIRING, record, trace, write_run


@pytest.mark.parametrize(
    ("results", "fault"),
    [
        (None, r"not finished.*--resume"),
        ("{", r"results\.json: .*--resume"),
        ("[]", r"score, ci, .* missing"),
        ("{}", "missing"),
    ],
)
def test_an_unfinished_run_or_damaged_results_are_refused_with_the_remedy(
    tmp_path: Path, results: str | None, fault: str
) -> None:
    write_run(tmp_path)
    (tmp_path / "results.json").unlink()
    if results is not None:
        (tmp_path / "results.json").write_text(results, encoding="utf-8")
    with pytest.raises(DatasetError, match=fault):
        read_finished_run(tmp_path)


def test_budgets_are_the_shares_of_the_preset_s_clock(tmp_path: Path) -> None:
    changes = ["deadline.knowledge_graph = 100.0", "deadline.reserve_seconds = 6.0"]
    settings = load_settings("scripted", changes)
    signature = {"preset": f"scripted@{settings_hash(settings)}", "set": "; ".join(changes)}
    budgets = stage_budgets(read_finished_run(write_run(tmp_path, signature=signature)))
    assert budgets.pop(WHOLE_BATCH) == 27.0, "30 less the reserve over a batch of two"
    assert sum(budgets.values()) == pytest.approx(27.0)
    assert max(budgets, key=lambda stage: budgets[stage]) == "knowledge_graph"


@pytest.mark.parametrize(
    ("change", "has_time"),
    [
        ("answering.other_sites = false", False),
        ("answering.other_sites = true", True),
        ("answering.refine.abstentions = true", True),
    ],
)
def test_every_check_that_asks_the_model_again_has_its_budget(tmp_path: Path, change: str, has_time: bool) -> None:
    settings = load_settings("scripted", [change])
    signature = {"preset": f"scripted@{settings_hash(settings)}", "set": change}
    budgets = stage_budgets(read_finished_run(write_run(tmp_path, signature=signature)))
    assert ("review" in budgets) is has_time


def candidate(text: str, probability: float | None) -> dict[str, Any]:
    return {"text": text, "source": "web", "features": {}, "probability": probability}


ABSTAINED: dict[str, Any] = {"prediction": "i don't know", "verdict": "missing", "batch_size": 1}
OTHER = candidate("other", 0.3)


@pytest.mark.parametrize(
    ("row", "candidates", "estimate"),
    [
        (record(0, batch_size=1), [OTHER, candidate("Answer 0 ", 0.8)], Estimate(0.8, 1.0)),
        (record(1, gates=[FIRING], **ABSTAINED), [candidate("answer 1", 0.1)], Estimate(0.1, -1.0)),
        (record(0, answer="Invalid question", **ABSTAINED), [candidate("invalid question", 0.4)], Estimate(0.4, 1.0)),
        (record(0, **ABSTAINED), [candidate("invalid question", 0.4)], Estimate(0.4, -1.0)),
        (record(0, batch_size=1), [candidate("other", float("nan")), candidate("answer 0", 0.8)], Estimate(0.8, 1.0)),
    ],
    ids=["the answer", "withheld by a gate", "invalid and meant so", "invalid and not meant so", "no number"],
)
def test_the_likeliest_candidate_has_a_verdict(
    tmp_path: Path, row: dict[str, Any], candidates: list[dict[str, Any]], estimate: Estimate
) -> None:
    run = write_run(tmp_path, [row], [trace(0, interaction_id=row["interaction_id"], candidates=candidates)])
    assert list(collect_estimates(read_finished_run(run)).estimates) == [estimate]


def test_what_cannot_be_judged_is_counted(tmp_path: Path) -> None:
    traces = [
        trace(0),
        trace(1, candidates=[candidate("nobody gave this", 0.9)]),
        trace(2, candidates=[candidate("answer 2", None), candidate("other", float("inf"))]),
        trace(3, candidates="of another shape"),
    ]
    run = read_finished_run(write_run(tmp_path, [record(n) for n in range(4)], traces))
    assert collect_estimates(run) == ([Estimate(0.75, 1.0)], 1, 2)


def test_reliability_bins_include_their_lower_end_and_leave_out_empty_ones() -> None:
    bins = reliability([Estimate(0.0, -1), Estimate(0.09, 1), Estimate(0.1, -1), Estimate(1.0, 1)])
    shown = [(point.probability, point.right, point.questions) for point in bins]
    assert shown == [(0.045, 0.5, 2), (0.1, 0.0, 1), (1.0, 1.0, 1)]
