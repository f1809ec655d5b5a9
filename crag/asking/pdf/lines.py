"""The lines of a page in reading order, each as text; rows of tables as `a | b | c`."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from crag.asking.pdf.columns import find_regions
from crag.asking.pdf.words import RAISED, Word

CELL_GAP = 1.2
"""The least white between two cells of a row, in font sizes."""

NEAR = 5.0
"""Lines that are further apart are not of one table, in font sizes."""
WRAPPED = 1.3
"""The largest distance between the lines of a cell, in font sizes: rows are further apart."""
_ALIGNED = 0.5
"""How far apart, in font sizes, the beginnings of the lines of a cell can be."""
_SAME_LINE = 0.5
"""Baselines of a line differ by less, in sizes of its largest font: footnote marks are raised by about a third."""
_GLUED = 0.2
"""A smaller white is none, in font sizes."""
_SMALLER = 0.87
_ORDINAL = re.compile(r"(?:st|nd|rd|th|er|re|e|o|a|os|as)\b")
_BASE_OF_POWER = re.compile(r"(?:\b10|[×x]10|\b(?:k|c|m|d|µ)?m|\bft|\bin|\bmi)$")

_Gap = tuple[float, float]
"""The left and the right end of a wide blank."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text or a row of a table.

    Attributes:
        text: Its characters; cells of a row are separated by ` | `.
        left: Where it begins, in points from the left of the page.
        right: Where it ends.
        baseline: The line on which it stands, from the top of the page.
        size: The size of the font of most of its characters.
        region: The number of its region on the page. Lines of a region are below each other.
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
        rows = _merge_wrapped_rows(_split_into_cells(_group_by_baseline(region)))
        lines += [_build_line(row, number) for row in rows]
    return lines


@dataclass(slots=True)
class _Cell:
    """A cell of a row, or a whole line: where it begins, and its text; empty where the table has none."""

    left: float
    text: str


@dataclass(slots=True)
class _Row:
    """A line as cells; a line that belongs to no table has one."""

    cells: list[_Cell]
    right: float
    baseline: float
    size: float


def _group_by_baseline(words: Sequence[Word]) -> list[list[Word]]:
    """The words of each line, from left to right."""
    lines: list[list[Word]] = []
    largest = None
    for word in sorted(words, key=lambda word: word.baseline):
        if largest and word.baseline - largest.baseline < _SAME_LINE * max(largest.size, word.size):
            lines[-1].append(word)
            largest = max(largest, word, key=lambda word: word.size)
        else:
            lines.append([word])
            largest = word
    return [sorted(line, key=lambda word: word.left) for line in lines]


def _split_into_cells(lines: Sequence[Sequence[Word]]) -> list[_Row]:
    """The lines as rows. A wide blank is a border of cells if a line nearby has one at the same place."""
    gaps_of_lines = [_find_cell_gaps(line) for line in lines]
    rows = []
    for index, line in enumerate(lines):
        # Two lines away as well: cells in between may have two lines.
        first = max(0, index - 2)
        nearby: list[list[_Gap]] = []
        for other, gaps in enumerate(gaps_of_lines[first : index + 3], start=first):
            if other != index and _are_near(line[0], lines[other][0]):
                nearby.append(gaps)

        starts: dict[float, int] = {}
        for gap in gaps_of_lines[index]:
            borders = _count_borders(gap, nearby)
            if borders:
                starts[gap[1]] = borders
        rows.append(_build_row(line, starts))
    return rows


def _count_borders(gap: _Gap, nearby: Sequence[Sequence[_Gap]]) -> int:
    """How many borders of cells a wide blank is: two, around an empty cell, if a line nearby has two there."""
    counts = [sum(_overlap(gap, other) for other in gaps) for gaps in nearby]
    return max(counts, default=0)


def _find_cell_gaps(line: Sequence[Word]) -> list[_Gap]:
    """The wide blanks of a line."""
    gaps = []
    for before, word in pairwise(line):
        if word.left - before.right >= CELL_GAP * max(before.size, word.size):
            gaps.append((before.right, word.left))
    return gaps


