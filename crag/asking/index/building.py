"""Builds the index of a list of places: in a file that is kept, or in memory if there can be none."""

import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock, Timeout

from crag.asking.index.files import FoundFile, absolute_path
from crag.asking.index.kept import LOCK_SUFFIX, SUFFIX, delete_index, index_folder, make_room
from crag.asking.index.store import FORMAT, IndexStore
from crag.asking.index.update import update_files, update_vectors, update_words
from crag.asking.sources import Warn
from crag.core.places import PACKAGE
from crag.core.queries import LIMITS
from crag.core.text import without_credentials
from crag.engines.encoders import DenseEncoder
from crag.settings import Settings

FEW_PAGES = LIMITS["search_results"]
"""So many pages the agent takes for a question: it ranks them itself."""
KEPT_BYTES = 1_000_000
"""A few files smaller than this are read again at each start: that takes less than a second."""

DAMAGE = (sqlite3.DatabaseError, zlib.error, UnicodeDecodeError)
"""A file that is not what was written. `NO_ACCESS` is asked first: SQLite's error there is a `DatabaseError` too."""
NO_ACCESS = (sqlite3.OperationalError, OSError)
"""A full disk, a folder that must not be written, a lock that is never released."""


class BuiltIndex(NamedTuple):
    """A store that is up to date, and the encoder of its vectors: None, where words alone are searched."""

    store: IndexStore
    encoder: DenseEncoder | None


@dataclass(frozen=True, slots=True)
class IndexBuilder:
    """Builds the store of a list of places.

    Attributes:
        file: Where it is kept; None: only in memory.
        places: The places as the user wrote them.
        files: The files in these places.
        settings: How pages are read.
        encoder: For the search by meaning; None searches by words alone.
        warn: Gets one line for the user.
    """

    file: Path | None
    places: Sequence[str]
    files: Sequence[FoundFile]
    settings: Settings
    encoder: DenseEncoder | None
    warn: Warn

    def build(self) -> BuiltIndex:
        """The kept index; where none can be kept, one in memory, whose pages are searched by words alone."""
        store = self._build_kept(self.file, is_damaged=False) if self.file else None
        if store is None:
            return BuiltIndex(self._build_in_memory(), None)
        return BuiltIndex(store, self.encoder)

    def build_again(self) -> IndexStore:
        """A new store instead of one that proved to be damaged while it was read."""
        if self.file is None:
            return self._build_in_memory()
        self.warn(f"{self.file}: the index is damaged or gone; it is made again")
        return self._build_kept(self.file, is_damaged=True) or self._build_in_memory()

    def _build_in_memory(self) -> IndexStore:
        store = IndexStore(None)
        update_files(store, self.files, self.settings.web.extract)
        if store.count_pages() > FEW_PAGES:
            update_words(store)
        return store

    def _build_kept(self, file: Path, *, is_damaged: bool) -> IndexStore | None:
        """The kept index, up to date; None, after a line that says why, if it cannot be kept."""
        try:
            _prepare_folder(file)
            with _locked(file, self.warn):
                if is_damaged:
                    delete_index(file)
                elif not file.exists():
                    self.warn(
                        f"index: made once for {len(self.files):,} files, kept in {file.parent} "
                        "(crag index lists and clears it)"
                    )
                return self._update_or_replace(file)
        except (*NO_ACCESS, *DAMAGE) as error:
            reason = getattr(error, "strerror", None) or error
            advice = "going on without; $CRAG_INDEX_DIR names another folder"
            self.warn(f"{file.parent}: no index can be kept ({reason}): {advice}")
            return None

    def _update_or_replace(self, file: Path) -> IndexStore:
        """The index of the file, up to date; made again, once, if the file is damaged."""
        try:
            return self._update_kept(file)
        except (*NO_ACCESS, *DAMAGE) as error:
            if isinstance(error, NO_ACCESS) and not _lacks_a_table(error):
                raise
            self.warn(f"{file}: the index is damaged; it is made again")
            delete_index(file)
        return self._update_kept(file)

    def _update_kept(self, file: Path) -> IndexStore:
        """Open the index and bring it up to date."""
        store = IndexStore(file, _list_places(self.places))
        try:
            update_files(store, self.files, self.settings.web.extract)
            if store.count_pages() > FEW_PAGES:
                update_words(store)
                if self.encoder is not None:
                    update_vectors(store, self.encoder, self.warn)
        except BaseException:
            store.close()
            raise
        # The time of the last use decides which index goes when there are too many.
        os.utime(file)
        make_room(file)
        return store


def _lacks_a_table(error: Exception) -> bool:
    """Whether the file can be read, but lacks what every index has: SQLite's general error, of a statement."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR


def choose_file(places: Sequence[str], files: Sequence[FoundFile], settings: Settings) -> Path | None:
    """The file of the index of these places; None if it is not worth one, or has secrets.

    Its name is a checksum of the places, the settings and this code: all that decides what is read, besides the files.
    """
    local_files = [file for file in files if file.stamp]
    is_small = len(local_files) <= FEW_PAGES and sum(file.size for file in local_files) < KEPT_BYTES
    if is_small or any(without_credentials(place) != place for place in places):
        return None

    encoder = settings.dense_encoder.model_dump() if settings.dense_encoder else None
    inputs = (FORMAT, _list_places(places), settings.web.extract.model_dump(), encoder)
    checksum = sha256(repr(inputs).encode("utf-8", "surrogateescape"))
    for room in ("asking", "web", "text"):
        for source in sorted((PACKAGE / room).rglob("*.py")):
            checksum.update(source.read_bytes())
    return index_folder() / f"{checksum.hexdigest()[:32]}{SUFFIX}"


def _list_places(places: Sequence[str]) -> list[str]:
    """The places of an index, each once, however they are written."""
    absolute_places = {place if "://" in place else absolute_path(place) for place in places}
    return sorted(absolute_places)


def _prepare_folder(file: Path) -> None:
    """Make the folder of all indexes, for this user alone: it has the texts of private files."""
    if not file.parent.is_dir():
        file.parent.mkdir(parents=True)
        file.parent.chmod(0o700)


@contextmanager
def _locked(file: Path, warn: Warn) -> Iterator[None]:
    """Wait until no other process writes this index. The system releases the lock of a process that is killed."""
    lock = FileLock(file.with_suffix(LOCK_SUFFIX))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        warn("another process brings the index of these pages up to date; waiting for it (--no-index goes without)")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
