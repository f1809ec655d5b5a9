"""Step 2: turns the HTML of the chosen pages into text, in the worker processes of the pool."""

from collections.abc import Sequence

from crag.core.contracts import PassageKind
from crag.core.deadline import Deadline
from crag.web.extract.pool import ExtractionPool
from crag.web.page_search import PageSearch, SourceText
from crag.web.ranking import round_robin


def extract_pages(searches: Sequence[PageSearch], pool: ExtractionPool, deadline: Deadline) -> None:
    """Fill in the `source_texts` of each search. Pages that could not be read leave `pages`, with an event."""
    # Every question's best page comes first, so that a short time is shared fairly.
    pages_in_turn = round_robin([search.pages for search in searches])
    extraction = pool.extract([page.html for _, page in pages_in_turn], deadline)

    for search in searches:
        for page in search.pages:
            if page.html in extraction.dropped:
                search.events.append(f"page {page.url} was dropped: {extraction.dropped[page.html]}")

        search.pages = [page for page in search.pages if page.html in extraction.texts]
        for page in search.pages:
            search.source_texts.append(SourceText(page, PassageKind.PAGE, extraction.texts[page.html]))
