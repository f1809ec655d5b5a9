"""Logistic regression on the hashed n-grams of questions, one model per field."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from crag.router import FIELD_CLASSES
from crag.router.calibration import LogProbabilities, log_softmax
from crag.router.ngrams import bucket_rarity, hashed_rows
from crag.training.router.questions import Examples, Positions
from crag.training.router.settings import NgramTraining

MAX_ITERATIONS = 500
"""Limit for the logistic regression."""
UNSEEN_CLASS_BIAS = -20.0
"""So low that a class without examples is never predicted."""

Tensors = dict[str, NDArray[np.float32]]


def fit_ngrams(settings: NgramTraining | None, examples: Examples, positions: Positions) -> Tensors:
    """The tensors ``rarity``, ``<field>.weight`` (buckets, classes) and ``<field>.bias`` (classes,).

    Without settings there are no tensors.
    """
    if settings is None:
        return {}

    texts = [examples.texts[position] for position in positions]
    rarity = bucket_rarity(texts, settings.buckets)
    rows = hashed_rows(texts, rarity)
    matrix = csr_matrix((rows.values, (rows.rows, rows.columns)), shape=rows.shape)

    tensors = {"rarity": rarity}
    for name, classes in examples.classes.items():
        model = LogisticRegression(C=settings.inverse_regularisation, max_iter=MAX_ITERATIONS)
        model.fit(matrix, classes[positions])

        coefficients = model.coef_
        intercepts = model.intercept_
        if len(model.classes_) == 2:  # scikit-learn keeps one row for two classes: the log-odds of the second
            # Log-odds of 0 for the first class: softmax then gives the same probabilities
            coefficients = np.vstack([np.zeros_like(coefficients), coefficients])
            intercepts = np.concatenate([[0.0], intercepts])

        # The model has only the classes that occur; the tensors have all.
        number_of_classes = len(FIELD_CLASSES[name])
        weight = np.zeros((settings.buckets, number_of_classes), dtype=np.float32)
        bias = np.full(number_of_classes, UNSEEN_CLASS_BIAS, dtype=np.float32)
        weight[:, model.classes_] = coefficients.T
        bias[model.classes_] = intercepts
        tensors[f"{name}.weight"] = weight
        tensors[f"{name}.bias"] = bias
    return tensors


def predict_ngrams(tensors: Tensors, texts: Sequence[str]) -> dict[str, LogProbabilities]:
    """Log-probabilities of each field that `fit_ngrams` learnt, shape (texts, classes)."""
    if not tensors:
        return {}

    rows = hashed_rows(texts, tensors["rarity"])
    log_probabilities: dict[str, LogProbabilities] = {}
    for tensor_name in tensors:
        if not tensor_name.endswith(".weight"):
            continue
        name = tensor_name.removesuffix(".weight")

        # Sparse times dense: a question has only a few of the thousands of buckets
        logits = rows.times(tensors[f"{name}.weight"]) + tensors[f"{name}.bias"]
        log_probabilities[name] = log_softmax(logits)
    return log_probabilities
