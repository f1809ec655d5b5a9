"""The web path: turns the search results of a batch into one context per question."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat

from agents.common.contracts import Page, Passage, PassageKind, Query, Stage
from agents.common.deadline import BatchClock, Deadline
from agents.encoders import CrossEncoder, DenseEncoder
from agents.settings import WebSettings
from agents.web.chunk import Parent, TokenOffsets, split
from agents.web.context import TokenCounter, build_context
from agents.web.extract import Extraction, ExtractionPool
from agents.web.extract.clean import plain
from agents.web.pages import Selection, select_pages
from agents.web.ranking import in_turns
from agents.web.retrieve import SCORE_NAME, Ranked, Source, probability, rerank, retrieve

HEADING_CHARACTERS = 400
"""Maximum characters of a page's name, and of its snippet, that are searched with its chunks, as in search engines."""


@dataclass(frozen=True, slots=True)
class WebEvidence:
    """The web's evidence for one question: the passages in the context, best first, with all scores; sentences about
    dropped pages and unfinished work; the logistic function of the best cross-encoder logit, if there is one.
    """

    context: str
    passages: tuple[Passage, ...]
    pages_read: int
    events: tuple[str, ...]
    top_probability: float | None


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
        """Load encoders, start workers; raises models.manifest.WeightsMissingError, ExtractionUnavailableError."""
        for encoder in (self._dense, self._cross):
            if encoder is not None:
                encoder.warm_up()
        self._pool.warm_up()

    def close(self) -> None:
        """Stop the extraction workers; safe to call twice."""
        self._pool.close()

    def prepare(self, queries: Sequence[Query], clock: BatchClock) -> list[WebEvidence]:
        """One evidence per question, in order, for any pages.

        When a stage's time ends, the batch continues with what it has: unread pages are dropped, unscored passages keep
        their retrieval order.
        """
        settings, texts = self._settings, [query.text for query in queries]
        with clock.stage(Stage.SELECT_PAGES) as deadline:
            selections = select_pages(queries, settings.pages, self._cross, deadline)
        with clock.stage(Stage.EXTRACT) as deadline:
            extraction = self._extract(selections, deadline)
        with clock.stage(Stage.RETRIEVE) as deadline:
            sources = self._sources(selections, extraction, clock.whole)
            retrieved = retrieve(texts, sources, settings.retrieve, self._dense, deadline)
        with clock.stage(Stage.RERANK) as deadline:
            candidates = [own.passages for own in retrieved]
            ranked = [Ranked(own, []) for own in candidates]
            if settings.rerank is not None:
                ranked = rerank(self._cross, texts, candidates, settings.rerank, deadline)
        return list(map(self._evidence, selections, repeat(extraction), retrieved, ranked))

    def trimmed(self, evidence: WebEvidence, reserved_tokens: int) -> WebEvidence:
        """The same evidence with `reserved_tokens` of the context left free for facts of other sources."""
        left = max(0, self._settings.context.max_tokens - reserved_tokens)
        context = build_context(evidence.passages, self._settings.context, self._tokens, max_tokens=left)
        return replace(evidence, context=context.text, passages=context.passages)

    def _extract(self, selections: Sequence[Selection], deadline: Deadline) -> Extraction:
        """Read every question's best page first, so that a short time is shared fairly."""
        pages = in_turns({owner: selection.read for owner, selection in enumerate(selections)})
        return self._pool.extract([page.html for _, page in pages], deadline)

    def _sources(self, selections: Sequence[Selection], extraction: Extraction, whole: Deadline) -> list[list[Source]]:
        """The passages to search; after the batch's deadline the rest is left out."""
        chunked: dict[str, list[Parent]] = {}

        def sources(text: str, page: Page, kind: PassageKind) -> list[Source]:
            if whole.expired:
                return []
            if text not in chunked:
                chunked[text] = split(text, self._settings.chunk, self._token_offsets)
            name, heading = plain(page.name), self._heading(page, kind)
            return [
                Source(
                    Passage(text[start:end], page.url, name, page.rank, kind, start, end, {}, heading),
                    tuple(text[first:last] for first, last in children),
                )
                for (start, end), children in chunked[text]
            ]

        found = []
        for selection in selections:
            read = [page for page in selection.read if page.html in extraction.texts]
            own = [sources(extraction.texts[page.html], page, PassageKind.PAGE) for page in read]
            if self._settings.snippets:
                own += [sources(plain(page.snippet), page, PassageKind.SNIPPET) for page in selection.snippets]
            found.append(list(chain.from_iterable(own)))
        return found

    def _heading(self, page: Page, kind: PassageKind) -> str:
        """The page's text that is searched with each of its chunks; a snippet does not precede itself."""
        words = {"page_name": page.name, "snippet": "" if kind is PassageKind.SNIPPET else page.snippet}
        parts = [plain(words[name][:HEADING_CHARACTERS]) for name in self._settings.chunk.searched_with]
        return "\n".join(part for part in parts if part)

    def _evidence(self, selection: Selection, extraction: Extraction, retrieved: Ranked, ranked: Ranked) -> WebEvidence:
        dropped = [page for page in selection.read if page.html in extraction.dropped]
        lost = [f"page {page.url} was dropped: {extraction.dropped[page.html]}" for page in dropped]
        events = (*selection.events, *lost, *retrieved.events, *ranked.events)
        logits = [passage.scores[SCORE_NAME] for passage in ranked.passages if SCORE_NAME in passage.scores]
        context = build_context(ranked.passages, self._settings.context, self._tokens)
        top = probability(max(logits)) if logits else None
        return WebEvidence(context.text, context.passages, len(selection.read) - len(dropped), events, top)
