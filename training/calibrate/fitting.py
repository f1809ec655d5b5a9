"""Fits the calibrated model to judged answers and cross-validates it."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.answering import PAGES_KIND, ConfidenceModel, kind_of
from training.calibrate.expected_score import (
    AskedQuestion,
    Beliefs,
    Floats,
    ReliabilityBin,
    always,
    difference,
    grouped_intervals,
    quality,
    reliability,
    rewards,
    score_table,
)
from training.calibrate.logistic import (
    LEAST_QUESTIONS,
    Features,
    FittedLogistic,
    TooFewError,
    enough,
    fit_logistic,
    out_of_fold,
)

LEAST_OF_KIND = 10
"""A kind of answer (`agents.answering.kind_of`) with fewer examples is neither learned from nor weighed."""
LEAST_OF_PAGES = 200
"""Answers from pages get a model of their own if there are as many examples, and others beside them."""
LEAST_INVALID = 20
"""P(false premise) needs this many different questions with a false premise, and this many without."""
THRESHOLDS = tuple(float(t) for t in np.linspace(0, 1, 101))


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted model and its cross-validated figures.

    `beliefs` are the out-of-fold probabilities of each question's answers. `without_invalid` says why the model has no
    P(false premise), None if it has.
    """

    model: ConfidenceModel
    questions: tuple[AskedQuestion, ...]
    beliefs: tuple[Beliefs, ...]
    inverse_strength: dict[str, float]
    without_invalid: str | None

    @property
    def groups(self) -> list[str]:
        """The cross-validation group of each question."""
        return [question.group for question in self.questions]

    @property
    def answers(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Out-of-fold P(correct) of all answers of the kinds that the model covers, and whether they are right."""
        return self.answers_of(self.model.covers)

    def answers_of(self, kinds: Set[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """The same for the answers of these kinds (`agents.answering.kind_of`)."""
        pairs = [
            (likely, candidate.right)
            for question, own in zip(self.questions, self.beliefs, strict=True)
            for candidate, likely in zip(question.candidates, own.correct, strict=True)
            if likely is not None and kind_of(candidate.features) in kinds
        ]
        return np.array([p for p, _ in pairs], dtype=np.float64), np.array([right for _, right in pairs], dtype=bool)

    def rewards(self, threshold: float) -> Floats:
        """The score of each question by the rule: shape (questions,)."""
        return rewards(self.questions, self.beliefs, [threshold])[:, 0]

    def metrics(self, threshold: float) -> dict[str, Any]:
        """Cross-validated figures, JSON-ready."""
        ours = self.rewards(threshold)
        plain = np.array([always(question) for question in self.questions], dtype=np.float64)
        probabilities, right = self.answers
        return {
            "questions": len(self.questions),
            "threshold": threshold,
            "calibrated": score_table(ours, self.groups),
            "always_answer": score_table(plain, self.groups),
            "against_always_answer": difference(ours, plain, self.groups),
            "against_always_i_dont_know": difference(ours, np.zeros_like(ours), self.groups),
            "probabilities": quality(probabilities, right),
            "probabilities_by_kind": {
                kind: quality(likely, found)
                for kind in sorted(self.model.covers)
                for likely, found in [self.answers_of({kind})]
                if found.any() and not found.all()
            },
        }

    def reliability(self) -> list[ReliabilityBin]:
        """Bins of the reliability diagram."""
        return reliability(*self.answers)

    def curve(self) -> tuple[Floats, Floats]:
        """Score at each of `THRESHOLDS`, and its interval: shapes (thresholds,) and (thresholds, 2)."""
        found = rewards(self.questions, self.beliefs, THRESHOLDS)
        return found.mean(axis=0), grouped_intervals(found, self.groups)


def calibrate(questions: Sequence[AskedQuestion], folds: int, seed: int, threshold: float) -> Calibration:
    """Fit P(correct) to kinds of answers with enough examples, and P(false premise) if it helps.

    Raises:
        TooFewError: too few right or wrong answers.
    """
    every = [(question.group, candidate) for question in questions for candidate in question.candidates]
    names = [name for name, _ in every]
    enough(np.array([candidate.right for _, candidate in every], dtype=bool), names, LEAST_QUESTIONS)
    counts = Counter(kind_of(candidate.features) for _, candidate in every)
    covers = frozenset(kind for kind, count in counts.items() if count >= LEAST_OF_KIND)
    if not covers:
        raise TooFewError(f"at least {LEAST_OF_KIND} answers of one kind (web, graph) are needed")
    learned = [(name, candidate) for name, candidate in every if kind_of(candidate.features) in covers]
    groups, answers = zip(*learned, strict=True)
    rows, right = [one.features for one in answers], [one.right for one in answers]
    pages, held_out = _pages(rows, right, groups, out_of_fold(rows, right, groups, folds, seed), folds, seed)
    likely = iter(held_out.tolist())
    beliefs = tuple(
        Beliefs(tuple(next(likely) if kind_of(one.features) in covers else None for one in question.candidates))
        for question in questions
    )
    correct = fit_logistic(rows, right, groups, seed)
    invalid, beliefs, reason = _invalid(questions, beliefs, folds, seed, threshold)
    parts = {"correct": correct, "invalid": invalid, "pages": pages}
    strengths = {name: part.inverse_strength for name, part in parts.items() if part}
    model = ConfidenceModel(correct.model, invalid.model if invalid else None, covers, pages.model if pages else None)
    return Calibration(model, tuple(questions), beliefs, strengths, reason)


def _pages(
    rows: Sequence[Features], right: Sequence[bool], groups: Sequence[str], held_out: Floats, folds: int, seed: int
) -> tuple[FittedLogistic | None, Floats]:
    """A model of answers from pages alone, if there are enough of them and others beside them; and the out-of-fold
    probabilities with its own for pages. `held_out` are those by the model of all answers.
    """
    places = [place for place, row in enumerate(rows) if kind_of(row) == PAGES_KIND]
    if not LEAST_OF_PAGES <= len(places) < len(rows):
        return None, held_out
    own, labels, names = [rows[i] for i in places], [right[i] for i in places], [groups[i] for i in places]
    try:
        found = out_of_fold(own, labels, names, folds, seed)
    except TooFewError:
        return None, held_out
    together = held_out.copy()
    together[places] = found
    return fit_logistic(own, labels, names, seed), together


def _invalid(
    questions: Sequence[AskedQuestion], beliefs: tuple[Beliefs, ...], folds: int, seed: int, threshold: float
) -> tuple[FittedLogistic | None, tuple[Beliefs, ...], str | None]:
    """The model of false premises, the beliefs with it, and the reason if there is none."""
    known = [place for place, question in enumerate(questions) if question.features is not None]
    rows = [questions[place].features or {} for place in known]
    labels = [questions[place].invalid for place in known]
    groups = [questions[place].group for place in known]
    try:
        enough(np.asarray(labels, dtype=bool), groups, LEAST_INVALID, ("with a false premise", "without"))
        held_out = out_of_fold(rows, labels, groups, folds, seed)
    except TooFewError as error:
        return None, beliefs, f"among questions with a route: {error}"
    found = dict(zip(known, held_out.tolist(), strict=True))
    doubtful = tuple(own._replace(invalid=found.get(place)) for place, own in enumerate(beliefs))
    gain = float((rewards(questions, doubtful, [threshold]) - rewards(questions, beliefs, [threshold])).mean())
    if gain <= 0:
        return None, beliefs, f"it does not improve the cross-validated score ({gain:+.4f})"
    return fit_logistic(rows, labels, groups, seed), doubtful, None
