"""Pages of one's own as search results: HTML, plain text and PDF, from files, folders and addresses.

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
PDF_READER = """import io, resource, sys
from pypdf import PdfReader
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
pages = PdfReader(io.BytesIO(sys.stdin.buffer.read())).pages
sys.stdout.buffer.write("\\n".join(page.extract_text() for page in pages)[:300_000].encode("utf-8", "replace"))"""
"""Run in a process that is killed when it takes too long; the agent reads no more characters of a page."""
_ADDRESS = ("http://", "https://")
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,500})</title", re.IGNORECASE)
_MARKUP = re.compile(r"<(?:!doctype|html|head|body|title|meta|div|p|h1|table|article)\b", re.IGNORECASE)
_PIECE = re.compile(r"\S[\s\S]{0,300}\S*")


@dataclass(frozen=True, slots=True)
class OwnPage:
    """A page: its path or address, its title, its HTML, and its text as retrieval sees it."""

    place: str
    title: str
    html: str
    text: str = ""


def read_pages(place: str, settings: ExtractSettings, say: Callable[[str], None]) -> list[OwnPage]:
    """The page at a path or an address, or those below a folder; `say` tells which were left out, and why.
    Raises DatasetError: there is no such place.
    """
    with ThreadPoolExecutor(READERS) as readers:
        pages = [page for page in readers.map(partial(_page, say=say), _sources(place)) if page]
    with closing(ExtractionPool(settings.model_copy(update={"page_seconds": READING_SECONDS}))) as pool:
        texts, dropped = pool.extract([page.html for page in pages], Deadline(READING_SECONDS))
    for page in pages:
        if not texts.get(page.html):
            say(f"skipped: {page.place}: {dropped.get(page.html, 'there is no text in it')}")
    return [replace(page, text=texts[page.html]) for page in pages if texts.get(page.html)]


def search_results(question: str, pages: Sequence[OwnPage]) -> list[dict[str, str]]:
    """The pages as search results, those with the best piece first, at most as many as the agent takes."""
    pieces = [(page, piece) for page in pages for piece in _PIECE.findall(page.text)]
    scores = bm25_scores(question, [f"{page.title}\n{piece}" for page, piece in pieces])
    best: dict[str, tuple[OwnPage, str]] = {}
    for number in sorted(range(len(pieces)), key=lambda number: -scores[number]):
        best.setdefault(pieces[number][0].place, pieces[number])
    return [
        {"page_name": page.title, "page_url": page.place, "page_snippet": piece, "page_result": page.html}
        for page, piece in list(best.values())[: LIMITS["search_results"]]
    ]


def _sources(place: str) -> Iterator[str]:
    path = Path(place).expanduser()
    if path.is_dir():
        yield from (str(file) for file in sorted(path.rglob("[!.]*")) if file.is_file())
    elif path.exists() or place.startswith(_ADDRESS):
        yield place if place.startswith(_ADDRESS) else str(path)
    else:
        raise DatasetError(f"--pages {place}: cannot be read: no such file, folder or http address")


def _page(place: str, say: Callable[[str], None]) -> OwnPage | None:
    shown = without_credentials(place)
    try:
        markup = _html(call_within(READING_SECONDS, partial(_content, place)))
    except (OSError, HTTPError, ValueError) as error:  # also of an address to which a server redirects
        status = getattr(getattr(error, "response", None), "status_code", None)
        is_web = isinstance(error, requests.RequestException | HTTPError)
        why = f"status {status}" if status else type(error).__name__ if is_web else error
        say(f"skipped: {shown}: {why}")
        return None
    found = _TITLE.search(markup[:100_000])
    title = " ".join(html.unescape(found[1]).split()) if found else ""
    return OwnPage(shown, title or (shown if "://" in shown else Path(shown).stem), markup)


def _content(place: str) -> bytes:
    deadline, content = Deadline(READING_SECONDS), b""
    with ExitStack() as opened:
        if place.startswith(_ADDRESS):
            reply = opened.enter_context(requests.get(place, timeout=TIMEOUT, stream=True))
            reply.raise_for_status()
            read: Callable[[int], bytes] = partial(reply.raw.read1, decode_content=True)
        elif Path(place).is_file():
            read = opened.enter_context(Path(place).open("rb")).read1
        else:
            raise ValueError("not a regular file")  # a pipe would wait for ever
        while part := read(1 << 20):
            content += part
            if deadline.expired or len(content) > LARGEST_PAGE:
                raise ValueError(f"more than {READING_SECONDS:g} s or {LARGEST_PAGE / 1e6:g} MB")
    return content


def _html(content: bytes) -> str:
    """The page's HTML; in that of a PDF or a plain text, each line is a paragraph."""
    if content.lstrip()[:5] == b"%PDF-":
        command = [sys.executable, "-P", "-c", PDF_READER]
        try:
            done = subprocess.run(command, input=content, capture_output=True, check=False, timeout=READING_SECONDS)  # noqa: S603
        except subprocess.TimeoutExpired:
            raise ValueError(f"reading the PDF took more than {READING_SECONDS:g} s") from None
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise ValueError(f"the PDF cannot be read: {last[:200]}")
        content = done.stdout
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = bytes_to_str(content, detect_encoding(content) or "latin-1")
    if "\0" in text[:4096]:
        raise ValueError("neither HTML nor plain text nor PDF")
    if _MARKUP.search(text[:4096]):
        return text
    return "".join(f"<p>{html.escape(line)}</p>\n" for line in text.splitlines() if line.strip())
