"""Logistic regression for a few hundred rows: standardised features, strength of regularisation by cross-validation."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.answering import MOST_DEVIATIONS, LogisticModel
from training.calibrate.expected_score import Floats

STRENGTHS = tuple(10.0**power for power in range(-4, 2))
"""Values tried for scikit-learn's C, the inverse strength; the smallest gives almost the base rate."""
INNER_FOLDS = 5
LEAST_QUESTIONS = 5
"""Cross-validation needs this many questions of either class."""
_LEAST_OF_PART = 2
_NO_SPREAD = 1e-9

Features = Mapping[str, float]


class TooFewError(ValueError):
    """Not enough right or wrong answers to learn from; the message gives the counts."""


class FittedLogistic(NamedTuple):
    """The model, and the C that cross-validation chose."""

    model: LogisticModel
    inverse_strength: float


def fit_logistic(rows: Sequence[Features], right: Sequence[bool], groups: Sequence[str], seed: int) -> FittedLogistic:
    """Fit P(right) to rows of features.

    Constant features are dropped; missing values count as the mean. Cross-validation chooses the L2 penalty with the
    least log loss and keeps groups whole.

    Raises:
        TooFewError: fewer than two groups with right or with wrong rows.
    """
    labels = np.asarray(right, dtype=bool)
    enough(labels, groups, _LEAST_OF_PART)
    known = {name: np.array([row.get(name, np.nan) for row in rows]) for name in sorted(set().union(*rows))}
    columns = {name: column for name, column in known.items() if np.nanstd(column) > _NO_SPREAD}
    if not columns:
        rate = float(labels.mean())
        return FittedLogistic(LogisticModel((), (), (), (), math.log(rate / (1 - rate))), STRENGTHS[0])
    mean, scale = (np.array([of(column) for column in columns.values()]) for of in (np.nanmean, np.nanstd))
    matrix = np.nan_to_num((np.stack(list(columns.values()), axis=1) - mean) / scale, nan=0.0)
    matrix = np.clip(matrix, -MOST_DEVIATIONS, MOST_DEVIATIONS)
    losses = _losses(matrix, labels, groups, seed)
    chosen = min(STRENGTHS, key=losses.__getitem__)
    regression = _regression(matrix, labels, chosen)
    means, scales, weights = (tuple(column.tolist()) for column in (mean, scale, regression.coef_[0]))
    model = LogisticModel(tuple(columns), means, scales, weights, float(regression.intercept_[0]))
    return FittedLogistic(model, chosen)


def out_of_fold(
    rows: Sequence[Features], right: Sequence[bool], groups: Sequence[str], folds: int, seed: int
) -> Floats:
    """P(right) of each row by a model that was fitted without the row's group: shape (rows,).

    Raises:
        TooFewError: fewer than `LEAST_QUESTIONS` groups with right or with wrong rows.
    """
    from tqdm import tqdm

    found = np.full(len(rows), np.nan)
    labels = np.asarray(right, dtype=bool)
    enough(labels, groups, LEAST_QUESTIONS)
    for train, test in tqdm(list(grouped_folds(labels, groups, folds, seed)), desc="cross-validation", disable=None):
        fitted = fit_logistic([rows[i] for i in train], labels[train].tolist(), [groups[i] for i in train], seed)
        for i in test:
            found[i] = fitted.model.probability(rows[i])
    return found


def grouped_folds(
    labels: NDArray[np.bool_], groups: Sequence[str], folds: int, seed: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Places of training and test rows; groups stay whole, and each part has rows of both classes.

    Groups are shuffled, sorted into those with wrong rows only, with both, and with right rows only, and dealt out in
    turn. If a class has fewer groups than folds, there are fewer folds.
    """
    folds = min(folds, fewest_groups(labels, groups))
    names, place = np.unique(np.asarray(groups), return_inverse=True)
    has_right, has_wrong = (np.bincount(place, weights=some, minlength=len(names)) > 0 for some in (labels, ~labels))
    order = np.random.default_rng(seed).permutation(len(names))
    order = order[np.argsort((2 * has_right.astype(int) - has_wrong)[order], kind="stable")]
    fold_of = np.empty(len(names), dtype=np.int64)
    fold_of[order] = np.arange(len(names)) % folds
    for number in range(folds):
        held_out = fold_of[place] == number
        yield np.flatnonzero(~held_out), np.flatnonzero(held_out)


def fewest_groups(labels: NDArray[np.bool_], groups: Sequence[str]) -> int:
    """The number of groups with a right row, or with a wrong one, whichever is smaller."""
    names = np.asarray(groups)
    return min(len(set(names[labels])), len(set(names[~labels])))


def enough(
    labels: NDArray[np.bool_], groups: Sequence[str], least: int, kinds: tuple[str, str] = ("right", "wrong")
) -> None:
    """Raise `TooFewError` if a class has fewer than `least` groups."""
    if len(labels) == 0 or fewest_groups(labels, groups) < least:
        yes = int(labels.sum())
        counts = f"{yes} {kinds[0]} and {len(labels) - yes} {kinds[1]}"
        raise TooFewError(f"{counts}; at least {least} different questions of each kind are needed")


def _losses(matrix: Floats, labels: NDArray[np.bool_], groups: Sequence[str], seed: int) -> dict[float, float]:
    """Mean log loss of held-out rows, by C."""
    folds = list(grouped_folds(labels, groups, INNER_FOLDS, seed))
    losses = {}
    for strength in STRENGTHS:
        total = 0.0
        for train, test in folds:
            held = _regression(matrix[train], labels[train], strength).predict_proba(matrix[test])
            likely = held[np.arange(len(test)), labels[test].astype(int)]
            total -= float(np.log(np.maximum(likely, 1e-12)).sum())
        losses[strength] = total / len(labels)
    return losses


def _regression(matrix: Floats, labels: NDArray[np.bool_], strength: float):  # type: ignore[no-untyped-def]  # noqa: ANN202 - scikit-learn ships no types
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, solver="newton-cholesky").fit(matrix, labels)
