"""The pages of a list of places, from an index that is kept if it can be, and a search over them."""

import os
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout

from crag.asking.documents import Document
from crag.asking.index.files import FoundFile, absolute_path, find_files
from crag.asking.index.kept import LOCK_SUFFIX, SUFFIX, delete_index, index_folder, make_room
from crag.asking.index.search import PieceOfPage, rank_pages
from crag.asking.index.store import FORMAT, IndexStore
from crag.asking.index.update import list_notes, update_files, update_vectors, update_words
from crag.asking.search_results import Result, as_result, search_results
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

_DAMAGE = (sqlite3.DatabaseError, zlib.error, UnicodeDecodeError)
_NO_ACCESS = (sqlite3.OperationalError, OSError)
"""A full disk, a folder that must not be written, a lock that is never released."""


class PageIndex:
    """The pages of a list of places, and what of them is read for a question.

    Args:
        store: Their texts, words and vectors.
        files: The files they come from.
        most_results: How many pages the agent reads for a question.
        encoder: For the search by meaning; None searches by words alone.
        make_again: Builds the store again if it proves to be damaged.

    Example:
        index = open_index(["reports/"], settings, encoder, warn)
        results = index.search("who founded the club?")  # as the evaluator gives those of a search engine
        index.close()
    """

    def __init__(
        self,
        store: IndexStore,
        files: Sequence[FoundFile],
        most_results: int,
        encoder: DenseEncoder | None,
        make_again: Callable[[], IndexStore],
    ) -> None:
        self._store = store
        self._files = files
        self._most_results = most_results
        self._encoder = encoder
        self._make_again = make_again
        self._load()

    def _load(self) -> None:
        """Take into memory what every question needs: a few pages whole, of many the vectors."""
        self._locations = {file.path: file.location for file in self._files}
        self.page_count = self._store.count_pages()
        self._few: list[Document] | None = None
        self._vectors = None
        if self.page_count <= FEW_PAGES:
            self._few = self._read_few()
        elif self._encoder is not None:
            self._vectors = self._store.read_vectors()

    def _read_few(self) -> list[Document]:
        """All pages, in the order of their files."""
        positions = {file.path: position for position, file in enumerate(self._files)}
        pages = sorted(self._store.read_pages(), key=lambda page: positions.get(page[0], len(positions)))
        return [self._relocate(*page) for page in pages]

    def _relocate(self, path: str, document: Document) -> Document:
        """The page with its path as the user writes it now."""
        return replace(document, location=self._locations.get(path, document.location))

    @property
    def vector_bytes(self) -> int:
        """The memory that the search by meaning takes."""
        return self._vectors.vectors.nbytes if self._vectors else 0

    def close(self) -> None:
        """Close the file of the index."""
        self._store.close()

    def search(self, question: str) -> list[Result]:
        """The pages to read for a question, best first, as search results."""
        try:
            return self._search(question)
        except (*_DAMAGE, *_NO_ACCESS):
            self._store.close()
            self._store = self._make_again()
            self._load()
            return self._search(question)

    def _search(self, question: str) -> list[Result]:
        if self._few is not None:
            return search_results(question, self._few)

        # No more than are read: to choose among them again by words that all of them have would drop names.
        results: dict[str, Result] = {}
        for entry in rank_pages(self._store, question, self._encoder, self._vectors):
            page = self._store.read_page(entry.page)
            if page is not None:
                document = self._relocate(*page)
                results.setdefault(document.html, as_result(document, self._find_snippet(entry, document)))
            if len(results) == self._most_results:
                break
        return list(results.values())

    def _find_snippet(self, entry: PieceOfPage, document: Document) -> str:
        start, stop = self._store.read_span(entry.piece)
        return document.text[start:stop]


