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

from crag.answering import MOST_DEVIATIONS, PAGES_KIND, ConfidenceModel, Feature, LogisticModel, answer_kind
from crag.core.contracts import INVALID_QUESTION
from crag.core.files import UserError
from crag.evaluation.metrics import RESAMPLES, SEED, percentile_interval
from crag.training.calibrate.questions import AskedQuestion, JudgedCandidate

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]
THRESHOLD = 0.5
"""On P(correct): a right answer earns as much as a wrong one costs."""
RELIABILITY_BINS = 10
STRENGTHS = tuple(10.0**power for power in range(-4, 2))
"""Values tried for scikit-learn's C, the inverse strength; the smallest gives almost the base rate."""
INNER_FOLDS = 5
LEAST_QUESTIONS = 5
"""Cross-validation needs this many questions of either class."""
LEAST_OF_PART = 2
"""Each of its training parts needs this many questions of either class."""
LEAST_OF_KIND = 10
"""A kind of answer (`crag.answering.answer_kind`) with fewer examples is neither learned from nor weighed."""
LEAST_OF_PAGES = 200
"""Answers from pages get a model of their own if there are as many examples, and others beside them."""
NO_SPREAD = 1e-9
"""A feature with this standard deviation or less is constant."""


def reward(question: AskedQuestion) -> int:
    """+1, 0 or -1: the score of giving the first answer that is above the threshold or not weighed.

    If there is none, a closed gate answers.
    """
    answer = question.settled or _first_allowed(question)
    if answer is not None:
        return 1 if answer.right else -1
    if question.gate == INVALID_QUESTION:
        # "invalid question" is itself an answer: right about a false premise, else wrong
        return 1 if question.invalid else -1
    return 0


def _first_allowed(question: AskedQuestion) -> JudgedCandidate | None:
    for candidate in question.candidates:
        p_correct = candidate.p_correct
        # No model covers this kind of answer, so nothing speaks against giving it
        is_allowed = p_correct is None or p_correct > THRESHOLD
        if is_allowed and not candidate.gated:
            return candidate
    return None


def rewards(questions: Iterable[AskedQuestion]) -> Floats:
    """The score of each question: shape (questions,)."""
    return np.array([reward(question) for question in questions], dtype=np.float64)


def unweighed(question: AskedQuestion) -> AskedQuestion:
    """The same question for an agent that always gives its first answer."""
    candidates = [answer._replace(p_correct=None) for answer in question.candidates]
    return replace(question, candidates=tuple(candidates))


def figures(questions: Sequence[AskedQuestion]) -> dict[str, Any]:
    """Measure what the probabilities are worth, JSON-ready. They should be out of fold."""
    # Both rules on the same questions, so that the difference is paired
    calibrated = rewards(questions)
    always_answer = rewards(map(unweighed, questions))
    difference = calibrated - always_answer
    groups = [question.group for question in questions]

    answers: list[JudgedCandidate] = []
    by_kind: dict[str, list[JudgedCandidate]] = defaultdict(list)
    for question in questions:
        for answer in question.candidates:
            if answer.p_correct is not None:
                answers.append(answer)
                by_kind[answer_kind(answer.features)].append(answer)

    quality_by_kind: dict[str, dict[str, float]] = {}
    for kind, kind_answers in sorted(by_kind.items()):
        if len({answer.right for answer in kind_answers}) > 1:  # AUC needs right and wrong answers
            quality_by_kind[kind] = _quality(kind_answers)

    return {
        "questions": len(questions),
        "threshold": THRESHOLD,
        "calibrated": _shares(calibrated, groups),
        "always_answer": _shares(always_answer, groups),
        "against_always_answer": {
            "difference": float(difference.mean()),
            "ci": grouped_interval(difference, groups),
        },
        "probabilities": _quality(answers),
        "probabilities_by_kind": quality_by_kind,
    }


def grouped_interval(values: Floats, groups: Sequence[str]) -> list[float]:
    """The 95 % percentile-bootstrap interval of the mean.

    Resamples whole groups: the same question in several runs counts as one observation.
    """
    # Numbers of groups from 0, as bincount needs
    _, group_numbers = np.unique(np.asarray(groups), return_inverse=True)
    sums = np.bincount(group_numbers, weights=values)
    sizes = np.bincount(group_numbers).astype(np.float64)

    # How often each resample has each group: shape (resamples, groups).
    chances = np.full(len(sizes), 1 / len(sizes))
    random = np.random.default_rng(SEED)
    counts = random.multinomial(len(sizes), chances, size=RESAMPLES).astype(np.float64)

    # A resample's mean: all its rewards over all its questions, since groups differ in size
    means = (counts @ sums) / (counts @ sizes)
    return list(percentile_interval(means))


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
    # Weighted by p - y: a bin's sum is its size times the gap, so no division by the size is needed
    gaps, _ = np.histogram(
        probabilities,
        RELIABILITY_BINS,
        (0, 1),
        weights=probabilities - right,
    )
    return float(abs(gaps).sum() / len(right))


