"""Settings of the question classifiers, read from `crag/training/router/configs/*.toml`."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from crag.router.network import Pooling
from crag.settings import StrictModel
from crag.training.files import Configuration


class EncoderTraining(StrictModel):
    """Fine-tuning of an encoder with one linear head per field, all fields at once."""

    base: str
    """Name in `crag/weights/manifest.toml`."""
    tuning: Literal["full", "lora"]
    rank: PositiveInt = 16
    """Rank of the update of every linear layer (tuning ``lora``)."""
    pooling: Pooling = "mean"
    epochs: PositiveInt
    batch_size: PositiveInt = 16
    learning_rate: PositiveFloat
    head_learning_rate: PositiveFloat
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    warm_up_share: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """Share of the steps in which the learning rate rises from 0; then it falls to 0, both linearly."""
    seed: Annotated[int, Field(ge=0)] = 0


class NgramTraining(StrictModel):
    """Logistic regression on hashed n-grams."""

    buckets: Annotated[int, Field(ge=16, le=1 << 20)] = 1 << 15
    inverse_regularisation: PositiveFloat = 10.0
    """C of scikit-learn's LogisticRegression."""


class RouterTraining(Configuration):
    """One classifier: its fields and its parts."""

    FOLDER = Path(__file__).parent / "configs"

    description: str
    trained_on: str
    licence: str
    fields: Annotated[
        tuple[Literal["domain", "question_type", "static_or_dynamic", "answerable_from"], ...],
        Field(min_length=1, strict=False),
    ]
    folds: Annotated[int, Field(ge=0, le=50)] = 5
    """Folds of the cross-validation that measures and calibrates; 0: none, probabilities stay the encoder's."""
    encoder: EncoderTraining | None = None
    ngrams: NgramTraining | None = None

    @model_validator(mode="after")
    def _can_be_trained(self) -> "RouterTraining":
        if self.folds == 1:
            raise ValueError("folds: a cross-validation has at least 2 parts")
        if self.ngrams is not None and not self.folds:
            raise ValueError("folds: n-grams need a cross-validation that weighs them")
        if self.ngrams is None and self.encoder is None:
            raise ValueError("encoder: a classifier has an encoder, n-grams or both")
        return self
