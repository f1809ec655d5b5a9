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
"""A query and a passage, in this order."""

BATCHES_PER_SLICE = 4
"""Texts are sorted by length within slices of this many batches, so the first texts are still encoded first."""
SPECIAL_TOKENS = 8
"""Room for the tokens that a model adds to a pair (3 or 4), and for one or two that cutting a text adds."""
PATIENCE_SECONDS = 20.0
"""How long a batch of a few texts may keep another caller waiting before it counts as a hanging call."""


class DenseEncoder(Protocol):
    """Maps texts to unit vectors. The model's instruction precedes queries, never passages.

    Example:
        encoder = load_dense_encoder(settings.dense_encoder)
        encoder.warm_up()
        queries = encoder.encode_queries(["when was the comet seen?"])  # shape (1, dimensions)
        passages, encoded = encoder.encode_passages(texts, deadline)
        cosines = passages[:encoded] @ queries[0]  # shape (encoded,)
    """

    def warm_up(self) -> None:
        """Load weights; raises `crag.weights.manifest.WeightsMissingError`."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query."""

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Vectors in order, best passages first, and how many were encoded in time; later rows are zero."""


class CrossEncoder(Protocol):
    """Reads question and passage together and returns a relevance logit.

    Example:
        encoder = load_cross_encoder(settings.cross_encoder)
        encoder.warm_up()
        logits = encoder.score([("when was the comet seen?", text) for text in texts], deadline)
        relevant = [text for text, logit in zip(texts, logits) if logit is not None and logit > 0]
    """

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
        """Indices of the texts by batch, until the deadline: slices in order, the longest texts of a slice first.

        Texts of similar length share a batch, so little is padded. Without a deadline one slice holds all texts.
        """
        batch_size = self.settings.batch_size
        slice_size = batch_size * BATCHES_PER_SLICE
        if deadline is None:
            slice_size = max(1, len(lengths))

        for slice_start in range(0, len(lengths), slice_size):
            slice_end = min(slice_start + slice_size, len(lengths))
            longest_first = sorted(range(slice_start, slice_end), key=lambda index: -lengths[index])

            for batch_start in range(0, len(longest_first), batch_size):
                if deadline is not None and deadline.expired:
                    return
                yield longest_first[batch_start : batch_start + batch_size]


class BatchedDenseEncoder(_BatchedEncoder):
    """A dense encoder; an engine adds the abstract methods."""

    settings: DenseEncoderSettings
    _dimensions = 0
    """Of the vectors; 0 before the model is loaded."""

    def warm_up(self) -> None:
        """Load weights; raises `crag.weights.manifest.WeightsMissingError`."""
        if not self._dimensions:
            super().warm_up()
            # Only a first vector tells how many dimensions the model has.
            self._dimensions = self._encode_batch(["warm up"]).shape[1]

    @abstractmethod
    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of a few texts of similar length."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query, with the model's instruction in front."""
        instructed = [self.settings.query_instruction + text for text in texts]
        vectors, _ = self.encode_passages(instructed)
        return vectors

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Vectors in order, and how many of the first texts were encoded in time; later rows are zero.

        If an earlier call hangs and the model was never loaded, the rows have no columns.
        """
        # No lock: an earlier call hangs, and the batches below have to wait for it too.
        with self._exclusive(deadline) as acquired:
            if acquired:
                self.warm_up()

        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        encoded = 0
        lengths = [len(text) for text in texts]
        for batch in self._batches(lengths, deadline):
            with self._exclusive(deadline) as acquired:
                if not acquired:
                    break
                batch_texts = [texts[index] for index in batch]
                vectors[batch] = self._encode_batch(batch_texts)
            encoded += len(batch)

        # A slice counts whole or not at all: its batches are not in the order of the texts.
        if encoded < len(texts):
            encoded -= encoded % (self.settings.batch_size * BATCHES_PER_SLICE)
        vectors[encoded:] = 0.0
        return vectors, encoded


def encode_with_cache(encoder: DenseEncoder, texts: Sequence[str]) -> Vectors:
    """Vectors of passages that are the same in every run: encoded once, then read from the cache of models.

    The name of the cached file is a checksum of settings, weights and texts. An encoder of another class than ours has
    no such settings, so it encodes every time.
    """
    if not isinstance(encoder, BatchedDenseEncoder):
        vectors, _ = encoder.encode_passages(texts)
        return vectors

    path = _find_cache_file(encoder, texts)
    with suppress(OSError, ValueError):  # missing, or cut short
        # No pickles: they could run code.
        cached: Vectors = np.load(path, allow_pickle=False)
        return cached

    vectors, _ = encoder.encode_passages(texts)
    with suppress(OSError), whole_file(path) as unfinished:  # a cache that cannot be written costs seconds, not answers
        np.save(unfinished, vectors)
    return vectors


def _find_cache_file(encoder: BatchedDenseEncoder, texts: Sequence[str]) -> Path:
    """The cached file of these texts, whether it exists or not."""
    # Size and time stand for the contents of weights, which take seconds to read.
    weight_files = []
    for path in encoder.check_weights().iterdir():
        status = path.stat()
        weight_files.append((path.name, status.st_size, status.st_mtime_ns))
    weight_files.sort()

    # Anything that changes the vectors changes the name of the file.
    settings = encoder.settings.model_dump()
    identity = repr((settings, weight_files, list(texts)))
    checksum = sha256(identity.encode()).hexdigest()[:32]
    return cache_folder() / "vectors" / f"{checksum}.npy"


class BatchedCrossEncoder(_BatchedEncoder):
    """A cross-encoder; an engine adds `_load` and `_score_batch`."""

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
            parts = [self._split_passage(query, passage) for query, passage in pairs]

        # All parts of all passages are scored together; each passage then takes its slice of the scores.
        part_pairs: list[Pair] = []
        for (query, _), passage_parts in zip(pairs, parts, strict=True):
            part_pairs.extend((query, part) for part in passage_parts)
        part_scores = self._score(part_pairs, deadline)

        scores: list[float | None] = []
        start = 0
        for passage_parts in parts:
            end = start + len(passage_parts)
            # The best part speaks for the passage.
            in_time = [score for score in part_scores[start:end] if score is not None]
            scores.append(max(in_time, default=None))
            start = end
        return scores

    def _split_passage(self, query: str, passage: str) -> list[str]:
        """The passage in parts that fit into `max_tokens` with the query; at least one."""
        query_tokens = len(self.token_offsets(query))
        part_tokens = max(1, self.settings.max_tokens - query_tokens - SPECIAL_TOKENS)
        offsets = self.token_offsets(passage)
        if not offsets:
            return [passage]

        parts = []
        for first in range(0, len(offsets), part_tokens):
            part_offsets = offsets[first : first + part_tokens]
            start, _ = part_offsets[0]
            _, end = part_offsets[-1]
            parts.append(passage[start:end])
        return parts

    def _score(self, pairs: Sequence[Pair], deadline: Deadline | None) -> list[float | None]:
        """One raw logit per pair, in order; None for pairs that ran out of time."""
        scores: list[float | None] = [None] * len(pairs)
        lengths = [len(query) + len(passage) for query, passage in pairs]
        for batch in self._batches(lengths, deadline):
            with self._exclusive(deadline) as acquired:
                if not acquired:
                    break
                self.warm_up()
                batch_pairs = [pairs[index] for index in batch]
                logits = self._score_batch(batch_pairs)
            for index, logit in zip(batch, logits, strict=True):
                scores[index] = logit
        return scores
