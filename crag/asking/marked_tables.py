"""HTML of word processors: their tables say which cells are headers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crag.asking.table_heads import count_head_rows, is_form

if TYPE_CHECKING:
    from bs4 import Tag

_MOST_SPANNED = 1000
"""Columns, of HTML (WHATWG, "Attributes common to td and th elements")."""


def mark_table_heads(markup: str) -> str:
    """HTML in which cells that name columns or rows are header cells. Few authors tell their program so."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(markup, "lxml")
    for table in page.find_all("table"):
        # A cell may hold a table with rows of its own.
        rows = [row for row in table.find_all("tr") if row.find_parent("table") is table]
        if not any(row.find("th", recursive=False) for row in rows):
            _mark_heads(rows)
    return str(page)


def _mark_heads(rows: Sequence["Tag"]) -> None:
    """Make header cells of the labels of a form, or of the rows that name the columns."""
    texts = _read_grid(rows)
    if is_form(texts):
        for row in rows:
            for label in row.find_all("td", limit=1, recursive=False):
                label.name = "th"
                label["scope"] = "row"
        return
    for row in rows[: count_head_rows(texts)]:
        for cell in row.find_all("td", recursive=False):
            cell.name = "th"


def _read_span(cell: "Tag", name: str) -> int:
    """How many rows or columns a cell covers; 1 where that is no number, as browsers have it."""
    written = str(cell.get(name, "1")).strip()
    is_number = written.isascii() and written.isdigit() and len(written) < 10
    return min(max(int(written), 1), _MOST_SPANNED) if is_number else 1


def _read_grid(rows: Sequence["Tag"]) -> list[list[str]]:
    """The texts of the cells in their columns; a cell over several columns or rows has its text in the first."""
    texts: dict[tuple[int, int], str] = {}
    for row_number, row in enumerate(rows):
        column = 0
        for cell in row.find_all(["td", "th"], recursive=False):
            while (row_number, column) in texts:
                column += 1
            rows_left = len(rows) - row_number
            for covered_row in range(min(_read_span(cell, "rowspan"), rows_left)):
                for covered_column in range(_read_span(cell, "colspan")):
                    texts[row_number + covered_row, column + covered_column] = ""
            texts[row_number, column] = cell.get_text(" ", strip=True)

    width = max((column for _, column in texts), default=-1) + 1
    return [[texts.get((row, column), "") for column in range(width)] for row in range(len(rows))]
