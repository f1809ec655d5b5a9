"""Chooses the pages to read, retrieves candidate passages from their chunks and reranks them, for the whole batch.

The stages of the settings rank the small chunks (children). The result is their parents without duplicates, ordered by
their best child.
"""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

import numpy as np

from crag.core.contracts import Page, Passage, PassageKind, Query
from crag.core.deadline import Deadline
from crag.engines.encoders import CrossEncoder, DenseEncoder
from crag.settings import Bm25Stage, PageSelectionSettings, RerankSettings, RetrieveStage, UnionStage
from crag.text.dates import find_dates
from crag.web.extract.clean import plain
from crag.web.ranking import Scores, bm25_scores, cosines, cross_encoder_logits, distinct

SNIPPET_CHARACTERS = 2000
"""Maximum characters of a snippet that are compared with the question."""
SCORE_NAME = "cross_encoder"
_DAY_IN_ADDRESS = re.compile(r"/(20\d\d)[/-](\d\d?)[/-](\d\d?)(?!\d)")
FUSION_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


@dataclass(slots=True)
class Chunk:
    """A text that is searched below its passage's heading, and the passage around it."""

    passage: Passage
    text: str
    scores: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Search:
    """One question on its way: pages to read, pages whose snippets can be passages, chunks, and candidate passages.

    All are best first once they are ranked. `events` are sentences about unfinished work.
    """

    query: Query
    read: list[Page] = field(default_factory=list)
    snippets: list[Page] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    events: list[str] = field(default_factory=list)

    @property
    def top_probability(self) -> float | None:
        """The logistic function of the best cross-encoder logit, if there is one."""
        logits = [passage.scores[SCORE_NAME] for passage in self.passages if SCORE_NAME in passage.scores]
        return probability(max(logits)) if logits else None


def select_pages(
    queries: Sequence[Query], settings: PageSelectionSettings, cross: CrossEncoder | None, deadline: Deadline
) -> list[Search]:
    """One search per question, no page twice, none empty; more than `keep` are ranked by snippet (db3 3.1)."""
    searches = []
    for query in queries:
        earliest = _earliest(query, settings.max_days_before)
        pages = sorted((page for page in query.pages if _published(page) >= earliest), key=lambda page: page.rank)
        searches.append(Search(query, distinct(pages, lambda page: page.html), distinct(pages, lambda p: p.snippet)))
        if len(pages) < len(query.pages):
            searches[-1].events.append(f"pages from before {earliest} were not read: the question is about later days")
    many = [search for search in searches if len(search.read) > settings.keep]
    for search, scores in zip(many, _page_scores(many, settings, cross, deadline), strict=True):
        order = np.argsort(-scores, kind="stable")  # pages that are equally good keep their order
        search.read = [search.read[place] for place in order[: settings.keep]]
        if np.isneginf(scores).any():
            search.events.append("page selection ran out of time: some pages were taken in search order")
    return searches


def _earliest(query: Query, days: int | None) -> date:
    """How old a page may be; any age if the question is not about the days before it was asked."""
    if days is None or query.asked_at is None:
        return date.min
    month = query.asked_at.date() - timedelta(days=31)
    named = (found.range.first for found in find_dates(query.text, query.asked_at) if found.range and not found.newest)
    recent = min((first for first in named if month <= first <= query.asked_at.date()), default=None)
    return date.min if recent is None else recent - timedelta(days=days)


def _published(page: Page) -> date:
    """The day in the page's address, as news sites write it; `date.max` if there is none."""
    try:
        return date(*map(int, match.groups())) if (match := _DAY_IN_ADDRESS.search(page.url)) else date.max
    except ValueError:
        return date.max


def _page_scores(
    searches: Sequence[Search], settings: PageSelectionSettings, cross: CrossEncoder | None, deadline: Deadline
) -> list[Scores]:
    """Higher is better; minus infinity for pages that ran out of time."""
    if settings.method == "search_order":
        return [np.zeros(len(search.read)) for search in searches]
    queries = [search.query.text for search in searches]
    texts = [[_text_of_unread(page, settings) for page in search.read] for search in searches]
    if settings.method == "bm25":
        return list(map(bm25_scores, queries, texts))
    logits = cross_encoder_logits(cross, queries, texts, deadline)
    return [np.array([-np.inf if logit is None else logit for logit in own]) for own in logits]


def _text_of_unread(page: Page, settings: PageSelectionSettings) -> str:
    snippet = plain(page.snippet[:SNIPPET_CHARACTERS])
    if snippet and not settings.with_page_name:
        return snippet
    return f"{plain(page.name)}. {snippet}".strip(". ")


# --- passages ---------------------------------------------------------------------------------------------------------


