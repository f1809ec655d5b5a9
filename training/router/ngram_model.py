"""Fits the n-gram half of a classifier: logistic regression on hashed n-grams, one per field."""

import numpy as np
from numpy.typing import NDArray

from agents.questions import FIELD_CLASSES
from agents.questions.trainable import SparseRows, bucket_rarity, hashed_rows
from training.router.examples import Examples, Positions
from training.router.settings import NgramTraining

MAX_ITERATIONS = 500


def fit_ngrams(settings: NgramTraining, examples: Examples, positions: Positions) -> dict[str, NDArray[np.float32]]:
    """Tensors by the names that a classifier's weights file has: ``rarity``, ``<field>.weight``, ``<field>.bias``.

    A class that is absent from the examples gets a bias under which it is never chosen.
    """
    from sklearn.linear_model import LogisticRegression

    texts = examples.some(positions)
    rarity = bucket_rarity(texts, settings.buckets)
    matrix = _scipy(hashed_rows(texts, rarity))
    tensors = {"rarity": rarity}
    for field, classes in examples.classes.items():
        model = LogisticRegression(C=settings.inverse_regularisation, max_iter=MAX_ITERATIONS)
        model.fit(matrix, classes[positions])
        weight = np.zeros((settings.buckets, len(FIELD_CLASSES[field])), dtype=np.float32)
        bias = np.full(len(FIELD_CLASSES[field]), -20.0, dtype=np.float32)
        coefficients, intercepts = model.coef_, model.intercept_
        if len(model.classes_) == 2:  # scikit-learn keeps one row for two classes: the log-odds of the second
            coefficients = np.vstack([np.zeros_like(coefficients), coefficients])
            intercepts = np.concatenate([[0.0], intercepts])
        weight[:, model.classes_] = coefficients.T
        bias[model.classes_] = intercepts
        tensors |= {f"{field}.weight": weight, f"{field}.bias": bias}
    return tensors


def _scipy(rows: SparseRows) -> object:
    from scipy.sparse import csr_matrix

    return csr_matrix((rows.values, (rows.rows, rows.columns)), shape=rows.shape)
