"""The program of the process that reads a document of Office: bytes on standard input, JSON on standard output."""

from functools import partial
from itertools import chain

from crag.asking.kinds import Kind
from crag.asking.office.package_xml import read_core_title
from crag.asking.parts import slide_part
from crag.asking.reading_process import FileReply, PageReply, reply_in_process
from crag.asking.sheet_pages import sheet_pages


def main(kind: str) -> None:
    """Read the document on standard input."""
    reply_in_process(partial(read_office, kind=Kind(kind)))


def read_office(content: bytes, kind: Kind) -> FileReply:
    """The pages of a document. A library raises what it likes if the file is damaged: the process ends then."""
    if kind is Kind.WORD:
        return _read_word(content)
    if kind is Kind.WORKBOOK:
        return _read_workbook(content)
    return _read_slides(content)


def _read_word(content: bytes) -> FileReply:
    from crag.asking.office.word import read_word

    document = read_word(content)
    return FileReply(title=document.title, pages=[PageReply(html=document.html, part="")], note=document.note)


def _read_workbook(content: bytes) -> FileReply:
    from crag.asking.office.workbook import read_workbook

    workbook = read_workbook(content)
    pages = list(chain.from_iterable(map(sheet_pages, workbook.sheets)))
    return FileReply(title=read_core_title(content), pages=pages, note=workbook.note)


def _read_slides(content: bytes) -> FileReply:
    from crag.asking.office.slides import read_slides

    presentation = read_slides(content)
    pages = []
    for number, markup in presentation.slides:
        pages.append(PageReply(html=markup, part=slide_part(number)))
    title = read_core_title(content)
    if title in {"", "PowerPoint Presentation"}:
        title = presentation.title
    return FileReply(title=title, pages=pages, note=presentation.note)
