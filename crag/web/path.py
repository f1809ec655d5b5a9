"""Turns the search results of a batch into one context per question: passages in `<doc>` marks with their sources."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from urllib.parse import urlsplit

from crag.core.contracts import INVALID_QUESTION, Page, Passage, PassageKind, Query, Stage
from crag.core.deadline import BatchClock, Deadline
from crag.engines.encoders import CrossEncoder, DenseEncoder
from crag.engines.llm.base import TokenCounter
from crag.settings import ContextSettings, WebSettings
from crag.web.chunk import TokenOffsets, split
from crag.web.extract.clean import plain, plain_url
from crag.web.extract.worker import Extraction, ExtractionPool
from crag.web.ranking import in_turns, question_share
from crag.web.retrieve import Chunk, Search, reading_key, rerank, retrieve, select_pages

HEADING_CHARACTERS = 400
"""Maximum characters of a page's name, and of its snippet, that are searched with its chunks, as in search engines."""
SMALLEST_PART_TOKENS = 40
"""Cut a passage that does not fit if at least this many tokens remain; otherwise leave it out."""

_TITLE_CHARACTERS = 120


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
            pages = in_turns([search.read for search in searches])
            extraction = self._pool.extract([page.html for _, page in pages], deadline)
        with clock.stage(Stage.RETRIEVE) as deadline:
            self._cut(searches, extraction, clock.whole)
            retrieve(searches, settings.retrieve, self._dense, deadline)
        with clock.stage(Stage.RERANK) as deadline:
            if settings.rerank is not None:
                rerank(searches, self._cross, settings.rerank, deadline)
        return list(map(self._evidence, searches))

    def trimmed(self, evidence: WebEvidence, reserved_tokens: int) -> WebEvidence:
        """The same evidence with `reserved_tokens` of the context left free for facts of other sources."""
        left = max(0, self._settings.context.max_tokens - reserved_tokens)
        context, used = build_context(evidence.passages, self._settings.context, self._tokens, max_tokens=left)
        return replace(evidence, context=context, passages=used)

    def alone(self, evidence: WebEvidence, pages: int, max_tokens: int) -> list[str]:
        """A context for each of the best pages, from its own passages."""
        by_page: dict[str, list[Passage]] = {}
        for passage in evidence.ranked:
            by_page.setdefault(passage.url, []).append(passage)
        context = self._settings.context
        built = (build_context(own, context, self._tokens, max_tokens=max_tokens)[0] for own in by_page.values())
        return [text for text in islice(built, pages) if text]

    def _cut(self, searches: Sequence[Search], extraction: Extraction, whole: Deadline) -> None:
        """Cut what was read into chunks; after the batch's deadline the rest is left out."""
        parents_of = cache(lambda text: split(text, self._settings.chunk, self._token_offsets))

        def chunks(search: Search, text: str, page: Page, kind: PassageKind) -> Iterator[Chunk]:
            name, heading = plain(page.name), self._heading(page, kind)
            for (start, end), children in parents_of(text):
                part = f"{name} {text[start:end]}"
                if most and (question_share(search.query.text, part) >= most or INVALID_QUESTION in part.lower()):
                    search.events.append(f"a passage of {page.url} repeats the question or judges it and was dropped")
                    continue
                passage = Passage(text[start:end], page.url, name, page.rank, kind, start, end, {}, heading)
                for first, last in children:
                    yield Chunk(passage, text[first:last])

        texts, dropped = extraction
        most = self._settings.largest_question_share
        for search in searches:
            lost = [page for page in search.read if page.html in dropped]
            search.events += [f"page {page.url} was dropped: {dropped[page.html]}" for page in lost]
            search.read = [page for page in search.read if page.html in texts]
            found = [(texts[page.html], page, PassageKind.PAGE) for page in search.read]
            if self._settings.snippets:
                found += [(plain(page.snippet), page, PassageKind.SNIPPET) for page in search.snippets]
            search.chunks = [chunk for each in found if not whole.expired for chunk in chunks(search, *each)]

    def _heading(self, page: Page, kind: PassageKind) -> str:
        """The page's text that is searched with each of its chunks; a snippet does not precede itself."""
        words = {"page_name": page.name, "snippet": "" if kind is PassageKind.SNIPPET else page.snippet}
        parts = [plain(words[name][:HEADING_CHARACTERS]) for name in self._settings.chunk.searched_with]
        return "\n".join(part for part in parts if part)

    def _evidence(self, search: Search) -> WebEvidence:
        context, used = build_context(search.passages, self._settings.context, self._tokens)
        events, ranked = tuple(search.events), tuple(search.passages)
        return WebEvidence(context, used, len(search.read), events, search.top_probability, ranked)


# --- the context ------------------------------------------------------------------------------------------------------


def build_context(
    passages: Sequence[Passage], settings: ContextSettings, tokens: TokenCounter, *, max_tokens: int | None = None
) -> tuple[str, tuple[Passage, ...]]:
    """The context, and the passages in it, the last one possibly cut: the first ones up to the limit, no text twice.

    `max_tokens` replaces the settings' limit.
    """
    most = settings.max_tokens if max_tokens is None else max_tokens
    used: list[Passage] = []
    keys: list[str] = []
    for passage in passages:
        key = f" {reading_key(passage.text)} "
        if not key.strip() or any(key in other for other in keys):
            continue
        marks = _marked([*used, replace(passage, text="-")], settings)
        shown = _cut(passage, most - tokens.count_tokens(marks), tokens)
        if shown is None:
            break
        used.append(shown)
        keys.append(key)
    return tokens.truncate(_marked(used, settings).rstrip("\n"), most), tuple(used)


def _cut(passage: Passage, room: int, tokens: TokenCounter) -> Passage | None:
    """The passage, or its prefix of `room` tokens; None if too little remains."""
    if tokens.count_tokens(passage.text) <= room:
        return passage
    if room < SMALLEST_PART_TOKENS:
        return None
    text = tokens.truncate(passage.text, room)
    return replace(passage, text=text, end=passage.start + len(text))


def _marked(passages: Sequence[Passage], settings: ContextSettings) -> str:
    """The passages in `<doc>` marks."""
    if settings.order == "best_first":
        return "".join(_block([passage]) for passage in passages)
    pages: dict[str, list[Passage]] = {}
    for passage in passages:
        pages.setdefault(passage.url, []).append(passage)
    return "".join(_block(own[::-1]) for own in reversed(pages.values()))


def _block(passages: Sequence[Passage]) -> str:
    title = plain(passages[0].page_name)[:_TITLE_CHARACTERS].replace('"', "'")
    attributes = f'source="{plain_url(_host(passages[0].url))}"' + (f' title="{title}"' if title else "")
    texts = "\n".join(passage.text for passage in passages)
    return f"<doc {attributes}>\n{texts}\n</doc>\n"


def _host(url: str) -> str:
    """The host of a URL without ``www.``; the URL itself if it has none."""
    try:
        host = urlsplit(url).netloc
    except ValueError:
        host = ""
    return host.removeprefix("www.") or url
