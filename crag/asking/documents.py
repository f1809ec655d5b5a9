"""The user's documents as search results: HTML, plain text and PDF, from files, folders and addresses.

It does a search engine's part: for each question the best pages come first, each with its best piece as the snippet.
"""

import html
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import requests
from resiliparse.parse.encoding import bytes_to_str, detect_encoding
from urllib3.exceptions import HTTPError

from crag.core.deadline import Deadline, call_within
from crag.core.files import DatasetError
from crag.core.queries import LIMITS
from crag.core.text import without_credentials
from crag.settings import ExtractSettings
from crag.web import ExtractionPool, bm25_scores

TIMEOUT = (5.0, 10.0)
"""Seconds to connect, seconds between bytes."""
READING_SECONDS = 60.0
"""Limit for a download, for a PDF, and for the HTML of all pages."""
LARGEST_PAGE = LIMITS["page_result"]
"""Bytes; a larger page is left out, not cut."""
READERS = 4
"""Threads that read files and addresses."""
PDF_READER = """import io, resource, sys
from pypdf import PdfReader
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
pages = PdfReader(io.BytesIO(sys.stdin.buffer.read())).pages
sys.stdout.buffer.write("\\n".join(page.extract_text() for page in pages)[:300_000].encode("utf-8", "replace"))"""
"""Run in a process that is killed when it takes too long; the agent reads no more characters of a page."""
SNIFFED_CHARACTERS = 4096
"""The beginning of a file that tells its type."""

_WEB_SCHEMES = ("http://", "https://")
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,500})</title", re.IGNORECASE)
_MARKUP = re.compile(r"<(?:!doctype|html|head|body|title|meta|div|p|h1|table|article)\b", re.IGNORECASE)
_PIECE = re.compile(r"\S[\s\S]{0,300}\S*")


@dataclass(frozen=True, slots=True)
class Document:
    """A page of the user: its path or address, its title, its HTML, and its text as retrieval sees it."""

    location: str
    title: str
    html: str
    text: str = ""


def read_documents(location: str, settings: ExtractSettings, warn: Callable[[str], None]) -> list[Document]:
    """The document at a path or an address, or those below a folder.

    `warn` gets one line for each that is left out, with the reason.
    Raises DatasetError: there is no such file, folder or address.
    """
    # Most of the time is waiting for servers, so threads are enough.
    with ThreadPoolExecutor(READERS) as readers:
        results = list(readers.map(partial(_read_document, warn=warn), _list_locations(location)))
    documents = [document for document in results if document is not None]

    # Documents are read like pages of strangers: in processes that can be killed.
    with closing(ExtractionPool(settings.model_copy(update={"page_seconds": READING_SECONDS}))) as pool:
        texts, dropped = pool.extract([document.html for document in documents], Deadline(READING_SECONDS))

    readable = []
    for document in documents:
        text = texts.get(document.html)
        if text:
            readable.append(replace(document, text=text))
        else:
            reason = dropped.get(document.html, "there is no text in it")
            warn(f"skipped: {document.location}: {reason}")
    return readable


def search_results(question: str, documents: Sequence[Document]) -> list[dict[str, str]]:
    """The documents as search results, those with the best piece first, at most as many as the agent takes."""
    # A snippet is the part of a page that fits the question, so pages compete by their best piece.
    pieces = []
    for document in documents:
        pieces += [(document, piece) for piece in _PIECE.findall(document.text)]

    scores = bm25_scores(question, [f"{document.title}\n{piece}" for document, piece in pieces])
    best_first = sorted(range(len(pieces)), key=lambda index: -scores[index])

    # A document's best piece comes first and becomes its snippet.
    best_pieces: dict[str, tuple[Document, str]] = {}
    for index in best_first:
        document, piece = pieces[index]
        best_pieces.setdefault(document.location, (document, piece))

    results = [
        {
            "page_name": document.title,
            "page_url": document.location,
            "page_snippet": piece,
            "page_result": document.html,
        }
        for document, piece in best_pieces.values()
    ]
    return results[: LIMITS["search_results"]]


