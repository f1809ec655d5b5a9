"""Cross-validated predictions and their figures; no question is predicted by models that were trained on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.questions import FIELD_CLASSES
from agents.questions.trainable import (
    Logs,
    MixingWeights,
    expected_calibration_error,
    field_entry,
    fit_mixing_weights,
    mixed,
)
from training.router.examples import Examples


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """The fold of each question, and the predictions of the two parts: field -> (questions, classes)."""

    fold: NDArray[np.int64]
    encoder: dict[str, Logs] = field(default_factory=dict)
    ngrams: dict[str, Logs] = field(default_factory=dict)

    def put(self, number: int, part: str, name: str, logs: Logs) -> None:
        """Store a part's predictions for the questions of a fold."""
        table = self.encoder if part == "encoder" else self.ngrams
        table.setdefault(name, np.zeros((len(self.fold), logs.shape[1])))[self.fold == number] = logs

    def weights(self, name: str, classes: NDArray[np.int64], chosen: NDArray[np.bool_] | None = None) -> MixingWeights:
        """The mixing weights that fit the field best, on the chosen questions or all of them."""
        some = np.ones(len(classes), dtype=bool) if chosen is None else chosen
        return fit_mixing_weights(*self._parts(name, some), classes[some])

    def probabilities(self, examples: Examples) -> dict[str, NDArray[np.float64]]:
        """Mixed predictions; the weights of each fold are fitted on the other folds."""
        found = {}
        for name, classes in examples.classes.items():
            found[name] = np.zeros((len(classes), len(FIELD_CLASSES[name])))
            for number in np.unique(self.fold):
                held_out = self.fold == number
                weights = self.weights(name, classes, ~held_out)
                found[name][held_out] = np.exp(mixed(*self._parts(name, held_out), weights))
        return found

    def _parts(self, name: str, chosen: NDArray[np.bool_]) -> tuple[Logs | None, Logs | None]:
        encoder, ngrams = (table[name][chosen] if name in table else None for table in (self.encoder, self.ngrams))
        return encoder, ngrams


def out_of_fold_rows(
    examples: Examples, fold: NDArray[np.int64], probabilities: Mapping[str, NDArray[np.float64]]
) -> list[dict[str, Any]]:
    """One row per question: its id, fold, true classes and predicted route, without its text."""
    return [
        {
            "interaction_id": identifier,
            "fold": int(fold[place]),
            "classes": {name: FIELD_CLASSES[name][column[place]] for name, column in examples.classes.items()},
            "route": {name: field_entry(FIELD_CLASSES[name], table[place]) for name, table in probabilities.items()},
        }
        for place, identifier in enumerate(examples.identifiers)
    ]


def report_field(
    labels: Sequence[str], probabilities: NDArray[np.floating[Any]], classes: NDArray[np.int64]
) -> dict[str, Any]:
    """Figures of a field, JSON-ready, rounded to four places; classes are numbered as `labels`.

    `macro_f1` is the mean over the classes that occur; `confusion[i][j]` counts questions of class i that were
    predicted as class j.
    """
    from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

    predicted = probabilities.argmax(axis=1)
    figures = {
        "accuracy": accuracy_score(classes, predicted),
        "macro_f1": f1_score(classes, predicted, labels=np.unique(classes), average="macro"),
        "expected_calibration_error": expected_calibration_error(probabilities, classes),
    }
    return {
        "questions": len(classes),
        **{name: round(float(value), 4) for name, value in figures.items()},
        "labels": list(labels),
        "confusion": confusion_matrix(classes, predicted, labels=range(len(labels))).tolist(),
    }