def _quality(answers: Sequence[JudgedCandidate]) -> dict[str, float]:
    """How well the probabilities separate right from wrong answers."""
    p_correct = np.array([answer.p_correct for answer in answers], dtype=np.float64)
    right = np.array([answer.right for answer in answers], dtype=bool)
    return {
        "answers": len(right),
        "right": float(right.mean()),
        "ece": calibration_error(p_correct, right),
        "brier": float(brier_score_loss(right, p_correct)),
        "log_loss": float(log_loss(right, p_correct, labels=[False, True])),
        "auc": float(roc_auc_score(right, p_correct)),
    }


class NothingLearnedError(UserError, ValueError):
    """Nothing can be learned from the answers; the message says why."""


class AnswerRow(NamedTuple):
    """The features of an answer, and whether it is right. Rows of a group are held out together."""

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
    """Fit P(correct) to kinds of answers with enough examples. Raises NothingLearnedError: no kind has enough."""
    # The kinds of answers that are frequent enough to learn from, and the indices of their rows.
    rows = _answer_rows(questions)
    kinds = [answer_kind(row.features) for row in rows]
    covers = {kind for kind, count in Counter(kinds).items() if count >= LEAST_OF_KIND}
    if not covers:
        raise NothingLearnedError(f"at least {LEAST_OF_KIND} answers of one kind (web, graph) are needed")
    learned = [index for index, kind in enumerate(kinds) if kind in covers]
    pages = [index for index in learned if kinds[index] == PAGES_KIND]

    # The indices of `learned` point into `rows`, those of `held_out` into this selection
    parts = {"correct": fit([rows[index] for index in learned], folds, seed)}
    # Indices of rows -> P(correct) by models that did not see them.
    p_correct = dict(zip(learned, parts["correct"].held_out, strict=True))

    # Answers from pages get a model of their own, if it can be fitted, whose probabilities take precedence.
    if LEAST_OF_PAGES <= len(pages) < len(learned):
        with suppress(NothingLearnedError):
            parts["pages"] = fit([rows[index] for index in pages], folds, seed)
            p_correct |= zip(pages, parts["pages"].held_out, strict=True)

    models: dict[str, object] = {name: part.model for name, part in parts.items()}
    return Calibration(
        ConfidenceModel.model_validate({**models, "covers": sorted(covers)}),
        _weigh(questions, p_correct),
        {name: part.inverse_strength for name, part in parts.items()},
    )


def calibrate_pages(questions: Sequence[AskedQuestion], graph: ConfidenceModel, folds: int, seed: int) -> Calibration:
    """Fit P(correct) to answers from pages alone; answers from the graph keep the model `graph`.

    `NothingLearnedError`: fewer than `LEAST_OF_KIND` answers are from pages.
    """
    rows = _answer_rows(questions)
    pages = [index for index, row in enumerate(rows) if answer_kind(row.features) == PAGES_KIND]
    if len(pages) < LEAST_OF_KIND:
        raise NothingLearnedError(f"at least {LEAST_OF_KIND} answers from pages are needed")

    # Out of fold for pages. The given model is not fitted here, so its answers to all rows count.
    part = fit([rows[index] for index in pages], folds, seed)
    p_correct: dict[int, float] = {}
    for index, row in enumerate(rows):
        probability = graph.probability(row.features)
        if probability is not None:
            p_correct[index] = probability
    p_correct |= zip(pages, part.held_out, strict=True)

    covers = sorted({*graph.covers, PAGES_KIND})
    model = graph.model_copy(update={"pages": part.model, "covers": tuple(covers)})
    return Calibration(model, _weigh(questions, p_correct), {"pages": part.inverse_strength})


def _answer_rows(questions: Iterable[AskedQuestion]) -> list[AnswerRow]:
    """All candidates of all questions, in order."""
    rows: list[AnswerRow] = []
    for question in questions:
        rows += [AnswerRow(answer.features, answer.right, question.group) for answer in question.candidates]
    return rows


def _weigh(questions: Sequence[AskedQuestion], p_correct: Mapping[int, float]) -> list[AskedQuestion]:
    """The questions with P(correct) of their candidates, which are numbered through all questions."""
    weighed: list[AskedQuestion] = []
    index = 0
    for question in questions:
        candidates: list[JudgedCandidate] = []
        for answer in question.candidates:
            # None for an answer whose kind is too rare: it is given unweighed
            candidates.append(answer._replace(p_correct=p_correct.get(index)))
            # In the order of `_answer_rows`
            index += 1
        weighed.append(replace(question, candidates=tuple(candidates)))
    return weighed


