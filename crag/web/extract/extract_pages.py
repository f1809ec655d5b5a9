"""Step 2: turns the HTML of the chosen pages into text, in the worker processes of the pool."""

from collections.abc import Sequence

from crag.core.contracts import PassageKind
from crag.core.deadline import Deadline
from crag.web.extract.pool import Extraction, ExtractionPool
from crag.web.page_search import PageSearch, SourceText
from crag.web.ranking import round_robin


def extract_pages(searches: Sequence[PageSearch], pool: ExtractionPool, deadline: Deadline) -> None:
    """Fill in the `source_texts` of each search. Pages that could not be read leave `pages`, with an event."""
    # Every question's best page comes first, so that a short time is shared fairly.
    turns = round_robin([search.pages for search in searches])
    pages_in_turn = [page.html for _, page in turns]
    extraction = pool.extract(pages_in_turn, deadline)

    for search in searches:
        _add_texts(search, extraction)


def _add_texts(search: PageSearch, extraction: Extraction) -> None:
    """Add the texts of a search's pages; report and remove the pages that were dropped."""
    readable_pages = []
    for page in search.pages:
        if page.html in extraction.dropped:
            reason = extraction.dropped[page.html]
            search.events.append(f"page {page.url} was dropped: {reason}")
            continue

        text = extraction.texts[page.html]
        search.source_texts.append(SourceText(page, PassageKind.PAGE, text))
        readable_pages.append(page)

    search.pages = readable_pages
