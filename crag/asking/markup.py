"""Documents of any kind as HTML pages: an HTML file is one page, plain text too, a PDF or a workbook has several."""

from pathlib import Path

from crag.asking.kinds import OFFICE_KINDS, Kind, find_kind
from crag.asking.office.process import read_office_file
from crag.asking.parts import page_part
from crag.asking.pdf.process import read_pdf
from crag.asking.sources import Source
from crag.asking.text_files import PageMarkup, Pages, TextFile, read_text_file, to_paragraphs


def to_pages(source: Source, location: str) -> Pages:
    """The pages of a document. Each line of plain text is a paragraph, unless it was wrapped.

    Raises ValueError: the kind is not read, or the file cannot be read; the message names the remedy.
    """
    kind = find_kind(source.content, location, source.media_type)
    if kind is Kind.PDF:
        return _pdf_pages(source.content)
    if kind in OFFICE_KINDS:
        return _office_pages(source.content, kind)
    file = TextFile(kind, Path(location).suffix, source.media_type, source.charset)
    return read_text_file(source.content, file)


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


def _office_pages(content: bytes, kind: Kind) -> Pages:
    """The document, the sheets or the slides of a file of Office."""
    reply = read_office_file(content, kind)
    pages = [PageMarkup(reply["title"], page["html"], page["part"]) for page in reply["pages"]]
    return Pages(pages, reply["note"])
