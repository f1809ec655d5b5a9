"""What every dense encoder inherits, checked against the plain way: one text at a time, in the given order."""

import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.deadline import Deadline
from agents.encoders.base import Vectors
from agents.encoders.batching import BATCHES_PER_SLICE
from agents.encoders.dense_base import BatchedDenseEncoder
from agents.settings import DenseEncoderSettings

DIMENSIONS = 4


def vector_of(text: str) -> list[float]:
    """A unit vector that depends on nothing but the text."""
    row = np.random.default_rng(zlib.crc32(text.encode())).normal(size=DIMENSIONS)
    return [float(value) for value in row / np.linalg.norm(row)]


class HashEncoder(BatchedDenseEncoder):
    """Counts its batches; each takes one second of the clock."""

    def __init__(self, batch_size: int = 2, query_instruction: str = "") -> None:
        super().__init__(DenseEncoderSettings(model="m", batch_size=batch_size, query_instruction=query_instruction))
        self.batches: list[list[str]] = []
        self.warm = False

    def clock(self) -> float:
        return float(len(self.batches))

    def warm_up(self) -> None:
        self.warm = True

    @property
    def dimensions(self) -> int:
        assert self.warm, "dimensions were asked for before the weights were loaded"
        return DIMENSIONS

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        return np.array([vector_of(text) for text in texts], dtype=np.float32)


TEXTS = st.lists(st.text("ab ", max_size=12), max_size=30)


@given(TEXTS, st.integers(1, 6))
def test_each_row_is_its_own_texts_vector_whatever_the_batch_size(texts: list[str], batch_size: int) -> None:
    vectors, encoded = HashEncoder(batch_size).encode_passages(texts)
    assert encoded == len(texts)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(texts), DIMENSIONS)
    for row, text in zip(vectors, texts, strict=True):
        np.testing.assert_allclose(row, vector_of(text), rtol=1e-6)


@given(TEXTS, st.integers(1, 6))
def test_each_text_is_encoded_once_and_no_batch_is_too_large(texts: list[str], batch_size: int) -> None:
    encoder = HashEncoder(batch_size)
    encoder.encode_passages(texts)
    assert sorted(text for batch in encoder.batches for text in batch) == sorted(texts)
    assert all(1 <= len(batch) <= batch_size for batch in encoder.batches)


@given(TEXTS, st.integers(1, 4), st.integers(0, 20))
def test_the_count_of_a_hurried_run_tells_which_rows_may_be_used(
    texts: list[str], batch_size: int, seconds: int
) -> None:
    encoder = HashEncoder(batch_size)
    vectors, encoded = encoder.encode_passages(texts, Deadline(seconds, encoder.clock))
    for row, text in zip(vectors[:encoded], texts[:encoded], strict=True):
        np.testing.assert_allclose(row, vector_of(text), rtol=1e-6)
    assert not vectors[encoded:].any()
    assert len(encoder.batches) <= seconds
    # Only whole slices count, and no slice that fits is given away.
    slice_of_texts = batch_size * BATCHES_PER_SLICE
    assert encoded == len(texts) or encoded == seconds // BATCHES_PER_SLICE * slice_of_texts


def test_enough_time_encodes_everything_although_slices_are_sorted_apart() -> None:
    encoder = HashEncoder()
    texts = ["x" * length for length in range(20)]
    _, encoded = encoder.encode_passages(texts, Deadline(1000, encoder.clock))
    assert encoded == 20
    longest_of_first_slice = encoder.batches[0]
    assert [len(text) for text in longest_of_first_slice] == [7, 6]


def test_no_time_encodes_nothing_but_still_gives_the_shape() -> None:
    encoder = HashEncoder()
    vectors, encoded = encoder.encode_passages(["a", "b", "c"], Deadline(0, encoder.clock))
    assert encoded == 0
    assert vectors.shape == (3, DIMENSIONS)
    assert encoder.batches == []


def test_the_instruction_changes_query_vectors_and_no_passage_vector() -> None:
    plain, instructed = HashEncoder(), HashEncoder(query_instruction="Represent this: ")
    np.testing.assert_array_equal(plain.encode_passages(["a"])[0], instructed.encode_passages(["a"])[0])
    np.testing.assert_allclose(instructed.encode_queries(["a"])[0], vector_of("Represent this: a"), rtol=1e-6)
    np.testing.assert_array_equal(plain.encode_queries(["a"]), plain.encode_passages(["a"])[0])


def test_queries_come_back_in_their_order_and_none_gives_no_rows() -> None:
    encoder = HashEncoder(query_instruction="q: ")
    queries = ["short", "a much longer question", "mid-size one"]
    for row, query in zip(encoder.encode_queries(queries), queries, strict=True):
        np.testing.assert_allclose(row, vector_of(f"q: {query}"), rtol=1e-6)
    assert encoder.encode_queries([]).shape == (0, DIMENSIONS)


def test_an_engine_that_returns_too_many_rows_is_not_taken_silently() -> None:
    class TooMany(HashEncoder):
        def _encode_batch(self, texts: Sequence[str]) -> Vectors:
            return np.ones((len(texts) + 1, DIMENSIONS), dtype=np.float32)

    with pytest.raises(ValueError, match="shape"):
        TooMany().encode_passages(["a", "b"])
