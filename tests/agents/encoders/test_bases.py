"""What every engine inherits: order, batching, the deadline. The engines here compute lengths instead of meanings."""

from collections.abc import Sequence

import numpy as np
import pytest

from agents.deadline import Deadline
from agents.encoders.base import Vectors
from agents.encoders.cross_base import BatchedCrossEncoder, Pair
from agents.encoders.dense_base import BatchedDenseEncoder
from agents.settings import CrossEncoderSettings, DenseEncoderSettings
from models.manifest import UnknownModelError


class StepClock:
    """A clock that moves on only when work is done."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Lengths(BatchedDenseEncoder):
    def __init__(self, clock: StepClock, **more: object) -> None:
        super().__init__(DenseEncoderSettings.model_validate({"model": "x", "batch_size": 2, **more}))
        self.clock = clock
        self.batches: list[list[str]] = []

    def warm_up(self) -> None:
        pass

    @property
    def dimensions(self) -> int:
        return 1

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return []

    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        self.clock.now += 1.0
        self.batches.append(list(texts))
        return np.array([[len(text)] for text in texts], dtype=np.float32)


class PairLengths(BatchedCrossEncoder):
    def __init__(self, clock: StepClock) -> None:
        super().__init__(CrossEncoderSettings(model="x", batch_size=2))
        self.clock = clock

    def warm_up(self) -> None:
        pass

    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        self.clock.now += 1.0
        return [float(len(passage)) for _, passage in pairs]


TEXTS = ["x" * length for length in (5, 1, 9, 3, 7, 2, 8, 4, 6, 10, 12, 11)]


def test_vectors_come_back_in_the_given_order() -> None:
    encoder = Lengths(StepClock())
    vectors, encoded = encoder.encode_passages(TEXTS)
    assert list(vectors[:, 0]) == [len(text) for text in TEXTS]
    assert encoded == len(TEXTS)
    assert [len(text) for text in encoder.batches[0]] == [12, 11]


def test_rows_that_the_deadline_did_not_allow_are_zero_and_the_first_texts_come_first() -> None:
    clock = StepClock()
    vectors, encoded = Lengths(clock).encode_passages(TEXTS, Deadline(4.5, clock))
    assert encoded == 8  # the first slice of four batches; the half-done second slice does not count
    assert list(vectors[:8, 0]) == [len(text) for text in TEXTS[:8]]
    assert not vectors[8:].any()


def test_the_instruction_stands_before_queries_only() -> None:
    encoder = Lengths(StepClock(), query_instruction="find: ")
    encoder.encode_queries(["a"])
    encoder.encode_passages(["a"])
    assert encoder.batches == [["find: a"], ["a"]]


def test_no_texts() -> None:
    vectors, encoded = Lengths(StepClock()).encode_passages([])
    assert vectors.shape == (0, 1)
    assert encoded == 0
    assert PairLengths(StepClock()).score([]) == []


def test_scores_come_back_in_the_given_order() -> None:
    assert PairLengths(StepClock()).score([("q", text) for text in TEXTS]) == [len(text) for text in TEXTS]


def test_pairs_that_the_deadline_did_not_allow_are_none_and_the_first_slice_is_scored_first() -> None:
    clock = StepClock()
    scores = PairLengths(clock).score([("q", text) for text in TEXTS], Deadline(4.5, clock))
    assert scores[:8] == [len(text) for text in TEXTS[:8]]
    assert [place for place, score in enumerate(scores) if score is None] == [8, 9]


def test_an_unknown_model_is_named_before_anything_is_loaded() -> None:
    with pytest.raises(UnknownModelError, match="'x'"):
        Lengths(StepClock()).check_weights()
