"""The expected-score rule on judged answers, and its figures."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.answering import kind_of
from agents.common.contracts import INVALID_QUESTION
from evaluation.metrics import RESAMPLES, SEED, percentile_interval
from training.calibrate.questions import AskedQuestion, JudgedCandidate

Floats = NDArray[np.float64]
THRESHOLD = 0.5
"""On P(correct): a right answer earns as much as a wrong one costs."""
RELIABILITY_BINS = 10


def reward(question: AskedQuestion) -> int:
    """+1, 0 or -1: the score of giving the first answer that is above the threshold or not weighed.

    If there is none, a closed gate answers. Otherwise "invalid question" is given if P(false premise) is above both
    (`agents.pipeline.stages.find_false_premises`).
    """
    given, likely = question.settled, THRESHOLD
    if given is None:
        able = (one for one in question.candidates if not one.gated and (one.likely is None or one.likely > THRESHOLD))
        given = next(able, None)
        likely = THRESHOLD if given is None or given.likely is None else given.likely
    if given is None and question.gate is not None:
        return (1 if question.invalid else -1) if question.gate == INVALID_QUESTION else 0
    doubted = given is None or given.text != INVALID_QUESTION
    if doubted and question.doubt is not None and question.doubt > likely:
        return 1 if question.invalid else -1
    return 0 if given is None else (1 if given.right else -1)


def rewards(questions: Iterable[AskedQuestion]) -> Floats:
    """The score of each question: shape (questions,)."""
    return np.array([reward(question) for question in questions], dtype=np.float64)


def unweighed(question: AskedQuestion) -> AskedQuestion:
    """The same question for an agent that always gives its first answer."""
    return replace(question, candidates=tuple(one._replace(likely=None) for one in question.candidates), doubt=None)


def figures(questions: Sequence[AskedQuestion]) -> dict[str, Any]:
    """What the probabilities of questions and answers are worth, JSON-ready; out of fold if they are."""
    ours, plain = rewards(questions), rewards(map(unweighed, questions))
    groups = [question.group for question in questions]
    answers = [one for question in questions for one in question.candidates if one.likely is not None]
    answers.sort(key=_kind)
    kinds = {kind: list(own) for kind, own in groupby(answers, _kind)}
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
            kind: _quality(own) for kind, own in kinds.items() if len({one.right for one in own}) > 1
        },
    }


def _kind(answer: JudgedCandidate) -> str:
    return kind_of(answer.features)


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
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

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
