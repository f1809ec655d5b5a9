"""Fits the calibrated model to judged answers, cross-validated; measures the expected-score rule on them."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from crag.answering import MOST_DEVIATIONS, PAGES_KIND, ConfidenceModel, Feature, LogisticModel, kind_of
from crag.core.contracts import INVALID_QUESTION
from crag.core.files import UserError
from crag.evaluation.metrics import RESAMPLES, SEED, percentile_interval
from crag.training.calibrate import AskedQuestion, JudgedCandidate

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]
THRESHOLD = 0.5
"""On P(correct): a right answer earns as much as a wrong one costs."""
RELIABILITY_BINS = 10
STRENGTHS = tuple(10.0**power for power in range(-4, 2))
"""Values tried for scikit-learn's C, the inverse strength; the smallest gives almost the base rate."""
INNER_FOLDS = 5
LEAST_QUESTIONS, LEAST_OF_PART = 5, 2
"""Cross-validation needs this many questions of either class, and so does each of its parts."""
LEAST_OF_KIND = 10
"""A kind of answer (`crag.answering.kind_of`) with fewer examples is neither learned from nor weighed."""
LEAST_OF_PAGES = 200
"""Answers from pages get a model of their own if there are as many examples, and others beside them."""

NO_SPREAD = 1e-9


def reward(question: AskedQuestion) -> int:
    """+1, 0 or -1: the score of giving the first answer that is above the threshold or not weighed.

    If there is none, a closed gate answers.
    """
    allowed = (answer for answer in question.candidates if not answer.gated)
    given = question.settled or next((each for each in allowed if each.likely is None or each.likely > THRESHOLD), None)
    if given is None and question.gate is not None:
        return (1 if question.invalid else -1) if question.gate == INVALID_QUESTION else 0
    return 0 if given is None else (1 if given.right else -1)


def rewards(questions: Iterable[AskedQuestion]) -> Floats:
    """The score of each question: shape (questions,)."""
    return np.array([reward(question) for question in questions], dtype=np.float64)


def unweighed(question: AskedQuestion) -> AskedQuestion:
    """The same question for an agent that always gives its first answer."""
    return replace(question, candidates=tuple(one._replace(likely=None) for one in question.candidates))


def figures(questions: Sequence[AskedQuestion]) -> dict[str, Any]:
    """What the probabilities of questions and answers are worth, JSON-ready; out of fold if they are."""
    ours, plain = rewards(questions), rewards(map(unweighed, questions))
    groups = [question.group for question in questions]
    answers = [one for question in questions for one in question.candidates if one.likely is not None]
    kinds: dict[str, list[JudgedCandidate]] = defaultdict(list)
    for answer in answers:
        kinds[kind_of(answer.features)].append(answer)
    return {
        "questions": len(questions),
        "threshold": THRESHOLD,
        "calibrated": _shares(ours, groups),
        "always_answer": _shares(plain, groups),
        "against_always_answer": {
            "difference": float((ours - plain).mean()),
            "ci": grouped_interval(ours - plain, groups),
        },
        "probabilities": _quality(answers),
        "probabilities_by_kind": {
            kind: _quality(own) for kind, own in sorted(kinds.items()) if len({one.right for one in own}) > 1
        },
    }


def grouped_interval(values: Floats, groups: Sequence[str]) -> list[float]:
    """The 95 % percentile-bootstrap interval of the mean.

    Resamples whole groups: the same question in several runs counts as one observation.
    """
    _, place = np.unique(np.asarray(groups), return_inverse=True)
    sums, sizes = np.bincount(place, weights=values), np.bincount(place).astype(np.float64)
    shares = np.full(len(sizes), 1 / len(sizes))
    drawn = np.random.default_rng(SEED).multinomial(len(sizes), shares, size=RESAMPLES).astype(np.float64)
    return list(percentile_interval((drawn @ sums) / (drawn @ sizes)))


def _shares(earned: Floats, groups: Sequence[str]) -> dict[str, Any]:
    return {
        "score": float(earned.mean()),
        "ci": grouped_interval(earned, groups),
        "accuracy": float((earned > 0).mean()),
        "hallucination": float((earned < 0).mean()),
        "missing": float((earned == 0).mean()),
    }


def calibration_error(probabilities: Floats, right: NDArray[np.bool_]) -> float:
    """Expected calibration error: |mean probability - share of right answers| of bins of equal width, by their size."""
    gaps, _ = np.histogram(probabilities, RELIABILITY_BINS, (0, 1), weights=probabilities - right)
    return float(abs(gaps).sum() / len(right))


def _quality(answers: Sequence[JudgedCandidate]) -> dict[str, float]:
    """How well the probabilities separate right from wrong answers."""
    likely = np.array([one.likely for one in answers], dtype=np.float64)
    right = np.array([one.right for one in answers], dtype=bool)
    return {
        "answers": len(right),
        "right": float(right.mean()),
        "ece": calibration_error(likely, right),
        "brier": float(brier_score_loss(right, likely)),
        "log_loss": float(log_loss(right, likely, labels=[False, True])),
        "auc": float(roc_auc_score(right, likely)),
    }


class NothingLearnedError(UserError, ValueError):
    """Nothing can be learned from the answers; the message says why."""


