"""How good predictions are that were made for questions not seen in training."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.questions import FIELD_CLASSES
from agents.questions.trainable import expected_calibration_error


@dataclass(frozen=True, slots=True)
class FieldReport:
    """Figures of one field.

    `macro_f1` is the mean over the classes of the harmonic mean of precision and recall; `confusion[i][j]` counts
    questions of class i that were taken for class j, classes in the order of `labels`.
    """

    questions: int
    accuracy: float
    macro_f1: float
    expected_calibration_error: float
    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON-ready data, rounded to four places."""
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()}


def report_field(
    labels: Sequence[str], probabilities: NDArray[np.floating[Any]], classes: NDArray[np.int64]
) -> FieldReport:
    """Compare probabilities, shape (questions, classes), with the true classes, shape (questions,)."""
    confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(confusion, (classes, probabilities.argmax(axis=1)), 1)
    hits = np.diag(confusion)
    scores = 2 * hits / np.maximum(1, confusion.sum(axis=0) + confusion.sum(axis=1))
    return FieldReport(
        questions=len(classes),
        accuracy=float(hits.sum() / max(1, len(classes))),
        macro_f1=float(scores[confusion.sum(axis=1) > 0].mean()) if len(classes) else 0.0,
        expected_calibration_error=expected_calibration_error(probabilities, classes),
        labels=tuple(labels),
        confusion=tuple(tuple(int(count) for count in row) for row in confusion),
    )


def report_all(
    probabilities: Mapping[str, NDArray[np.floating[Any]]], classes: Mapping[str, NDArray[np.int64]]
) -> dict[str, FieldReport]:
    """One report per field; classes are numbered as in `FIELD_CLASSES`."""
    return {name: report_field(FIELD_CLASSES[name], table, classes[name]) for name, table in probabilities.items()}
