"""Reads a PDF in a process of its own, which is killed when it takes too long."""

from dataclasses import dataclass

from crag.asking.reading_process import SECONDS, UnreadableFileError, read_in_process

_SHARE_FOR_PAGES = 0.8
"""Of the limit for a file; after that, the pages that were read are used."""
_REMEDIES = {
    "Incorrect password": "it needs a password; save a copy without one (qpdf --decrypt --password=... IN OUT)",
    "Unsupported security": "its encryption is not supported; save a copy without one",
    "Data format error": "it is damaged or not a whole PDF; open it in a viewer and save it again, or fetch it again",
}
"""What can be done, by a part of the error's message."""


class PdfError(ValueError):
    """A PDF that cannot be read. The message names the remedy."""


@dataclass(frozen=True, slots=True)
class PdfText:
    """A PDF's title ("" if it has none), the paragraphs of its first pages by page, and the number of all its pages."""

    title: str
    pages: tuple[tuple[str, ...], ...]
    page_count: int


def read_pdf(content: bytes, seconds: float = SECONDS) -> PdfText:
    """The text of a PDF.

    Raises PdfError: it is damaged, needs a password, takes too long or too much memory, or has no text.
    """
    seconds_for_pages = str(_SHARE_FOR_PAGES * seconds)
    try:
        reply = read_in_process("crag.asking.pdf.reading", seconds_for_pages, content, seconds, _REMEDIES)
    except UnreadableFileError as error:
        raise PdfError(f"the PDF cannot be read: {error}") from None

    pages = tuple(map(tuple, reply["pages"]))
    if not any(pages):
        raise PdfError(
            "the PDF has no text: its pages are pictures, such as scans; recognise their text first (ocrmypdf IN OUT)"
        )
    return PdfText(reply["title"], pages, reply["page_count"])
