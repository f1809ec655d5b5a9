"""A DOCX as HTML, by mammoth: headings, lists, tables, notes; without deleted text and comments."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crag.asking.markdown import without_links
from crag.asking.table_heads import count_head_rows, is_form

if TYPE_CHECKING:
    from bs4 import Tag

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => h2:fresh
"""


def read_word(content: bytes) -> str:
    """The HTML of a document. Pictures go."""
    import mammoth

    def drop(_: object) -> list[object]:
        return []

    result = mammoth.convert_to_html(io.BytesIO(content), style_map=_STYLES, convert_image=drop)
    return _mark_headers(without_links(result.value))


def _mark_headers(markup: str) -> str:
    """HTML whose tables have header cells where texts name columns or rows: few authors tell Word so."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(markup, "lxml")
    for table in page.find_all("table"):
        rows = table.find_all("tr")
        texts = _read_grid(rows)
        if table.find("th"):
            continue
        if is_form(texts):
            for row in rows:
                label = row.find("td")
                label.name = "th"
                label["scope"] = "row"
            continue
        for row in rows[: count_head_rows(texts)]:
            for cell in row.find_all("td"):
                cell.name = "th"
    return str(page)


def _read_grid(rows: Sequence["Tag"]) -> list[list[str]]:
    """The texts of the cells in their columns; a cell over several columns or rows has its text in the first."""
    texts: dict[tuple[int, int], str] = {}
    for row_number, row in enumerate(rows):
        column = 0
        for cell in row.find_all(["td", "th"], recursive=False):
            while (row_number, column) in texts:
                column += 1
            for covered_row in range(int(str(cell.get("rowspan", 1)))):
                for covered_column in range(int(str(cell.get("colspan", 1)))):
                    texts[row_number + covered_row, column + covered_column] = ""
            texts[row_number, column] = cell.get_text(" ", strip=True)

    width = max((column for _, column in texts), default=-1) + 1
    return [[texts.get((row, column), "") for column in range(width)] for row in range(len(rows))]
