"""The CRAG metrics against hand computation and the normal approximation."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import UNLABELLED, bootstrap_interval, compute_metrics, metrics_by_slice

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
def test_metrics_are_those_computed_by_hand_and_leave_unscored_ones_out(
    verdicts: list[Verdict], score: float, accuracy: float, hallucination: float, missing: float, n: int, unscored: int
) -> None:
    metrics = compute_metrics(verdicts)
    shares = (metrics.score, metrics.accuracy, metrics.hallucination, metrics.missing)
    assert shares == pytest.approx((score, accuracy, hallucination, missing))
    assert (metrics.n, metrics.unscored) == (n, unscored)


@pytest.mark.parametrize("step", [1.0, 0.01])
def test_the_interval_is_that_of_the_normal_approximation_for_many_values(step: float) -> None:
    values = [number * step for number in range(-50, 50)] * 10
    mean, error = float(np.mean(values)), float(np.std(values)) / math.sqrt(len(values))
    ends = (mean - 1.96 * error, mean + 1.96 * error)
    assert list(bootstrap_interval(values)) == pytest.approx(ends, abs=0.15 * error)
    assert list(bootstrap_interval([])) == [0, 0]


def test_slices_add_up_to_the_whole() -> None:
    rows: list[dict[str, Any]] = [
        {"verdict": verdict, "domain": name} for verdict in (C, W, M, U) for name in ("a", "b", "", None)
    ]
    rows[0] |= {"question_type": "simple", "static_or_dynamic": None}
    found = metrics_by_slice(rows)

    assert {field: list(groups) for field, groups in found.items()} == {
        "domain": [UNLABELLED, "a", "b"],
        "question_type": [UNLABELLED, "simple"],
    }
    assert sum(metrics.n for metrics in found["domain"].values()) == 12
    assert sum(metrics.unscored for metrics in found["domain"].values()) == 4
    assert found["domain"][UNLABELLED].n == 6
    assert found["question_type"]["simple"].accuracy == 1


def test_every_share_has_the_interval_of_scipys_bootstrap() -> None:
    verdicts = [C] * 60 + [W] * 25 + [M] * 35 + [U] * 4
    metrics = compute_metrics(verdicts, resamples=8000)
    for kind, name in ((C, "accuracy"), (W, "hallucination"), (M, "missing")):
        hits = np.array([verdict is kind for verdict in verdicts if verdict is not U], dtype=float)
        theirs = stats.bootstrap(
            (hits,), np.mean, method="percentile", n_resamples=8000, rng=np.random.default_rng(3)
        ).confidence_interval
        assert list(metrics.intervals[name]) == pytest.approx((theirs.low, theirs.high), abs=0.01)
