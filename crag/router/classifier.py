"""A trained classifier: a folder with `config.json` and `weights.safetensors`, written by `crag train router`.

It predicts one or more fields of a route. It has an encoder with a head per field, hashed n-grams with a linear model
per field, or both. The configuration's weights, fitted for calibration, mix the two parts.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from crag.router.calibration import LogProbabilities, MixingWeights, log_softmax, mix_log_probabilities
from crag.router.network import BertEncoder, Pooling, QuestionTokenizer
from crag.router.ngrams import hashed_rows
from crag.settings import SettingsError, StrictModel
from crag.weights.manifest import WeightsMissingError, locate
from crag.weights.needed import needed_folder

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "weights.safetensors"

HEAD, UPDATE, NGRAMS = "0.head.", "0.encoder.", "ngrams."
"""Prefixes of tensor names in the weights file."""


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


def locate_classifier(name: str) -> Path:
    """The folder of classifier `name`: in `crag/weights/routers`, or in the cache of fetched models.
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
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors(include_url=False)
        )
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
    """

    def __init__(self, folder: Path, encoder_folder: Path | None = None) -> None:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        self.config = read_classifier_config(folder)
        self._encoder: BertEncoder | None = None
        try:
            stored, fields = load_file(folder / WEIGHTS_FILE), self.config.fields.items()
            finite = {name: np.asarray_chkfinite(array) for name, array in stored.items()}
            update = {name.removeprefix(UPDATE): array for name, array in finite.items() if name.startswith(UPDATE)}
            self._tensors = {name: array.astype(np.float32) for name, array in finite.items() if UPDATE not in name}
            if self.config.base is not None:
                base = encoder_folder or locate(self.config.base)
                self._encoder = BertEncoder(base, update)
                self._tokenizer = QuestionTokenizer(base, self.config.max_tokens)
                for name, field in fields:
                    self._check_shape(f"{HEAD}{name}.weight", len(field.labels), self._encoder.dimensions)
            for name, field in fields if self.config.ngram_buckets else ():
                self._check_shape(f"{NGRAMS}{name}.weight", self.config.ngram_buckets, len(field.labels))
                self._check_shape(f"{NGRAMS}rarity", self.config.ngram_buckets)
        except (KeyError, ValueError, SafetensorError) as error:
            raise SettingsError(f"{folder}: the weights do not fit the configuration: {error}") from error

    def probabilities(self, texts: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """For each field an array of shape (texts, classes) whose rows sum to 1; one forward pass for all texts."""
        encoder, ngrams = self._encoder_logs(texts), self._ngram_logs(texts)
        return {
            name: np.exp(
                mix_log_probabilities(
                    encoder.get(name), ngrams.get(name), MixingWeights(field.encoder_weight, field.ngram_weight)
                )
            )
            for name, field in self.config.fields.items()
        }

    def _encoder_logs(self, texts: Sequence[str]) -> dict[str, LogProbabilities]:
        if self._encoder is None:
            return {}
        batch = self._tokenizer.batch(self._tokenizer.tokens(texts))
        vectors, heads = self._encoder.vectors(batch, self.config.pooling), self._tensors
        return {
            name: log_softmax(vectors @ heads[f"{HEAD}{name}.weight"].T + heads[f"{HEAD}{name}.bias"])
            for name in self.config.fields
        }

    def _ngram_logs(self, texts: Sequence[str]) -> dict[str, LogProbabilities]:
        if not self.config.ngram_buckets:
            return {}
        tensors, rows = self._tensors, hashed_rows(texts, self._tensors[f"{NGRAMS}rarity"])
        return {
            name: log_softmax(rows.times(tensors[f"{NGRAMS}{name}.weight"]) + tensors[f"{NGRAMS}{name}.bias"])
            for name in self.config.fields
        }

    def _check_shape(self, name: str, *shape: int) -> None:
        if self._tensors[name].shape != shape:
            raise ValueError(f"{name} has shape {self._tensors[name].shape}")
