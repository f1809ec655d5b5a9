"""The interfaces of both kinds of encoder, and what their engines share: instruction, batching, deadline, locking."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crag.core.deadline import Deadline
from crag.core.files import whole_file
from crag.core.locks import PatientLock
from crag.settings import CrossEncoderSettings, DenseEncoderSettings
from crag.weights.manifest import cache_folder, locate

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions); rows have unit length, so a dot product is the cosine."""
Pair = tuple[str, str]
"""Query and passage."""

BATCHES_PER_SLICE = 4
"""Texts are sorted by length within slices of this many batches, so the first texts are still encoded first."""
SPECIAL_TOKENS = 8
"""Tokens that a model adds to a pair (3 or 4), and one or two that a text cut off has more."""
PATIENCE_SECONDS = 20.0
"""How long a batch of a few texts may keep another caller waiting before it counts as a hanging call."""


class DenseEncoder(Protocol):
    """Maps texts to unit vectors. The model's instruction precedes queries, never passages."""

    def warm_up(self) -> None:
        """Load weights; raises `crag.weights.manifest.WeightsMissingError`."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query."""

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Vectors in order, best passages first, and how many were encoded in time; later rows are zero."""


class CrossEncoder(Protocol):
    """Reads question and passage together and returns a relevance logit."""

    def warm_up(self) -> None:
        """Load weights; raises `crag.weights.manifest.WeightsMissingError`."""

    def score(self, pairs: Sequence[Pair], deadline: Deadline | None = None) -> list[float | None]:
        """One raw logit per pair, in order, best pairs first; None for those that ran out of time."""


class _BatchedEncoder(ABC):
    """Batching, deadline and locking of both kinds.

    Parallel threads share encoders, and tokenizers with per-call settings are not thread-safe: every batch takes the
    lock. A call that hangs keeps it, and others end as if their deadline had come.
    """

    _model: Any = None
    """The loaded model, with a method `token_offsets`; None before loading."""

    def __init__(self, settings: DenseEncoderSettings | CrossEncoderSettings) -> None:
        self.settings = settings
        self._lock = PatientLock()

    def check_weights(self) -> Path:
        """The model's folder, see `locate`; raises `crag.weights.manifest.WeightsMissingError`."""
        return locate(self.settings.model)

    def warm_up(self) -> None:
        """Load weights; raises `crag.weights.manifest.WeightsMissingError`."""
        if self._model is None:
            self._model = self._load(self.check_weights())

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token in the text, without special tokens and truncation."""
        self.warm_up()
        spans: list[tuple[int, int]] = self._model.token_offsets(text)
        return spans

    @abstractmethod
    def _load(self, folder: Path) -> Any:  # noqa: ANN401 - an untyped library's model
        """The model in a folder."""

    def _exclusive(self, deadline: Deadline | None) -> AbstractContextManager[bool]:
        """Take the lock for a block, or give False if an earlier call does not end."""
        return self._lock.acquire(deadline, PATIENCE_SECONDS)

    def _batches(self, lengths: Sequence[int], deadline: Deadline | None) -> Iterator[list[int]]:
        """Positions of the texts by batch: slices in the given order, the longest texts of a slice first.

        Without a deadline one slice holds all texts.
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
    """A dense encoder; an engine adds the abstract methods."""

    settings: DenseEncoderSettings
    _dimensions: int

    def warm_up(self) -> None:
        """Load weights; raises `crag.weights.manifest.WeightsMissingError`."""
        if self._model is None:
            super().warm_up()
            self._dimensions = self._encode_batch(["warm up"]).shape[1]

    @abstractmethod
    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of a few texts of similar length."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query, with the model's instruction in front."""
        vectors, _ = self.encode_passages([self.settings.query_instruction + text for text in texts])
        return vectors

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Vectors in order, and how many of the first texts were encoded in time; later rows are zero."""
        with self._exclusive(deadline) as acquired:
            if acquired:
                self.warm_up()
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        encoded = 0
        for batch in self._batches([len(text) for text in texts], deadline):
            with self._exclusive(deadline) as acquired:
                if not acquired:
                    break
                vectors[batch] = self._encode_batch([texts[position] for position in batch])
            encoded += len(batch)
        if encoded < len(texts):
            encoded -= encoded % (self.settings.batch_size * BATCHES_PER_SLICE)  # a slice counts whole or not at all
        vectors[encoded:] = 0.0
        return vectors, encoded


def encode_with_cache(encoder: DenseEncoder, texts: Sequence[str]) -> Vectors:
    """Vectors of passages that are the same in every run: made once, then read from the cache of models.

    The name of the file is a checksum of settings, weights and texts.
    """
    if not isinstance(encoder, BatchedDenseEncoder):
        return encoder.encode_passages(texts)[0]
    stamps = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in encoder.check_weights().iterdir()]
    identity = repr((encoder.settings.model_dump(), sorted(stamps), list(texts)))
    path = cache_folder() / "vectors" / f"{sha256(identity.encode()).hexdigest()[:32]}.npy"
    with suppress(OSError, ValueError):  # not there, or cut short
        kept: Vectors = np.load(path, allow_pickle=False)
        return kept
    vectors, _ = encoder.encode_passages(texts)
    with suppress(OSError), whole_file(path) as part:  # a cache that cannot be written costs seconds, not answers
        np.save(part, vectors)
    return vectors


class BatchedCrossEncoder(_BatchedEncoder):
    """A cross-encoder; an engine adds `warm_up` and `_score_batch`."""

    settings: CrossEncoderSettings

    @abstractmethod
    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        """Raw logits of a few pairs of similar length."""

    def score(self, pairs: Sequence[Pair], deadline: Deadline | None = None) -> list[float | None]:
        """One raw logit per pair, in order; None for pairs that ran out of time."""
        if not self.settings.in_parts:
            return self._score(pairs, deadline)

        with self._exclusive(deadline) as acquired:
            if not acquired:
                return [None] * len(pairs)
            self.warm_up()
            parts = [self._parts(query, passage) for query, passage in pairs]

        # All parts of all passages are scored together; each passage then takes its slice of the scores.
        part_pairs: list[Pair] = []
        for (query, _), passage_parts in zip(pairs, parts, strict=True):
            part_pairs.extend((query, part) for part in passage_parts)
        part_scores = self._score(part_pairs, deadline)

        scores: list[float | None] = []
        start = 0
        for passage_parts in parts:
            end = start + len(passage_parts)
            in_time = [score for score in part_scores[start:end] if score is not None]
            scores.append(max(in_time, default=None))
            start = end
        return scores

    def _parts(self, query: str, passage: str) -> list[str]:
        """The passage in pieces that fit into `max_tokens` with the query."""
        room = max(1, self.settings.max_tokens - len(self.token_offsets(query)) - SPECIAL_TOKENS)
        spans = self.token_offsets(passage)
        windows = [spans[start : start + room] for start in range(0, len(spans), room)]
        return [passage[window[0][0] : window[-1][1]] for window in windows] or [passage]

    def _score(self, pairs: Sequence[Pair], deadline: Deadline | None) -> list[float | None]:
        scores: list[float | None] = [None] * len(pairs)
        for batch in self._batches([len(query) + len(passage) for query, passage in pairs], deadline):
            with self._exclusive(deadline) as acquired:
                if not acquired:
                    break
                self.warm_up()
                logits = self._score_batch([pairs[position] for position in batch])
            for position, logit in zip(batch, logits, strict=True):
                scores[position] = logit
        return scores
