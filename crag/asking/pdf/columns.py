"""The reading order of a page: columns of prose one after the other, everything else from top to bottom.

A variant of the recursive XY-cut (Nagy and Seth, "Hierarchical representation of optically scanned documents", ICPR
1984). Bands of words that share a gutter are cut there only if there is prose on both sides: the gaps between the
columns of a table are gutters too, but its rows must stay on one line.
"""

from collections.abc import Sequence
from itertools import chain
from statistics import median
from typing import NamedTuple

from crag.asking.pdf.words import Word

GUTTER = 0.8
"""The least width of a gutter, in font sizes. Blanks between words are up to half a size wide."""
LEAST_LINES = 3
"""A column has at least so many lines."""
LEAST_CHARACTERS = 18
"""Of half of its lines, at least: cells are shorter."""
_LEAST_WORDS = 3
"""Of half of a column's lines."""
_X_HEIGHT = 0.5
"""The part of a font's size above the baseline that counts as occupied: lines that touch stay apart."""
_MOST_DEPTH = 8

Gap = tuple[float, float]


def find_regions(words: Sequence[Word], depth: int = 0) -> list[list[Word]]:
    """The words of each region, in reading order. Words of a region are read line by line."""
    bands = _split_into_bands(words)
    columns = _find_columns(bands) if depth < _MOST_DEPTH else None
    if columns is None:
        return [list(words)] if words else []

    first, last, gutter = columns
    above = chain.from_iterable(bands[:first])
    beside = chain.from_iterable(bands[first : last + 1])
    below = chain.from_iterable(bands[last + 1 :])
    left, right = _cut(list(beside), gutter)

    regions = []
    for part in (above, left, right, below):
        regions += find_regions(list(part), depth + 1)
    return regions


def _split_into_bands(words: Sequence[Word]) -> list[list[Word]]:
    """The words between horizontal white lines across the whole width, from the top."""
    bands: list[list[Word]] = []
    lowest = 0.0
    for word in sorted(words, key=lambda word: word.baseline - _X_HEIGHT * word.size):
        if bands and word.baseline - _X_HEIGHT * word.size < lowest:
            bands[-1].append(word)
            lowest = max(lowest, word.baseline)
        else:
            bands.append([word])
            lowest = word.baseline
    return bands


class _Columns(NamedTuple):
    """The numbers of the first and the last band with two columns, and the gutter between these."""

    first: int
    last: int
    gutter: Gap


def _find_columns(bands: Sequence[Sequence[Word]]) -> _Columns | None:
    """The longest run of neighbouring bands that share a gutter between prose; None if there is none."""
    gaps_of_bands = [_find_gaps(band) for band in bands]
    best: _Columns | None = None
    for first in range(len(bands)):
        # The run goes on as long as its bands share a gap; gaps only get fewer and narrower.
        gaps = gaps_of_bands[first]
        last = first
        while last + 1 < len(bands) and (shared := _intersect(gaps, gaps_of_bands[last + 1], bands[first])):
            gaps = shared
            last += 1

        is_longest = best is None or last - first > best.last - best.first
        gutter = _choose_gutter(bands[first : last + 1], gaps) if is_longest else None
        if gutter is not None:
            best = _Columns(first, last, gutter)
    return best


def _find_gaps(band: Sequence[Word]) -> list[Gap]:
    """The white parts of a band, also those before its first word and behind its last one."""
    least_width = GUTTER * median(word.size for word in band)
    gaps = []
    end = float("-inf")
    for word in sorted(band, key=lambda word: word.left):
        if word.left - end >= least_width:
            gaps.append((end, word.left))
        end = max(end, word.right)
    return [*gaps, (end, float("inf"))]


def _intersect(gaps: Sequence[Gap], others: Sequence[Gap], band: Sequence[Word]) -> list[Gap]:
    """The white parts that both have, except the margins."""
    least_width = GUTTER * band[0].size
    shared = []
    for left, right in gaps:
        for other_left, other_right in others:
            gap = (max(left, other_left), min(right, other_right))
            if gap[1] - gap[0] >= least_width:
                shared.append(gap)
    is_only_margins = all(gap[0] == float("-inf") or gap[1] == float("inf") for gap in shared)
    return [] if is_only_margins else shared


def _choose_gutter(bands: Sequence[Sequence[Word]], gaps: Sequence[Gap]) -> Gap | None:
    """The widest gap with prose on both sides."""
    words = list(chain.from_iterable(bands))
    for gap in sorted(gaps, key=lambda gap: gap[0] - gap[1]):
        is_margin = gap[0] == float("-inf") or gap[1] == float("inf")
        if not is_margin and all(map(_is_prose, _cut(words, gap))):
            return gap
    return None


def _cut(words: Sequence[Word], gutter: Gap) -> tuple[list[Word], list[Word]]:
    """The words to the left and to the right of a gutter."""
    middle = sum(gutter) / 2
    left = [word for word in words if word.left < middle]
    right = [word for word in words if word.left >= middle]
    return left, right


def _is_prose(words: Sequence[Word]) -> bool:
    """Whether words fill lines as running text does."""
    bands = _split_into_bands(words)
    if len(bands) < LEAST_LINES:
        return False
    characters = median(sum(len(word.text) + 1 for word in band) for band in bands)
    return characters >= LEAST_CHARACTERS and median(map(len, bands)) >= _LEAST_WORDS