def open_index(
    locations: Sequence[str],
    settings: Settings,
    encoder: DenseEncoder | None,
    warn: Warn,
    *,
    keep: bool = True,
) -> PageIndex:
    """The pages of files, folders and addresses, up to date; `keep`: for later starts too.

    `warn` gets one line for each file that is left out, and one if the index cannot be kept. Without a kept index,
    pages are searched by words alone: to encode thousands at every start would take minutes.
    Raises DatasetError: there is no such file, folder or address; WeightsMissingError.
    """
    files = find_files(locations, warn)
    file = _choose_file(locations, files, settings) if keep else None

    def build_in_memory() -> IndexStore:
        store = IndexStore(None)
        update_files(store, files, settings.web.extract)
        if store.count_pages() > FEW_PAGES:
            update_words(store)
        return store

    def build(*, is_damaged: bool = False) -> tuple[IndexStore, DenseEncoder | None]:
        store = _build_kept(file, locations, files, settings, encoder, warn, is_damaged=is_damaged) if file else None
        return (store, encoder) if store else (build_in_memory(), None)

    def make_again() -> IndexStore:
        if file is None:
            return build_in_memory()
        warn(f"{file}: the index is damaged or gone; it is made again")
        return build(is_damaged=True)[0]

    store, used_encoder = build()
    for note in list_notes(store, files):
        warn(note)
    return PageIndex(store, files, settings.web.pages.keep, used_encoder, make_again)


def _choose_file(locations: Sequence[str], files: Sequence[FoundFile], settings: Settings) -> Path | None:
    """The file of the index of these places; None if it is not worth one, or has secrets.

    Its name is a checksum of all that what is read depends on, besides the files: places, settings and this code.
    """
    local_files = [file for file in files if file.stamp]
    is_small = len(local_files) <= FEW_PAGES and sum(file.size for file in local_files) < KEPT_BYTES
    if is_small or any(without_credentials(location) != location for location in locations):
        return None

    encoder = settings.dense_encoder.model_dump() if settings.dense_encoder else None
    read = (FORMAT, _list_places(locations), settings.web.extract.model_dump(), encoder)
    checksum = sha256(repr(read).encode("utf-8", "surrogateescape"))
    for room in ("asking", "web", "text"):
        for source in sorted((PACKAGE / room).rglob("*.py")):
            checksum.update(source.read_bytes())
    return index_folder() / f"{checksum.hexdigest()[:32]}{SUFFIX}"


def _list_places(locations: Sequence[str]) -> list[str]:
    """The places of an index, each once, however they are written."""
    places = {place if "://" in place else absolute_path(place) for place in locations}
    return sorted(places)


def _build_kept(
    file: Path,
    locations: Sequence[str],
    files: Sequence[FoundFile],
    settings: Settings,
    encoder: DenseEncoder | None,
    warn: Warn,
    *,
    is_damaged: bool,
) -> IndexStore | None:
    """The kept index, up to date; None, after a line that says why, if it cannot be kept. Damaged, it is made again."""
    for is_last_try in (False, True):
        try:
            _prepare_folder(file)
            with _locked(file, warn):
                if is_damaged:
                    delete_index(file)
                elif not file.exists():
                    what = f"made once for {len(files):,} files, kept in {file.parent}"
                    warn(f"index: {what} (crag index lists and clears it)")
                try:
                    return _update_kept(file, locations, files, settings, encoder, warn)
                except _NO_ACCESS:
                    raise
                except _DAMAGE:
                    if is_last_try:
                        raise
                    warn(f"{file}: the index is damaged; it is made again")
                    is_damaged = True
        except (*_NO_ACCESS, *_DAMAGE) as error:
            reason = getattr(error, "strerror", None) or error
            advice = "going on without; $CRAG_INDEX_DIR names another folder"
            warn(f"{file.parent}: no index can be kept ({reason}): {advice}")
            return None
    return None


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


def _update_kept(
    file: Path,
    locations: Sequence[str],
    files: Sequence[FoundFile],
    settings: Settings,
    encoder: DenseEncoder | None,
    warn: Warn,
) -> IndexStore:
    """Open the index and bring it up to date."""
    store = IndexStore(file, _list_places(locations))
    try:
        update_files(store, files, settings.web.extract)
        if store.count_pages() > FEW_PAGES:
            update_words(store)
            if encoder is not None:
                update_vectors(store, encoder, warn)
    except BaseException:
        store.close()
        raise
    # The time of the last use decides which index goes when there are too many.
    os.utime(file)
    make_room(file)
    return store
