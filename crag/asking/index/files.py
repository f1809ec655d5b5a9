"""The files of the user's places, with stamps that change when a file does."""

import os
import stat
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from crag.asking.sources import LARGEST_WITH_PICTURES, Warn, list_locations

CLOCK_SECONDS = 2.0
"""A file that changed so shortly ago may change again within the resolution of its time."""


class FoundFile(NamedTuple):
    """A file or an address to read.

    Attributes:
        path: The absolute path, or the address.
        location: The path as the user wrote its place: answers name it.
        stamp: Size, times and number of the file; "" for an address, which is read at every start.
        size: Bytes; 0 for an address.
    """

    path: str
    location: str
    stamp: str
    size: int


def find_files(places: Sequence[str], warn: Warn) -> list[FoundFile]:
    """The files and addresses of places, each once.

    `warn` gets what is left out. Raises DatasetError: there is no such file, folder or address.
    """
    found: dict[str, FoundFile] = {}
    for file in _find_all(places, warn):
        found.setdefault(file.path, file)
    return list(found.values())


def _find_all(places: Sequence[str], warn: Warn) -> Iterator[FoundFile]:
    for place in places:
        for location in list_locations(place, warn):
            yield _stamp(location)


def _stamp(location: str) -> FoundFile:
    try:
        status = os.stat(location)  # noqa: PTH116 - thousands of `Path` would take most of the time of a start
    except (OSError, ValueError):  # an address, or a file that has just gone, which its reader will tell
        return FoundFile(location, location, "", 0)
    if not stat.S_ISREG(status.st_mode):
        return FoundFile(location, location, "", 0)

    stamp = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"
    return FoundFile(absolute_path(location), location, stamp, status.st_size)


def absolute_path(location: str) -> str:
    """The path from the root. A link keeps its name: what it leads to may change."""
    return os.path.abspath(os.path.expanduser(location))  # noqa: PTH100, PTH111 - `Path.absolute` keeps ".."


def is_settled(file: FoundFile) -> bool:
    """Whether the stamp can be trusted: a file that changes twice within a clock's tick keeps its stamp."""
    times = [int(field) for field in file.stamp.split()[1:3]]
    return bool(times) and time.time() - max(times) / 1e9 > CLOCK_SECONDS


def digest_file(file: FoundFile) -> str:
    """The checksum of a file's content; "" if it cannot be read, or is not a file."""
    if not file.stamp or file.size > LARGEST_WITH_PICTURES:
        return ""
    try:
        return sha256(Path(file.path).read_bytes()).hexdigest()
    except OSError:
        return ""
