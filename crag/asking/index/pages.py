"""The pages of a list of places, and a search over them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from crag.asking.documents import Document
from crag.asking.index.building import DAMAGE, FEW_PAGES, NO_ACCESS, IndexBuilder, choose_file
from crag.asking.index.files import FoundFile, find_files
from crag.asking.index.search import PieceOfPage, rank_pages
from crag.asking.index.store import IndexStore
from crag.asking.index.update import list_notes
from crag.asking.search_results import Result, as_result, search_results
from crag.asking.sources import Warn
from crag.engines.encoders import DenseEncoder
from crag.settings import Settings


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
        except (*DAMAGE, *NO_ACCESS):
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
    places: Sequence[str],
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
    files = find_files(places, warn)
    file = choose_file(places, files, settings) if keep else None
    builder = IndexBuilder(file, places, files, settings, encoder, warn)
    store, used_encoder = builder.build()
    for note in list_notes(store, files):
        warn(note)
    return PageIndex(store, files, settings.web.pages.keep, used_encoder, builder.build_again)
