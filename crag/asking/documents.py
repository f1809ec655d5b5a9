"""The user's documents of any kind (`crag.asking.kinds`), from files, folders and addresses, with their text."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import requests
from urllib3.exceptions import HTTPError

from crag.asking import sources
from crag.asking.markup import to_pages
from crag.asking.parts import join_address
from crag.asking.sources import Warn, list_locations, read_source
from crag.core.deadline import Deadline, call_within
from crag.core.text import encodable, without_credentials
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
        part: The page, sheet, slide, section or rows of the file (`crag.asking.parts`); "" for a whole file.
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


@dataclass(frozen=True, slots=True)
class FileReading:
    """What was read of a file or an address.

    Attributes:
        documents: Its pages that have a text.
        notes: Lines about what was left out, with the reason.
        is_final: Reading the same bytes again would tell the same. False where a clock or the system decided.
    """

    documents: tuple[Document, ...]
    notes: tuple[str, ...] = ()
    is_final: bool = True


def read_documents(location: str, settings: ExtractSettings, warn: Warn) -> list[Document]:
    """The document at a path or an address, or those below a folder. A page of a PDF is one, a sheet, a slide.

    `warn` gets one line for each that is left out, with the reason.
    Raises DatasetError: there is no such file, folder or address.
    """
    documents: list[Document] = []
    with open_pool(settings) as pool:
        for reading in read_files(list(list_locations(location, warn)), pool):
            documents += reading.documents
            for note in reading.notes:
                warn(note)
    return documents


@contextmanager
def open_pool(settings: ExtractSettings) -> Iterator[ExtractionPool]:
    """Processes that read the user's pages like those of strangers: they can be killed."""
    with closing(ExtractionPool(settings.model_copy(update={"page_seconds": sources.READING_SECONDS}))) as pool:
        yield pool


def read_files(locations: Sequence[str], pool: ExtractionPool) -> list[FileReading]:
    """What is read of each file or address, in order; as many as may be in memory together."""
    # Most of the time is waiting for servers, so threads are enough.
    with ThreadPoolExecutor(READERS) as readers:
        unread = list(readers.map(_read_file, locations))

    documents = chain.from_iterable(reading.documents for reading in unread)
    pages = [document.html for document in documents]
    texts, dropped = pool.extract(pages, Deadline(sources.READING_SECONDS))
    return [_add_texts(reading, texts, dropped) for reading in unread]


def _add_texts(reading: FileReading, texts: Mapping[str, str], dropped: Mapping[str, str]) -> FileReading:
    """The reading with the texts of its pages, found by their HTML; a page without text gets a note."""
    readable: list[Document] = []
    notes = list(reading.notes)
    is_final = reading.is_final
    for document in reading.documents:
        text = texts.get(document.html)
        if text:
            readable.append(replace(document, text=text))
            notes += _describe_cut(document, text)
        else:
            # A page is dropped by the clock, or because its process ended: another time it may be read.
            is_final = is_final and document.html not in dropped
            reason = dropped.get(document.html, "there is no text in it")
            notes.append(f"skipped: {document.address}: {reason}")
    return FileReading(tuple(readable), tuple(notes), is_final)


def _describe_cut(document: Document, text: str) -> list[str]:
    """A line about what of a long document is not read; none if all is read."""
    if len(text) >= MAX_TEXT_CHARACTERS - 1 or len(document.html.encode("utf-8", "replace")) > MAX_BYTES:
        return [f"{document.address}: only the first {len(text):,} characters are read; split it"]
    return []


def _read_file(location: str) -> FileReading:
    """The pages of a file or a reply without their texts; none, with a note, if it cannot be read."""
    public_location = without_credentials(location)
    try:
        # A file on a network drive or a name server may hang, where no timeout of `requests` applies.
        source = call_within(sources.READING_SECONDS, partial(read_source, location))
        document = to_pages(source, location)
    except (OSError, HTTPError, ValueError) as error:  # ValueError: also an address to which a server redirects
        note = f"skipped: {public_location}: {_describe_failure(error)}"
        return FileReading((), (note,), is_final=not isinstance(error, OSError | HTTPError))

    notes = []
    if document.note:
        notes.append(f"{public_location}: {document.note}")
    if not document.pages:
        notes.append(f"skipped: {public_location}: there is no text in it")

    name = _name_location(public_location)
    pages = [
        # A name on disk may have bytes that are no UTF-8, which no encoder reads.
        Document(public_location, encodable(page.title or name), page.html, part=page.part)
        for page in document.pages
    ]
    return FileReading(tuple(pages), tuple(notes))


def _describe_failure(error: Exception) -> str:
    """The HTTP status, or in few words why there is no connection, or the message."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status:
        return f"status {status}"
    if isinstance(error, requests.RequestException | HTTPError):
        return _find_system_message(error) or type(error).__name__
    # The operating system's message has a number and the file, which is named already.
    return getattr(error, "strerror", None) or str(error)


def _find_system_message(error: BaseException) -> str | None:
    """What the operating system said below the errors of HTTP libraries, such as "Connection refused"."""
    cause: BaseException | None = error
    while cause is not None:
        message = getattr(cause, "strerror", None)
        if message:
            return str(message)
        cause = cause.__cause__ or cause.__context__
    return None


def _name_location(location: str) -> str:
    """The name to show where a page has no title: its address, or the file name without its suffix."""
    return location if "://" in location else Path(location).stem
