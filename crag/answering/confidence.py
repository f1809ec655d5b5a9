"""P(correct): a small calibrated model over an answer's features, fitted by `crag train calibrate`.

A right answer scores 1, a wrong one -1, an abstention 0. The expected score of an answer is 2 P(correct) - 1, so the
agent answers if P(correct) is above 0.5.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from crag.answering.features import answer_kind
from crag.core.logistic import logistic
from crag.core.places import REPOSITORY
from crag.core.validation import first_fault
from crag.settings import ConfidenceSettings, SettingsError
from crag.weights.needed import SHIPPED_CALIBRATIONS, needed_folder

MOST_DEVIATIONS = 3.0
"""Standard deviations from the mean beyond which a feature counts no further."""
PAGES_KIND: Literal["web"] = "web"


class Feature(BaseModel):
    """Mean and scale of a feature in the training rows, and its weight once standardised."""

    model_config = ConfigDict(frozen=True)

    mean: FiniteFloat
    scale: Annotated[FiniteFloat, Field(gt=0)]
    weight: FiniteFloat


class LogisticModel(BaseModel):
    """Logistic regression over standardised features: P = 1 / (1 + exp(-(bias + weights . z))), z = (x - mean) / scale.

    z is cut to the range from -3 to 3, so that a value that the training rows hardly knew cannot decide alone.
    """

    model_config = ConfigDict(frozen=True)

    bias: FiniteFloat
    features: dict[str, Feature] = Field(default_factory=dict)

    def probability(self, features: Mapping[str, float]) -> float:
        """A number from 0 to 1. A missing feature counts as its mean."""
        logit = self.bias
        for name, feature in self.features.items():
            value = features.get(name, feature.mean)
            deviations = (value - feature.mean) / feature.scale
            z = max(-MOST_DEVIATIONS, min(MOST_DEVIATIONS, deviations))
            logit += feature.weight * z
        return logistic(logit)


class ConfidenceModel(BaseModel):
    """P(correct) of an answer.

    `covers` are the kinds of answers (`crag.answering.answer_kind`) that the model was fitted to. `pages` is fitted to
    answers from pages alone, and used for them, if given: there the same feature deserves another weight.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    correct: LogisticModel
    pages: LogisticModel | None = None
    covers: tuple[Literal["graph generated", "graph read", "web"], ...] = ("graph generated", "graph read", "web")

    def probability(self, features: Mapping[str, float]) -> float | None:
        """P(correct); None for a kind of answer that the model does not cover."""
        kind = answer_kind(features)
        if kind not in self.covers:
            return None
        model = self.pages if self.pages and kind == PAGES_KIND else self.correct
        return model.probability(features)

    def shifted(self, log_odds: float) -> "ConfidenceModel":
        """The model for pages where answers are right more or less often, by a summand of the log-odds.

        Another share of right answers changes the bias alone if answers are else alike (Elkan 2001, theorem 2).
        """
        model = self.pages or self.correct
        return self.model_copy(update={"pages": model.model_copy(update={"bias": model.bias + log_odds})})

    @classmethod
    def load(cls, name: str) -> "ConfidenceModel":
        """Read a shipped file or one of `models/calibration/` by its name, or any file by its path.

        Raises SettingsError: the file is missing or has another format.
        """
        path = calibration_file(name)
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise SettingsError(
                f'key "answering.confidence.model": {path} cannot be read ({error.strerror}); '
                f"shipped: {_shipped_names()}; crag train calibrate makes one"
            ) from None
        except ValidationError as error:
            raise SettingsError(
                f'key "answering.confidence.model": {path} is not a calibration file: {first_fault(error)}'
            ) from None


def calibration_file(name: str) -> Path:
    """Where the file of this name or path lies, or should lie if there is none."""
    return needed_folder("answering.confidence.model", "calibration", name).path


def load_confidence(settings: ConfidenceSettings | None) -> ConfidenceModel | None:
    """The model of P(correct) that a preset names, for its kind of pages; None without one. Raises SettingsError."""
    if settings is None:
        return None
    model = ConfidenceModel.load(settings.model)
    return model.shifted(settings.log_odds) if settings.log_odds else model


def _shipped_names() -> str:
    """The calibration files that ship, for an error message."""
    files = (REPOSITORY / SHIPPED_CALIBRATIONS).glob("*.json")
    return ", ".join(sorted(file.stem for file in files)) or "none"
