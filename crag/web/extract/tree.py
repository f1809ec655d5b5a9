"""What is done to a page's tree before its text is read: hidden elements go (`hidden`), tables become lines of text.

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


def elements(tree: "HTMLTree", selector: str) -> "tuple[ElementNode, ...]":
    """The matching elements. The slice matters: iterating over the collection repeats the search at every step."""
    return tuple(tree.body.query_selector_all(selector)[:]) if tree.body is not None else ()


_HEAD_CELL = re.compile(r"<th(?:\s[^<>]*)?>", re.IGNORECASE)
_SPANNING_CELL = re.compile(r"<t[dh]\s[^<>]{0,300}?\bcolspan=\"?(\d{1,2})\"?[^<>]{0,300}>", re.IGNORECASE)
_MOST_COLUMNS = 20
_LONGEST_LABEL = 60
_LONGEST_CELL = 2_000
_UNSEEN_OR_MENU = ", ".join(["nav, footer, [role=navigation], .navbox", *UNSEEN_SELECTORS])
_CELL_END = "\ue0f0"
_ROW_END = "\ue0f1"
_HEAD = "\ue0f2"
_SPAN = "\ue0f3"
"""Private-use characters that survive the conversion to text: the ends of cells and rows, header cells, and how many
columns a cell spans."""
_SPANNED = re.compile(f"{_SPAN}(\\d+){_SPAN}")
_MARKS = re.compile(f"{_HEAD}|{_SPANNED.pattern}")


def table_rows_in_soup(soup: "BeautifulSoup") -> None:
    """Write the rows of innermost tables as text, in place."""
    for table in soup.find_all("table"):
        if table.find("table") is not None:
            continue
        for row in table.find_all("tr"):
            cells = row.find_all(("td", "th"), recursive=False)
            if len(cells) > 1:
                row.string = row_text(" ".join(cell.get_text(" ", strip=True).split()) for cell in cells)


def table_rows_in_tree(tree: "HTMLTree", *, labelled: bool = False) -> list[str]:
    """Write the rows of innermost data tables as text, in place; return the texts of those in the content.

    `labelled`: each cell carries its column's header, so that a row can be understood alone.

    Accessing single nodes from Python is slow, so whole tables are read at once.
    """
    texts = []
    for table in elements(tree, "table"):
        if table.query_selector("table") is not None:
            continue
        marked = _rows(table)
        rows = [[_MARKS.sub("", cell) for cell in row] for row in marked]
        if not is_data_table(rows):
            continue
        lines = labelled_rows(marked) if labelled else map(row_text, rows)
        text = "\n".join(line for line in lines if line)
        if table.closest(_UNSEEN_OR_MENU) is None:
            texts.append(text)
        block: Any = tree.create_element("pre")
        block.text = text
        table.replace_with(block)
    return texts


def row_text(cells: Iterable[str]) -> str:
    """One row. Empty cells at its end are dropped, those before values keep the columns in place."""
    row = " | ".join(cells).rstrip(" |")
    return row if " | " in row.strip(" |") else row.strip(" |")


def labelled_rows(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """``Year: 2010 | Player: Ann Berg`` under a row of headers, ``Born: 1969`` for a header beside its value.

    Header cells begin with a mark. Rows with another number of cells than the headers above them stay as they are.
    """
    headers: list[str] = []
    labelling = False
    for spanned in rows:
        row = [part for cell in spanned for part in _columns_of(cell)]
        cells = [cell.replace(_HEAD, "").strip() for cell in row]
        heads = sum(cell.startswith(_HEAD) for cell in row)
        filled = sum(1 for cell in cells if cell)
        if heads >= 2 and heads >= filled and not labelling:  # later ones are sums, or heads of another part
            headers = [cell[:_LONGEST_LABEL] for cell in cells]
        elif len(cells) == len(headers) > 0:
            labelling = True
            pairs = zip(headers, cells, strict=True)
            yield " | ".join(f"{head}: {cell}" if head else cell for head, cell in pairs if cell)
        elif heads == 1 and filled == 2 and row[0].startswith(_HEAD):
            yield ": ".join(cell for cell in cells if cell)
        else:
            yield row_text(cells)


def _columns_of(cell: str) -> list[str]:
    """The cell once for each column that it spans if it is a header, else with empty cells after it."""
    count = _SPANNED.search(cell)
    text = _SPANNED.sub("", cell)
    columns = min(int(count[1]), _MOST_COLUMNS) if count else 1
    return [text] * columns if text.startswith(_HEAD) else [text, *[""] * (columns - 1)]


def is_data_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table holds data, not layout: two rows with two filled cells, and no long text in a cell."""
    if sum(1 for row in rows if sum(1 for cell in row if cell) >= 2) < 2:
        return False
    return all(len(cell) <= _LONGEST_CELL for row in rows for cell in row)


def _rows(table: "ElementNode") -> list[list[str]]:
    from resiliparse.extract.html2text import extract_plain_text

    marked = _SPANNING_CELL.sub(rf"\g<0>{_SPAN}\1{_SPAN}", table.outer_html)
    marked = _HEAD_CELL.sub(rf"\g<0>{_HEAD}", marked)
    marked = marked.replace("</td>", f"{_CELL_END}</td>").replace("</th>", f"{_CELL_END}</th>")
    marked = marked.replace("</tr>", f"<td>{_ROW_END}</td></tr>").replace("</caption>", f"{_ROW_END}</caption>")
    text = extract_plain_text(
        marked, preserve_formatting=False, list_bullets=False, alt_texts=False, skip_elements=UNSEEN_SELECTORS
    )
    return [[" ".join(cell.split()) for cell in row.split(_CELL_END)] for row in text.split(_ROW_END)]
