"""What a training run may choose, read from `training/router/configs/*.toml`."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, ValidationError, field_validator, model_validator

from agents.questions import FIELD_CLASSES
from agents.questions.trainable import Pooling
from agents.settings import SettingsError, StrictModel

CONFIGS = Path(__file__).with_name("configs")


class EncoderTraining(StrictModel):
    """Fine-tuning of an encoder with one linear head per field, all fields at once."""

    base: str
    """Name in `models/manifest.toml`."""
    tuning: Literal["full", "lora"]
    rank: PositiveInt = 16
    """Of the low-rank update of every linear layer (tuning ``lora``)."""
    pooling: Pooling = "mean"
    max_tokens: Annotated[int, Field(ge=8, le=512)] = 64
    epochs: PositiveInt
    batch_size: PositiveInt = 16
    learning_rate: Annotated[float, Field(gt=0)]
    head_learning_rate: Annotated[float, Field(gt=0)]
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    warm_up_share: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Share of the steps in which the learning rate rises from 0; then it falls to 0, both linearly."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Of what the heads read."""
    update_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """Of what the low-rank update reads."""
    masked_share: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the tokens that are hidden behind [MASK] in training, drawn anew each time: names are learnt less, the
    way of asking more."""
    seeds: Annotated[tuple[int, ...], Field(min_length=1, strict=False)] = (0,)
    """One encoder is trained per seed; the log-probabilities of all are averaged."""


class NgramTraining(StrictModel):
    """Logistic regression on hashed n-grams."""

    buckets: Annotated[int, Field(ge=16, le=1 << 20)] = 1 << 15
    inverse_regularisation: Annotated[float, Field(gt=0)] = 10.0
    """C of scikit-learn's LogisticRegression."""


class RouterTraining(StrictModel):
    """One classifier: which fields it knows and what it is made of."""

    description: str
    trained_on: str
    licence: str
    fields: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    folds: Annotated[int, Field(ge=0, le=50)] = 5
    """Parts of the cross-validation that measures and calibrates before the classifier is trained on everything. 0:
    none; nothing is measured then, and the probabilities stay as the encoder gives them."""
    encoder: EncoderTraining | None = None
    ngrams: NgramTraining | None = None

    @field_validator("folds")
    @classmethod
    def _has_parts(cls, folds: int) -> int:
        if folds == 1:
            raise ValueError("a cross-validation has at least 2 parts")
        return folds

    @model_validator(mode="after")
    def _can_be_trained(self) -> "RouterTraining":
        unknown = sorted(set(self.fields) - set(FIELD_CLASSES))
        if unknown:
            raise ValueError(f"fields: unknown {', '.join(unknown)}; allowed: {', '.join(FIELD_CLASSES)}")
        if self.encoder is None and self.ngrams is None:
            raise ValueError("a classifier needs an encoder, ngrams or both")
        if self.encoder is not None and self.ngrams is not None and not self.folds:
            raise ValueError("folds: mixing an encoder with n-grams needs a cross-validation to weigh them")
        return self


def available_configs() -> list[str]:
    """Names of the shipped configurations."""
    return sorted(path.stem for path in CONFIGS.glob("*.toml"))


def load_training(config: str) -> RouterTraining:
    """The shipped configuration of that name, or the TOML file at that path.

    Raises:
        SettingsError: no such configuration, not TOML, an unknown key, a wrong type or a value out of range.
    """
    path = Path(config) if config.endswith(".toml") else CONFIGS / f"{config}.toml"
    try:
        return RouterTraining.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise SettingsError(f"there is no {path}; shipped configurations: {', '.join(available_configs())}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{path}: {error}") from None
    except ValidationError as error:
        raise SettingsError(_explain(path, error)) from None


def change_training(settings: RouterTraining, folds: int | None, seed: int | None) -> RouterTraining:
    """The settings with what the command line says instead; None: nothing.

    Raises:
        SettingsError: a value out of range, or one that the other settings do not go with.
    """
    changes = settings.model_dump()
    if folds is not None:
        changes["folds"] = folds
    if seed is not None and changes["encoder"]:
        changes["encoder"]["seeds"] = (seed,)
    try:
        return RouterTraining.model_validate(changes)
    except ValidationError as error:
        raise SettingsError(_explain("the command line", error)) from None


def _explain(place: object, error: ValidationError) -> str:
    """One line per fault; one of all keys together has no key."""
    lines = []
    for fault in error.errors(include_url=False):
        key = ".".join(map(str, fault["loc"]))
        told = fault["msg"].removeprefix("Value error, ")
        lines.append(f'{place}: key "{key}": {told}' if key else f"{place}: {told}")
    return "\n".join(lines)
