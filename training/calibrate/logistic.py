"""Logistic regression for a few hundred rows: standardised features, strength of regularisation by cross-validation."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.answering import MOST_DEVIATIONS, Feature, LogisticModel
from agents.common.files import UserError
from training.calibrate.expected_score import Floats

STRENGTHS = tuple(10.0**power for power in range(-4, 2))
"""Values tried for scikit-learn's C, the inverse strength; the smallest gives almost the base rate."""
INNER_FOLDS = 5
LEAST_QUESTIONS = 5
"""Cross-validation needs this many questions of either class."""
_LEAST_OF_PART = 2
_NO_SPREAD = 1e-9

Features = Mapping[str, float]
Positions = NDArray[np.int64]


class TooFewError(UserError, ValueError):
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
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss
    from sklearn.model_selection import cross_val_predict
    from sklearn.preprocessing import StandardScaler

    labels = np.asarray(right, dtype=bool)
    enough(labels, groups, _LEAST_OF_PART)
    known = {name: [row.get(name, np.nan) for row in rows] for name in sorted(set().union(*rows))}
    columns = {name: column for name, column in known.items() if np.nanstd(column) > _NO_SPREAD}
    if not columns:
        rate = float(labels.mean())
        return FittedLogistic(LogisticModel(bias=math.log(rate / (1 - rate))), STRENGTHS[0])
    scaler = StandardScaler()
    matrix = np.nan_to_num(scaler.fit_transform(np.array(list(columns.values())).T))  # the scaler passes gaps over
    matrix = np.clip(matrix, -MOST_DEVIATIONS, MOST_DEVIATIONS)
    folds = list(grouped_folds(labels, groups, INNER_FOLDS, seed))

    def regression(strength: float) -> Any:  # noqa: ANN401 - scikit-learn ships no types
        return LogisticRegression(C=strength, solver="newton-cholesky")

    def loss(strength: float) -> float:
        held_out = cross_val_predict(regression(strength), matrix, labels, cv=folds, method="predict_proba")
        return float(log_loss(labels, held_out[:, 1]))

    chosen = min(STRENGTHS, key=loss)
    fitted = regression(chosen).fit(matrix, labels)
    of_each = zip(columns, scaler.mean_, scaler.scale_, fitted.coef_[0], strict=True)
    features = {name: Feature(mean=mean, scale=scale, weight=weight) for name, mean, scale, weight in of_each}
    return FittedLogistic(LogisticModel(bias=float(fitted.intercept_[0]), features=features), chosen)


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
        found[test] = [fitted.model.probability(rows[i]) for i in test]
    return found


def grouped_folds(
    labels: NDArray[np.bool_], groups: Sequence[str], folds: int, seed: int
) -> Iterator[tuple[Positions, Positions]]:
    """Places of training and test rows, by scikit-learn; groups stay whole, classes are spread evenly.

    If a class has fewer groups than folds, there are fewer folds.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(min(folds, fewest_groups(labels, groups)), shuffle=True, random_state=seed)
    yield from splitter.split(labels, labels, groups)


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
