"""Calibrated probabilities: mixes two classifiers so that 0.8 is right eight times in ten, and measures it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LogProbabilities = NDArray[np.float64]
"""Log-probabilities of shape (questions, classes)."""

RELIABILITY_BINS = 10
"""Bins of equal width for the expected calibration error."""


class MixingWeights(NamedTuple):
    """Weights of the log-probabilities of the encoder and of the n-grams; their sum is an inverse temperature."""

    encoder: float
    ngrams: float


def log_softmax(logits: NDArray[np.floating[Any]]) -> LogProbabilities:
    """Log-probabilities along the last axis."""
    # Less the maximum, because exponentials of large logits would overflow.
    maximum = np.max(logits, axis=-1, keepdims=True)
    shifted = np.asarray(logits, dtype=np.float64) - maximum
    exponential_sum = np.exp(shifted).sum(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(exponential_sum))


def mix_log_probabilities(
    encoder: LogProbabilities | None,
    ngrams: LogProbabilities | None,
    weights: MixingWeights,
) -> LogProbabilities:
    """The weighted sum of both parts' log-probabilities, normalised; either part may be absent.

    A single part's weight is an inverse temperature (Guo et al. 2017, "temperature scaling"). Raises ValueError: both
    parts are absent.
    """
    if encoder is not None and ngrams is not None:
        mixture = weights.encoder * encoder + weights.ngrams * ngrams
    elif encoder is not None:
        mixture = weights.encoder * encoder
    elif ngrams is not None:
        mixture = weights.ngrams * ngrams
    else:
        raise ValueError("a classifier has an encoder, n-grams or both")
    return log_softmax(mixture)


def fit_mixing_weights(
    encoder: LogProbabilities | None,
    ngrams: LogProbabilities | None,
    classes: NDArray[np.int64],
) -> MixingWeights:
    """The non-negative weights that maximise the probability of the true classes.

    Use predictions for questions that the parts were not trained on, or the weights come out far too large. The
    objective is convex, so the minimum is unique.
    """
    from scipy.optimize import minimize

    parts = [part for part in (encoder, ngrams) if part is not None]
    start = np.full(len(parts), 1.0 / len(parts))
    bounds = [(0.0, 20.0)] * len(parts)
    result = minimize(
        _loss_and_gradient,
        start,
        args=(parts, classes),
        jac=True,  # the function returns the gradient too
        bounds=bounds,
        method="L-BFGS-B",
    )
    fitted = [float(weight) for weight in result.x]

    # In the order of `parts`: the encoder's weight is the first, that of the n-grams the last.
    return MixingWeights(
        encoder=fitted[0] if encoder is not None else 0.0,
        ngrams=fitted[-1] if ngrams is not None else 0.0,
    )


def _loss_and_gradient(
    weights: NDArray[np.float64],
    parts: Sequence[LogProbabilities],
    classes: NDArray[np.int64],
) -> tuple[float, NDArray[np.float64]]:
    """The mean negative log-probability of the true classes, and its derivative by each part's weight."""
    weighted_parts = [weight * part for weight, part in zip(weights, parts, strict=True)]
    mixture = log_softmax(sum(weighted_parts))
    rows = np.arange(len(classes))  # with `classes`: each question's true class
    loss = float(-mixture[rows, classes].mean())

    # The derivative: the part's expected log-probability under the mixture, less that of the true class.
    mixture_probabilities = np.exp(mixture)
    gradient = []
    for part in parts:
        expected = (mixture_probabilities * part).sum(axis=1)
        difference = expected - part[rows, classes]
        gradient.append(float(difference.mean()))
    return loss, np.array(gradient)


def expected_calibration_error(
    probabilities: NDArray[np.floating[Any]],
    classes: NDArray[np.int64],
) -> float:
    """The mean distance between the predicted class's probability and its accuracy.

    Questions are sorted into bins of equal width by that probability (a bin includes its upper end). Each bin's
    distance between mean probability and accuracy is weighted by its share of the questions (Naeini et al. 2015).
    """
    top_probability = probabilities.max(axis=1)
    is_right = probabilities.argmax(axis=1) == classes

    # Rounded up, less one: a bin includes its upper end. Only a probability of 0 would be below the first bin.
    upper_ends = np.ceil(top_probability * RELIABILITY_BINS).astype(np.int64)
    bin_numbers = np.clip(upper_ends - 1, 0, RELIABILITY_BINS - 1)

    # The sum of a bin is its size times its distance, so the bins are weighted by their sizes already.
    excess = top_probability - is_right
    total = 0.0
    for number in range(RELIABILITY_BINS):
        in_bin = bin_numbers == number
        total += abs(excess[in_bin].sum())
    return float(total / max(1, len(classes)))
