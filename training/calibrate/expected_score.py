"""The expected-score rule on judged answers, and its figures."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.common.contracts import INVALID_QUESTION
from evaluation.judge import Verdict
from evaluation.metrics import RESAMPLES, SEED

Floats = NDArray[np.float64]
THRESHOLD = 0.5
"""On P(correct): a right answer earns as much as a wrong one costs."""
RELIABILITY_BINS = 10


class JudgedCandidate(NamedTuple):
    """A candidate answer, its verdict (correct or incorrect), and its features.

    `gated`: a gate had closed, and only an audit asked for the answer. It is training data, but it is never given.
    """

    text: str
    verdict: Verdict
    features: Mapping[str, float]
    gated: bool = False

    @property
    def right(self) -> bool:
        """Whether it is correct."""
        return self.verdict is Verdict.CORRECT


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with a known answer, and the agent's candidate answers in order.

    `settled` is an answer that no model weighs. `invalid`: the question rests on a false premise. `features` are those
    of the question itself, None without a router. `gate` is a closed gate's answer, given if no earlier answer is.
    `asks_for` are the tables and keys of its calls: questions that ask for the same are in one fold.
    """

    interaction_id: str
    candidates: tuple[JudgedCandidate, ...]
    settled: JudgedCandidate | None
    invalid: bool
    features: Mapping[str, float] | None
    gate: str | None = None
    asks_for: str = ""

    @property
    def group(self) -> str:
        """Questions of one group are held out together in cross-validation."""
        return self.asks_for or self.interaction_id


def without(question: AskedQuestion, names: Set[str]) -> AskedQuestion:
    """The same question without these features; ``question_type`` means all ``question_type=...``."""

    def rest(features: Mapping[str, float]) -> dict[str, float]:
        return {name: value for name, value in features.items() if not {name, name.partition("=")[0]} & names}

    candidates = tuple(one._replace(features=rest(one.features)) for one in question.candidates)
    left = None if question.features is None else rest(question.features)
    return replace(question, candidates=candidates, features=left)


class Beliefs(NamedTuple):
    """P(correct) of each candidate, None for kinds that the model does not cover; P(false premise), if known."""

    correct: tuple[float | None, ...]
    invalid: float | None = None


def reward(question: AskedQuestion, beliefs: Beliefs, threshold: float = THRESHOLD) -> int:
    """+1, 0 or -1: the score of giving the first answer that is above the threshold or not covered.

    If there is none, a closed gate answers. Otherwise "invalid question" is given if P(false premise) is above both
    (`agents.pipeline.stages.FalsePremise`).
    """
    given, likely = question.settled, threshold
    if given is None:
        pairs = zip(question.candidates, beliefs.correct, strict=True)
        above = ((one, p) for one, p in pairs if not one.gated and (p is None or p > threshold))
        given, known = next(above, (None, None))
        likely = threshold if known is None else known
    if given is None and question.gate is not None:
        return (1 if question.invalid else -1) if question.gate == INVALID_QUESTION else 0
    doubted = given is None or given.text != INVALID_QUESTION
    if doubted and beliefs.invalid is not None and beliefs.invalid > likely:
        return 1 if question.invalid else -1
    return 0 if given is None else (1 if given.right else -1)


def always(question: AskedQuestion) -> int:
    """The score of the agent that always gives its first answer."""
    return reward(question, Beliefs(tuple(1.0 for _ in question.candidates)), 0.0)


def grouped_interval(values: Floats, groups: Sequence[str]) -> list[float]:
    """The 95 % percentile-bootstrap interval of the mean.

    Resamples whole groups: the same question in several runs counts as one observation.
    """
    _, place = np.unique(np.asarray(groups), return_inverse=True)
    sums, sizes = np.bincount(place, weights=values), np.bincount(place).astype(np.float64)
    shares = np.full(len(sizes), 1 / len(sizes))
    drawn = np.random.default_rng(SEED).multinomial(len(sizes), shares, size=RESAMPLES).astype(np.float64)
    means = (drawn @ sums) / (drawn @ sizes)
    return [float(end) for end in np.percentile(means, [2.5, 97.5])]


def score_table(rewards: Floats, groups: Sequence[str]) -> dict[str, Any]:
    """Score with its interval, accuracy, hallucination, missing: JSON-ready."""
    return {
        "score": float(rewards.mean()),
        "ci": grouped_interval(rewards, groups),
        "accuracy": float((rewards > 0).mean()),
        "hallucination": float((rewards < 0).mean()),
        "missing": float((rewards == 0).mean()),
    }


def difference(rewards: Floats, others: Floats, groups: Sequence[str]) -> dict[str, Any]:
    """Mean of the differences, row by row, with the interval paired by question: JSON-ready."""
    differences = rewards - others
    return {"difference": float(differences.mean()), "ci": grouped_interval(differences, groups)}


def calibration_error(probabilities: Floats, right: NDArray[np.bool_]) -> float:
    """Expected calibration error: |mean probability - share of right answers| of bins of equal width, by their size."""
    bins = np.clip(np.ceil(probabilities * RELIABILITY_BINS), 1, RELIABILITY_BINS)
    gaps = [abs((probabilities - right)[bins == number].sum()) for number in np.unique(bins)]
    return float(sum(gaps) / max(1, len(right)))


def quality(probabilities: Floats, right: NDArray[np.bool_]) -> dict[str, float]:
    """How well the probabilities separate right from wrong answers: JSON-ready."""
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

    return {
        "answers": len(right),
        "right": float(right.mean()),
        "ece": calibration_error(probabilities, right),
        "brier": float(brier_score_loss(right, probabilities)),
        "log_loss": float(log_loss(right, probabilities, labels=[False, True])),
        "auc": float(roc_auc_score(right, probabilities)),
    }
