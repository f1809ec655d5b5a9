"""Turns a page's tables into text: one row a line, cells joined by " | ".

So a value stays next to its label and its neighbours. `table_rows_in_tree` is for resiliparse, `table_rows_in_soup` for
BeautifulSoup. Tables that contain tables are layout and stay unchanged.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from agents.web.extract.hidden import UNSEEN_SELECTORS, elements

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from resiliparse.parse.html import ElementNode, HTMLTree

_LONGEST_CELL = 2_000
_UNSEEN_OR_MENU = ", ".join(["nav, footer, [role=navigation], .navbox", *UNSEEN_SELECTORS])
_CELL_END = "\ue0f0"
_ROW_END = "\ue0f1"
"""Private-use characters that survive the conversion to text and mark the ends of cells and rows."""


def table_rows_in_soup(soup: "BeautifulSoup") -> None:
    """Write the rows of innermost tables as text, in place."""
    for table in soup.find_all("table"):
        if table.find("table") is not None:
            continue
        for row in table.find_all("tr"):
            cells = row.find_all(("td", "th"), recursive=False)
            if len(cells) > 1:
                row.string = row_text(" ".join(cell.get_text(" ", strip=True).split()) for cell in cells)


def table_rows_in_tree(tree: "HTMLTree") -> list[str]:
    """Write the rows of innermost data tables as text, in place; return the texts of those in the content.

    Accessing single nodes from Python is slow, so whole tables are read at once.
    """
    texts = []
    for table in elements(tree, "table"):
        if table.query_selector("table") is not None:
            continue
        rows = _rows(table)
        if not is_data_table(rows):
            continue
        text = "\n".join(line for line in map(row_text, rows) if line)
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


def is_data_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table holds data, not layout: two rows with two filled cells, and no long text in a cell."""
    if sum(1 for row in rows if sum(1 for cell in row if cell) >= 2) < 2:
        return False
    return all(len(cell) <= _LONGEST_CELL for row in rows for cell in row)


def _rows(table: "ElementNode") -> list[list[str]]:
    from resiliparse.extract.html2text import extract_plain_text

    marked = table.outer_html.replace("</td>", f"{_CELL_END}</td>").replace("</th>", f"{_CELL_END}</th>")
    marked = marked.replace("</tr>", f"<td>{_ROW_END}</td></tr>").replace("</caption>", f"{_ROW_END}</caption>")
    text = extract_plain_text(
        marked, preserve_formatting=False, list_bullets=False, alt_texts=False, skip_elements=UNSEEN_SELECTORS
    )
    return [[" ".join(cell.split()) for cell in row.split(_CELL_END)] for row in text.split(_ROW_END)]
