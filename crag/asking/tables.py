"""Rows of cells as pages of HTML, so that each row is read with its header."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crag.asking.raised_text import to_html
from crag.asking.table_heads import (
    Row,
    begins_table,
    count_head_rows,
    filled_cells,
    has_pairs,
    is_form,
    join_head_rows,
    stands_above_numbers,
)

ROWS_OF_A_PAGE = 200
"""A longer table is several pages, each with the header: an answer names the rows, and the search looks into each."""

NumberedRow = tuple[int, Row]
"""A row with its number in the file, from 1."""


@dataclass(frozen=True, slots=True)
class TablePage:
    """Some rows of a table as HTML, and their numbers, from 1; `is_whole`: the file or sheet has no others."""

    html: str
    first: int
    last: int
    is_whole: bool


@dataclass(frozen=True, slots=True)
class _SheetTable:
    """A table: the text above it, the names of its columns, its rows; a form has a label and a value in each."""

    titles: Sequence[str]
    names: Row
    rows: list[NumberedRow]
    is_form: bool = False

    def rows_only(self) -> list[Row]:
        """The rows without their numbers."""
        return [row for _, row in self.rows]


def table_pages(rows: Sequence[Row], *, title: str = "", has_names: bool = False) -> Iterator[TablePage]:
    """The pages of a sheet or file. Rows of one cell above a table are its title.

    Rows below a blank one are another table if they have names of their own (`crag.asking.table_heads`).

    Args:
        rows: The cells of each row.
        title: A text above the table.
        has_names: The first row certainly names the columns of all others, as of objects in JSON.
    """
    numbered = [(number, row) for number, row in enumerate(rows, start=1) if any(cell.strip() for cell in row)]
    titles = [title] if title else []
    if has_names and numbered:
        tables = [_SheetTable(titles, numbered[0][1], numbered[1:])]
    else:
        tables = _read_tables([*((0, [text]) for text in titles), *numbered])
    if sum(len(table.rows) for table in tables) <= ROWS_OF_A_PAGE:
        markup = "".join(_table_markup(table, table.rows) for table in tables)
        if markup:
            yield TablePage(markup, 1, len(rows), is_whole=True)
        return

    for table in tables:
        for start in range(0, len(table.rows), ROWS_OF_A_PAGE):
            part = table.rows[start : start + ROWS_OF_A_PAGE]
            yield TablePage(_table_markup(table, part), part[0][0], part[-1][0], is_whole=False)


def _read_tables(numbered: Sequence[NumberedRow]) -> list[_SheetTable]:
    """The tables among the rows that are not blank."""
    titles, numbered = _split_titles(numbered)
    tables: list[_SheetTable] = []
    for block in _split_at_gaps(numbered):
        block_titles, rest = _split_titles(block)
        if not tables or _begins_table(rest, tables[-1]):
            tables.append(_read_table([*titles, *block_titles], rest))
            titles = []
        else:
            tables[-1].rows.extend(block)
    return _with_form_first(tables) or [_SheetTable(titles, (), [])]


def _begins_table(block: Sequence[NumberedRow], last: _SheetTable) -> bool:
    """Whether rows below a gap are no part of the table above it."""
    rows = [row for _, row in block]
    return begins_table(rows, last.names) or (last.is_form and not has_pairs(rows))


def _with_form_first(tables: list[_SheetTable]) -> list[_SheetTable]:
    """Tables of which the first is a form if it has pairs of texts and a wider table follows: its report's facts."""
    if len(tables) < 2 or not tables[0].names:
        return tables
    first, second = tables[:2]
    rows = [(0, first.names), *first.rows]
    is_wider = len(filled_cells(second.names)) > 2
    if not is_wider or not has_pairs([row for _, row in rows]) or stands_above_numbers(first.names, first.rows_only()):
        return tables
    return [_SheetTable(first.titles, (), rows, is_form=True), *tables[1:]]


def _split_at_gaps(numbered: Sequence[NumberedRow]) -> Iterator[list[NumberedRow]]:
    """The blocks of rows that follow each other."""
    block: list[NumberedRow] = []
    for number, row in numbered:
        if block and number != block[-1][0] + 1:
            yield block
            block = []
        block.append((number, row))
    if block:
        yield block


def _read_table(titles: Sequence[str], block: list[NumberedRow]) -> _SheetTable:
    """A block of rows with the names of its columns."""
    rows = [row for _, row in block]
    if is_form(rows):
        return _SheetTable(titles, (), block, is_form=True)
    heads = count_head_rows(rows)
    return _SheetTable(titles, join_head_rows(rows[:heads]), block[heads:])


def _split_titles(rows: Sequence[NumberedRow]) -> tuple[list[str], list[NumberedRow]]:
    """The texts of the rows of one cell above the first row of several cells, and the other rows."""
    count = 0
    while count < len(rows) and len(filled_cells(rows[count][1])) <= 1:
        count += 1
    if count == len(rows):
        return [], list(rows)

    # A name of the second of two columns is no title.
    is_name_of_column = count > 0 and not rows[count - 1][1][0].strip()
    if is_name_of_column and has_pairs([row for _, row in rows[count:]]):
        count -= 1

    titles: list[str] = []
    for _, row in rows[:count]:
        titles += filled_cells(row)
    return titles, list(rows[count:])


def _table_markup(table: _SheetTable, rows: Sequence[NumberedRow]) -> str:
    """Titles as paragraphs, then rows of a table."""
    pieces = [f"<p>{to_html(title)}</p>\n" for title in table.titles]
    if not rows and not table.names:
        return "".join(pieces)

    pieces.append("<table>")
    if table.names:
        pieces.append(f"<thead>{_row_markup(table.names, 'th')}</thead>\n")
    for _, row in rows:
        is_pair = table.is_form and has_pairs([row])
        pieces.append(f"{_pair_markup(row) if is_pair else _row_markup(row, 'td')}\n")
    pieces.append("</table>\n")
    return "".join(pieces)


def _pair_markup(row: Row) -> str:
    label, value = filled_cells(row)
    return f'<tr><th scope="row">{to_html(label)}</th><td>{to_html(value)}</td></tr>'


def _row_markup(row: Row, element: str) -> str:
    cells = [f"<{element}>{to_html(cell.strip())}</{element}>" for cell in row]
    return f"<tr>{''.join(cells)}</tr>"
