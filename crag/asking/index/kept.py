"""Where indexes are kept: files in one folder, bounded together, which users can list and clear."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from crag.asking.index.files import absolute_path
from crag.core.environment import read_variable
from crag.core.places import expand_home, home_folder

MOST_BYTES = 4_000_000_000
"""Of all indexes together; the one that was used longest ago goes first."""
SUFFIX = ".sqlite"
LOCK_SUFFIX = ".lock"
_JOURNAL = "-journal"
"""What SQLite adds to a name for a change that is not complete."""


class KeptIndex(NamedTuple):
    """The index of a list of places; `places` is empty if its file is damaged."""

    file: Path
    places: tuple[str, ...]
    pages: int
    bytes: int
    used: datetime


def index_folder() -> Path:
    """The folder of all indexes: `$CRAG_INDEX_DIR`, else `~/.cache/crag-index`."""
    configured = read_variable("CRAG_INDEX_DIR")
    if configured:
        return expand_home(configured).absolute()
    return home_folder() / ".cache" / "crag-index"


def list_indexes() -> list[KeptIndex]:
    """All indexes, the last used first."""
    indexes = []
    for file in index_folder().glob(f"*{SUFFIX}"):
        with suppress(FileNotFoundError):  # another process has just cleared it
            indexes.append(_describe(file))
    return sorted(indexes, key=lambda index: index.used, reverse=True)


def _describe(file: Path) -> KeptIndex:
    status = file.stat()
    places: tuple[str, ...] = ()
    pages = 0
    damage = (sqlite3.Error, UnicodeDecodeError)
    with suppress(*damage), closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT CAST(place AS BLOB) FROM places WHERE place NOT NULL ORDER BY rowid")
        places = tuple(place.decode("utf-8", "surrogatepass") for (place,) in rows)
        ((pages,),) = connection.execute("SELECT count(*) FROM pages")
    return KeptIndex(file, places, pages, status.st_size, datetime.fromtimestamp(status.st_mtime))


def clear_indexes(places: Sequence[str] = ()) -> list[KeptIndex]:
    """Delete the indexes that hold one of these places, or all; the deleted ones."""
    paths = {absolute_path(place) for place in places}
    matching = [index for index in list_indexes() if not paths or paths.intersection(index.places)]
    return [index for index in matching if _delete_unused(index.file)]


def _delete_unused(file: Path) -> bool:
    """Delete an index and its lock, unless a process writes it now; whether it is deleted."""
    lock = FileLock(file.with_suffix(LOCK_SUFFIX))
    try:
        with lock.acquire(timeout=0):
            delete_index(file)
            Path(lock.lock_file).unlink(missing_ok=True)
    except Timeout:
        return False
    return True


def delete_index(file: Path) -> None:
    """Delete the file of an index whose lock the caller has. A process that reads it can go on."""
    for path in (file, file.with_name(file.name + _JOURNAL)):
        path.unlink(missing_ok=True)


def make_room(file: Path) -> None:
    """Delete the indexes that were used longest ago until all are within `MOST_BYTES`; never `file` itself."""
    total = 0
    for size, other in _last_used_first(file.parent):
        total += size
        if total > MOST_BYTES and other != file and _delete_unused(other):
            total -= size


def _last_used_first(folder: Path) -> Iterator[tuple[int, Path]]:
    statuses = []
    for path in folder.glob(f"*{SUFFIX}"):
        with suppress(FileNotFoundError):
            statuses.append((path.stat(), path))
    statuses.sort(key=lambda entry: entry[0].st_mtime, reverse=True)
    for status, path in statuses:
        yield status.st_size, path
