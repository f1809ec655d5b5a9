"""Numbers that mean what they say: mixing two classifiers so that 0.8 is right eight times in ten, and checking it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Logs = NDArray[np.float64]
"""Log-probabilities of shape (questions, classes)."""

RELIABILITY_BINS = 10
"""Default number of bins of equal width for the expected calibration error."""


class MixingWeights(NamedTuple):
    """How much the log-probabilities of the encoder and of the n-grams count; their sum is an inverse temperature."""

    encoder: float
    ngrams: float


def log_softmax(logits: NDArray[np.floating[Any]]) -> Logs:
    """Log-probabilities along the last axis."""
    shifted = np.asarray(logits, dtype=np.float64) - np.max(logits, axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def average_logs(members: Sequence[Logs]) -> Logs:
    """Log-probabilities of several classifiers as one: their normalised geometric mean."""
    return log_softmax(np.mean(members, axis=0))


def mixed(encoder: Logs | None, ngrams: Logs | None, weights: MixingWeights) -> Logs:
    """Log-probabilities proportional to the weighted sum of those of the two parts, either of which may be absent.

    With one part alone its weight is the inverse of a temperature (Guo et al. 2017, "temperature scaling").
    """
    parts = [
        weight * logs for logs, weight in ((encoder, weights.encoder), (ngrams, weights.ngrams)) if logs is not None
    ]
    if not parts:
        raise ValueError("a classifier has an encoder, n-grams or both")
    return log_softmax(sum(parts[1:], start=parts[0]))


def fit_mixing_weights(encoder: Logs | None, ngrams: Logs | None, classes: NDArray[np.int64]) -> MixingWeights:
    """The weights, none below zero, under which the true classes are most probable.

    Give predictions for questions that the parts have not seen in training, or the weights come out far too large.
    The objective is convex, so that the minimum found is the only one.
    """
    from scipy.optimize import minimize

    rows = np.arange(len(classes))
    present = [logs for logs in (encoder, ngrams) if logs is not None]

    def loss_and_gradient(point: Logs) -> tuple[float, Logs]:
        logs = log_softmax(sum(weight * part for weight, part in zip(point, present, strict=True)))
        expected = [(np.exp(logs) * part).sum(axis=1) for part in present]
        gradient = [float((mean - part[rows, classes]).mean()) for mean, part in zip(expected, present, strict=True)]
        return float(-logs[rows, classes].mean()), np.array(gradient)

    start = np.full(len(present), 1.0 / len(present))
    bounds = [(0.0, 20.0)] * len(present)
    found = iter(minimize(loss_and_gradient, start, jac=True, bounds=bounds, method="L-BFGS-B").x)
    return MixingWeights(*(float(next(found)) if part is not None else 0.0 for part in (encoder, ngrams)))


def expected_calibration_error(
    probabilities: NDArray[np.floating[Any]], classes: NDArray[np.int64], bins: int = RELIABILITY_BINS
) -> float:
    """How far the probability of the class that is named lies from how often it is right, on average.

    Questions are sorted into `bins` of equal width by that probability (a bin owns its upper end); the distance between
    mean probability and accuracy of each bin is weighted by its share of the questions (Naeini et al. 2015).
    """
    top = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == classes
    bin_of = np.clip(np.ceil(top * bins).astype(np.int64) - 1, 0, bins - 1)
    return float(sum(abs((top - right)[bin_of == one].sum()) for one in range(bins)) / max(1, len(classes)))
