"""Calibrated probabilities: mixes two classifiers so that 0.8 is right eight times in ten, and measures it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LogProbabilities = NDArray[np.float64]
"""Log-probabilities of shape (questions, classes)."""

RELIABILITY_BINS = 10
"""Default number of bins of equal width for the expected calibration error."""


class MixingWeights(NamedTuple):
    """Weights of the log-probabilities of the encoder and of the n-grams; their sum is an inverse temperature."""

    encoder: float
    ngrams: float


def log_softmax(logits: NDArray[np.floating[Any]]) -> LogProbabilities:
    """Log-probabilities along the last axis."""
    shifted = np.asarray(logits, dtype=np.float64) - np.max(logits, axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def mix_log_probabilities(
    encoder: LogProbabilities | None, ngrams: LogProbabilities | None, weights: MixingWeights
) -> LogProbabilities:
    """The weighted sum of both parts' log-probabilities, normalised; either part may be absent.

    A single part's weight is an inverse temperature (Guo et al. 2017, "temperature scaling").
    """
    parts = [
        weight * logs for logs, weight in ((encoder, weights.encoder), (ngrams, weights.ngrams)) if logs is not None
    ]
    if not parts:
        raise ValueError("a classifier has an encoder, n-grams or both")
    return log_softmax(sum(parts[1:], start=parts[0]))


def fit_mixing_weights(
    encoder: LogProbabilities | None, ngrams: LogProbabilities | None, classes: NDArray[np.int64]
) -> MixingWeights:
    """The non-negative weights that maximise the probability of the true classes.

    Use predictions for questions that the parts were not trained on, or the weights come out far too large. The
    objective is convex, so the minimum is unique.
    """
    from scipy.optimize import minimize

    rows = np.arange(len(classes))
    present = [logs for logs in (encoder, ngrams) if logs is not None]

    def loss_and_gradient(point: LogProbabilities) -> tuple[float, LogProbabilities]:
        logs = log_softmax(sum(weight * part for weight, part in zip(point, present, strict=True)))
        expected = [(np.exp(logs) * part).sum(axis=1) for part in present]
        gradient = [float((mean - part[rows, classes]).mean()) for mean, part in zip(expected, present, strict=True)]
        return float(-logs[rows, classes].mean()), np.array(gradient)

    start = np.full(len(present), 1.0 / len(present))
    bounds = [(0.0, 20.0)] * len(present)
    weights = iter(minimize(loss_and_gradient, start, jac=True, bounds=bounds, method="L-BFGS-B").x)
    return MixingWeights(*(float(next(weights)) if part is not None else 0.0 for part in (encoder, ngrams)))


def expected_calibration_error(
    probabilities: NDArray[np.floating[Any]], classes: NDArray[np.int64], bins: int = RELIABILITY_BINS
) -> float:
    """The mean distance between the predicted class's probability and its accuracy.

    Questions are sorted into `bins` of equal width by that probability (a bin includes its upper end). Each bin's
    distance between mean probability and accuracy is weighted by its share of the questions (Naeini et al. 2015).
    """
    top = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == classes
    bin_of = np.clip(np.ceil(top * bins).astype(np.int64) - 1, 0, bins - 1)
    return float(sum(abs((top - right)[bin_of == number].sum()) for number in range(bins)) / max(1, len(classes)))