class Item(NamedTuple):
    """Features and what is to be learned from them. Rows of a group are held out together."""

    features: Mapping[str, float]
    right: bool
    group: str


class Fitted(NamedTuple):
    """A model, the C that cross-validation chose, and P(right) of each row by models fitted without its group."""

    model: LogisticModel
    inverse_strength: float
    held_out: list[float]


class Calibration(NamedTuple):
    """A fitted model, and the questions with their out-of-fold probabilities."""

    model: ConfidenceModel
    questions: list[AskedQuestion]
    inverse_strength: dict[str, float]


def calibrate(questions: Sequence[AskedQuestion], folds: int, seed: int) -> Calibration:
    """Fit P(correct) to kinds of answers with enough examples."""
    rows = [Item(one.features, one.right, question.group) for question in questions for one in question.candidates]
    kinds = [kind_of(row.features) for row in rows]
    covers = {kind for kind, count in Counter(kinds).items() if count >= LEAST_OF_KIND}
    if not covers:
        raise NothingLearnedError(f"at least {LEAST_OF_KIND} answers of one kind (web, graph) are needed")
    learned = [place for place, kind in enumerate(kinds) if kind in covers]
    parts = {"correct": fit([rows[place] for place in learned], folds, seed)}
    likely = dict(zip(learned, parts["correct"].held_out, strict=True))
    pages = [place for place in learned if kinds[place] == PAGES_KIND]
    if LEAST_OF_PAGES <= len(pages) < len(learned):
        with suppress(NothingLearnedError):
            parts["pages"] = fit([rows[place] for place in pages], folds, seed)
            likely |= zip(pages, parts["pages"].held_out, strict=True)
    of_each = iter(likely.get(place) for place in range(len(rows)))
    weighed = [
        replace(question, candidates=tuple(one._replace(likely=next(of_each)) for one in question.candidates))
        for question in questions
    ]
    model = ConfidenceModel.model_validate(
        {name: part.model for name, part in parts.items()} | {"covers": sorted(covers)}
    )
    return Calibration(model, weighed, {name: part.inverse_strength for name, part in parts.items()})


def fit(rows: Sequence[Item], folds: int, seed: int) -> Fitted:
    """Fit P(right), and cross-validate it; `NothingLearnedError` if a class has fewer than `LEAST_QUESTIONS` groups."""
    _check(rows, LEAST_QUESTIONS)
    held_out = np.full(len(rows), np.nan)
    for train, test in tqdm(_splits(rows, folds, seed), desc="cross-validation", disable=None):
        model, _ = _fitted([rows[place] for place in train], seed)
        held_out[test] = [model.probability(rows[place].features) for place in test]
    return Fitted(*_fitted(rows, seed), held_out.tolist())


def _fitted(rows: Sequence[Item], seed: int) -> tuple[LogisticModel, float]:
    """The model of these rows and its C.

    Constant features are dropped; missing values count as the mean. Cross-validation chooses the L2 penalty with the
    least log loss and keeps groups whole.
    """
    _check(rows, LEAST_OF_PART)
    labels = np.array([row.right for row in rows])
    names = sorted({name for row in rows for name in row.features})
    known = {name: [row.features.get(name, np.nan) for row in rows] for name in names}
    columns = {name: column for name, column in known.items() if np.nanstd(column) > NO_SPREAD}
    if not columns:
        rate = float(labels.mean())
        return LogisticModel(bias=math.log(rate / (1 - rate))), STRENGTHS[0]
    scaler = StandardScaler()
    matrix = np.nan_to_num(scaler.fit_transform(np.array(list(columns.values())).T))  # the scaler passes gaps over
    matrix = np.clip(matrix, -MOST_DEVIATIONS, MOST_DEVIATIONS)
    regression, folds = LogisticRegression(solver="newton-cholesky"), _splits(rows, INNER_FOLDS, seed)
    search = GridSearchCV(regression, {"C": STRENGTHS}, scoring="neg_log_loss", cv=folds).fit(matrix, labels)
    fitted = search.best_estimator_
    of_each = zip(columns, scaler.mean_, scaler.scale_, fitted.coef_[0], strict=True)
    features = {name: Feature(mean=mean, scale=scale, weight=weight) for name, mean, scale, weight in of_each}
    return LogisticModel(bias=float(fitted.intercept_[0]), features=features), search.best_params_["C"]


def _splits(rows: Sequence[Item], folds: int, seed: int) -> list[tuple[Positions, Positions]]:
    """Places of training and test rows; groups stay whole, classes are spread evenly.

    If a class has fewer groups than folds, there are fewer folds.
    """
    splitter = StratifiedGroupKFold(min(folds, _fewest(rows)), shuffle=True, random_state=seed)
    return list(splitter.split(rows, [row.right for row in rows], [row.group for row in rows]))


def _fewest(rows: Sequence[Item]) -> int:
    """The number of groups with a right row, or with a wrong one, whichever is smaller."""
    return min(len({row.group for row in rows if row.right is right}) for right in (True, False))


def _check(rows: Sequence[Item], least: int, right: str = "right", wrong: str = "wrong") -> None:
    if _fewest(rows) < least:
        yes = sum(row.right for row in rows)
        counts = f"{yes} {right} and {len(rows) - yes} {wrong}"
        raise NothingLearnedError(f"{counts}; at least {least} different questions of each kind are needed")