def fit(rows: Sequence[AnswerRow], folds: int, seed: int) -> Fitted:
    """Fit P(right), and cross-validate it; `NothingLearnedError` if a class has fewer than `LEAST_QUESTIONS` groups."""
    _require_groups(rows, LEAST_QUESTIONS)

    # Every row is tested in exactly one fold, so no NaN is left at the end
    held_out = np.full(len(rows), np.nan)
    splits = _splits(rows, folds, seed)
    for train, test in tqdm(splits, desc="cross-validation", disable=None):
        training_rows = [rows[index] for index in train]
        model, _ = _fit_model(training_rows, seed)
        held_out[test] = [model.probability(rows[index].features) for index in test]

    model, inverse_strength = _fit_model(rows, seed)
    return Fitted(model, inverse_strength, held_out.tolist())


def _fit_model(rows: Sequence[AnswerRow], seed: int) -> tuple[LogisticModel, float]:
    """The model of these rows and its C.

    Constant features are dropped; missing values count as the mean. Cross-validation chooses the L2 penalty with the
    least log loss and keeps groups whole.
    """
    _require_groups(rows, LEAST_OF_PART)
    labels = np.array([row.right for row in rows])
    columns = _varying_columns(rows)
    if not columns:
        # No feature says anything: the log-odds of the base rate, for every answer
        rate = float(labels.mean())
        return LogisticModel(bias=math.log(rate / (1 - rate))), STRENGTHS[0]

    # Shape (rows, features). The scaler ignores missing values, which then become its mean, 0.
    scaler = StandardScaler()
    values = np.array(list(columns.values())).T
    matrix = np.nan_to_num(scaler.fit_transform(values))

    # One outlier must not move a weight; the finished model clips in the same way
    matrix = np.clip(matrix, -MOST_DEVIATIONS, MOST_DEVIATIONS)

    search = GridSearchCV(
        LogisticRegression(solver="newton-cholesky"),
        {"C": STRENGTHS},
        scoring="neg_log_loss",
        # Within the training rows only: the held-out fold never takes part in choosing C
        cv=_splits(rows, INNER_FOLDS, seed),
    )
    search.fit(matrix, labels)

    best = search.best_estimator_
    features: dict[str, Feature] = {}
    parameters = zip(columns, scaler.mean_, scaler.scale_, best.coef_[0], strict=True)
    for name, mean, scale, weight in parameters:
        features[name] = Feature(mean=mean, scale=scale, weight=weight)
    model = LogisticModel(bias=float(best.intercept_[0]), features=features)
    return model, search.best_params_["C"]


def _varying_columns(rows: Sequence[AnswerRow]) -> dict[str, list[float]]:
    """The features that are not constant, by name: a value per row, NaN where it is missing."""
    # Different kinds of answers have different features
    names: set[str] = set()
    for row in rows:
        names |= row.features.keys()

    columns: dict[str, list[float]] = {}
    for name in sorted(names):
        column = [row.features.get(name, math.nan) for row in rows]
        # The scaler would divide by this
        if np.nanstd(column) > NO_SPREAD:
            columns[name] = column
    return columns


def _splits(rows: Sequence[AnswerRow], folds: int, seed: int) -> list[tuple[Positions, Positions]]:
    """Indices of training and test rows; groups stay whole, classes are spread evenly.

    If a class has fewer groups than folds, there are fewer folds.
    """
    number = min(folds, _fewest_groups(rows))
    splitter = StratifiedGroupKFold(number, shuffle=True, random_state=seed)
    classes = [row.right for row in rows]
    groups = [row.group for row in rows]
    return list(splitter.split(rows, classes, groups))


def _fewest_groups(rows: Sequence[AnswerRow]) -> int:
    """The number of groups with a right row, or with a wrong one, whichever is smaller."""
    with_right = {row.group for row in rows if row.right}
    with_wrong = {row.group for row in rows if not row.right}
    return min(len(with_right), len(with_wrong))


def _require_groups(rows: Sequence[AnswerRow], least: int) -> None:
    """Raise NothingLearnedError unless so many groups have a right answer, and so many a wrong one."""
    if _fewest_groups(rows) < least:
        right = sum(row.right for row in rows)
        counts = f"{right} right and {len(rows) - right} wrong"
        raise NothingLearnedError(f"{counts}; at least {least} different questions of each kind are needed")
