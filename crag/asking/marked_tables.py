"""HTML of word processors: their tables say which cells are headers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from crag.asking.table_heads import count_head_rows, is_form

if TYPE_CHECKING:
    from bs4 import Tag


def mark_table_heads(markup: str) -> str:
    """HTML in which cells that name columns or rows are header cells. Few authors tell their program so."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(markup, "lxml")
    for table in page.find_all("table"):
        # Not those of a table in a cell.
        rows = [row for row in table.find_all("tr") if row.find_parent("table") is table]
        texts = _read_grid(rows)
        if any(row.find("th", recursive=False) for row in rows):
            continue
        if is_form(texts):
            for row in rows:
                for label in row.find_all("td", limit=1, recursive=False):
                    label.name = "th"
                    label["scope"] = "row"
            continue
        for row in rows[: count_head_rows(texts)]:
            for cell in row.find_all("td", recursive=False):
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
            for covered_row in range(int(str(cell.get("rowspan", "1")))):
                for covered_column in range(int(str(cell.get("colspan", "1")))):
                    texts[row_number + covered_row, column + covered_column] = ""
            texts[row_number, column] = cell.get_text(" ", strip=True)

    width = max((column for _, column in texts), default=-1) + 1
    return [[texts.get((row, column), "") for column in range(width)] for row in range(len(rows))]
