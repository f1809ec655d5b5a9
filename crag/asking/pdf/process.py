"""Reads a PDF in a process of its own, which is killed when it takes too long."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from crag.core.places import REPOSITORY

SECONDS = 60.0
"""Limit for a file; after most of it, the pages that were read are used."""
_SHARE_FOR_PAGES = 0.8
_COMMAND = "import sys; from crag.asking.pdf.reading import main; main(float(sys.argv[1]))"
_REMEDIES = {
    "Incorrect password": "it needs a password; save a copy without one (qpdf --decrypt --password=... IN OUT)",
    "Unsupported security": "its encryption is not supported; save a copy without one",
    "Data format error": "it is damaged or not a whole PDF; open it in a viewer and save it again, or fetch it again",
    "MemoryError": "it needs too much memory; split it",
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
    search_path = [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
    # With `-P` nothing is imported from the working directory, where a file could pose as pypdfium2.
    command = [sys.executable, "-P", "-c", _COMMAND, str(_SHARE_FOR_PAGES * seconds)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(search_path)}
    try:
        process = subprocess.run(  # noqa: S603 - our own interpreter and a constant command
            command, input=content, capture_output=True, check=False, timeout=seconds, env=environment
        )
    except subprocess.TimeoutExpired:
        raise PdfError(f"the PDF took more than {seconds:g} s; split it") from None

    if process.returncode:
        raise PdfError(f"the PDF cannot be read: {_describe_failure(process.stderr, process.returncode)}")
    reply = json.loads(process.stdout)
    pages = tuple(map(tuple, reply["pages"]))
    if not any(pages):
        raise PdfError(
            "the PDF has no text: its pages are pictures, such as scans; recognise their text first (ocrmypdf IN OUT)"
        )
    return PdfText(reply["title"], pages, reply["page_count"])


def _describe_failure(error_output: bytes, status: int) -> str:
    """The remedy of a known failure, else the exception or the status."""
    # The last line of a traceback is the exception.
    _, _, last_line = error_output.decode("utf-8", "replace").strip().rpartition("\n")
    for part, remedy in _REMEDIES.items():
        if part in last_line:
            return remedy
    return last_line[:200] or f"its reader ended with status {status}"
