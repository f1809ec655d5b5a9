"""The bytes of files and addresses, within limits of time and size."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from email.message import Message
from functools import partial
from pathlib import Path
from urllib.parse import urldefrag

import requests

from crag.core.deadline import Deadline
from crag.core.files import DatasetError
from crag.core.queries import LIMITS

TIMEOUT = (5.0, 10.0)
"""Seconds to connect, seconds between bytes."""
READING_SECONDS = 60.0
"""Limit for a download."""
LARGEST_PAGE = LIMITS["page_result"]
"""Bytes; a larger page is left out, not cut."""
LARGEST_PDF = 100_000_000
"""Bytes: a PDF has pictures in it."""
PDF_MARK = b"%PDF-"
"""Begins a PDF; viewers accept other bytes before it."""

_WEB_SCHEMES = ("http://", "https://")
_PDF_MARK_WITHIN = 1024


@dataclass(frozen=True, slots=True)
class Source:
    """What a file or a reply holds, and what its server says of it.

    `media_type` and `charset` are those of a reply's Content-Type; "" for files, and where the server is silent.
    """

    content: bytes
    media_type: str = ""
    charset: str = ""

    @property
    def is_pdf(self) -> bool:
        """Whether the content is a PDF."""
        return is_pdf(self.content)


def is_pdf(content: bytes) -> bool:
    """Whether bytes begin like a PDF."""
    beginning = content[:_PDF_MARK_WITHIN]
    return PDF_MARK in beginning and not beginning.lstrip().startswith(b"<")


def list_locations(location: str) -> Iterator[str]:
    """The files below a folder, without hidden ones; else the path or address itself.

    Raises DatasetError: there is no such file, folder or address.
    """
    path = Path(location).expanduser()
    if path.is_dir():
        for file in sorted(path.rglob("[!.]*")):
            if file.is_file():
                yield str(file)
    elif location.startswith(_WEB_SCHEMES):
        yield urldefrag(location).url
    elif path.exists():
        yield str(path)
    else:
        raise DatasetError(f"{location}: no such file, folder or http address")


def read_source(location: str) -> Source:
    """The content of a file or of a reply.

    Raises ValueError: too large, too slow, or not a regular file. OSError, urllib3.exceptions.HTTPError: unreadable.
    """
    with ExitStack() as stack:
        if location.startswith(_WEB_SCHEMES):
            reply = stack.enter_context(requests.get(location, timeout=TIMEOUT, stream=True))
            reply.raise_for_status()
            content = _read_within_limits(partial(reply.raw.read1, decode_content=True))
            header = Message()
            header["Content-Type"] = reply.headers.get("Content-Type", "")
            return Source(content, header.get_content_type(), header.get_content_charset("") or "")

        if not Path(location).is_file():
            raise ValueError("not a regular file")  # a pipe would wait for ever
        file = stack.enter_context(Path(location).open("rb"))
        return Source(_read_within_limits(file.read1))


def _read_within_limits(read: Callable[[int], bytes]) -> bytes:
    """All that can be read. Raises ValueError: it takes too long or is too much."""
    deadline = Deadline(READING_SECONDS)
    content = bytearray()
    largest = LARGEST_PAGE
    while part := read(1 << 20):
        content += part
        if is_pdf(bytes(content[:_PDF_MARK_WITHIN])):
            largest = LARGEST_PDF
        # A server that sends a byte now and then never exceeds the time between bytes.
        if deadline.expired or len(content) > largest:
            raise ValueError(f"more than {READING_SECONDS:g} s or {largest / 1e6:g} MB")
    return bytes(content)
