"""The CRAG metrics against hand computation and the normal approximation."""

import math
from typing import Any

import pytest

from evaluation.judge import Verdict
from evaluation.metrics import UNLABELLED, bootstrap_interval, measure, slices

C, W, M, U = Verdict.CORRECT, Verdict.INCORRECT, Verdict.MISSING, Verdict.UNSCORED


@pytest.mark.parametrize(
    ("verdicts", "score", "accuracy", "hallucination", "missing", "n", "unscored"),
    [
        ([C, C, C, M, W], 0.4, 0.6, 0.2, 0.2, 5, 0),
        ([C], 1.0, 1.0, 0.0, 0.0, 1, 0),
        ([W, W], -1.0, 0.0, 1.0, 0.0, 2, 0),
        ([M, M, M], 0.0, 0.0, 0.0, 1.0, 3, 0),
        ([C, W, U, U], 0.0, 0.5, 0.5, 0.0, 2, 2),
        ([U], 0.0, 0.0, 0.0, 0.0, 0, 1),
        ([], 0.0, 0.0, 0.0, 0.0, 0, 0),
    ],
)
def test_by_hand(
    verdicts: list[Verdict], score: float, accuracy: float, hallucination: float, missing: float, n: int, unscored: int
) -> None:
    metrics = measure(verdicts)
    assert metrics.score == pytest.approx(score)
    assert (metrics.accuracy, metrics.hallucination) == pytest.approx((accuracy, hallucination))
    assert metrics.missing == pytest.approx(missing)
    assert (metrics.n, metrics.unscored) == (n, unscored)


def test_score_is_accuracy_minus_hallucination() -> None:
    metrics = measure([C] * 17 + [W] * 11 + [M] * 5)
    assert metrics.score == pytest.approx(metrics.accuracy - metrics.hallucination)
    assert metrics.accuracy + metrics.hallucination + metrics.missing == pytest.approx(1)


def test_the_interval_is_that_of_the_normal_approximation_for_many_questions() -> None:
    values = [1.0] * 500 + [-1.0] * 300 + [0.0] * 200
    mean = sum(values) / len(values)
    error = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values) / len(values))
    interval = bootstrap_interval(values)
    assert interval.low == pytest.approx(mean - 1.96 * error, abs=0.006)
    assert interval.high == pytest.approx(mean + 1.96 * error, abs=0.006)


def test_the_interval_is_the_same_every_time() -> None:
    values = [1.0, -1.0, 0.0, 1.0]
    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval(values) != bootstrap_interval(values, seed=1, resamples=50)
    assert bootstrap_interval([1.0, 1.0]) == bootstrap_interval([1.0])


def test_slices() -> None:
    rows: list[dict[str, Any]] = [
        {"verdict": "correct", "domain": "movie"},
        {"verdict": "incorrect", "domain": "music", "question_type": "simple"},
        {"verdict": "missing", "domain": "movie", "question_type": None},
    ]
    found = slices(rows)
    assert {field: list(groups) for field, groups in found.items()} == {
        "domain": ["movie", "music"],
        "question_type": [UNLABELLED, "simple"],
    }
    assert found["domain"]["movie"].score == pytest.approx(0.5)
    assert found["question_type"]["simple"].hallucination == 1


@pytest.mark.parametrize(("verdict", "ends"), [(C, (1.0, 1.0)), (W, (-1.0, -1.0)), (M, (0.0, 0.0)), (U, (0.0, 0.0))])
def test_no_doubt_where_all_verdicts_are_the_same(verdict: Verdict, ends: tuple[float, float]) -> None:
    interval = measure([verdict] * 7).score_interval
    assert (interval.low, interval.high) == ends


def test_more_questions_make_a_narrower_interval() -> None:
    widths = []
    for times in (1, 4, 16):
        metrics = measure([C, C, W, M, C] * 4 * times)
        interval = metrics.score_interval
        assert -1 <= interval.low < metrics.score < interval.high <= 1
        widths.append(interval.high - interval.low)
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.15), "four times the questions, half the width"
    assert widths[1] / widths[2] == pytest.approx(2, rel=0.15)


def test_unscored_questions_change_neither_metrics_nor_interval() -> None:
    verdicts = [C, W, M, C]
    plain, mixed = measure(verdicts).to_dict(), measure([U, C, W, U, M, C, U]).to_dict()
    assert {**mixed, "unscored": 0} == plain
    assert list(plain["ci"]) == [plain["ci"][0], plain["ci"][1]]
    assert "score_interval" not in plain


def test_the_slices_add_up_to_the_whole() -> None:
    rows = [{"verdict": verdict, "domain": name} for verdict in (C, W, M, U) for name in ("a", "b", "", None)]
    found = slices(rows)["domain"]
    assert list(found) == sorted(["a", "b", UNLABELLED])
    assert sum(metrics.n for metrics in found.values()) == 12
    assert sum(metrics.unscored for metrics in found.values()) == 4
    assert found[UNLABELLED].n == 6
