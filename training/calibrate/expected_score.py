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
    own = None if question.features is None else rest(question.features)
    return replace(question, candidates=candidates, features=own)


class Beliefs(NamedTuple):
    """P(correct) of each candidate, None for kinds that the model does not cover; P(false premise), if known."""

    correct: tuple[float | None, ...]
    invalid: float | None = None


def reward(question: AskedQuestion, beliefs: Beliefs, threshold: float) -> int:
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


def rewards(questions: Sequence[AskedQuestion], beliefs: Sequence[Beliefs], thresholds: Sequence[float]) -> Floats:
    """Rewards of shape (questions, thresholds)."""
    pairs = list(zip(questions, beliefs, strict=True))
    rows = [[reward(question, own, threshold) for threshold in thresholds] for question, own in pairs]
    return np.array(rows, dtype=np.float64).reshape(len(pairs), len(thresholds))


def grouped_intervals(values: Floats, groups: Sequence[str]) -> Floats:
    """95 % percentile-bootstrap intervals of the column means of `values` (rows, columns): shape (columns, 2).

    Resamples whole groups: the same question in several runs counts as one observation.
    """
    names, place = np.unique(np.asarray(groups), return_inverse=True)
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, place, values)
    sizes = np.bincount(place, minlength=len(names)).astype(np.float64)
    generator = np.random.default_rng(SEED)
    drawn = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES).astype(np.float64)
    means = (drawn @ sums) / (drawn @ sizes)[:, None]
    return np.asarray(np.percentile(means, [2.5, 97.5], axis=0).T)


def score_table(rewards: Floats, groups: Sequence[str]) -> dict[str, Any]:
    """Score with its interval, accuracy, hallucination, missing: JSON-ready."""
    return {
        "score": float(rewards.mean()),
        "ci": grouped_intervals(rewards[:, None], groups)[0].tolist(),
        "accuracy": float((rewards > 0).mean()),
        "hallucination": float((rewards < 0).mean()),
        "missing": float((rewards == 0).mean()),
    }


def difference(rewards: Floats, others: Floats, groups: Sequence[str]) -> dict[str, Any]:
    """Mean of the differences, row by row, with the interval paired by question: JSON-ready."""
    differences = rewards - others
    return {"difference": float(differences.mean()), "ci": grouped_intervals(differences[:, None], groups)[0].tolist()}


class ReliabilityBin(NamedTuple):
    """Answers of about the same probability: its mean, their number, and the share of right ones."""

    probability: float
    answers: int
    right: float


def reliability(probabilities: Floats, right: NDArray[np.bool_]) -> list[ReliabilityBin]:
    """Bins of equal width over P(correct); empty bins are left out, and a bin includes its upper end."""
    of = np.clip(np.ceil(probabilities * RELIABILITY_BINS).astype(np.int64) - 1, 0, RELIABILITY_BINS - 1)
    return [
        ReliabilityBin(float(probabilities[of == one].mean()), int((of == one).sum()), float(right[of == one].mean()))
        for one in np.unique(of)
    ]


def calibration_error(found: Sequence[ReliabilityBin]) -> float:
    """Expected calibration error: |probability - share of right answers|, weighted by the bins' counts."""
    total = sum(one.answers for one in found)
    return sum(one.answers * abs(one.probability - one.right) for one in found) / max(1, total)


def quality(probabilities: Floats, right: NDArray[np.bool_]) -> dict[str, float]:
    """How well the probabilities separate right from wrong answers: JSON-ready."""
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

    return {
        "answers": len(right),
        "right": float(right.mean()),
        "ece": calibration_error(reliability(probabilities, right)),
        "brier": float(brier_score_loss(right, probabilities)),
        "log_loss": float(log_loss(right, probabilities, labels=[False, True])),
        "auc": float(roc_auc_score(right, probabilities)),
    }
