"""Mixing and calibration against numbers worked out by hand."""

import numpy as np
import pytest

from crag.router.calibration import (
    MixingWeights,
    expected_calibration_error,
    fit_mixing_weights,
    log_softmax,
    mix_log_probabilities,
)


def test_the_calibration_error_of_a_small_table() -> None:
    """Bin 0.9-1.0: two questions at 0.95, one right: gap 0.45. Bin 0.6-0.7: two at 0.7, both right: gap 0.3."""
    probabilities = np.array([[0.95, 0.05], [0.05, 0.95], [0.7, 0.3], [0.3, 0.7]])
    classes = np.array([0, 0, 0, 1])
    assert expected_calibration_error(probabilities, classes) == pytest.approx(0.5 * 0.45 + 0.5 * 0.3)


def test_a_part_that_knows_nothing_gets_no_weight_and_is_never_turned_round() -> None:
    random = np.random.default_rng(1)
    classes = random.integers(0, 3, size=600)
    good = log_softmax(2.0 * np.eye(3)[classes] + random.normal(size=(600, 3)))
    misleading = log_softmax(-1.0 * np.eye(3)[classes] + random.normal(size=(600, 3)))
    weights = fit_mixing_weights(good, misleading, classes)
    assert weights.ngrams == 0.0
    assert weights.encoder > 0.5


def test_the_fit_finds_the_weights_that_made_the_data() -> None:
    random = np.random.default_rng(2)
    first, second = (log_softmax(2.0 * random.normal(size=(20_000, 4))) for _ in range(2))
    truth = np.exp(mix_log_probabilities(first, second, MixingWeights(0.7, 0.3)))
    classes = np.array((truth.cumsum(axis=1) < random.random((20_000, 1))).sum(axis=1))
    weights = fit_mixing_weights(first, second, classes)
    assert weights == pytest.approx((0.7, 0.3), abs=0.03)
    assert expected_calibration_error(np.exp(mix_log_probabilities(first, second, weights)), classes) < 0.02
