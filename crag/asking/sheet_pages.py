"""The pages of a sheet of a workbook, each with its part of the file."""

from collections.abc import Iterator, Sequence

from crag.asking.parts import row_part, sheet_part
from crag.asking.reading_process import PageReply
from crag.asking.table_heads import Row
from crag.asking.tables import table_pages


def sheet_pages(title: str, rows: Sequence[Row]) -> Iterator[PageReply]:
    """The sheet, or its rows in several pages if it is long."""
    part = sheet_part(title)
    for page in table_pages(rows):
        yield PageReply(html=page.html, part=part if page.is_whole else row_part(page.first, page.last, part))
