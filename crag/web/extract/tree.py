"""What is done to a page's tree before its text is read: tables become lines of text.

A row of a table becomes one line, cells joined by " | ", so a value stays next to its label and its neighbours. Tables
that contain tables are layout and stay unchanged. Each step is there for resiliparse (`tree`) and for BeautifulSoup.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from resiliparse.parse.html import ElementNode, HTMLTree

DROPPED_ELEMENTS = ("script", "style", "noscript", "template", "iframe", "svg", "canvas", "object", "select")
"""Never readable text. A `select` is a list of options, not prose."""

UNSEEN_SELECTORS = ["[hidden]", *DROPPED_ELEMENTS]
"""CSS selectors of hidden elements, after `mark_hidden`. `<noscript>` is one, because browsers run scripts."""

_UNSEEN_OR_MENU = ", ".join(["nav, footer, [role=navigation], .navbox", *UNSEEN_SELECTORS])

_MAX_COLUMNS = 20
"""Of a header that spans columns."""
_MAX_LABEL_CHARACTERS = 60
_MAX_CELL_CHARACTERS = 2_000
"""A longer cell is a sign of a table that is layout."""

# Private-use characters that survive the conversion to text.
_CELL_END = "\ue0f0"
_ROW_END = "\ue0f1"
_HEADER_MARK = "\ue0f2"
"""Begins the text of a header cell."""
_SPAN_MARK = "\ue0f3"
"""Stands on both sides of the number of columns that a cell spans."""

_SPAN = re.compile(f"{_SPAN_MARK}(\\d+){_SPAN_MARK}")
_HEADER_OR_SPAN = re.compile(f"{_HEADER_MARK}|{_SPAN.pattern}")
_HEADER_TAG = re.compile(r"<th(?:\s[^<>]*)?>", re.IGNORECASE)
_SPANNING_TAG = re.compile(r"<t[dh]\s[^<>]{0,300}?\bcolspan=\"?(\d{1,2})\"?[^<>]{0,300}>", re.IGNORECASE)


def elements(tree: "HTMLTree", selector: str) -> "tuple[ElementNode, ...]":
    """The elements of a CSS selector."""
    if tree.body is None:
        return ()
    # The slice matters: iterating over the collection repeats the search at every step.
    return tuple(tree.body.query_selector_all(selector)[:])


def table_rows_in_soup(soup: "BeautifulSoup") -> None:
    """Write the rows of innermost tables as text, in place."""
    for table in soup.find_all("table"):
        # A table that holds other tables is layout.
        if table.find("table") is not None:
            continue

        for row in table.find_all("tr"):
            cells = row.find_all(("td", "th"), recursive=False)
            if len(cells) > 1:
                texts = [cell.get_text(" ", strip=True) for cell in cells]
                row.string = row_text(map(_join_words, texts))


def table_rows_in_tree(tree: "HTMLTree", *, labelled: bool = False) -> list[str]:
    """Write the rows of innermost data tables as text, in place; return the texts of those in the content.

    `labelled`: each cell carries its column's header, so that a row can be understood alone.
    """
    table_texts = []
    for table in elements(tree, "table"):
        # A table that holds other tables is layout.
        if table.query_selector("table") is not None:
            continue

        marked_rows = _read_marked_rows(table)
        rows = [_remove_marks(row) for row in marked_rows]
        if not is_data_table(rows):
            continue

        lines = labelled_rows(marked_rows) if labelled else map(row_text, rows)
        text = "\n".join(line for line in lines if line)
        # Hidden tables and menus are written as text too, but are no content.
        if table.closest(_UNSEEN_OR_MENU) is None:
            table_texts.append(text)

        # `<pre>` keeps the line ends between the rows.
        block: Any = tree.create_element("pre")
        block.text = text
        table.replace_with(block)
    return table_texts


def is_data_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table holds data, not layout: two rows with two filled cells, and no long text in a cell."""
    rows_of_values = 0
    for row in rows:
        filled = [cell for cell in row if cell]
        if any(len(cell) > _MAX_CELL_CHARACTERS for cell in filled):
            return False
        if len(filled) >= 2:
            rows_of_values += 1
    return rows_of_values >= 2


