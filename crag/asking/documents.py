"""The user's documents of any kind (`crag.asking.kinds`), from files, folders and addresses, with their text."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import requests
from urllib3.exceptions import HTTPError

from crag.asking import sources
from crag.asking.markup import to_pages
from crag.asking.parts import join_address
from crag.asking.sources import Warn, list_locations, read_source
from crag.core.deadline import Deadline, call_within
from crag.core.text import without_credentials
from crag.settings import ExtractSettings
from crag.web import MAX_BYTES, MAX_TEXT_CHARACTERS, ExtractionPool

READERS = 4
"""Threads that read files and addresses."""


@dataclass(frozen=True, slots=True)
class Document:
    """A page of the user.

    Attributes:
        location: The path or address of the file.
        title: The title of the file, else its name.
        html: The page.
        text: The page as retrieval sees it.
        part: The page, sheet, slide or rows of the file (`crag.asking.parts`); "" for a whole file.
    """

    location: str
    title: str
    html: str
    text: str = ""
    part: str = ""

    @property
    def address(self) -> str:
        """The location, with the part as viewers understand it: ``report.pdf#page=3``."""
        return join_address(self.location, self.part)


def read_documents(location: str, settings: ExtractSettings, warn: Warn) -> list[Document]:
    """The document at a path or an address, or those below a folder. A page of a PDF is one, a sheet, a slide.

    `warn` gets one line for each that is left out, with the reason.
    Raises DatasetError: there is no such file, folder or address.
    """
    # Most of the time is waiting for servers, so threads are enough.
    with ThreadPoolExecutor(READERS) as readers:
        pages_of_files = list(readers.map(partial(_read_file, warn=warn), list_locations(location, warn)))
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
            _warn_of_cut(document, text, warn)
        else:
            reason = dropped.get(document.html, "there is no text in it")
            warn(f"skipped: {document.address}: {reason}")
    return readable


def _warn_of_cut(document: Document, text: str, warn: Warn) -> None:
    """Tell what of a long document is not read."""
    if len(text) >= MAX_TEXT_CHARACTERS - 1 or len(document.html.encode("utf-8", "replace")) > MAX_BYTES:
        warn(f"{document.address}: only the first {len(text):,} characters are read; split it")


def _read_file(location: str, warn: Warn) -> list[Document]:
    """The pages of a file or a reply without their texts; none, after a warning, if it cannot be read."""
    public_location = without_credentials(location)
    try:
        # A file on a network drive or a name server may hang, where no timeout of `requests` applies.
        source = call_within(sources.READING_SECONDS, partial(read_source, location))
        document = to_pages(source, location)
    except (OSError, HTTPError, ValueError) as error:  # ValueError: also an address to which a server redirects
        warn(f"skipped: {public_location}: {_describe_failure(error)}")
        return []

    if document.note:
        warn(f"{public_location}: {document.note}")
    if not document.pages:
        warn(f"skipped: {public_location}: there is no text in it")
    name = _name_location(public_location)
    return [Document(public_location, page.title or name, page.html, part=page.part) for page in document.pages]


def _describe_failure(error: Exception) -> str:
    """The HTTP status, or the kind of failure of a connection, whose messages are long, or the message."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status:
        return f"status {status}"
    if isinstance(error, requests.RequestException | HTTPError):
        return type(error).__name__
    # The message of the operating system names number and file, which stands before it.
    return getattr(error, "strerror", None) or str(error)


def _name_location(location: str) -> str:
    """The name to show where a page has no title: its address, or the file name without its suffix."""
    return location if "://" in location else Path(location).stem
