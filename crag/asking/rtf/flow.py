"""A text of paragraphs and rows of tables, as it is written, and as HTML."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from crag.asking.raised_text import NOT_RAISED, RAISED, to_html
from crag.asking.rtf.merged_cells import CellPlace, find_spans

_LINE_BREAK = "\n"
_CONTROL = re.compile(r"[\n\r\v\f]")
_NOT_TEXT = re.compile("[\0-\x08\x0e-\x1f\x7f\ufdd0-\ufdef\ufffe\uffff]")
"""Control characters, and those that Unicode keeps out of texts: `RAISED` is one."""


class Paragraph(NamedTuple):
    """A paragraph: its text, with the marks of superscripts and of line breaks."""

    text: str


class TableRow(NamedTuple):
    """A row of a table: the paragraphs of each cell, and the rows of tables in it; where the cells are, if known."""

    cells: "list[Blocks]"
    places: Sequence[CellPlace] = ()


Block = Paragraph | TableRow
Blocks = list[Block]


@dataclass(slots=True)
class _OpenRow:
    """A row whose end was not found yet.

    Attributes:
        is_declared: Its paragraphs say that they are in a table. Some programs only write the ends of the cells.
        cell: What was found of the cell that follows `cells`.
    """

    is_declared: bool
    cells: list[Blocks] = field(default_factory=list)
    cell: Blocks = field(default_factory=list)


class Flow:
    """The body, a title, a note or a box, while it is read.

    `level` is what a paragraph says of itself: 0 outside of tables, 1 in one, 2 in a table in a cell.
    """

    def __init__(self) -> None:
        self._blocks: Blocks = []
        self._rows: list[_OpenRow] = []
        """The row that is read, and the rows in its cells."""
        self._row_start: int | None = None
        """The first block behind the definition of a row that has not begun."""
        self._places: dict[int, list[CellPlace]] = {}
        """Where the cells of a row are, by the level of the row: its last definition, which may hold for more rows."""
        self._pieces: list[str] = []
        """The text of the paragraph that is read, with its level and its open mark."""
        self._level = 0
        self._has_text = False
        self._is_raised = False

    def write(self, text: str, level: int, *, is_raised: bool) -> None:
        """Add text to the paragraph."""
        text = _NOT_TEXT.sub("", _CONTROL.sub(" ", text))
        is_blank = not text.strip()
        self._raise(is_on=is_raised and not is_blank)
        self._pieces.append(text)
        self._level = max(self._level, level)
        self._has_text |= not is_blank

    def break_line(self) -> None:
        """Begin a line of the same paragraph."""
        self._raise(is_on=False)
        self._pieces.append(_LINE_BREAK)

    def end_paragraph(self, level: int) -> None:
        """The paragraph ends, even if it is blank."""
        self._enter(max(level, self._level))
        self._innermost().append(self._take_paragraph())

    def break_page(self, level: int) -> None:
        """A page or a column ends. A break before a row parts no table."""
        if self._has_text:
            self.end_paragraph(level)

    def define_row(self, level: int) -> None:
        """A row is defined: mostly it follows, but Word defines it again behind its cells."""
        self._places[max(level, 1)] = []
        if not self._rows:
            self._row_start = len(self._blocks)
            return
        row = self._rows[-1]
        is_row_in_cell = level > len(self._rows)
        is_behind_cells = row.is_declared and row.cells
        # Else what was found belongs to no row, though the program may have said that it is in a table.
        if row.cell and not is_row_in_cell and not is_behind_cells:
            self._close_row()
            self._row_start = len(self._blocks)

    def define_cell(self, level: int, place: CellPlace) -> None:
        """The next cell of the row that is defined."""
        self._places.setdefault(max(level, 1), []).append(place)

    def end_cell(self, level: int) -> None:
        """A cell ends, with its last paragraph."""
        level = max(level, self._level)
        if level:
            self._enter(level)
        elif self._rows:
            self._close_rows_in_cells()
        else:
            self._begin_undeclared_row()

        row = self._rows[-1]
        row.cell.append(self._take_paragraph())
        row.cells.append(row.cell)
        row.cell = []

    def end_row(self, level: int) -> None:
        """A row ends: the outermost at level 1, one in a cell at level 2."""
        if self._has_text:
            self.end_cell(self._level)
        while len(self._rows) > level:
            self._close_row()
        if len(self._rows) == level:
            self._rows[-1].is_declared = True
            self._close_row()

    def finish(self) -> Blocks:
        """All blocks; what was not ended ends here."""
        if self._has_text:
            self._innermost().append(self._take_paragraph())
        while self._rows:
            self._close_row()
        return self._blocks

    # --- paragraphs ---

    def _raise(self, *, is_on: bool) -> None:
        if is_on != self._is_raised:
            self._pieces.append(RAISED if is_on else NOT_RAISED)
            self._is_raised = is_on

    def _take_paragraph(self) -> Paragraph:
        self._raise(is_on=False)
        text = "".join(self._pieces)
        self._pieces = []
        self._level = 0
        self._has_text = False
        # A character beyond U+FFFF is written as its two halves.
        return Paragraph(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))

    # --- rows ---

    def _innermost(self) -> Blocks:
        """Where a paragraph belongs."""
        return self._rows[-1].cell if self._rows else self._blocks

    def _enter(self, level: int) -> None:
        """Go to the level of a paragraph: rows of deeper levels end, those that it needs begin."""
        if self._rows and not self._rows[0].is_declared:
            if not level:
                return
            if self._rows[0].cell:
                self._close_row()  # what stands behind its last cell is no cell of it
            else:
                self._rows[0].is_declared = True
        while len(self._rows) > level:
            self._close_row()
        while len(self._rows) < level:
            self._rows.append(_OpenRow(is_declared=True))

    def _begin_undeclared_row(self) -> None:
        """Begin a row at its definition, without one at the paragraph that is read."""
        start = len(self._blocks) if self._row_start is None else self._row_start
        self._rows.append(_OpenRow(is_declared=False, cell=self._blocks[start:]))
        del self._blocks[start:]

    def _close_rows_in_cells(self) -> None:
        while len(self._rows) > 1:
            self._close_row()

    def _close_row(self) -> None:
        """The innermost row ends. Text behind its last cell is a cell, if the text is known to be in a table."""
        places = self._places.get(len(self._rows), [])
        row = self._rows.pop()
        rest = row.cell
        if row.cells and row.is_declared and _have_text(rest):
            row.cells.append(rest)
            rest = []
        blocks = self._innermost()
        if row.cells:
            blocks.append(TableRow(row.cells, tuple(places)))
        blocks.extend(rest)
        self._row_start = None


def _have_text(blocks: Blocks) -> bool:
    """Whether blocks are more than blank paragraphs."""
    return any(isinstance(block, TableRow) or block.text.strip() for block in blocks)


# --- HTML -------------------------------------------------------------------------------------------------------------


def join_text(blocks: Blocks) -> str:
    """The text of paragraphs in one line, without marks."""
    text = " ".join(block.text for block in blocks if isinstance(block, Paragraph))
    return " ".join(text.replace(RAISED, "").replace(NOT_RAISED, "").split())


def blocks_to_html(blocks: Blocks) -> str:
    """HTML with a paragraph for each line; rows that follow each other are a table. Even a blank line parts two."""
    parts = []
    for are_rows, neighbours in groupby(blocks, _is_row):
        if are_rows:
            parts.append(_table_to_html(list(neighbours)))
        else:
            parts += [f"<p>{line}</p>" for line in _lines(list(neighbours))]
    return "\n".join(parts)


def _table_to_html(blocks: Sequence[Block]) -> str:
    rows = [row for row in blocks if isinstance(row, TableRow)]
    texts = [[_cell_to_html(cell) for cell in row.cells] for row in rows]
    spans = find_spans([row.places for row in rows], texts)

    lines = []
    for row_number, row_texts in enumerate(texts):
        cells = []
        for number, text in enumerate(row_texts):
            span = spans.get((row_number, number))
            if span is None:
                cells.append(f"<td>{text}</td>")
            elif span.rows:  # else another cell covers it
                cells.append(f'<td colspan="{span.columns}" rowspan="{span.rows}">{text}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _cell_to_html(cell: Blocks) -> str:
    """The lines of a cell, and the tables in it."""
    parts = []
    for are_rows, neighbours in groupby(cell, _is_row):
        blocks = list(neighbours)
        parts.append(_table_to_html(blocks) if are_rows else "<br>".join(_lines(blocks)))
    return "".join(parts)


def _is_row(block: Block) -> bool:
    return isinstance(block, TableRow)


def _lines(paragraphs: Sequence[Block]) -> list[str]:
    """The lines that are not blank, as HTML."""
    lines = []
    for paragraph in paragraphs:
        if isinstance(paragraph, Paragraph):
            for line in paragraph.text.split(_LINE_BREAK):
                markup = to_html(line.strip())
                if markup:
                    lines.append(markup)
    return lines
