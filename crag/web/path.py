"""The web path: turns the search results of a batch into one context per question.

The steps, each for the whole batch, and their modules. A `PageSearch` per question goes through all of them:

1. `select_pages`: choose the pages to read
2. `extract`: HTML to text, in worker processes
3. `chunk`: text to passages, and the chunks of them that are searched (`splitting` has the rules)
4. `retrieve`: sparse and dense retrieval of candidate passages
5. `rerank`: the cross-encoder
6. `context`: the best passages in `<doc>` marks with their sources
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from crag.core.contracts import Passage, Query, Stage
from crag.core.deadline import BatchClock
from crag.engines.encoders import CrossEncoder, DenseEncoder
from crag.engines.llm.base import TokenCounter
from crag.settings import WebSettings
from crag.web.chunk import chunk_pages
from crag.web.context import build_context
from crag.web.extract.extract_pages import extract_pages
from crag.web.extract.pool import ExtractionPool
from crag.web.page_search import PageSearch
from crag.web.rerank import best_probability, rerank
from crag.web.retrieve import retrieve
from crag.web.select_pages import select_pages
from crag.web.sites import drop_site
from crag.web.splitting import TokenOffsets


@dataclass(frozen=True, slots=True)
class RetrievedPassages:
    """What the web path found for one question: passages of its pages, and the context that they make.

    Attributes:
        context: The best passages in `<doc>` marks, for the prompt; may be empty.
        passages: The passages in the context, best first, with all scores; the last one possibly cut.
        left_out: Passages that would have fit, but are far below the best one (`web.context.largest_gap`).
        pages_read: The number of pages that could be read.
        events: Sentences about dropped pages and passages, and about unfinished work.
        top_probability: The logistic function of the best cross-encoder logit, if there is one.
        ranked: All ranked passages, best first.
    """

    context: str
    passages: tuple[Passage, ...]
    pages_read: int
    events: tuple[str, ...]
    top_probability: float | None
    ranked: tuple[Passage, ...] = ()
    left_out: tuple[Passage, ...] = ()


class WebPath:
    """Selects pages, extracts, chunks, retrieves, reranks and builds contexts, each step for the whole batch.

    Args:
        settings: What each step does.
        dense: The encoder of dense retrieval, if the settings use one.
        cross: The cross-encoder, if the settings use one.
        tokens: Counts tokens as the answering model does.

    Example:
        path = WebPath(settings.web, dense, cross, model)
        path.warm_up()
        found = path.prepare(queries, clock)
        print(found[0].context)
        path.close()
    """

    def __init__(
        self,
        settings: WebSettings,
        dense: DenseEncoder | None,
        cross: CrossEncoder | None,
        tokens: TokenCounter,
    ) -> None:
        self._settings = settings
        self._dense = dense
        self._cross = cross
        self._tokens = tokens
        # Only needed for chunks of tokens; a custom encoder may lack it.
        self._token_offsets: TokenOffsets | None = getattr(dense, "token_offsets", None)
        self._pool = ExtractionPool(settings.extract)

    def warm_up(self) -> None:
        """Load encoders, start a worker; raises crag.weights.manifest.WeightsMissingError, UserError."""
        # The worker starts while the encoders are loading.
        self._pool.start()
        if self._dense is not None:
            self._dense.warm_up()
        self._tokens.count_tokens("")  # reads the tokenizer, while the model is loading
        if self._cross is not None:
            self._cross.warm_up()
        self._pool.warm_up()

    def close(self) -> None:
        """Stop the extraction workers; safe to call twice."""
        self._pool.close()

    def prepare(self, queries: Sequence[Query], clock: BatchClock) -> list[RetrievedPassages]:
        """What the pages hold for each question, in order; a question without readable pages gets no passages.

        When a stage's time ends, the batch continues with what it has: unread pages are dropped, unscored passages keep
        their retrieval order.

        Example:
            times = settings.deadline
            clock = BatchClock(len(queries) * times.seconds_per_query, times.reserve_seconds, times.shares())
            for query, retrieved in zip(queries, path.prepare(queries, clock), strict=True):
                print(query.text, retrieved.pages_read, retrieved.context, *retrieved.events)
        """
        settings = self._settings

        with clock.stage(Stage.SELECT_PAGES) as deadline:
            searches = select_pages(queries, settings.pages, self._cross, deadline)

        with clock.stage(Stage.EXTRACT) as deadline:
            extract_pages(searches, self._pool, deadline)

        with clock.stage(Stage.RETRIEVE) as deadline:
            chunk_pages(searches, settings, self._token_offsets, clock.whole)
            retrieve(searches, settings.retrieve, self._dense, deadline)

        with clock.stage(Stage.RERANK) as deadline:
            if settings.rerank is not None:
                rerank(searches, self._cross, settings.rerank, deadline)

        return [self._collect_passages(search) for search in searches]

    def shorten_context(self, retrieved: RetrievedPassages, reserved_tokens: int) -> RetrievedPassages:
        """The same passages with `reserved_tokens` of the context left free for facts of other sources."""
        settings = self._settings.context
        max_tokens = max(0, settings.max_tokens - reserved_tokens)
        context = build_context(retrieved.passages, settings, self._tokens, max_tokens=max_tokens)
        return replace(retrieved, context=context.text, passages=context.passages)

    def without_site(self, retrieved: RetrievedPassages, site: str) -> RetrievedPassages:
        """What the pages of all other sites hold; see `crag.web.sites.find_site`."""
        ranked = drop_site(retrieved.ranked, site)
        context = build_context(ranked, self._settings.context, self._tokens)
        return replace(
            retrieved,
            context=context.text,
            passages=context.passages,
            left_out=context.left_out,
            top_probability=best_probability(ranked),
            ranked=tuple(ranked),
        )

    def _collect_passages(self, search: PageSearch) -> RetrievedPassages:
        context = build_context(search.passages, self._settings.context, self._tokens)
        return RetrievedPassages(
            context=context.text,
            passages=context.passages,
            left_out=context.left_out,
            pages_read=len(search.pages),
            events=tuple(search.events),
            top_probability=best_probability(search.passages),
            ranked=tuple(search.passages),
        )
