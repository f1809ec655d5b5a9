"""Fits the calibrated model to judged answers and cross-validates it."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.answering import PAGES_KIND, ConfidenceModel, kind_of
from training.calibrate.expected_score import (
    THRESHOLD,
    AskedQuestion,
    Beliefs,
    Floats,
    always,
    difference,
    quality,
    reward,
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

    def answers(self, kinds: Set[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """Out-of-fold P(correct) of all answers of these kinds (`agents.answering.kind_of`), and which are right."""
        pairs = [
            (likely, candidate.right)
            for question, beliefs in zip(self.questions, self.beliefs, strict=True)
            for candidate, likely in zip(question.candidates, beliefs.correct, strict=True)
            if likely is not None and kind_of(candidate.features) in kinds
        ]
        return np.array([p for p, _ in pairs], dtype=np.float64), np.array([right for _, right in pairs], dtype=bool)

    def metrics(self) -> dict[str, Any]:
        """Cross-validated figures, JSON-ready."""
        ours = rewards(self.questions, self.beliefs)
        plain = np.array([always(question) for question in self.questions], dtype=np.float64)
        groups = [question.group for question in self.questions]
        kinds = {kind: self.answers({kind}) for kind in sorted(self.model.covers)}
        return {
            "questions": len(self.questions),
            "threshold": THRESHOLD,
            "calibrated": score_table(ours, groups),
            "always_answer": score_table(plain, groups),
            "against_always_answer": difference(ours, plain, groups),
            "against_always_i_dont_know": difference(ours, np.zeros_like(ours), groups),
            "probabilities": quality(*self.answers(set(self.model.covers))),
            "probabilities_by_kind": {
                kind: quality(likely, right)
                for kind, (likely, right) in kinds.items()
                if right.any() and not right.all()
            },
        }


def rewards(questions: Sequence[AskedQuestion], beliefs: Sequence[Beliefs]) -> Floats:
    """The score of each question by the rule: shape (questions,)."""
    return np.array([reward(*pair) for pair in zip(questions, beliefs, strict=True)], dtype=np.float64)


def calibrate(questions: Sequence[AskedQuestion], folds: int, seed: int) -> Calibration:
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
    invalid, beliefs, reason = _invalid(questions, beliefs, folds, seed)
    parts = {"correct": correct, "invalid": invalid, "pages": pages}
    strengths = {name: part.inverse_strength for name, part in parts.items() if part}
    fitted = {name: part.model for name, part in parts.items() if part}
    model = ConfidenceModel.model_validate(fitted | {"covers": sorted(covers)})
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
    questions: Sequence[AskedQuestion], beliefs: tuple[Beliefs, ...], folds: int, seed: int
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
    gain = float((rewards(questions, doubtful) - rewards(questions, beliefs)).mean())
    if gain <= 0:
        return None, beliefs, f"it does not improve the cross-validated score ({gain:+.4f})"
    return fit_logistic(rows, labels, groups, seed), doubtful, None
