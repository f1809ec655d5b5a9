"""The bytes of files and addresses, within limits of time and size."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from email.message import Message
from functools import partial
from pathlib import Path
from urllib.parse import urldefrag

import requests

from crag.asking.kinds import may_hold_pictures
from crag.core.deadline import Deadline
from crag.core.files import DatasetError
from crag.core.places import expand_home
from crag.core.queries import LIMITS

TIMEOUT = (5.0, 10.0)
"""Seconds to connect, seconds between bytes."""
READING_SECONDS = 60.0
"""Limit for a download."""
LARGEST_PAGE = LIMITS["page_result"]
"""Bytes; a larger page is left out, not cut."""
LARGEST_WITH_PICTURES = 100_000_000
"""Bytes: a PDF or a document of Office has pictures in it."""

_WEB_SCHEMES = ("http://", "https://")
_MARK_WITHIN = 1024
_NAMED_ENTRIES = 3
"""Hidden files that the message names; it only counts the others."""

Warn = Callable[[str], None]
"""Gets one line for each file that is left out, with the reason."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a file or a reply holds, and what its server says of it.

    `media_type` and `charset` are those of a reply's Content-Type; "" for files, and where the server is silent.
    """

    content: bytes
    media_type: str = ""
    charset: str = ""


def list_locations(place: str, warn: Warn) -> Iterator[str]:
    """The files of a place: those below a folder, without hidden ones, or the path or address itself.

    `warn` gets what of a folder is left out: hidden files, links to nothing, pipes, folders that must not be read.
    Raises DatasetError: there is no such file, folder or address.
    """
    # An empty path would be the working folder.
    if not place.strip():
        raise DatasetError("a path of the pages is empty")
    path = expand_home(place)
    if path.is_dir():
        yield from _list_folder(path, warn)
    elif place.startswith(_WEB_SCHEMES):
        yield urldefrag(place).url
    elif path.exists():
        yield str(path)
    elif path.is_symlink():
        raise DatasetError(f"{place}: a link to {path.readlink()}, which is not there")
    else:
        raise DatasetError(f"{place}: no such file, folder or http address")


def _list_folder(folder: Path, warn: Warn) -> Iterator[str]:
    """The regular files below a folder, by name."""
    hidden: list[str] = []

    def warn_of_folder(error: OSError) -> None:
        warn(f"skipped: {error.filename}: {error.strerror}")

    # Links to folders are not followed: two that point at each other would never end.
    for parent, folder_names, file_names in os.walk(folder, onerror=warn_of_folder):
        hidden += [str(Path(parent, name)) for name in (*folder_names, *file_names) if name.startswith(".")]
        folder_names[:] = sorted(name for name in folder_names if not name.startswith("."))
        for name in folder_names:
            if Path(parent, name).is_symlink():
                warn(f"skipped: {Path(parent, name)}: a link to a folder; name it with --pages to read it")

        # Text and one look at each file: a `Path` of each would take most of the time of a start.
        beginning = str(Path(parent, "_"))[:-1]
        for name in sorted(file_names):
            if name.startswith("."):
                continue
            location = beginning + name
            reason = _find_fault(location, name)
            if reason:
                warn(f"skipped: {location}: {reason}")
            else:
                yield location

    if hidden:
        others = len(hidden) - _NAMED_ENTRIES
        more = f" and {others} more" if others > 0 else ""
        warn(f"skipped: hidden, name them with --pages to read them: {', '.join(hidden[:_NAMED_ENTRIES])}{more}")


def _find_fault(location: str, name: str) -> str:
    """Why an entry of a folder is not a file that can be read; "" if it may be one."""
    if name.startswith("~$"):
        return "not a document: Office makes it while it has one open"
    if os.path.isfile(location):  # noqa: PTH113 - see the caller
        return ""
    path = Path(location)
    if path.is_symlink() and not path.exists():
        return f"a link to {path.readlink()}, which is not there"
    return "not a regular file"


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
        if may_hold_pictures(bytes(content[:_MARK_WITHIN])):
            largest = LARGEST_WITH_PICTURES
        # A server that sends a byte now and then never exceeds the time between bytes.
        if deadline.expired:
            raise ValueError(f"it takes more than {READING_SECONDS:g} s")
        if len(content) > largest:
            raise ValueError(f"it is larger than {largest / 1e6:g} MB; split it")
    return bytes(content)
