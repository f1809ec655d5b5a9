"""What every engine inherits, checked against the plain way: one text or pair at a time, in the given order."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crag.core.deadline import Deadline
from crag.engines.encoders.base import BATCHES_PER_SLICE, BatchedCrossEncoder, BatchedDenseEncoder, Pair, Vectors
from crag.settings import CrossEncoderSettings, DenseEncoderSettings

DIMENSIONS = 4
TEXTS = st.lists(st.text("ab ", max_size=12), max_size=30)
PAIRS = st.lists(st.tuples(st.text("qw", max_size=6), st.text("ab ", max_size=12)), max_size=30)


def vector_of(text: str) -> list[float]:
    """A unit vector that depends on nothing but the text."""
    row = np.random.default_rng(zlib.crc32(text.encode())).normal(size=DIMENSIONS)
    return [float(value) for value in row / np.linalg.norm(row)]


def logit_of(pair: Pair) -> float:
    """Depends on both texts and on which is which."""
    query, passage = pair
    return len(passage) - 3.5 * len(query) + 0.25 * passage.count("a")


class BothSettings(DenseEncoderSettings, CrossEncoderSettings):
    """Settings of both kinds."""


class Counting(BatchedDenseEncoder, BatchedCrossEncoder):
    """Both kinds at once. Counts its batches; each takes one second of the clock."""

    settings: Any

    def __init__(self, batch_size: int = 2, query_instruction: str = "") -> None:
        super().__init__(BothSettings(model="m", batch_size=batch_size, query_instruction=query_instruction))
        self.batches: list[list[Any]] = []

    def clock(self) -> float:
        return float(len(self.batches))

    def warm_up(self) -> None:
        self._model, self._dimensions = "loaded", DIMENSIONS

    def _load(self, folder: Path) -> None: ...

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        return np.array([vector_of(text) for text in texts], dtype=np.float32)

    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        assert self._model, "scored before the weights were loaded"
        self.batches.append(list(pairs))
        return [logit_of(pair) for pair in pairs]


@given(TEXTS, st.integers(1, 6))
def test_each_text_is_encoded_once_into_its_own_row_whatever_the_batch_size(texts: list[str], batch_size: int) -> None:
    encoder = Counting(batch_size)
    vectors, encoded = encoder.encode_passages(texts)
    assert encoded == len(texts)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, np.array([vector_of(text) for text in texts]).reshape(-1, 4), rtol=1e-6)
    assert sorted(text for batch in encoder.batches for text in batch) == sorted(texts)
    assert all(1 <= len(batch) <= batch_size for batch in encoder.batches)


@given(TEXTS, st.integers(1, 4), st.integers(0, 20))
def test_the_count_of_a_hurried_run_says_which_rows_may_be_used(
    texts: list[str], batch_size: int, seconds: int
) -> None:
    encoder = Counting(batch_size)
    vectors, encoded = encoder.encode_passages(texts, Deadline(seconds, encoder.clock))
    for row, text in zip(vectors[:encoded], texts[:encoded], strict=True):
        np.testing.assert_allclose(row, vector_of(text), rtol=1e-6)
    assert vectors.shape == (len(texts), DIMENSIONS)
    assert not vectors[encoded:].any()
    assert len(encoder.batches) <= seconds
    # Only whole slices count, and no slice that fits is given away.
    slice_of_texts = batch_size * BATCHES_PER_SLICE
    assert encoded == len(texts) or encoded == seconds // BATCHES_PER_SLICE * slice_of_texts


def test_a_model_whose_first_call_hangs_gives_no_vectors_instead_of_an_error() -> None:
    encoder = Counting()
    with encoder._exclusive(None):
        vectors, encoded = encoder.encode_passages(["a", "b"], Deadline(0))
    assert (vectors.shape, encoded) == ((2, 0), 0)


def test_the_instruction_stands_before_queries_only() -> None:
    encoder = Counting(query_instruction="q: ")
    queries = ["short", "a much longer question", "mid-size one"]
    np.testing.assert_allclose(
        encoder.encode_queries(queries), [vector_of(f"q: {text}") for text in queries], rtol=1e-6
    )
    np.testing.assert_allclose(encoder.encode_passages(queries)[0], [vector_of(text) for text in queries], rtol=1e-6)
    assert encoder.encode_queries([]).shape == (0, DIMENSIONS)


@given(PAIRS, st.integers(1, 6))
def test_each_pair_is_scored_once_whatever_the_batch_size(pairs: list[Pair], batch_size: int) -> None:
    encoder = Counting(batch_size)
    assert encoder.score(pairs) == [logit_of(pair) for pair in pairs]
    assert sorted(pair for batch in encoder.batches for pair in batch) == sorted(pairs)
    assert all(1 <= len(batch) <= batch_size for batch in encoder.batches)


@given(PAIRS, st.integers(1, 4), st.integers(0, 20))
def test_scores_before_the_deadline_are_right_and_the_rest_is_none(
    pairs: list[Pair], batch_size: int, seconds: int
) -> None:
    encoder = Counting(batch_size)
    scores = encoder.score(pairs, Deadline(seconds, encoder.clock))
    assert all(score in (None, logit_of(pair)) for score, pair in zip(scores, pairs, strict=True))
    assert len(encoder.batches) <= seconds
    # Whole slices come first: nothing of a later slice is scored while an earlier one has gaps.
    whole = min(len(pairs), seconds // BATCHES_PER_SLICE * batch_size * BATCHES_PER_SLICE)
    assert None not in scores[:whole]
    assert all(score is None for score in scores[whole + batch_size * BATCHES_PER_SLICE :])
    # All the time there was is used: a pair is left out only where every second went to a batch.
    assert None not in scores or len(encoder.batches) == seconds
