"""What P(correct) was worth."""

from pathlib import Path
from typing import Any

import pytest

from evaluation.report.confidence import (
    Estimate,
    confidence,
    likeliest,
    reliability,
    threshold_curve,
    wilson_interval,
)
from evaluation.report.run_folder import read_run
from tests.evaluation.report.example import FIRING, record, trace, write_run


def candidate(text: str, probability: float | None) -> dict[str, Any]:
    return {"text": text, "source": "web", "features": {}, "probability": probability}


def found(folder: Path, record: dict[str, Any], *candidates: dict[str, Any]) -> list[Estimate]:
    run = write_run(folder, [record], [trace(0, interaction_id=record["interaction_id"], candidates=list(candidates))])
    return list(confidence(read_run(run)).estimates)


def test_the_likeliest_candidate_has_the_verdict_of_the_answer_that_it_was(tmp_path: Path) -> None:
    likely = candidate("Answer 0 ", 0.8)
    assert found(tmp_path, record(0, batch_size=1), candidate("other", 0.3), likely) == [Estimate(0.8, 1.0)]


def test_or_that_of_the_gate_that_withheld_it(tmp_path: Path) -> None:
    withheld = record(1, "missing", prediction="i don't know", gates=[FIRING], batch_size=1)
    assert found(tmp_path, withheld, candidate("answer 1", 0.1)) == [Estimate(0.1, -1.0)]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_no_estimate(tmp_path: Path, number: float) -> None:
    likely = candidate("answer 0", 0.8)
    assert found(tmp_path, record(0, batch_size=1), candidate("other", number), likely) == [Estimate(0.8, 1.0)]
    assert likeliest({"candidates": [candidate("other", number)]}) is None


@pytest.mark.parametrize(("gold", "value"), [("Invalid question", 1.0), ("gold 0", -1.0)])
def test_an_invalid_question_is_judged_by_the_gold_answer(tmp_path: Path, gold: str, value: float) -> None:
    abstained = record(0, "missing", prediction="i don't know", answer=gold, batch_size=1)
    assert found(tmp_path, abstained, candidate("invalid question", 0.4)) == [Estimate(0.4, value)]


def test_what_cannot_be_judged_is_counted(tmp_path: Path) -> None:
    records = [record(0), record(1), record(2), record(3)]
    traces = [
        trace(0),
        trace(1, candidates=[candidate("nobody gave this", 0.9)]),
        trace(2, candidates=[candidate("answer 2", None)]),
        trace(3, candidates="of another shape"),
    ]
    result = confidence(read_run(write_run(tmp_path, records, traces)))
    assert result == ([Estimate(0.75, 1.0)], 1, 2)


def test_score_over_thresholds() -> None:
    curve = {
        point.threshold: point for point in threshold_curve([Estimate(0.2, -1), Estimate(0.5, 1), Estimate(0.9, 1)])
    }
    scores = [curve[threshold].score for threshold in (0.0, 0.2, 0.22, 0.6, 1.0)]
    assert scores == pytest.approx([1 / 3, 1 / 3, 2 / 3, 1 / 3, 0]), "a probability of 0.2 reaches a threshold of 0.2"
    assert [curve[threshold].answered for threshold in (0.0, 0.22, 1.0)] == pytest.approx([1, 2 / 3, 0])
    interval = curve[0.0].interval
    # by hand: the values -1, 1, 1 have the mean 1/3 and the standard deviation sqrt(8)/3
    assert interval.high - interval.low == pytest.approx(2 * 1.959964 * (8**0.5 / 3) / 3**0.5)


def test_reliability() -> None:
    bins = reliability([Estimate(0.0, -1), Estimate(0.09, 1), Estimate(0.1, -1), Estimate(1.0, 1)])
    assert [(one.probability, one.right, one.questions) for one in bins] == [
        (0.045, 0.5, 2),
        (0.1, 0.0, 1),
        (1.0, 1.0, 1),
    ]


@pytest.mark.parametrize(
    ("right", "count", "ends"),
    [(81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605)), (0, 20, (0.0, 0.1611)), (1, 29, (0.0061, 0.1718))],
)
def test_wilson_interval_of_the_literature(right: int, count: int, ends: tuple[float, float]) -> None:
    """Newcombe, Statistics in Medicine 17 (1998), table I, method 3."""
    interval = wilson_interval(right / count, count)
    assert [interval.low, interval.high] == pytest.approx(ends, abs=5e-5)
