"""The CRAG metrics against hand computation and the normal approximation."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evaluation.judge import Verdict
from evaluation.metrics import UNLABELLED, bootstrap_interval, measure, resampled_counts, slices

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


def test_the_interval_is_that_of_the_normal_approximation_for_many_questions() -> None:
    values = [1.0] * 500 + [-1.0] * 300 + [0.0] * 200
    mean = sum(values) / len(values)
    error = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values) / len(values))
    interval = bootstrap_interval(values)
    assert interval.low == pytest.approx(mean - 1.96 * error, abs=0.006)
    assert interval.high == pytest.approx(mean + 1.96 * error, abs=0.006)


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


def test_every_share_has_the_interval_of_scipys_bootstrap() -> None:
    verdicts = [C] * 60 + [W] * 25 + [M] * 35 + [U] * 4
    metrics = measure(verdicts, resamples=8000)
    for kind, interval in (
        (C, metrics.intervals["accuracy"]),
        (W, metrics.intervals["hallucination"]),
        (M, metrics.intervals["missing"]),
    ):
        hits = np.array([verdict is kind for verdict in verdicts if verdict is not U], dtype=float)
        theirs = stats.bootstrap(
            (hits,), np.mean, method="percentile", n_resamples=8000, rng=np.random.default_rng(3)
        ).confidence_interval
        assert (interval.low, interval.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)
    plain = metrics.to_dict()
    assert plain["intervals"]["accuracy"] == [metrics.intervals["accuracy"].low, metrics.intervals["accuracy"].high]
    assert set(plain["intervals"]) == {"accuracy", "hallucination", "missing"}


def test_resampled_counts_are_samples_with_replacement() -> None:
    samples = resampled_counts([30, 10, 0], resamples=20_000)
    assert set(samples.sum(axis=1)) == {40}
    assert samples.mean(axis=0) == pytest.approx([30, 10, 0], abs=0.1)
    assert samples[:, 0].std() == pytest.approx(math.sqrt(40 * 0.75 * 0.25), rel=0.03)
    assert resampled_counts([0, 0], resamples=3).tolist() == [[0, 0]] * 3


def test_pairs_of_labels() -> None:
    rows: list[dict[str, Any]] = [
        {"verdict": "correct", "domain": "movie", "question_type": "set", "popularity": "head"},
        {"verdict": "incorrect", "domain": "movie", "question_type": "set"},
        {"verdict": "missing", "domain": "music", "question_type": "simple"},
    ]
    found = pairs(rows)
    assert set(found) == {"domain/question_type", "domain/popularity", "question_type/popularity"}
    assert {label: list(row) for label, row in found["domain/question_type"].items()} == {
        "movie": ["set"],
        "music": ["simple"],
    }
    cell = found["domain/question_type"]["movie"]["set"].to_short_dict()
    assert (cell["score"], cell["n"], cell["ci"]) == (0.0, 2, [-1.0, 1.0])
    assert found["domain/popularity"]["movie"][UNLABELLED].hallucination == 1
    assert slices(rows)["popularity"]["head"].accuracy == 1