def row_text(cells: Iterable[str]) -> str:
    """One row. Empty cells at its end are dropped, those before values keep the columns in place.

    Example:
        row_text(["2021", "", "1 - 0", ""])  # "2021 | | 1 - 0"
        row_text(["", "Total", ""])  # "Total": a single value needs no columns
    """
    row = " | ".join(cells).rstrip(" |")
    without_empty_cells = row.strip(" |")
    has_several_cells = " | " in without_empty_cells
    return row if has_several_cells else without_empty_cells


def labelled_rows(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """``Year: 2010 | Player: Ann Berg`` under a row of headers, ``Born: 1969`` for a header beside its value.

    Header cells begin with a mark. Rows with another number of cells than the headers above them stay as they are.
    """
    labels: list[str] = []
    labels_are_used = False
    for marked_row in rows:
        marked_cells: list[str] = []
        for cell in marked_row:
            marked_cells.extend(_expand_span(cell))

        cells = [cell.replace(_HEADER_MARK, "").strip() for cell in marked_cells]
        filled = [cell for cell in cells if cell]
        is_header = [cell.startswith(_HEADER_MARK) for cell in marked_cells]
        header_count = sum(is_header)
        is_row_of_headers = header_count >= 2 and header_count >= len(filled)
        is_label_and_value = header_count == 1 and is_header[0] and len(filled) == 2

        # Later rows of headers are sums, or heads of another part.
        if is_row_of_headers and not labels_are_used:
            labels = [cell[:_MAX_LABEL_CHARACTERS] for cell in cells]
        elif labels and len(cells) == len(labels):
            labels_are_used = True
            yield _label_cells(labels, cells)
        elif is_label_and_value:
            yield ": ".join(filled)
        else:
            yield row_text(cells)


def _label_cells(labels: Sequence[str], cells: Sequence[str]) -> str:
    """The filled cells of a row, each after the header of its column."""
    parts = []
    for label, cell in zip(labels, cells, strict=True):
        if not cell:
            continue
        labelled_cell = f"{label}: {cell}" if label else cell
        parts.append(labelled_cell)
    return " | ".join(parts)


def _expand_span(cell: str) -> list[str]:
    """The cell once for each column that it spans if it is a header, else with empty cells after it."""
    span = _SPAN.search(cell)
    columns = min(int(span[1]), _MAX_COLUMNS) if span else 1
    text = _SPAN.sub("", cell)

    if text.startswith(_HEADER_MARK):
        return [text] * columns
    return [text] + [""] * (columns - 1)


def _remove_marks(row: Iterable[str]) -> list[str]:
    return [_HEADER_OR_SPAN.sub("", cell) for cell in row]


def _read_marked_rows(table: "ElementNode") -> list[list[str]]:
    """The cells of a table by rows, with marks of headers and spans.

    Accessing single nodes from Python is slow, so the whole table is converted to text at once, with marks in it.
    """
    from resiliparse.extract.html2text import extract_plain_text

    # Marks at the start of cells: the columns that they span, and whether they are headers.
    html = _SPANNING_TAG.sub(rf"\g<0>{_SPAN_MARK}\1{_SPAN_MARK}", table.outer_html)
    html = _HEADER_TAG.sub(rf"\g<0>{_HEADER_MARK}", html)

    # Marks at the end of cells and rows; a caption is a row.
    html = html.replace("</td>", f"{_CELL_END}</td>")
    html = html.replace("</th>", f"{_CELL_END}</th>")
    # The mark has a cell of its own, because parsers move text between cells out of the table.
    html = html.replace("</tr>", f"<td>{_ROW_END}</td></tr>")
    html = html.replace("</caption>", f"{_ROW_END}</caption>")

    text = extract_plain_text(
        html,
        preserve_formatting=False,
        list_bullets=False,
        alt_texts=False,
        skip_elements=UNSEEN_SELECTORS,
    )

    return [_split_cells(row) for row in text.split(_ROW_END)]


def _split_cells(row: str) -> list[str]:
    return list(map(_join_words, row.split(_CELL_END)))


def _join_words(text: str) -> str:
    """The text with single blanks between its words."""
    return " ".join(text.split())
