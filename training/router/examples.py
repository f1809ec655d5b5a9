"""Settings of a training run, read from `training/router/configs/*.toml`; labelled questions and their folds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from agents.questions import FIELD_CLASSES
from agents.questions.trainable import Pooling
from agents.settings import StrictModel
from evaluation.datasets import DatasetError, Split, read_records
from training.files import Configuration

Positions = NDArray[np.int64]
"""Places of questions in the data."""


class EncoderTraining(StrictModel):
    """Fine-tuning of an encoder with one linear head per field, all fields at once."""

    base: str
    """Name in `models/manifest.toml`."""
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
        tuple[Literal["domain", "question_type", "static_or_dynamic"], ...], Field(min_length=1, strict=False)
    ]
    folds: Annotated[int, Field(ge=0, le=50)] = 5
    """Folds of the cross-validation that measures and calibrates; 0: none, probabilities stay the encoder's."""
    encoder: EncoderTraining
    ngrams: NgramTraining | None = None

    @model_validator(mode="after")
    def _can_be_trained(self) -> "RouterTraining":
        if self.folds == 1:
            raise ValueError("folds: a cross-validation has at least 2 parts")
        if self.ngrams is not None and not self.folds:
            raise ValueError("folds: mixing an encoder with n-grams needs a cross-validation to weigh them")
        return self


@dataclass(frozen=True, slots=True)
class Examples:
    """Questions with the class numbers of each field, shape (questions,), as indices of `FIELD_CLASSES[field]`."""

    texts: tuple[str, ...]
    classes: dict[str, NDArray[np.int64]]


def read_examples(path: Path, fields: Sequence[str], split: Split | None = None) -> Examples:
    """The questions of a file in any format of `evaluation.datasets`, with their labels for `fields`.
    Raises DatasetError: no such file, or a row lacks `query`, one of CRAG's labels or a split.
    """
    texts = list[str]()
    classes: dict[str, list[int]] = {field: [] for field in fields}
    for record in read_records(path, split=split):
        query = record.data.get("query")
        if not isinstance(query, str) or not query.strip():
            raise DatasetError(f'{record.place}, field "query": expected text, found {query!r}')
        texts.append(query)
        for field in fields:
            allowed, found = FIELD_CLASSES[field], record.data.get(field)
            if found not in allowed:
                raise DatasetError(f'{record.place}, field "{field}": found {found!r}, allowed: {", ".join(allowed)}')
            classes[field].append(allowed.index(found))
    if not texts:
        raise DatasetError(f"{path}: no questions")
    return Examples(tuple(texts), {name: np.array(column) for name, column in classes.items()})
