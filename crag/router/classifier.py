"""A trained classifier: a folder with `config.json` and `weights.safetensors`, written by `crag train router`.

It predicts one or more fields of a route. It has an encoder with a head per field, hashed n-grams with a linear model
per field, or both. The configuration's weights, fitted for calibration, mix the two parts.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError, field_validator

from crag.core.validation import list_faults
from crag.router.base import FIELD_CLASSES
from crag.router.calibration import LogProbabilities, MixingWeights, log_softmax, mix_log_probabilities
from crag.router.network import BertEncoder, Pooling, QuestionTokenizer
from crag.router.ngrams import hashed_rows
from crag.settings import SettingsError, StrictModel
from crag.weights.manifest import WeightsMissingError, locate
from crag.weights.needed import needed_folder

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "weights.safetensors"

# Prefixes of tensor names in the weights file; "0." is that of the only encoder.
HEAD = "0.head."
UPDATE = "0.encoder."
NGRAMS = "ngrams."


class FieldConfig(StrictModel):
    """One field: its classes in the order of the heads' rows, and the weight of each part."""

    labels: Annotated[tuple[str, ...], Field(min_length=2)]
    encoder_weight: Annotated[float, Field(ge=0)]
    ngram_weight: Annotated[float, Field(ge=0)] = 0.0


class ClassifierConfig(StrictModel):
    """The contents of `config.json`. `base` is the encoder's name in the manifest, None for n-grams only."""

    format: Literal[1]
    base: str | None
    members: Literal[1] = 1
    pooling: Pooling = "mean"
    max_tokens: Annotated[int, Field(ge=8, le=512)] = 64
    ngram_buckets: Annotated[int, Field(ge=0)] = 0
    """0: no n-grams."""
    fields: Annotated[dict[str, FieldConfig], Field(min_length=1)]
    trained_on: str
    licence: str

    @field_validator("fields")
    @classmethod
    def _fields_are_those_of_a_route(cls, fields: dict[str, FieldConfig]) -> dict[str, FieldConfig]:
        unknown = sorted(fields.keys() - FIELD_CLASSES.keys())
        if unknown:
            raise ValueError(f"unknown field {', '.join(unknown)}; allowed: {', '.join(FIELD_CLASSES)}")
        return fields


def locate_classifier(name: str) -> Path:
    """The folder of classifier `name`: in `models/routers`, `crag/weights/routers`, or the cache of fetched models.

    Raises WeightsMissingError: the folder or a file is missing; the message names the command that trains it.
    """
    folder = needed_folder("router.classifiers", "classifier", name)
    if folder.problem:
        raise WeightsMissingError(folder.problem)
    return folder.path


def read_classifier_config(folder: Path) -> ClassifierConfig:
    """The configuration of a classifier's folder.
    Raises SettingsError: it is unreadable, or this version does not support it.
    """
    path = folder / CONFIG_FILE
    try:
        return ClassifierConfig.model_validate_json(path.read_bytes())
    except ValidationError as error:
        faults = "; ".join(map(str, list_faults(error)))
        raise SettingsError(f"{path}: {faults}") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None


class Classifier:
    """Predicts the fields of one trained folder.

    Args:
        folder: Contains `config.json` and `weights.safetensors`.
        encoder_folder: Contains the base encoder; default: the manifest model's folder.

    Raises:
        WeightsMissingError: the base encoder is missing.
        SettingsError: the weights do not match the configuration or the encoder.

    Example:
        classifier = Classifier(locate_classifier("cpu"))
        probabilities = classifier.probabilities(["who directed the film?"])["domain"]  # shape (1, domains)
    """

    def __init__(self, folder: Path, encoder_folder: Path | None = None) -> None:
        from safetensors import SafetensorError

        self.config = read_classifier_config(folder)
        self._encoder: BertEncoder | None = None
        self._tensors: dict[str, NDArray[np.float32]] = {}
        try:
            self._load(folder, encoder_folder)
        except (KeyError, ValueError, SafetensorError) as error:
            raise SettingsError(f"{folder}: the weights do not fit the configuration: {error}") from error

    def _load(self, folder: Path, encoder_folder: Path | None) -> None:
        """Load the tensors and check that they fit the configuration."""
        from safetensors.numpy import load_file

        # The file holds the tensors of the heads and n-grams, and the changes of the base encoder.
        encoder_update = {}
        for name, array in load_file(folder / WEIGHTS_FILE).items():
            # Raises ValueError for NaN and infinity, which would spoil all probabilities.
            finite = np.asarray_chkfinite(array)
            if name.startswith(UPDATE):
                encoder_update[name.removeprefix(UPDATE)] = finite
            else:
                self._tensors[name] = finite.astype(np.float32)

        # Each part is there only if the configuration has it; its tensors must fit the configured labels.
        if self.config.base is not None:
            base_folder = encoder_folder or locate(self.config.base)
            self._encoder = BertEncoder(base_folder, encoder_update)
            self._tokenizer = QuestionTokenizer(base_folder, self.config.max_tokens)
            for name, field in self.config.fields.items():
                self._check_shape(f"{HEAD}{name}.weight", len(field.labels), self._encoder.dimensions)

        if self.config.ngram_buckets:
            self._check_shape(f"{NGRAMS}rarity", self.config.ngram_buckets)
            for name, field in self.config.fields.items():
                self._check_shape(f"{NGRAMS}{name}.weight", self.config.ngram_buckets, len(field.labels))

    def probabilities(self, texts: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """For each field an array of shape (texts, classes) whose rows sum to 1; one forward pass for all texts."""
        by_encoder = self._predict_by_encoder(texts)
        by_ngrams = self._predict_by_ngrams(texts)

        probabilities = {}
        for name, field in self.config.fields.items():
            weights = MixingWeights(field.encoder_weight, field.ngram_weight)
            mixture = mix_log_probabilities(by_encoder.get(name), by_ngrams.get(name), weights)
            probabilities[name] = np.exp(mixture)
        return probabilities

    def _predict_by_encoder(self, texts: Sequence[str]) -> dict[str, LogProbabilities]:
        """The log-probabilities of each field by the encoder; empty without one."""
        if self._encoder is None:
            return {}

        # One forward pass gives the vectors; the heads are a matrix each.
        tokens = self._tokenizer.tokens(texts)
        batch = self._tokenizer.batch(tokens)
        vectors = self._encoder.vectors(batch, self.config.pooling)

        predictions = {}
        for name in self.config.fields:
            weight = self._tensors[f"{HEAD}{name}.weight"]
            bias = self._tensors[f"{HEAD}{name}.bias"]
            predictions[name] = log_softmax(vectors @ weight.T + bias)
        return predictions

    def _predict_by_ngrams(self, texts: Sequence[str]) -> dict[str, LogProbabilities]:
        """The log-probabilities of each field by the n-grams; empty without them."""
        if not self.config.ngram_buckets:
            return {}

        # A linear model on the counts, without hidden layers.
        rows = hashed_rows(texts, self._tensors[f"{NGRAMS}rarity"])
        predictions = {}
        for name in self.config.fields:
            weight = self._tensors[f"{NGRAMS}{name}.weight"]
            bias = self._tensors[f"{NGRAMS}{name}.bias"]
            predictions[name] = log_softmax(rows.times(weight) + bias)
        return predictions

    def _check_shape(self, name: str, *shape: int) -> None:
        actual_shape = self._tensors[name].shape
        if actual_shape != shape:
            raise ValueError(f"{name} has shape {actual_shape}")
