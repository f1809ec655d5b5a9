"""The user's documents: HTML, plain text and PDF, from files, folders and addresses, with their text."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import requests
from urllib3.exceptions import HTTPError

from crag.asking import sources
from crag.asking.markup import to_pages
from crag.asking.sources import list_locations, read_source
from crag.core.deadline import Deadline, call_within
from crag.core.text import without_credentials
from crag.settings import ExtractSettings
from crag.web import ExtractionPool

READERS = 4
"""Threads that read files and addresses."""

_PAGE_MARK = "#page="


@dataclass(frozen=True, slots=True)
class Document:
    """A page of the user.

    Attributes:
        location: The path or address of the file.
        title: The title of the file, else its name.
        html: The page.
        text: The page as retrieval sees it.
        page: The number of the page in a PDF, from 1; None for other files.
    """

    location: str
    title: str
    html: str
    text: str = ""
    page: int | None = None

    @property
    def address(self) -> str:
        """The location, with the page of a PDF as viewers understand it (RFC 8118): ``report.pdf#page=3``."""
        return self.location if self.page is None else f"{self.location}{_PAGE_MARK}{self.page}"


def split_address(address: str) -> tuple[str, int | None]:
    """The location and the page of `Document.address`."""
    location, mark, page = address.rpartition(_PAGE_MARK)
    return (location, int(page)) if mark and page.isdecimal() else (address, None)


def read_documents(location: str, settings: ExtractSettings, warn: Callable[[str], None]) -> list[Document]:
    """The document at a path or an address, or those below a folder. A PDF is a document for each page with text.

    `warn` gets one line for each that is left out, with the reason.
    Raises DatasetError: there is no such file, folder or address.
    """
    # Most of the time is waiting for servers, so threads are enough.
    with ThreadPoolExecutor(READERS) as readers:
        pages_of_files = list(readers.map(partial(_read_file, warn=warn), list_locations(location)))
    documents = [document for pages in pages_of_files for document in pages]

    # Documents are read like pages of strangers: in processes that can be killed.
    seconds = sources.READING_SECONDS
    with closing(ExtractionPool(settings.model_copy(update={"page_seconds": seconds}))) as pool:
        texts, dropped = pool.extract([document.html for document in documents], Deadline(seconds))

    readable = []
    for document in documents:
        text = texts.get(document.html)
        if text:
            readable.append(replace(document, text=text))
        else:
            reason = dropped.get(document.html, "there is no text in it")
            warn(f"skipped: {document.address}: {reason}")
    return readable


def _read_file(location: str, warn: Callable[[str], None]) -> list[Document]:
    """The pages of a file or a reply without their texts; none, after a warning, if it cannot be read."""
    public_location = without_credentials(location)
    try:
        # A file on a network drive or a name server may hang, where no timeout of `requests` applies.
        source = call_within(sources.READING_SECONDS, partial(read_source, location))
        pages, note = to_pages(source, location)
    except (OSError, HTTPError, ValueError) as error:  # ValueError: also an address to which a server redirects
        warn(f"skipped: {public_location}: {_describe_failure(error)}")
        return []

    if note:
        warn(f"{public_location}: {note}")
    name = _name_location(public_location)
    return [Document(public_location, page.title or name, page.html, page=page.number) for page in pages]


def _describe_failure(error: Exception) -> str:
    """The HTTP status, or the kind of failure of a connection, whose messages are long, or the message."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status:
        return f"status {status}"
    is_from_web = isinstance(error, requests.RequestException | HTTPError)
    return type(error).__name__ if is_from_web else str(error)


def _name_location(location: str) -> str:
    """The name to show where a page has no title: its address, or the file name without its suffix."""
    return location if "://" in location else Path(location).stem
