"""The program of the process that reads a PDF: bytes on standard input, JSON on standard output."""

import re
import time
from collections.abc import Sequence
from functools import partial
from itertools import chain, dropwhile, takewhile
from statistics import median
from typing import TypedDict

import pypdfium2
from pypdfium2 import raw

from crag.asking.hyphens import Hyphenation
from crag.asking.pdf.lines import Line, read_lines
from crag.asking.pdf.paragraphs import build_paragraphs, join_pages
from crag.asking.pdf.running_heads import drop_running_heads
from crag.asking.pdf.words import visible_words
from crag.asking.reading_process import reply_in_process

MAX_TITLE_CHARACTERS = 300
LINES_WITH_TITLE = 12
"""At the top of the first page: the title is among them."""
LARGER_PRINT = 1.2
"""The print of a title, in sizes of the text."""

_NO_TITLE = re.compile(
    r"""
      ^ \(? (?: untitled | anonymous | unspecified | document \s? \d* | PowerPoint \s Presentation ) \)? $
    | ^ Microsoft \s (?: Word | Excel | PowerPoint ) \s -
    | \. (?: docx? | pptx? | xlsx? | odt | tex | dvi | indd | qxd | pdf ) $      # the name of a file
    """,
    re.VERBOSE | re.IGNORECASE,
)


class PdfReply(TypedDict):
    """What the process writes: the title, the paragraphs of each page that was read, and the number of all pages."""

    title: str
    pages: list[list[str]]
    page_count: int


def main(seconds: str) -> None:
    """Read the PDF on standard input. Pages for which the time is too short are left out."""
    reply_in_process(partial(read_pages, until=time.monotonic() + float(seconds)))


def read_pages(content: bytes, until: float) -> PdfReply:
    """The pages of a PDF, as far as `until` (of `time.monotonic`) allows.

    Raises pypdfium2.PdfiumError: the file is damaged, or needs a password.
    """
    pdf = pypdfium2.PdfDocument(content)
    # The values of form fields are drawn only then.
    pdf.init_forms()

    lines_of_pages: list[list[Line]] = []
    for index in range(len(pdf)):
        if time.monotonic() > until:
            break
        lines_of_pages.append(_read_page(pdf, index))

    title = _read_title(pdf) or _find_heading(lines_of_pages)
    lines_of_pages = drop_running_heads(lines_of_pages)
    hyphenation = Hyphenation(line.text for line in chain.from_iterable(lines_of_pages))
    pages = [build_paragraphs(lines, hyphenation) for lines in lines_of_pages]
    return PdfReply(title=title, pages=join_pages(pages, hyphenation), page_count=len(pdf))


def _read_title(pdf: pypdfium2.PdfDocument) -> str:
    """The title that the author gave; "" where a program put one of its own."""
    title = " ".join(pdf.get_metadata_value("Title").split())[:MAX_TITLE_CHARACTERS]
    return "" if _NO_TITLE.search(title) else title


def _find_heading(lines_of_pages: Sequence[Sequence[Line]]) -> str:
    """The largest print at the top of the first page with text; "" if it is hardly larger than the text."""
    first_lines = next(filter(None, lines_of_pages), [])[:LINES_WITH_TITLE]
    if not first_lines:
        return ""

    largest = max(line.size for line in first_lines)
    # A size for each character, not for each line: long lines are the text
    smaller_sizes: list[float] = []
    for line in chain.from_iterable(lines_of_pages):
        if line.size < largest:
            smaller_sizes += [line.size] * len(line.text)
    if not smaller_sizes or largest < LARGER_PRINT * median(smaller_sizes):
        return ""

    # A title may have two lines, and nothing in between.
    from_title = dropwhile(lambda line: line.size < largest, first_lines)
    title = " ".join(line.text for line in takewhile(lambda line: line.size == largest, from_title))
    has_words = any(character.isalpha() for character in title)
    return title if has_words and len(title) <= MAX_TITLE_CHARACTERS else ""


def _read_page(pdf: pypdfium2.PdfDocument, index: int) -> list[Line]:
    """The lines of a page with its annotations and form fields; none if the page is damaged."""
    try:
        page = pdf[index]
        # What is flattened becomes text at its place; hidden annotations are dropped.
        raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
        page.close()
        page = pdf[index]
        return read_lines(visible_words(page))
    except pypdfium2.PdfiumError:
        return []
