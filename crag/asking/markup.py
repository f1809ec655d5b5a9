"""Documents of any kind as HTML pages: an HTML file is one page, plain text too, a PDF or a workbook has several."""

from dataclasses import dataclass
from pathlib import Path

from crag.asking.epub.process import read_e_book
from crag.asking.kinds import OFFICE_KINDS, Kind, find_kind
from crag.asking.office.process import read_office_file
from crag.asking.opendocument.process import read_open_document_file
from crag.asking.parts import page_part
from crag.asking.pdf.process import read_pdf
from crag.asking.reading_process import FileReply
from crag.asking.sources import Source
from crag.asking.text_files import TextFile, read_text_file
from crag.asking.wrapped_lines import to_paragraphs

_READERS = {Kind.OPEN_DOCUMENT: read_open_document_file, Kind.E_BOOK: read_e_book}


@dataclass(frozen=True, slots=True)
class PageMarkup:
    """A page's title ("" if it has none), its HTML, and its part of the file (`crag.asking.parts`), "" for all."""

    title: str
    html: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a document, and a note on what is missing ("" if nothing is)."""

    pages: list[PageMarkup]
    note: str = ""


def to_pages(source: Source, location: str) -> Pages:
    """The pages of a document.

    Raises ValueError: the document is of no kind that is read, or it cannot be read; the message says why.
    """
    kind = find_kind(source.content, location, source.media_type)
    if kind is Kind.PDF:
        return _pdf_pages(source.content)
    if kind in OFFICE_KINDS:
        return _reply_pages(read_office_file(source.content, kind))
    if kind in _READERS:
        return _reply_pages(_READERS[kind](source.content))
    file = TextFile(kind, Path(location).suffix, source.media_type, source.charset)
    return _reply_pages(read_text_file(source.content, file))


def _pdf_pages(content: bytes) -> Pages:
    """The pages of a PDF that have text."""
    pdf = read_pdf(content)
    pages = []
    for number, paragraphs in enumerate(pdf.pages, start=1):
        if paragraphs:
            pages.append(PageMarkup(pdf.title, to_paragraphs(paragraphs), page_part(number)))

    is_whole = len(pdf.pages) == pdf.page_count
    note = "" if is_whole else f"only the first {len(pdf.pages)} of {pdf.page_count} pages were read in time; split it"
    return Pages(pages, note)


def _reply_pages(reply: FileReply) -> Pages:
    """What was read of a file with several sheets, slides or sections, or of one text."""
    pages = [PageMarkup(reply["title"], page["html"], page["part"]) for page in reply["pages"]]
    return Pages(pages, reply["note"])
