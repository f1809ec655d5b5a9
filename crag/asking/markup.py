"""Documents of any kind as HTML pages: an HTML file is one page, plain text too, a PDF or a workbook has several."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crag.asking.decoding import decode
from crag.asking.delimited import read_rows
from crag.asking.epub.process import read_e_book
from crag.asking.kinds import OFFICE_KINDS, Kind, find_kind
from crag.asking.mail import read_mail
from crag.asking.markdown import convert_markdown
from crag.asking.office.process import read_office_file
from crag.asking.opendocument.process import read_open_document_file
from crag.asking.parts import page_part, row_part
from crag.asking.pdf.process import read_pdf
from crag.asking.reading_process import FileReply
from crag.asking.rtf.reading import read_rich_text
from crag.asking.sources import Source
from crag.asking.structured import json_markup, read_json_lines, read_json_rows
from crag.asking.table_heads import Row
from crag.asking.tables import table_pages
from crag.asking.wrapped_lines import join_wrapped_lines

SNIFFED_CHARACTERS = 4096
"""The beginning of a file that tells its type."""

_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,500})</title", re.IGNORECASE)
_MARKUP = re.compile(r"<(?:!doctype|html|head|body|title|meta|div|p|h1|table|article)\b", re.IGNORECASE)
_WHOLE_PAGE = re.compile(r"\A\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_XML_SUFFIXES = {".xhtml", ".xht", ".xml"}
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
    """The pages of a document. Each line of plain text is a paragraph, unless it was wrapped.

    Raises ValueError: the kind is not read, or the file cannot be read; the message names the remedy.
    """
    kind = find_kind(source.content, location, source.media_type)
    if kind is Kind.PDF:
        return _pdf_pages(source.content)
    if kind in OFFICE_KINDS:
        return _reply_pages(read_office_file(source.content, kind))
    if kind in _READERS:
        return _reply_pages(_READERS[kind](source.content))
    if kind is Kind.MAIL and not source.content.lstrip().startswith(b"<"):
        mail = read_mail(source.content)
        return Pages([PageMarkup(mail.title, mail.html)], mail.note)
    if kind is Kind.RICH_TEXT:
        rich_text = read_rich_text(source.content)
        return Pages([PageMarkup(rich_text.title, rich_text.html)], rich_text.note)

    is_xml = "xml" in source.media_type or Path(location).suffix.lower() in _XML_SUFFIXES
    text = decode(source.content, source.charset, is_xml=is_xml)
    # Programs and pictures have zero bytes, text has none.
    if "\0" in text[:SNIFFED_CHARACTERS]:
        raise ValueError("neither HTML nor plain text nor PDF, nor another kind that is read")
    return _text_pages(text, kind, location)


def _text_pages(text: str, kind: Kind, location: str) -> Pages:
    """The pages of a document that is text."""
    # A server or a person may give a page of HTML another name; of a file without one the beginning tells.
    is_html = _WHOLE_PAGE.match(text) or (kind is Kind.MARKUP_OR_TEXT and _MARKUP.search(text[:SNIFFED_CHARACTERS]))
    if is_html:
        return Pages([PageMarkup(_find_title(text), text)])

    if kind is Kind.MARKDOWN:
        converted = convert_markdown(text)
        return Pages([PageMarkup(converted.title, converted.html)])
    if kind is Kind.TABLE:
        return Pages(_row_pages(read_rows(text, location)))
    if kind in {Kind.JSON, Kind.JSON_LINES}:
        return _json_pages(text, kind)
    return Pages([PageMarkup("", _to_paragraphs(join_wrapped_lines(text)))])


def _pdf_pages(content: bytes) -> Pages:
    """The pages of a PDF that have text."""
    pdf = read_pdf(content)
    pages = []
    for number, paragraphs in enumerate(pdf.pages, start=1):
        if paragraphs:
            pages.append(PageMarkup(pdf.title, _to_paragraphs(paragraphs), page_part(number)))

    is_whole = len(pdf.pages) == pdf.page_count
    note = "" if is_whole else f"only the first {len(pdf.pages)} of {pdf.page_count} pages were read in time; split it"
    return Pages(pages, note)


def _reply_pages(reply: FileReply) -> Pages:
    """What was read of a file with several sheets, slides or sections, or of one text."""
    pages = [PageMarkup(reply["title"], page["html"], page["part"]) for page in reply["pages"]]
    return Pages(pages, reply["note"])


def _json_pages(text: str, kind: Kind) -> Pages:
    """JSON as a table or lines; where it is none, as plain text."""
    try:
        if kind is Kind.JSON_LINES:
            lines = read_json_lines(text)
            return Pages(_row_pages(lines.rows), lines.note)
        rows = read_json_rows(text)
        if rows is not None:
            return Pages(_row_pages(rows))
        return Pages([PageMarkup("", json_markup(text))])
    except ValueError as error:
        return Pages(
            [PageMarkup("", _to_paragraphs(text.splitlines()))], f"read as plain text: it is not JSON: {error}"
        )


def _row_pages(rows: Sequence[Row]) -> list[PageMarkup]:
    """The pages of a table; a short one is a page without a part."""
    pages = []
    for page in table_pages(rows):
        part = "" if page.is_whole else row_part(page.first, page.last)
        pages.append(PageMarkup("", page.html, part))
    return pages


def _to_paragraphs(lines: Sequence[str]) -> str:
    """HTML with a paragraph for each line that is not blank."""
    return "".join(f"<p>{html.escape(line)}</p>\n" for line in lines if line.strip())


def _find_title(markup: str) -> str:
    """The words of the title element, or ""."""
    title = _TITLE.search(markup[:100_000])
    return " ".join(html.unescape(title[1]).split()) if title else ""
