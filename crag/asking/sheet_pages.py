"""A sheet of a workbook, of whatever format, and its pages."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crag.asking.parts import row_part, sheet_part
from crag.asking.reading_process import PageReply
from crag.asking.table_heads import Row
from crag.asking.tables import table_pages


class Sheet(NamedTuple):
    """A sheet that is shown.

    Attributes:
        title: Its name.
        rows: Its rows to the last one with a cell, without columns that are blank.
        drawings: The HTML of what lies on it: charts, boxes, diagrams.
    """

    title: str
    rows: Sequence[Row]
    drawings: str = ""


def sheet_pages(sheet: Sheet) -> Iterator[PageReply]:
    """A sheet with what lies on it; a long one is several pages, behind which that is a page of its own."""
    part = sheet_part(sheet.title)
    for page in table_pages(sheet.rows):
        if page.is_whole:
            yield PageReply(html=page.html + sheet.drawings, part=part)
            return
        yield PageReply(html=page.html, part=row_part(page.first, page.last, part))
    if sheet.drawings:
        yield PageReply(html=sheet.drawings, part=part)
