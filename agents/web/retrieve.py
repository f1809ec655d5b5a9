"""Retrieves candidate passages from chunks and reranks them, for the whole batch: the stages of the settings in order.

Stages rank the small chunks (children). The result is their parents without duplicates, ordered by their best child.
"""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agents.common.contracts import Passage, PassageKind
from agents.common.deadline import Deadline
from agents.encoders import CrossEncoder, DenseEncoder
from agents.settings import Bm25Stage, RerankSettings, RetrieveStage, UnionStage
from agents.web.ranking import bm25_of_texts, cosines, cross_encoder_logits, distinct

SCORE_NAME = "cross_encoder"
FUSION_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that may be found, and the texts inside it that are searched, without its heading."""

    passage: Passage
    children: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """One question's passages, best first, and sentences about unfinished work."""

    passages: list[Passage]
    events: list[str]


@dataclass(slots=True)
class _Child:
    """A searched chunk with its passage's heading."""

    passage: Passage
    text: str
    scores: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Search:
    """One question's search: its remaining children, best first after the first ranking."""

    query: str
    children: list[_Child]
    events: list[str] = field(default_factory=list)

    def by_bm25(self, implementation: str = "query_terms") -> list[_Child]:
        """The first stage computes BM25, because the statistics of the larger set are better."""
        if any("bm25" not in child.scores for child in self.children):
            scores = bm25_of_texts(self.query, [child.text for child in self.children], implementation)
            for child, score in zip(self.children, scores, strict=True):
                child.scores["bm25"] = float(score)
        return sorted(self.children, key=lambda child: -child.scores["bm25"])

    def by_cosine(self) -> list[_Child]:
        """Only those that have a cosine."""
        return sorted((child for child in self.children if "dense" in child.scores), key=lambda c: -c.scores["dense"])


def retrieve(
    queries: Sequence[str],
    sources: Sequence[Sequence[Source]],
    stages: Sequence[RetrieveStage],
    dense: DenseEncoder | None,
    deadline: Deadline,
) -> list[Ranked]:
    """Candidates per question. Dense ranks that ran out of time count as not found."""
    searches = [
        _Search(query, [_Child(each.passage, headed(each.passage, text)) for each in own for text in each.children])
        for query, own in zip(queries, sources, strict=True)
    ]
    for stage in stages:
        if not isinstance(stage, Bm25Stage):
            _add_cosines(searches, dense, deadline)
        for search in searches:
            search.children = _kept(stage, search)
    return [Ranked(_parents(search.children), search.events) for search in searches]


def headed(passage: Passage, text: str) -> str:
    """The text below the passage's heading, as stages see it; see `agents.settings.Chunks.searched_with`."""
    return f"{passage.heading}\n{text}" if passage.heading else text


def _add_cosines(searches: Sequence[_Search], dense: DenseEncoder | None, deadline: Deadline) -> None:
    texts = {owner: [child.text for child in search.children] for owner, search in enumerate(searches)}
    for owner, similarities in cosines(dense, [search.query for search in searches], texts, deadline).items():
        search = searches[owner]
        encoded = 0
        for child, cosine in zip(search.children, similarities, strict=True):
            if not math.isnan(cosine):
                child.scores["dense"] = float(cosine)
                encoded += 1
        if encoded < len(similarities):
            done = f"{encoded} of {len(similarities)} chunks were encoded"
            search.events.append(f"dense retrieval stopped at the clock: {done}")


def _kept(stage: RetrieveStage, search: _Search) -> list[_Child]:
    """The children that a stage keeps, best first."""
    if isinstance(stage, Bm25Stage):
        ranked = search.by_bm25(stage.implementation)
        if not stage.per_kind:
            return ranked[: stage.top_k]
        place = {kind: itertools.count() for kind in PassageKind}
        return [child for child in ranked if next(place[child.passage.kind]) < stage.top_k]
    if isinstance(stage, UnionStage):
        both = [*search.by_cosine()[: stage.dense_k], *search.by_bm25()[: stage.sparse_k]]
        return list({id(child): child for child in both}.values())
    if stage.method == "dense":
        missing = [child for child in search.children if "dense" not in child.scores]
        return [*search.by_cosine(), *missing][: stage.top_k]
    rankings = search.by_bm25(), search.by_cosine()
    for child in search.children:
        child.scores["fusion"] = 0.0
    for rank, child in itertools.chain(*(enumerate(ranking, start=1) for ranking in rankings)):
        child.scores["fusion"] += 1.0 / (FUSION_CONSTANT + rank)
    return sorted(search.children, key=lambda child: -child.scores["fusion"])[: stage.top_k]


def _parents(children: Sequence[_Child]) -> list[Passage]:
    """The parents of the children, each text once, with the scores of their best child."""
    best_children = distinct(children, lambda child: reading_key(child.passage.text))
    return [replace(child.passage, scores=child.scores) for child in best_children]


def reading_key(text: str) -> str:
    """A key that ignores case, punctuation and blanks."""
    return re.sub(r"\W+", " ", text.lower()).strip()


# --- the cross-encoder ------------------------------------------------------------------------------------------------


def probability(logit: float) -> float:
    """The logistic function: turns a cross-encoder's raw logit into a probability of relevance."""
    return 1.0 / (1.0 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1.0 + math.exp(logit))


def rerank(
    encoder: CrossEncoder | None,
    queries: Sequence[str],
    candidates: Sequence[Sequence[Passage]],
    settings: RerankSettings,
    deadline: Deadline,
) -> list[Ranked]:
    """The `top_k` passages of each question, best first; those that ran out of time follow in their retrieval order."""
    chosen = [own[: settings.max_pairs] for own in candidates]
    texts = {owner: [headed(passage, passage.text) for passage in own] for owner, own in enumerate(chosen)}
    logits = cross_encoder_logits(encoder, queries, texts, deadline)
    return [_by_logit(own, logits[owner], settings.top_k) for owner, own in enumerate(chosen)]


def _by_logit(passages: Sequence[Passage], logits: Sequence[float | None], top_k: int) -> Ranked:
    scored, unscored, events = [], [], []
    for passage, logit in zip(passages, logits, strict=True):
        if logit is None or math.isnan(logit):
            unscored.append(passage)
        else:
            scored.append(replace(passage, scores={**passage.scores, SCORE_NAME: logit}))
    scored.sort(key=lambda passage: -passage.scores[SCORE_NAME])
    reached = sum(logit is not None for logit in logits)
    if reached < len(passages):
        events.append(f"reranking stopped at the clock: {reached} of {len(passages)} passages were scored")
    if lost := reached - len(scored):  # a float16 overflow, for example
        events.append(f"the cross-encoder gave no number for {lost} of {reached} passages")
    return Ranked([*scored, *unscored][:top_k], events)
