"""The order in which texts go through an encoder: long texts together, so that little of a batch is padding."""

from collections.abc import Iterator, Sequence

BATCHES_PER_SLICE = 4
"""Texts are sorted by length inside slices of this many batches, so the first texts given are still encoded first."""


def length_sorted_batches(lengths: Sequence[int], batch_size: int, slice_size: int) -> Iterator[list[int]]:
    """Positions of the texts, batch by batch: slices in the given order, inside a slice the longest texts first."""
    for start in range(0, len(lengths), slice_size):
        positions = range(start, min(start + slice_size, len(lengths)))
        ordered = sorted(positions, key=lambda position: (-lengths[position], position))
        for first in range(0, len(ordered), batch_size):
            yield ordered[first : first + batch_size]


def slice_size(count: int, batch_size: int, *, hurried: bool) -> int:
    """Texts per slice: all of them when nothing can end the work early, else a few batches."""
    return max(1, batch_size * BATCHES_PER_SLICE if hurried else count)
