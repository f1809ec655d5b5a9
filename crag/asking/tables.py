"""Rows of cells as pages of HTML, so that each row is read with its header."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ROWS_OF_A_PAGE = 200
"""A longer table is several pages, each with the header: an answer names the rows, and the search looks into each."""

Row = Sequence[str]

_NUMBER = re.compile(r"[-+(]?\W{0,3}\d[\d.,:/\s-]{0,40}\s?%?\)?")
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")
_MOST_HEADER_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class TablePage:
    """Some rows of a table as HTML, and their numbers, from 1; `is_whole`: the table has no others."""

    html: str
    first: int
    last: int
    is_whole: bool


def table_pages(rows: Sequence[Row]) -> Iterator[TablePage]:
    """The pages of a table. Rows of one cell before the header are its title; blank rows do not count."""
    numbered = [(number, row) for number, row in enumerate(rows, start=1) if any(cell.strip() for cell in row)]
    titles = []
    while numbered and _is_title(numbered[0][1], [row for _, row in numbered[1:]]):
        titles += [cell for cell in numbered.pop(0)[1] if cell.strip()]
    if not numbered:
        text = "".join(f"<p>{html.escape(title)}</p>\n" for title in titles)
        if text:
            yield TablePage(text, 1, len(rows), is_whole=True)
        return

    header: Row = ()
    if names_columns(numbered[0][1], [row for _, row in numbered[1:]]):
        header = numbered.pop(0)[1]
    for start in range(0, max(1, len(numbered)), ROWS_OF_A_PAGE):
        part = numbered[start : start + ROWS_OF_A_PAGE]
        first, last = (part[0][0], part[-1][0]) if part else (1, len(rows))
        is_whole = len(numbered) <= ROWS_OF_A_PAGE
        yield TablePage(_table_markup(titles, header, [row for _, row in part]), first, last, is_whole)


def _is_title(row: Row, later_rows: Sequence[Row]) -> bool:
    """Whether a row of one cell stands above rows of several cells."""
    return _count_filled(row) == 1 and any(_count_filled(later) > 1 for later in later_rows)


def _count_filled(row: Row) -> int:
    return sum(bool(cell.strip()) for cell in row)


def names_columns(row: Row, later_rows: Sequence[Row]) -> bool:
    """Whether the first row names the columns: short different texts, or years; no other numbers."""
    cells = [cell.strip() for cell in row if cell.strip()]
    if not later_rows or len(set(cells)) < len(cells) or max(map(len, cells)) > _MOST_HEADER_CHARACTERS:
        return False
    is_number = [bool(_NUMBER.fullmatch(cell)) and not _YEAR.fullmatch(cell) for cell in cells]
    return not any(is_number)


def _table_markup(titles: Sequence[str], header: Row, rows: Sequence[Row]) -> str:
    """Titles as paragraphs, then the table."""
    pieces = [f"<p>{html.escape(title)}</p>\n" for title in titles]
    pieces.append("<table>")
    if header:
        pieces.append(f"<thead>{_row_markup(header, 'th')}</thead>\n")
    pieces += [f"{_row_markup(row, 'td')}\n" for row in rows]
    pieces.append("</table>\n")
    return "".join(pieces)


def _row_markup(row: Row, element: str) -> str:
    cells = [f"<{element}>{html.escape(cell.strip())}</{element}>" for cell in row]
    return f"<tr>{''.join(cells)}</tr>"
