"""Documents of any kind as HTML pages: an HTML file is one page, plain text too, a PDF has several."""

import html
import re
from dataclasses import dataclass
from pathlib import Path

from crag.asking.decoding import decode
from crag.asking.pdf.process import read_pdf
from crag.asking.sources import Source

SNIFFED_CHARACTERS = 4096
"""The beginning of a file that tells its type."""

_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,500})</title", re.IGNORECASE)
_MARKUP = re.compile(r"<(?:!doctype|html|head|body|title|meta|div|p|h1|table|article)\b", re.IGNORECASE)
_XML_SUFFIXES = {".xhtml", ".xht", ".xml"}


@dataclass(frozen=True, slots=True)
class PageMarkup:
    """A page's title ("" if it has none), its HTML, and its number in a PDF."""

    title: str
    html: str
    number: int | None = None


def to_pages(source: Source, location: str) -> tuple[list[PageMarkup], str]:
    """The pages of a document, and a note on what is missing ("" if nothing is). Each line of text is a paragraph.

    Raises ValueError: the type is not known, or the PDF cannot be read.
    """
    if source.is_pdf:
        return _pdf_pages(source.content)

    is_xml = "xml" in source.media_type or Path(location).suffix.lower() in _XML_SUFFIXES
    text = decode(source.content, source.charset, is_xml=is_xml)
    beginning = text[:SNIFFED_CHARACTERS]
    # Images and archives have zero bytes, text has none.
    if "\0" in beginning:
        raise ValueError("neither HTML nor plain text nor PDF")
    if _MARKUP.search(beginning):
        return [PageMarkup(_find_title(text), text)], ""
    return [PageMarkup("", _to_paragraphs(text.splitlines()))], ""


def _pdf_pages(content: bytes) -> tuple[list[PageMarkup], str]:
    """The pages of a PDF that have text."""
    pdf = read_pdf(content)
    pages = []
    for number, paragraphs in enumerate(pdf.pages, start=1):
        if paragraphs:
            pages.append(PageMarkup(pdf.title, _to_paragraphs(paragraphs), number))

    is_whole = len(pdf.pages) == pdf.page_count
    note = "" if is_whole else f"only the first {len(pdf.pages)} of {pdf.page_count} pages were read in time; split it"
    return pages, note


def _to_paragraphs(lines: list[str] | tuple[str, ...]) -> str:
    """HTML with a paragraph for each line that is not blank."""
    return "".join(f"<p>{html.escape(line)}</p>\n" for line in lines if line.strip())


def _find_title(markup: str) -> str:
    """The words of the title element, or ""."""
    title = _TITLE.search(markup[:100_000])
    return " ".join(html.unescape(title[1]).split()) if title else ""
