"""A trained classifier: a folder with `config.json` and `weights.safetensors`, written by `python -m training.router`.

It predicts one or more fields of a route. It has an encoder with a head per field, hashed n-grams with a linear model
per field, or both. The configuration's weights, fitted for calibration, mix the two parts.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.questions.calibration import Logs, MixingWeights, log_softmax, mixed
from agents.questions.network import BertEncoder, Floats, Pooling, QuestionTokenizer
from agents.questions.ngrams import hashed_rows
from agents.settings import SettingsError
from models.manifest import WeightsMissingError, locate
from models.needed import needed_folder

CONFIG_FILE = "config.json"
WEIGHTS_FILE = "weights.safetensors"
SHIPPED = Path(__file__).parents[2] / "models" / "routers"

HEAD, UPDATE, NGRAMS = "0.head.", "0.encoder.", "ngrams."
"""Prefixes of tensor names in the weights file."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FieldConfig(_Frozen):
    """One field: its classes in the order of the heads' rows, and the weight of each part."""

    labels: Annotated[tuple[str, ...], Field(min_length=2)]
    encoder_weight: Annotated[float, Field(ge=0)]
    ngram_weight: Annotated[float, Field(ge=0)] = 0.0


class ClassifierConfig(_Frozen):
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
    """The folder of classifier `name`: in `models/routers`, or in the cache of fetched models.
    Raises WeightsMissingError: the folder or a file is missing; the message names the command that trains it.
    """
    folder = needed_folder("router.classifiers", "classifier", name)
    if folder.problem:
        raise WeightsMissingError(folder.problem)
    return folder.path


def read_config(folder: Path) -> ClassifierConfig:
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
    """Predicts the fields of one trained folder. Construction is cheap; `warm_up` loads.

    Args:
        folder: Contains `config.json` and `weights.safetensors`.
        encoder_folder: Contains the base encoder; default: the manifest model's folder.
    """

    def __init__(self, folder: Path, encoder_folder: Path | None = None) -> None:
        self.config = read_config(folder)
        self._folder = folder
        self._encoder_folder = encoder_folder
        self._tensors: dict[str, Floats] | None = None
        self._encoder: BertEncoder | None = None
        self._tokenizer: QuestionTokenizer | None = None
        self._lock = threading.Lock()

    def check_weights(self) -> Path | None:
        """The folder of the base encoder, if there is one; raises `WeightsMissingError`. Loads nothing."""
        if self.config.base is None or self._encoder_folder is not None:
            return self._encoder_folder
        return locate(self.config.base)

    def warm_up(self) -> None:
        """Load weights, once.
        Raises WeightsMissingError: the base encoder is missing; SettingsError: the weights do not match the
        configuration or the encoder.
        """
        with self._lock:
            if self._tensors is None:
                self._load()

    def close(self) -> None:
        """Release the weights."""
        self._tensors = self._tokenizer = self._encoder = None

    def probabilities(self, texts: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """For each field an array of shape (texts, classes) whose rows sum to 1; one forward pass for all texts."""
        self.warm_up()
        if not texts:
            return {name: np.zeros((0, len(field.labels))) for name, field in self.config.fields.items()}
        encoder, ngrams = self._encoder_logs(texts), self._ngram_logs(texts)
        logs = {}
        for name, field in self.config.fields.items():
            weights = MixingWeights(field.encoder_weight, field.ngram_weight)
            logs[name] = mixed(encoder.get(name), ngrams.get(name), weights)
        return {name: np.exp(own) for name, own in logs.items()}

    def _load(self) -> None:
        from safetensors.numpy import load_file

        stored = load_file(self._folder / WEIGHTS_FILE)
        base, fields = self.check_weights(), self.config.fields.items()
        update = {name.removeprefix(UPDATE): array for name, array in stored.items() if name.startswith(UPDATE)}
        tensors = {name: array.astype(np.float32) for name, array in stored.items() if not name.startswith(UPDATE)}
        try:
            if base is not None:
                self._encoder = BertEncoder(base, update)
                self._tokenizer = QuestionTokenizer(base, self.config.max_tokens)
                for name, field in fields:
                    _check_shape(tensors, f"{HEAD}{name}.weight", (len(field.labels), self._encoder.dimensions))
            for name, field in fields if self.config.ngram_buckets else ():
                _check_shape(tensors, f"{NGRAMS}{name}.weight", (self.config.ngram_buckets, len(field.labels)))
                _check_shape(tensors, f"{NGRAMS}rarity", (self.config.ngram_buckets,))
        except (KeyError, ValueError) as error:
            raise SettingsError(f"{self._folder}: the weights do not fit the configuration: {error}") from error
        self._tensors = tensors

    def _encoder_logs(self, texts: Sequence[str]) -> dict[str, Logs]:
        if self._tokenizer is None or self._encoder is None or self._tensors is None:
            return {}
        batch = self._tokenizer.batch(self._tokenizer.tokens(texts))
        vectors, heads = self._encoder.vectors(batch, self.config.pooling), self._tensors
        return {
            name: log_softmax(vectors @ heads[f"{HEAD}{name}.weight"].T + heads[f"{HEAD}{name}.bias"])
            for name in self.config.fields
        }

    def _ngram_logs(self, texts: Sequence[str]) -> dict[str, Logs]:
        if not self.config.ngram_buckets or self._tensors is None:
            return {}
        tensors, rows = self._tensors, hashed_rows(texts, self._tensors[f"{NGRAMS}rarity"])
        return {
            name: log_softmax(rows.times(tensors[f"{NGRAMS}{name}.weight"]) + tensors[f"{NGRAMS}{name}.bias"])
            for name in self.config.fields
        }


def _check_shape(tensors: Mapping[str, Floats], name: str, shape: tuple[int, ...]) -> None:
    if tensors[name].shape != shape:
        raise KeyError(f"{name} has shape {tensors[name].shape}")
