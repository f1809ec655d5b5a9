"""The program of the process that reads a document of Office: bytes on standard input, JSON on standard output."""

import json
import sys
from typing import TYPE_CHECKING, TypedDict

from crag.asking.kinds import Kind
from crag.asking.office.package_xml import read_core_title
from crag.asking.parts import row_part, sheet_part, slide_part
from crag.asking.reading_process import limit_memory
from crag.asking.tables import table_pages

if TYPE_CHECKING:
    from crag.asking.office.workbook import Sheet


class PageReply(TypedDict):
    """A page: its HTML, and its part of the file ("" for the whole)."""

    html: str
    part: str


class OfficeReply(TypedDict):
    """What the process writes: the title, the pages, and a note on what was not read."""

    title: str
    pages: list[PageReply]
    note: str


def main(kind: str) -> None:
    """Read the document on standard input."""
    limit_memory()
    reply = read_office(sys.stdin.buffer.read(), Kind(kind))
    sys.stdout.buffer.write(json.dumps(reply).encode())


def read_office(content: bytes, kind: Kind) -> OfficeReply:
    """The pages of a document. A library raises what it likes if the file is damaged: the process ends then."""
    if kind is Kind.WORD:
        return _read_word(content)
    if kind is Kind.WORKBOOK:
        return _read_workbook(content)
    return _read_slides(content)


def _read_word(content: bytes) -> OfficeReply:
    from crag.asking.office.word import read_word

    document = read_word(content)
    return OfficeReply(title=document.title, pages=[PageReply(html=document.html, part="")], note=document.note)


def _read_workbook(content: bytes) -> OfficeReply:
    from crag.asking.office.workbook import read_workbook

    workbook = read_workbook(content)
    pages: list[PageReply] = []
    for sheet in workbook.sheets:
        pages += _sheet_pages(sheet)
    return OfficeReply(title=read_core_title(content), pages=pages, note=workbook.note)


def _sheet_pages(sheet: "Sheet") -> list[PageReply]:
    """A sheet with what lies on it; a long one is several pages, behind which that is a page of its own."""
    part = sheet_part(sheet.title)
    pages = []
    for page in table_pages(sheet.rows):
        if page.is_whole:
            return [PageReply(html=page.html + sheet.drawings, part=part)]
        pages.append(PageReply(html=page.html, part=row_part(page.first, page.last, part)))
    if sheet.drawings:
        pages.append(PageReply(html=sheet.drawings, part=part))
    return pages


def _read_slides(content: bytes) -> OfficeReply:
    from crag.asking.office.slides import read_slides

    presentation = read_slides(content)
    pages = []
    for number, markup in presentation.slides:
        pages.append(PageReply(html=markup, part=slide_part(number)))
    title = read_core_title(content)
    if title in {"", "PowerPoint Presentation"}:
        title = presentation.title
    return OfficeReply(title=title, pages=pages, note=presentation.note)
