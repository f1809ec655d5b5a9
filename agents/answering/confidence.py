"""P(correct): a small calibrated model over an answer's features, fitted by `python -m training.calibrate`.

A right answer scores 1, a wrong one -1, an abstention 0. The expected score of an answer is 2 P(correct) - 1, so the
agent answers if P(correct) is above 0.5.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.answering.features import kind_of, vector
from agents.settings import SettingsError

CALIBRATION_FOLDER = Path(__file__).parents[2] / "models" / "calibration"
FORMAT = 1
MOST_DEVIATIONS = 3.0
PAGES_KIND = "web"
ALL_KINDS = frozenset({PAGES_KIND, "graph generated", "graph read"})
_OPTIONAL = ("invalid", "pages")
"""Fields of `ConfidenceModel` that a file may leave out."""


def within_limits(standardised: float) -> float:
    """The value cut to at most `MOST_DEVIATIONS` standard deviations."""
    return max(-MOST_DEVIATIONS, min(MOST_DEVIATIONS, standardised))


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """Logistic regression over standardised features: P = 1 / (1 + exp(-(bias + weights . z))), z = (x - mean) / scale.

    z is cut to the range from -3 to 3, so that a value that the training rows hardly knew cannot decide alone.
    """

    names: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float

    def probability(self, features: Mapping[str, float]) -> float:
        """A number from 0 to 1. A missing feature counts as its mean."""
        values = vector(features, self.names, dict(zip(self.names, self.mean, strict=True)))
        terms = zip(values, self.mean, self.scale, self.weights, strict=True)
        logit = self.bias + sum(weight * within_limits((value - mean) / scale) for value, mean, scale, weight in terms)
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        columns = zip(self.names, self.mean, self.scale, self.weights, strict=True)
        features = {name: {"mean": m, "scale": s, "weight": w} for name, m, s, w in columns}
        return {"bias": self.bias, "features": features}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LogisticModel":
        """The inverse of `to_dict`. Raises KeyError, TypeError or ValueError for other data."""
        features = data["features"]
        mean, scale, weights = (
            tuple(float(entry[key]) for entry in features.values()) for key in ("mean", "scale", "weight")
        )
        if any(value <= 0 for value in scale):
            raise ValueError("a scale is not above 0")
        return cls(tuple(features), mean, scale, weights, float(data["bias"]))


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """P(correct) of an answer, and P(false premise) of a question if `invalid` is given.

    `covers` are the kinds of answers (`agents.answering.kind_of`) that the model was fitted to. `pages` is fitted to
    answers from pages alone, and used for them, if given: there the same feature deserves another weight.
    """

    correct: LogisticModel
    invalid: LogisticModel | None
    covers: frozenset[str] = ALL_KINDS
    pages: LogisticModel | None = None

    def probability(self, features: Mapping[str, float]) -> float | None:
        """P(correct); None for a kind of answer that the model does not cover."""
        kind = kind_of(features)
        model = self.pages if self.pages and kind == PAGES_KIND else self.correct
        return model.probability(features) if kind in self.covers else None

    @classmethod
    def load(cls, name: str) -> "ConfidenceModel":
        """Read a file of `models/calibration/` by its name, or any file by its path.

        Raises:
            SettingsError: the file is missing or has another format.
        """
        path = Path(name).expanduser() if name.endswith(".json") else CALIBRATION_FOLDER / f"{name}.json"
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            return cls.from_dict(data)
        except OSError as error:
            there = ", ".join(sorted(file.stem for file in CALIBRATION_FOLDER.glob("*.json"))) or "none"
            raise SettingsError(
                f'key "answering.confidence.model": {path} cannot be read ({error.strerror}); shipped: {there}; '
                "python -m training.calibrate makes one"
            ) from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise SettingsError(f'key "answering.confidence.model": {path} is no calibration file: {error!r}') from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ConfidenceModel":
        """The inverse of `to_dict`. Raises KeyError, TypeError or ValueError for other data."""
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']} is not supported; expected {FORMAT}")
        covers = frozenset(data.get("covers", ALL_KINDS))
        if not covers <= ALL_KINDS:
            raise ValueError(f"covers has unknown kinds of answers: {', '.join(sorted(covers - ALL_KINDS))}")
        invalid, pages = (LogisticModel.from_dict(part) if (part := data.get(key)) else None for key in _OPTIONAL)
        return cls(LogisticModel.from_dict(data["correct"]), invalid, covers, pages)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {
            "format": FORMAT,
            "correct": self.correct.to_dict(),
            **{key: part.to_dict() if (part := getattr(self, key)) else None for key in _OPTIONAL},
            "covers": sorted(self.covers),
        }