def retrieve(
    searches: Sequence[Search], stages: Sequence[RetrieveStage], dense: DenseEncoder | None, deadline: Deadline
) -> None:
    """Find candidate passages, each text once. Dense ranks that ran out of time count as not found."""
    for stage in stages:
        if not isinstance(stage, Bm25Stage):
            _add_cosines(searches, dense, deadline)
        for search in searches:
            search.chunks = _kept(stage, search)
    for search in searches:
        best = distinct(search.chunks, lambda chunk: reading_key(chunk.passage.text))
        search.passages = [replace(chunk.passage, scores=chunk.scores) for chunk in best]


def headed(passage: Passage, text: str) -> str:
    """The text below the passage's heading, as stages see it; see `crag.settings.Chunks.searched_with`."""
    return f"{passage.heading}\n{text}" if passage.heading else text


def reading_key(text: str) -> str:
    """A key that ignores case, punctuation and blanks."""
    return re.sub(r"\W+", " ", text.lower()).strip()


def _add_cosines(searches: Sequence[Search], dense: DenseEncoder | None, deadline: Deadline) -> None:
    texts = [[headed(chunk.passage, chunk.text) for chunk in search.chunks] for search in searches]
    similarities = cosines(dense, [search.query.text for search in searches], texts, deadline)
    for search, own in zip(searches, similarities, strict=True):
        for chunk, cosine in zip(search.chunks, own, strict=True):
            if not math.isnan(cosine):
                chunk.scores["dense"] = float(cosine)
        if missing := int(np.isnan(own).sum()):
            done = f"{len(own) - missing} of {len(own)} chunks were encoded"
            search.events.append(f"dense retrieval stopped at the clock: {done}")


def _by_bm25(search: Search, implementation: str = "query_terms") -> list[Chunk]:
    """The first stage computes BM25, because the statistics of the larger set are better."""
    if any("bm25" not in chunk.scores for chunk in search.chunks):
        texts = [headed(chunk.passage, chunk.text) for chunk in search.chunks]
        scores = bm25_scores(search.query.text, texts, implementation)
        for chunk, score in zip(search.chunks, scores, strict=True):
            chunk.scores["bm25"] = float(score)
    return sorted(search.chunks, key=lambda chunk: -chunk.scores["bm25"])


def _kept(stage: RetrieveStage, search: Search) -> list[Chunk]:
    """The chunks that a stage keeps, best first."""
    if isinstance(stage, Bm25Stage):
        ranked = _by_bm25(search, stage.implementation)
        if not stage.per_kind:
            return ranked[: stage.top_k]
        place = {kind: itertools.count() for kind in PassageKind}
        return [chunk for chunk in ranked if next(place[chunk.passage.kind]) < stage.top_k]
    encoded = [chunk for chunk in search.chunks if "dense" in chunk.scores]
    encoded.sort(key=lambda chunk: -chunk.scores["dense"])
    if isinstance(stage, UnionStage):
        both = [*encoded[: stage.dense_k], *_by_bm25(search)[: stage.sparse_k]]
        return list({id(chunk): chunk for chunk in both}.values())
    if stage.method == "dense":
        missing = [chunk for chunk in search.chunks if "dense" not in chunk.scores]
        return [*encoded, *missing][: stage.top_k]
    by_bm25 = _by_bm25(search)
    for chunk in search.chunks:
        chunk.scores["fusion"] = 0.0
    for rank, chunk in itertools.chain(enumerate(by_bm25, start=1), enumerate(encoded, start=1)):
        chunk.scores["fusion"] += 1.0 / (FUSION_CONSTANT + rank)
    return sorted(search.chunks, key=lambda chunk: -chunk.scores["fusion"])[: stage.top_k]


# --- the cross-encoder ------------------------------------------------------------------------------------------------


def probability(logit: float) -> float:
    """The logistic function: turns a cross-encoder's raw logit into a probability of relevance."""
    return 1.0 / (1.0 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1.0 + math.exp(logit))


def rerank(
    searches: Sequence[Search], encoder: CrossEncoder | None, settings: RerankSettings, deadline: Deadline
) -> None:
    """Keep the `top_k` passages of each question; those that ran out of time follow in their retrieval order."""
    chosen = [search.passages[: settings.max_pairs] for search in searches]
    texts = [[headed(passage, passage.text) for passage in own] for own in chosen]
    logits = cross_encoder_logits(encoder, [search.query.text for search in searches], texts, deadline)
    for search, passages, own in zip(searches, chosen, logits, strict=True):
        scored, unscored = [], []
        for passage, logit in zip(passages, own, strict=True):
            if logit is None or math.isnan(logit):
                unscored.append(passage)
            else:
                scored.append(replace(passage, scores={**passage.scores, SCORE_NAME: logit}))
        scored.sort(key=lambda passage: -passage.scores[SCORE_NAME])
        search.passages = [*scored, *unscored][: settings.top_k]
        reached = sum(logit is not None for logit in own)
        if reached < len(passages):
            search.events.append(f"reranking stopped at the clock: {reached} of {len(passages)} passages were scored")
        if lost := reached - len(scored):  # a float16 overflow, for example
            search.events.append(f"the cross-encoder gave no number for {lost} of {reached} passages")
