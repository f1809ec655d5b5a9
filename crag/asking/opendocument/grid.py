"""The rows and cells of tables in their places (OpenDocument 1.3, part 3, 9.1), each of which may stand for many."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.office.sheet_cells import Area, SheetTexts
from crag.asking.opendocument.names import TABLE

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

ROW = f"{TABLE}table-row"
MOST_COPIES = 1000
"""Of a row or a cell with text: one may say that it stands for a million."""

_COVERED = f"{TABLE}covered-table-cell"
_CELLS = frozenset({f"{TABLE}table-cell", _COVERED})
_LAST_ROW = 1 << 20
_LAST_COLUMN = 1 << 14
"""Of a sheet in LibreOffice and in Excel."""


class PlacedCell(NamedTuple):
    """A cell.

    Attributes:
        element: Its element.
        column: Its first column, from 1.
        copies: How many columns have the same cell.
        is_covered: Whether it lies under a cell that was merged with it.
    """

    element: "Element"
    column: int
    copies: int
    is_covered: bool


def place_cells(row: "Element") -> Iterator[PlacedCell]:
    """The cells of a row."""
    column = 1
    for cell in row:
        if cell.tag in _CELLS and column <= _LAST_COLUMN:
            copies = min(count_of(cell, "number-columns-repeated"), _LAST_COLUMN + 1 - column)
            yield PlacedCell(cell, column, copies, cell.tag == _COVERED)
            column += copies


def count_of(element: "Element", name: str) -> int:
    """How many rows or columns an element stands for or covers; one if it does not say so."""
    written = element.get(f"{TABLE}{name}", "")
    is_number = written.isascii() and written.isdigit() and len(written) < 10
    return max(int(written), 1) if is_number else 1


class Grid:
    """Collects the texts of a sheet, row by row.

    Attributes:
        texts: What was collected.
        is_cut: Whether there were more copies than are read.
    """

    def __init__(self, read_text: Callable[["Element", PlacedCell], str]) -> None:
        """`read_text` gives the text of a cell in a row."""
        self.texts = SheetTexts()
        self.is_cut = False
        self._read_text = read_text
        self._next_row = 1

    def add(self, row: "Element") -> None:
        """The next row."""
        number = self._next_row
        copies = count_of(row, "number-rows-repeated")
        self._next_row += copies
        if number > _LAST_ROW:
            self.is_cut = True
            return

        cells: dict[int, str] = {}
        for cell in place_cells(row):
            if cell.is_covered:
                continue
            text = self._read_text(row, cell)
            if text:
                self.is_cut = self.is_cut or cell.copies > MOST_COPIES
                cells |= dict.fromkeys(range(cell.column, cell.column + min(cell.copies, MOST_COPIES)), text)
                self._note_area(cell, number)
        if cells:
            self.is_cut = self.is_cut or copies > MOST_COPIES
            for copy in range(min(copies, MOST_COPIES)):
                self.texts.rows[number + copy] = dict(cells)

    def _note_area(self, cell: PlacedCell, row: int) -> None:
        """Note what a cell covers, if it was merged with others."""
        rows = count_of(cell.element, "number-rows-spanned")
        columns = count_of(cell.element, "number-columns-spanned")
        if rows > 1 or columns > 1:
            self.texts.merged.append(Area(row, cell.column, row + rows - 1, cell.column + columns - 1))
