"""The two kinds of text encoder, and what their engines share: instruction, batching, deadline, one call at a time."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agents.deadline import Deadline
from agents.settings import CrossEncoderSettings, DenseEncoderSettings
from models.manifest import locate

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions), rows of unit length, so that a dot product is the cosine."""
Pair = tuple[str, str]
"""Query and passage."""

BATCHES_PER_SLICE = 4
"""Texts are sorted by length inside slices of this many batches, so the first texts given are still encoded first."""
MOST_LEFT_BEHIND = 2
"""Stuck calls that keep weights of their own. One more set of weights may not fit into memory."""


class DenseEncoder(Protocol):
    """Maps texts to unit vectors. Queries may get the model's instruction in front; passages do not."""

    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query."""

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Vectors of the passages in the given order, and how many of them were encoded before the deadline.

        Rows past that number are zero. Put the most promising passages first.
        """


class CrossEncoder(Protocol):
    """Reads question and passage together and returns a relevance logit."""

    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""

    def score(self, pairs: Sequence[Pair], deadline: Deadline | None = None) -> list[float | None]:
        """One raw logit per (query, passage) pair, in order; None for pairs not reached before the deadline.

        Pairs are sorted by length inside slices of the given order, so the first pairs are scored first: put the most
        promising ones there.
        """


class _BatchedEncoder(ABC):
    """Batches, deadline and locking of both kinds.

    Rooms that share an encoder run in parallel threads, and tokenizers that are configured per call must not, so every
    batch takes the lock.
    """

    _model: Any = None
    """What the engine has loaded; None before, and after a stuck call was left behind with it."""

    def __init__(self, settings: DenseEncoderSettings | CrossEncoderSettings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._left_behind: list[threading.Lock] = []
        """Locks of stuck calls; one that ends releases its lock."""

    def check_weights(self) -> Path:
        """The model's folder; raises `models.manifest.WeightsMissingError` where it is absent or incomplete."""
        return locate(self.settings.model)

    @abstractmethod
    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""

    def leave_behind(self, patience: float) -> bool:
        """Whether a call was still running after so many seconds; later calls then load weights of their own.

        With `MOST_LEFT_BEHIND` stuck calls nothing else is loaded: False, and later calls wait for the lock.
        """
        lock = self._lock
        if lock.acquire(timeout=patience):
            lock.release()
            return False
        self._left_behind = [one for one in self._left_behind if one.locked()]
        if len(self._left_behind) >= MOST_LEFT_BEHIND:
            return False
        self._left_behind.append(lock)
        self._model = None
        self._lock = threading.Lock()
        return True

    def _batches(self, lengths: Sequence[int], deadline: Deadline | None) -> Iterator[list[int]]:
        """Positions of the texts, batch by batch: slices in the given order, inside a slice the longest texts first.

        One slice holds everything where no deadline can end the work early.
        """
        size = self.settings.batch_size
        slice_size = max(1, len(lengths)) if deadline is None else size * BATCHES_PER_SLICE
        for start in range(0, len(lengths), slice_size):
            positions = range(start, min(start + slice_size, len(lengths)))
            ordered = sorted(positions, key=lambda position: (-lengths[position], position))
            for first in range(0, len(ordered), size):
                if deadline is not None and deadline.expired:
                    return
                yield ordered[first : first + size]


class BatchedDenseEncoder(_BatchedEncoder):
    """A dense encoder that an engine completes by `warm_up`, `dimensions` and `_encode_batch`."""

    settings: DenseEncoderSettings

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """Length of a vector; needs `warm_up`."""

    @abstractmethod
    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each of the tokenizer's tokens in the text, without special tokens and truncation."""

    @abstractmethod
    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of a few texts of similar length."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query, the model's instruction in front of each."""
        vectors, _ = self.encode_passages([self.settings.query_instruction + text for text in texts])
        return vectors

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Vectors in the given order, and how many of the first texts were encoded in time; rows past that are zero."""
        with self._lock:
            self.warm_up()
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        encoded = 0
        for batch in self._batches([len(text) for text in texts], deadline):
            with self._lock:
                self.warm_up()  # again where a stuck call took the weights along
                vectors[batch] = self._encode_batch([texts[position] for position in batch])
            encoded += len(batch)
        if encoded < len(texts):
            encoded -= encoded % (self.settings.batch_size * BATCHES_PER_SLICE)  # a slice counts whole or not at all
        vectors[encoded:] = 0.0
        return vectors, encoded


class BatchedCrossEncoder(_BatchedEncoder):
    """A cross-encoder that an engine completes by `warm_up` and `_score_batch`."""

    settings: CrossEncoderSettings

    @abstractmethod
    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        """Raw logits of a few pairs of similar length."""

    def score(self, pairs: Sequence[Pair], deadline: Deadline | None = None) -> list[float | None]:
        """One raw logit per pair, in order; None for pairs that the deadline did not allow."""
        with self._lock:
            self.warm_up()
        scores: list[float | None] = [None] * len(pairs)
        for batch in self._batches([len(query) + len(passage) for query, passage in pairs], deadline):
            with self._lock:
                self.warm_up()
                logits = self._score_batch([pairs[position] for position in batch])
            for position, logit in zip(batch, logits, strict=True):
                scores[position] = logit
        return scores