def _list_locations(location: str) -> Iterator[str]:
    """The files below a folder, without hidden ones; else the path or address itself."""
    path = Path(location).expanduser()
    if path.is_dir():
        for file in sorted(path.rglob("[!.]*")):
            if file.is_file():
                yield str(file)
    elif location.startswith(_WEB_SCHEMES):
        yield location
    elif path.exists():
        yield str(path)
    else:
        raise DatasetError(f"--pages {location}: cannot be read: no such file, folder or http address")


def _read_document(location: str, warn: Callable[[str], None]) -> Document | None:
    """The document without its text; None, after a warning, if it cannot be read."""
    public_location = without_credentials(location)
    try:
        # A file on a network drive or a name server may hang, where no timeout of `requests` applies.
        content = call_within(READING_SECONDS, partial(_read_bytes, location))
        markup = _to_html(content)
    except (OSError, HTTPError, ValueError) as error:  # ValueError: also an address to which a server redirects
        warn(f"skipped: {public_location}: {_describe_failure(error)}")
        return None
    return Document(public_location, _find_title(markup) or _name_location(public_location), markup)


def _describe_failure(error: Exception) -> str:
    """The HTTP status, or the kind of failure of a connection, whose messages are long, or the message."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status:
        return f"status {status}"
    is_from_web = isinstance(error, requests.RequestException | HTTPError)
    return type(error).__name__ if is_from_web else str(error)


def _find_title(markup: str) -> str:
    """The words of the title element, or ""."""
    title = _TITLE.search(markup[:100_000])
    return " ".join(html.unescape(title[1]).split()) if title else ""


def _name_location(location: str) -> str:
    """The name to show where a page has no title: its address, or the file name without its suffix."""
    return location if "://" in location else Path(location).stem


def _read_bytes(location: str) -> bytes:
    """The content of a file or of a reply. Raises ValueError: too large, too slow, or not a regular file."""
    deadline = Deadline(READING_SECONDS)
    content = b""
    with ExitStack() as stack:
        if location.startswith(_WEB_SCHEMES):
            reply = stack.enter_context(requests.get(location, timeout=TIMEOUT, stream=True))
            reply.raise_for_status()
            read: Callable[[int], bytes] = partial(reply.raw.read1, decode_content=True)
        elif Path(location).is_file():
            read = stack.enter_context(Path(location).open("rb")).read1
        else:
            raise ValueError("not a regular file")  # a pipe would wait for ever

        while part := read(1 << 20):
            content += part
            # A server that sends a byte now and then never exceeds the time between bytes.
            if deadline.expired or len(content) > LARGEST_PAGE:
                raise ValueError(f"more than {READING_SECONDS:g} s or {LARGEST_PAGE / 1e6:g} MB")
    return content


def _to_html(content: bytes) -> str:
    """The document's HTML; in that of a PDF or of plain text, each line is a paragraph.

    Raises ValueError: the type is not known, or the PDF is damaged.
    """
    if content.lstrip()[:5] == b"%PDF-":
        content = _read_pdf(content)

    text = _decode(content)
    beginning = text[:SNIFFED_CHARACTERS]
    # Images and archives have zero bytes, text has none.
    if "\0" in beginning:
        raise ValueError("neither HTML nor plain text nor PDF")
    if _MARKUP.search(beginning):
        return text

    lines = [line for line in text.splitlines() if line.strip()]
    return "".join(f"<p>{html.escape(line)}</p>\n" for line in lines)


def _read_pdf(content: bytes) -> bytes:
    """The text of a PDF in UTF-8, read in a process that is killed when it takes too long."""
    # With `-P` nothing is imported from the working directory, where a file could pose as pypdf.
    command = [sys.executable, "-P", "-c", PDF_READER]
    try:
        process = subprocess.run(command, input=content, capture_output=True, check=False, timeout=READING_SECONDS)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise ValueError(f"reading the PDF took more than {READING_SECONDS:g} s") from None

    if process.returncode:
        # The last line of a traceback is the exception.
        _, _, last_line = process.stderr.decode("utf-8", "replace").strip().rpartition("\n")
        raise ValueError(f"the PDF cannot be read: {last_line[:200]}")
    return process.stdout


def _decode(content: bytes) -> str:
    """The content as text: UTF-8, else what a detector takes it for."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return bytes_to_str(content, detect_encoding(content) or "latin-1")
