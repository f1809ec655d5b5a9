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
