"""Pages of one's own as search results: HTML, plain text and PDF, from files, folders and addresses.

It does a search engine's part: for each question the best pages come first, each with its best piece as the snippet.
"""

import html
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import requests
from resiliparse.parse.encoding import bytes_to_str, detect_encoding
from urllib3.exceptions import HTTPError

from agents.common.deadline import Deadline
from agents.common.files import DatasetError
from agents.common.queries import LIMITS
from agents.settings import ExtractSettings
from agents.web import ExtractionPool, bm25_of_texts

TIMEOUT = (5.0, 10.0)
"""Seconds to connect, seconds between bytes."""
READING_SECONDS = 60.0
"""Limit for a download, for a PDF, and for the HTML of all pages."""
LARGEST_PAGE = LIMITS["page_result"]
"""Bytes; a larger page is left out, not cut."""
READERS = 4
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
            say(f"left out: {page.place}: {dropped.get(page.html, 'there is no text in it')}")
    return [replace(page, text=texts[page.html]) for page in pages if texts.get(page.html)]


def search_results(question: str, pages: Sequence[OwnPage]) -> list[dict[str, str]]:
    """The pages as search results, those with the best piece first, at most as many as the agent takes."""
    pieces = [(page, piece) for page in pages for piece in _PIECE.findall(page.text)]
    scores = bm25_of_texts(question, [f"{page.title}\n{piece}" for page, piece in pieces])
    best: dict[str, tuple[OwnPage, str]] = {}
    for number in sorted(range(len(pieces)), key=lambda number: -scores[number]):
        best.setdefault(pieces[number][0].place, pieces[number])
    return [
        {"page_name": page.title, "page_url": page.place, "page_snippet": piece, "page_result": page.html}
        for page, piece in list(best.values())[: LIMITS["search_results"]]
    ]


def _sources(place: str) -> Iterator[str]:
    path = Path(place).expanduser()
    if place.startswith(_ADDRESS):
        yield place
    elif path.is_dir():
        yield from (str(file) for file in sorted(path.rglob("[!.]*")) if file.is_file())
    elif path.exists():
        yield str(path)
    else:
        raise DatasetError(f"--pages {place}: cannot be read: no such file, folder, or http address")


def _page(place: str, say: Callable[[str], None]) -> OwnPage | None:
    shown = re.sub(r"//[^/@\s]+@", "//", place)  # traces and reports have no passwords
    try:
        content = _fetched(place) if place.startswith(_ADDRESS) else _file(Path(place))
        markup = _html(content)
    except requests.HTTPError as error:
        say(f"left out: {shown}: status {error.response.status_code}")
    except (requests.RequestException, HTTPError) as error:
        say(f"left out: {shown}: not reachable ({type(error).__name__})")
    except (OSError, ValueError) as error:  # also of an address to which a server redirects
        say(f"left out: {shown}: {getattr(error, 'strerror', None) or error}")
    else:
        title = _TITLE.search(markup[:100_000])
        return OwnPage(shown, (title and " ".join(html.unescape(title[1]).split())) or Path(shown).stem, markup)
    return None


def _file(path: Path) -> bytes:
    if not path.is_file():
        raise ValueError("it is no file")  # a pipe would wait for ever
    with path.open("rb") as stream:
        return _within_limit(stream.read(LARGEST_PAGE + 1))


def _fetched(address: str) -> bytes:
    deadline, content = Deadline(READING_SECONDS), b""
    with requests.get(address, timeout=TIMEOUT, stream=True) as reply:
        reply.raise_for_status()
        while part := reply.raw.read1(1 << 20, decode_content=True):
            content = _within_limit(content + part)
            if deadline.expired:
                raise ValueError(f"it took longer than {READING_SECONDS:g} s")
    return content


def _within_limit(content: bytes) -> bytes:
    if len(content) > LARGEST_PAGE:
        raise ValueError(f"it has more than {LARGEST_PAGE / 1e6:g} MB")
    return content


def _html(content: bytes) -> str:
    """The page's HTML; in that of a PDF or a plain text, each line is a paragraph."""
    if content.lstrip()[:5] == b"%PDF-":
        content = _pdf_text(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = bytes_to_str(content, detect_encoding(content))
    if "\0" in text[:4096]:
        raise ValueError("it is neither HTML nor plain text nor PDF")
    if _MARKUP.search(text[:4096]):
        return text
    return "".join(f"<p>{html.escape(line)}</p>\n" for line in text.splitlines() if line.strip())


def _pdf_text(content: bytes) -> bytes:
    command = [sys.executable, "-P", str(Path(__file__).with_name("pdf.py"))]
    try:
        done = subprocess.run(command, input=content, capture_output=True, check=False, timeout=READING_SECONDS)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise ValueError(f"it took longer than {READING_SECONDS:g} s") from None
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ValueError(f"a PDF that cannot be read: {last[:200]}")
    return done.stdout
