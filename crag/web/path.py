"""Turns the search results of a batch into one context per question: passages in `<doc>` marks with their sources."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from crag.core.contracts import INVALID_QUESTION, Page, Passage, PassageKind, Query, Stage
from crag.core.deadline import BatchClock, Deadline
from crag.engines.encoders import CrossEncoder, DenseEncoder
from crag.engines.llm.base import TokenCounter
from crag.settings import WebSettings
from crag.web.chunk import Parent, TokenOffsets, split
from crag.web.context import build_context
from crag.web.extract.clean import plain
from crag.web.extract.worker import Extraction, ExtractionPool
from crag.web.ranking import question_share, round_robin
from crag.web.retrieve import Chunk, Search, rerank, retrieve, select_pages

HEADING_CHARACTERS = 400
"""Maximum characters of a page's name, and of its snippet, that are searched with its chunks, as in search engines."""


@dataclass(frozen=True, slots=True)
class WebEvidence:
    """The web's evidence for one question: the passages in the context, best first, with all scores; sentences about
    dropped pages and unfinished work; the logistic function of the best cross-encoder logit, if there is one; all
    ranked passages.
    """

    context: str
    passages: tuple[Passage, ...]
    pages_read: int
    events: tuple[str, ...]
    top_probability: float | None
    ranked: tuple[Passage, ...] = ()


class WebPath:
    """Selects pages, extracts, chunks, retrieves, reranks and builds contexts, each step for the whole batch."""

    def __init__(
        self, settings: WebSettings, dense: DenseEncoder | None, cross: CrossEncoder | None, tokens: TokenCounter
    ) -> None:
        self._settings = settings
        self._dense = dense
        self._cross = cross
        self._tokens = tokens
        self._token_offsets: TokenOffsets | None = getattr(dense, "token_offsets", None)
        self._pool = ExtractionPool(settings.extract)

    def warm_up(self) -> None:
        """Load encoders, start a worker; raises crag.weights.manifest.WeightsMissingError, UserError."""
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

    def prepare(self, queries: Sequence[Query], clock: BatchClock) -> list[WebEvidence]:
        """One evidence per question, in order, for any pages.

        When a stage's time ends, the batch continues with what it has: unread pages are dropped, unscored passages keep
        their retrieval order.
        """
        settings = self._settings
        with clock.stage(Stage.SELECT_PAGES) as deadline:
            searches = select_pages(queries, settings.pages, self._cross, deadline)
        with clock.stage(Stage.EXTRACT) as deadline:
            # Every question's best page comes first, so that a short time is shared fairly.
            pages = round_robin([search.read for search in searches])
            extraction = self._pool.extract([page.html for _, page in pages], deadline)
        with clock.stage(Stage.RETRIEVE) as deadline:
            self._chunk_pages(searches, extraction, clock.whole)
            retrieve(searches, settings.retrieve, self._dense, deadline)
        with clock.stage(Stage.RERANK) as deadline:
            if settings.rerank is not None:
                rerank(searches, self._cross, settings.rerank, deadline)
        return list(map(self._evidence, searches))

    def shorten_context(self, evidence: WebEvidence, reserved_tokens: int) -> WebEvidence:
        """The same evidence with `reserved_tokens` of the context left free for facts of other sources."""
        left = max(0, self._settings.context.max_tokens - reserved_tokens)
        context, used = build_context(evidence.passages, self._settings.context, self._tokens, max_tokens=left)
        return replace(evidence, context=context, passages=used)

    def separate_contexts(self, evidence: WebEvidence, pages: int, max_tokens: int) -> list[str]:
        """A context for each of the best pages, from its passages only."""
        by_page: dict[str, list[Passage]] = {}
        for passage in evidence.ranked:
            by_page.setdefault(passage.url, []).append(passage)

        contexts = []
        for passages in list(by_page.values())[:pages]:
            context, _ = build_context(passages, self._settings.context, self._tokens, max_tokens=max_tokens)
            if context:
                contexts.append(context)
        return contexts

    def _chunk_pages(self, searches: Sequence[Search], extraction: Extraction, whole: Deadline) -> None:
        """Cut the extracted pages into the chunks of each search; after the batch's deadline the rest is left out."""
        texts, dropped = extraction
        parents_of = cache(lambda text: split(text, self._settings.chunk, self._token_offsets))
        for search in searches:
            for page in search.read:
                if page.html in dropped:
                    search.events.append(f"page {page.url} was dropped: {dropped[page.html]}")
            search.read = [page for page in search.read if page.html in texts]

            sources = [(texts[page.html], page, PassageKind.PAGE) for page in search.read]
            if self._settings.snippets:
                sources += [(plain(page.snippet), page, PassageKind.SNIPPET) for page in search.snippets]
            for text, page, kind in sources:
                if whole.expired:
                    break
                self._add_chunks(search, text, page, kind, parents_of(text))

    def _add_chunks(self, search: Search, text: str, page: Page, kind: PassageKind, parents: Sequence[Parent]) -> None:
        """Add the chunks of one page or snippet, without passages that repeat the question or judge it."""
        page_name = plain(page.name)
        heading = self._heading(page, kind)
        for (start, end), children in parents:
            passage_text = text[start:end]
            if self._is_suspicious(search.query, f"{page_name} {passage_text}"):
                search.events.append(f"a passage of {page.url} repeats the question or judges it and was dropped")
                continue
            passage = Passage(passage_text, page.url, page_name, page.rank, kind, start, end, {}, heading)
            search.chunks += [Chunk(passage, text[child_start:child_end]) for child_start, child_end in children]

    def _is_suspicious(self, query: Query, text: str) -> bool:
        """Whether a passage repeats the question or calls it invalid, as poisoned pages do."""
        largest_share = self._settings.largest_question_share
        if not largest_share:
            return False
        return question_share(query.text, text) >= largest_share or INVALID_QUESTION in text.lower()

    def _heading(self, page: Page, kind: PassageKind) -> str:
        """The page's text that is searched with each of its chunks; a snippet does not precede itself."""
        snippet = "" if kind is PassageKind.SNIPPET else page.snippet
        fields = {"page_name": page.name, "snippet": snippet}
        parts = [plain(fields[name][:HEADING_CHARACTERS]) for name in self._settings.chunk.searched_with]
        return "\n".join(part for part in parts if part)

    def _evidence(self, search: Search) -> WebEvidence:
        context, used = build_context(search.passages, self._settings.context, self._tokens)
        return WebEvidence(
            context=context,
            passages=used,
            pages_read=len(search.read),
            events=tuple(search.events),
            top_probability=search.top_probability,
            ranked=tuple(search.passages),
        )
