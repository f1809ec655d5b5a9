from hypothesis import given
from hypothesis import strategies as st

from agents.encoders.batching import BATCHES_PER_SLICE, length_sorted_batches, slice_size

LENGTHS = st.lists(st.integers(0, 50), max_size=40)


@given(LENGTHS, st.integers(1, 5), st.integers(1, 20))
def test_every_text_is_in_exactly_one_batch_of_bounded_size(lengths: list[int], batch: int, size: int) -> None:
    batches = list(length_sorted_batches(lengths, batch, size))
    assert sorted(place for own in batches for place in own) == list(range(len(lengths)))
    assert all(len(own) <= batch for own in batches)


@given(LENGTHS, st.integers(1, 5), st.integers(1, 20))
def test_slices_keep_their_order_and_are_sorted_inside(lengths: list[int], batch: int, size: int) -> None:
    order = [place for own in length_sorted_batches(lengths, batch, size) for place in own]
    for start in range(0, len(order), size):
        part = order[start : start + size]
        assert sorted(part) == list(range(start, start + len(part)))
        assert [lengths[place] for place in part] == sorted((lengths[place] for place in part), reverse=True)


def test_slices_are_short_only_where_time_is() -> None:
    assert slice_size(1000, 8, hurried=True) == 8 * BATCHES_PER_SLICE
    assert slice_size(1000, 8, hurried=False) == 1000
    assert slice_size(0, 8, hurried=False) == 1
