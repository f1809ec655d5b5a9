"""What every cross-encoder inherits, checked against the plain way: one pair at a time, in the given order."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.deadline import Deadline
from agents.encoders.batching import BATCHES_PER_SLICE
from agents.encoders.cross_base import BatchedCrossEncoder, Pair
from agents.settings import CrossEncoderSettings


def logit_of(pair: Pair) -> float:
    """Depends on both texts and on which is which."""
    query, passage = pair
    return len(passage) - 3.5 * len(query) + 0.25 * passage.count("a")


class Arithmetic(BatchedCrossEncoder):
    """Counts its batches; each takes one second of the clock."""

    def __init__(self, batch_size: int = 2, extra: int = 0) -> None:
        super().__init__(CrossEncoderSettings(model="m", batch_size=batch_size))
        self.batches: list[list[Pair]] = []
        self.warm = 0
        self.extra = extra

    def clock(self) -> float:
        return float(len(self.batches))

    def warm_up(self) -> None:
        self.warm += 1

    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        assert self.warm, "scored before the weights were loaded"
        self.batches.append(list(pairs))
        return [logit_of(pair) for pair in pairs] + [0.0] * self.extra


PAIRS = st.lists(st.tuples(st.text("qw", max_size=6), st.text("ab ", max_size=12)), max_size=30)


@given(PAIRS, st.integers(1, 6))
def test_each_logit_is_its_own_pairs_whatever_the_batch_size(pairs: list[Pair], batch_size: int) -> None:
    assert Arithmetic(batch_size).score(pairs) == [logit_of(pair) for pair in pairs]


@given(PAIRS, st.integers(1, 6))
def test_each_pair_is_scored_once_and_no_batch_is_too_large(pairs: list[Pair], batch_size: int) -> None:
    encoder = Arithmetic(batch_size)
    encoder.score(pairs)
    assert sorted(pair for batch in encoder.batches for pair in batch) == sorted(pairs)
    assert all(1 <= len(batch) <= batch_size for batch in encoder.batches)


@given(PAIRS, st.integers(1, 4), st.integers(0, 20))
def test_what_the_deadline_allowed_is_right_and_the_rest_is_none(
    pairs: list[Pair], batch_size: int, seconds: int
) -> None:
    encoder = Arithmetic(batch_size)
    scores = encoder.score(pairs, Deadline(seconds, encoder.clock))
    assert len(scores) == len(pairs)
    assert all(score in (None, logit_of(pair)) for score, pair in zip(scores, pairs, strict=True))
    assert len(encoder.batches) <= seconds
    # Whole slices come first: nothing of a later slice is scored while an earlier one has gaps.
    whole = min(len(pairs), seconds // BATCHES_PER_SLICE * batch_size * BATCHES_PER_SLICE)
    assert None not in scores[:whole]
    assert all(score is None for score in scores[whole + batch_size * BATCHES_PER_SLICE :])
    # All the time there was is used: a pair is left out only where every second went to a batch.
    assert None not in scores or len(encoder.batches) == seconds


def test_pairs_are_sorted_by_the_length_of_both_texts_together() -> None:
    encoder = Arithmetic(1)
    encoder.score([("q" * 5, "p"), ("q", "p" * 3), ("q", "p" * 7)])
    assert [len(query) + len(passage) for batch in encoder.batches for query, passage in batch] == [8, 6, 4]


def test_no_pairs_and_no_time() -> None:
    encoder = Arithmetic()
    assert encoder.score([]) == []
    assert encoder.score([("a", "b")] * 3, Deadline(0, encoder.clock)) == [None, None, None]
    assert encoder.batches == []


def test_an_engine_that_returns_too_many_logits_is_not_taken_silently() -> None:
    with pytest.raises(ValueError, match="zip"):
        Arithmetic(extra=1).score([("a", "b")])
