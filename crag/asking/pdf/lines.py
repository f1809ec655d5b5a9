"""The lines of a page in reading order, each as text; rows of tables as `a | b | c`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crag.asking.pdf.columns import find_regions
from crag.asking.pdf.words import Word

CELL_GAP = 1.2
"""The least white between two cells of a row, in font sizes."""

_SAME_LINE = 0.5
"""Baselines of a line differ by less, in sizes of its largest font: footnote marks are raised by about a third."""
_GLUED = 0.2
"""A smaller white is none, in font sizes."""
_SMALLER = 0.87
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|re|e|o|a|os|as)\b")
_BASE_OF_POWER = re.compile(r"(?:\b10|[×x]10|\b(?:k|c|m|d|µ)?m|\bft|\bin|\bmi)$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text or a row of a table.

    Attributes:
        text: Its characters; cells of a row are separated by ` | `.
        left: Where it begins, in points from the left of the page.
        right: Where it ends.
        baseline: The line on which it stands, from the top of the page.
        size: The size of its largest font.
        region: The number of its region on the page. Lines of a region stand below each other.
        is_row: Whether it is a row of a table.
    """

    text: str
    left: float
    right: float
    baseline: float
    size: float
    region: int
    is_row: bool = False


def read_lines(words: Sequence[Word]) -> list[Line]:
    """The lines of a page: those that are upright first, then those that are turned."""
    regions: list[list[Word]] = []
    for turn in range(4):
        regions += find_regions([word for word in words if word.turn == turn])

    lines: list[Line] = []
    for number, region in enumerate(regions):
        lines += _read_region(region, number)
    return lines


def _read_region(words: Sequence[Word], number: int) -> list[Line]:
    """The lines of a region, from the top."""
    rows = _group_by_baseline(words)
    gaps = [_find_cell_gaps(row) for row in rows]

    lines = []
    for index, row in enumerate(rows):
        neighbours = gaps[max(index - 1, 0) : index] + gaps[index + 1 : index + 2]
        borders: dict[float, int] = {}
        for gap in gaps[index]:
            # A wide blank is a border of cells if a line next to it has one at the same place; two, if that has two.
            count = max((sum(_overlap(gap, other) for other in others) for others in neighbours), default=0)
            if count:
                borders[gap[1]] = count
        lines.append(_build_line(row, borders, number))
    return lines


def _group_by_baseline(words: Sequence[Word]) -> list[list[Word]]:
    """The words of each line, from left to right."""
    rows: list[list[Word]] = []
    largest = None
    for word in sorted(words, key=lambda word: word.baseline):
        if largest and word.baseline - largest.baseline < _SAME_LINE * max(largest.size, word.size):
            rows[-1].append(word)
            largest = max(largest, word, key=lambda word: word.size)
        else:
            rows.append([word])
            largest = word
    return [sorted(row, key=lambda word: word.left) for row in rows]


def _find_cell_gaps(row: Sequence[Word]) -> list[tuple[float, float]]:
    """The wide blanks of a line."""
    gaps = []
    for before, word in zip(row, row[1:], strict=False):
        if word.left - before.right >= CELL_GAP * max(before.size, word.size):
            gaps.append((before.right, word.left))
    return gaps


def _overlap(gap: tuple[float, float], other: tuple[float, float]) -> bool:
    return min(gap[1], other[1]) > max(gap[0], other[0])


def _build_line(row: Sequence[Word], borders: Mapping[float, int], region: int) -> Line:
    """The line. `borders`: where a cell begins, and how many borders are before it; empty cells have no words."""
    text = row[0].text
    for before, word in zip(row, row[1:], strict=False):
        text += " |" * borders[word.left] + " " if word.left in borders else _separator(text, before, word)
        text += word.text

    largest = max(row, key=lambda word: word.size)
    return Line(
        text=text,
        left=row[0].left,
        right=max(word.right for word in row),
        baseline=largest.baseline,
        size=largest.size,
        region=region,
        is_row=bool(borders),
    )


def _separator(text: str, before: Word, word: Word) -> str:
    """What stands between two words of a line: a blank, nothing, or ^ before an exponent.

    Example:
        10 with a raised 6         # "10^6"
        48,312 with a raised 1     # "48,312 1": a footnote mark is no digit of the number
        19 with a raised th        # "19th"
        H, a lowered 2, O          # "H2O"
    """
    is_close = word.left - before.right < _GLUED * max(before.size, word.size)
    if not is_close:
        return " "

    is_raised = word.size < _SMALLER * before.size and before.baseline - word.baseline > 0.15 * before.size
    if is_raised and not _ORDINAL.match(word.text):
        is_number = word.text.lstrip("-−+").isdecimal()
        return "^" if is_number and _BASE_OF_POWER.search(text) else " "
    return " " if word.follows_blank else ""
