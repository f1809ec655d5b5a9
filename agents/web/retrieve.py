"""Retrieves candidate passages from chunks and reranks them, for the whole batch: the stages of the settings in order.

Stages rank the small chunks (children). The result is their parents without duplicates, ordered by their best child.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from agents.common.contracts import Passage, PassageKind
from agents.common.deadline import Deadline
from agents.encoders import CrossEncoder, DenseEncoder
from agents.settings import Bm25Stage, DenseStage, RerankSettings, RetrieveStage, UnionStage
from agents.web.ranking import (
    Scores,
    best,
    bm25_of_texts,
    cosines,
    cross_encoder_logits,
    distinct,
    reciprocal_rank_fusion,
)

SCORE_NAME = "cross_encoder"


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
    bm25: Scores | None = None
    """BM25 of the children. The first stage computes it, because the statistics of the larger set are better."""

    def ranked_by_bm25(self, implementation: str = "query_terms") -> list[int]:
        if self.bm25 is None:
            self.bm25 = bm25_of_texts(self.query, [child.text for child in self.children], implementation)
            for child, score in zip(self.children, self.bm25, strict=True):
                child.scores["bm25"] = float(score)
        return best(self.bm25)

    def keep(self, places: Sequence[int]) -> None:
        """Keep the children at these positions, in this order."""
        self.children = [self.children[place] for place in places]
        if self.bm25 is not None:
            self.bm25 = self.bm25[list(places)]


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
        if isinstance(stage, Bm25Stage):
            for search in searches:
                search.keep(_bm25_places(search, stage))
        else:
            by_cosine = _dense_rankings(searches, dense, deadline)
            for owner, search in enumerate(searches):
                search.keep(_combined_places(stage, search, by_cosine[owner]))
    return [Ranked(_parents(search.children), search.events) for search in searches]


def headed(passage: Passage, text: str) -> str:
    """The text below the passage's heading, as stages see it; see `agents.settings.Chunks.searched_with`."""
    return f"{passage.heading}\n{text}" if passage.heading else text


def _dense_rankings(
    searches: Sequence[_Search], dense: DenseEncoder | None, deadline: Deadline
) -> Mapping[int, list[int]]:
    """Positions of the children by cosine, best first, without those that have no cosine."""
    texts = {owner: [child.text for child in search.children] for owner, search in enumerate(searches)}
    rankings = {}
    for owner, similarity in cosines(dense, [search.query for search in searches], texts, deadline).items():
        known = np.flatnonzero(~np.isnan(similarity))
        search = searches[owner]
        if len(known) < len(similarity):
            done = f"{len(known)} of {len(similarity)} chunks were encoded"
            search.events.append(f"dense retrieval stopped at the clock: {done}")
        for place in known:
            search.children[place].scores["dense"] = float(similarity[place])
        rankings[owner] = [int(known[place]) for place in best(similarity[known])]
    return rankings


def _bm25_places(search: _Search, stage: Bm25Stage) -> list[int]:
    ranked = search.ranked_by_bm25(stage.implementation)
    if not stage.per_kind:
        return ranked[: stage.top_k]
    kept: list[int] = []
    for kind in PassageKind:
        kept += [place for place in ranked if search.children[place].passage.kind is kind][: stage.top_k]
    return sorted(kept, key=ranked.index)


def _combined_places(stage: DenseStage | UnionStage, search: _Search, by_cosine: list[int]) -> list[int]:
    if stage.method == "dense":
        known = set(by_cosine)
        missing = [place for place in range(len(search.children)) if place not in known]
        return [*by_cosine, *missing][: stage.top_k]
    by_bm25 = search.ranked_by_bm25()
    if isinstance(stage, UnionStage):
        return list(dict.fromkeys([*by_cosine[: stage.dense_k], *by_bm25[: stage.sparse_k]]))
    fused = reciprocal_rank_fusion([by_bm25, by_cosine])
    for place, score in fused.items():
        search.children[place].scores["fusion"] = score
    return sorted(fused, key=lambda place: (-fused[place], place))[: stage.top_k]


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
