"""Settings of a training run, read from `training/router/configs/*.toml`."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from agents.questions import FIELD_CLASSES
from agents.questions.trainable import Pooling
from agents.settings import StrictModel
from training.command import config_names, read_config

FOLDER = Path(__file__).parent
Share = Annotated[float, Field(ge=0, lt=1)]


class EncoderTraining(StrictModel):
    """Fine-tuning of an encoder with one linear head per field, all fields at once."""

    base: str
    """Name in `models/manifest.toml`."""
    tuning: Literal["full", "lora"]
    rank: PositiveInt = 16
    """Rank of the update of every linear layer (tuning ``lora``)."""
    pooling: Pooling = "mean"
    max_tokens: Annotated[int, Field(ge=8, le=512)] = 64
    epochs: PositiveInt
    batch_size: PositiveInt = 16
    learning_rate: Annotated[float, Field(gt=0)]
    head_learning_rate: Annotated[float, Field(gt=0)]
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    warm_up_share: Share = 0.1
    """Share of the steps in which the learning rate rises from 0; then it falls to 0, both linearly."""
    dropout: Share = 0.1
    """Dropout on the input of the heads."""
    update_dropout: Share = 0.05
    """Dropout on the input of the low-rank update."""
    masked_share: Share = 0.0
    """Share of the tokens masked in training: the encoder learns fewer names and more forms of questions."""
    seeds: Annotated[tuple[int, ...], Field(min_length=1, strict=False)] = (0,)
    """One encoder is trained per seed; the log-probabilities of all are averaged."""


class NgramTraining(StrictModel):
    """Logistic regression on hashed n-grams."""

    buckets: Annotated[int, Field(ge=16, le=1 << 20)] = 1 << 15
    inverse_regularisation: Annotated[float, Field(gt=0)] = 10.0
    """C of scikit-learn's LogisticRegression."""


class RouterTraining(StrictModel):
    """One classifier: its fields and its parts."""

    description: str
    trained_on: str
    licence: str
    fields: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    folds: Annotated[int, Field(ge=0, le=50)] = 5
    """Folds of the cross-validation that measures and calibrates; 0: none, probabilities stay the encoder's."""
    encoder: EncoderTraining | None = None
    ngrams: NgramTraining | None = None

    @model_validator(mode="after")
    def _can_be_trained(self) -> "RouterTraining":
        if self.folds == 1:
            raise ValueError("folds: a cross-validation has at least 2 parts")
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
    return config_names(FOLDER)


def load_training(config: str, folds: int | None = None, seed: int | None = None) -> RouterTraining:
    """A configuration by name or path, with other folds or one seed; see `training.command.read_config`."""
    changes = [] if folds is None else [f"folds={folds}"]
    changes += [] if seed is None else [f"encoder.seeds=[{seed}]"]
    return read_config(RouterTraining, FOLDER, config, changes)
