r"""Merged cells of tables (RTF 1.9.1, "Table Definitions").

A cell ends at its right edge, ``\cellxN``. One that covers two columns ends where the second of them ends in another
row; or the cells that it covers are there, blank, and marked as merged with it.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

_SAME_EDGE = 60
"""Twips: edges of a column differ by a millimetre from row to row."""


class CellPlace(NamedTuple):
    """The right edge of a cell in twips, and whether the cell to its left or above it covers it."""

    right_edge: int
    is_covered_from_left: bool = False
    is_covered_from_above: bool = False


class Span(NamedTuple):
    """How many columns and rows a cell covers; no rows: it is covered itself."""

    columns: int
    rows: int


Cell = tuple[int, int]
"""The number of a row, and of a cell in it."""
_COVERED = Span(0, 0)


def find_spans(places: Sequence[Sequence[CellPlace]], texts: Sequence[Sequence[str]]) -> Mapping[Cell, Span]:
    """The spans of the cells of a table; none where a row does not say where its cells are."""
    if any(len(row) != len(cells) for row, cells in zip(places, texts, strict=True)):
        return {}

    columns = _number_edges([[place.right_edge for place in row] for row in places])
    spans: dict[Cell, Span] = {}
    above: dict[int, Cell] = {}
    """The lowest cell that begins at a column, in the rows so far."""

    for row_number, row in enumerate(places):
        column = 0
        left: Cell | None = None
        for number, place in enumerate(row):
            cell = (row_number, number)
            width = columns[place.right_edge] + 1 - column
            if width < 1:
                return {}  # a cell that ends before it begins

            is_blank = not texts[row_number][number].strip()
            upper = above.get(column)
            if place.is_covered_from_left and is_blank and left is not None:
                spans[cell] = _COVERED
                spans[left] = spans[left]._replace(columns=spans[left].columns + width)
            elif place.is_covered_from_above and is_blank and upper is not None:
                spans[cell] = _COVERED
                spans[upper] = spans[upper]._replace(rows=row_number - upper[0] + 1)
                left = None
            else:
                spans[cell] = Span(width, 1)
                above[column] = cell
                left = cell
            column += width
    return spans


def _number_edges(rows: Sequence[Sequence[int]]) -> dict[int, int]:
    """The number of the column that ends at an edge. Edges of one row are never the same."""
    tolerance = _SAME_EDGE
    for row in rows:
        for left, right in pairwise(row):
            tolerance = min(tolerance, (right - left) // 2)

    columns: dict[int, int] = {}
    column = -1
    start: int | None = None
    for edge in sorted(set(chain.from_iterable(rows))):
        if start is None or edge - start > tolerance:
            column += 1
            start = edge
        columns[edge] = column
    return columns