def _are_near(word: Word, other: Word) -> bool:
    return abs(word.baseline - other.baseline) < NEAR * max(word.size, other.size)


def _overlap(gap: _Gap, other: _Gap) -> bool:
    return min(gap[1], other[1]) > max(gap[0], other[0])


def _build_row(line: Sequence[Word], starts: Mapping[float, int]) -> _Row:
    """The row. `starts`: where a cell begins, and how many borders are before it."""
    cells = [_Cell(line[0].left, line[0].text)]
    for before, word in pairwise(line):
        if word.left in starts:
            cells += [_Cell(word.left, "") for _ in range(starts[word.left] - 1)]
            cells.append(_Cell(word.left, word.text))
        else:
            cells[-1].text += _separator(cells[-1].text, before, word) + word.text

    # A bullet or an initial can be larger than the text.
    characters: Counter[float] = Counter()
    for word in line:
        characters[word.size] += len(word.text)
    size, _ = characters.most_common(1)[0]
    baseline = next(word.baseline for word in line if word.size == size)
    return _Row(cells, max(word.right for word in line), baseline, size)


def _merge_wrapped_rows(rows: Sequence[_Row]) -> list[_Row]:
    """The rows, with the lines of a cell in the row of its other cells: those below it, then those above it."""
    merged: list[_Row] = []
    for row in rows:
        columns = _find_columns_of(row, merged[-1]) if merged else None
        if columns is None:
            merged.append(row)
            continue
        _fill_cells(merged[-1], row, columns, "{0} {1}")
        merged[-1].baseline = row.baseline

    # Cells that are aligned at their bottom, or in the middle, begin above the others.
    upwards: list[_Row] = []
    for row in reversed(merged):
        is_line = len(row.cells) == 1
        columns = _find_columns_of(row, upwards[-1]) if upwards and is_line else None
        if columns is None:
            upwards.append(row)
        else:
            _fill_cells(upwards[-1], row, columns, "{1} {0}")
    return upwards[::-1]


def _find_columns_of(row: _Row, other: _Row) -> list[int] | None:
    """The columns of a table's row that a row right beside it belongs to; None if it is a row of its own."""
    # Lines of a cell leave the first column empty; rows of their own have something there.
    is_close = abs(row.baseline - other.baseline) <= WRAPPED * row.size
    if len(other.cells) < 2 or not is_close or row.cells[0].left < other.cells[1].left - row.size:
        return None

    columns = []
    for cell in row.cells:
        distances = [abs(cell.left - start.left) if start.text else float("inf") for start in other.cells]
        nearest = min(distances)
        if nearest > _ALIGNED * row.size:
            return None
        columns.append(distances.index(nearest))
    return columns


def _fill_cells(row: _Row, other: _Row, columns: Sequence[int], order: str) -> None:
    """Add the cells of another row to the columns of a row."""
    for cell, column in zip(other.cells, columns, strict=True):
        row.cells[column].text = order.format(row.cells[column].text, cell.text)
    row.right = max(row.right, other.right)


def _build_line(row: _Row, region: int) -> Line:
    text = " | ".join(cell.text for cell in row.cells)
    return Line(
        text=re.sub(r"\|  (?=\|)", "| ", text),
        left=row.cells[0].left,
        right=row.right,
        baseline=row.baseline,
        size=row.size,
        region=region,
        is_row=len(row.cells) > 1,
    )


def _separator(text: str, before: Word, word: Word) -> str:
    """What stands between two words of a line: a blank, nothing, or ^ before an exponent.

    Example:
        10 with a raised 6         # "10^6"
        48,312 with a raised 1     # "48,312 1": a footnote mark is not a digit of the number
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
    # Next to raised and lowered characters pdfium sees blanks that are not there.
    is_level = abs(word.baseline - before.baseline) < RAISED * before.size
    return " " if word.follows_blank and is_level else ""
