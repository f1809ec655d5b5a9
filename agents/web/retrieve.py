"""Retrieves candidate passages from chunks: the stages of the settings in order, for the whole batch.

Stages rank the small chunks (children). The result is their parents without duplicates, ordered by their best child.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.common.contracts import Passage, PassageKind
from agents.common.deadline import Deadline
from agents.encoders import DenseEncoder
from agents.settings import Bm25Stage, DenseStage, FusionStage, RetrieveStage, UnionStage
from agents.web.chunk import Parent
from agents.web.ranking import Scores, best, bm25_of_texts, cosines, reciprocal_rank_fusion, with_heading


@dataclass(frozen=True, slots=True)
class Source:
    """A text cut into chunks, and its origin. `heading` is searched with each chunk."""

    text: str
    chunks: Sequence[Parent]
    url: str
    page_name: str
    page_rank: int
    kind: PassageKind
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One question's candidates, best first; `encoded` of the `chunks` for dense stages were done in time."""

    passages: list[Passage]
    chunks: int = 0
    encoded: int = 0


@dataclass(slots=True)
class _Child:
    """A searched chunk; `text` is its source's heading and the chunk."""

    source: Source
    parent: Parent
    text: str
    scores: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Search:
    """One question's search: its remaining children, best first after the first ranking."""

    query: str
    children: list[_Child]
    bm25: Scores | None = None
    """BM25 of the children, in order. The first stage computes it and later stages reuse it, because the statistics of
    the larger set are better.
    """
    chunks: int = 0
    encoded: int = 0

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
) -> list[Retrieved]:
    """Candidates per question. Dense ranks that ran out of time count as not found."""
    searches = [
        _Search(query, [child for source in own for child in _children(source)])
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
    return [Retrieved(_parents(search.children), search.chunks, search.encoded) for search in searches]


def _children(source: Source) -> list[_Child]:
    return [
        _Child(source, parent, with_heading(source.heading, source.text[child.start : child.end]))
        for parent in source.chunks
        for child in parent.children
    ]


def _dense_rankings(
    searches: Sequence[_Search], dense: DenseEncoder | None, deadline: Deadline
) -> Mapping[int, list[int]]:
    """Positions of the children by cosine, best first, without those that have no cosine."""
    texts = {owner: [child.text for child in search.children] for owner, search in enumerate(searches)}
    rankings = {}
    for owner, similarity in cosines(dense, [search.query for search in searches], texts, deadline).items():
        known = np.flatnonzero(~np.isnan(similarity))
        search = searches[owner]
        search.chunks += len(similarity)
        search.encoded += len(known)
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
        kept += [place for place in ranked if search.children[place].source.kind is kind][: stage.top_k]
    return sorted(kept, key=ranked.index)


def _combined_places(stage: DenseStage | FusionStage | UnionStage, search: _Search, by_cosine: list[int]) -> list[int]:
    if isinstance(stage, DenseStage):
        known = set(by_cosine)
        missing = [place for place in range(len(search.children)) if place not in known]
        return [*by_cosine, *missing][: stage.top_k]
    by_bm25 = search.ranked_by_bm25()
    if isinstance(stage, UnionStage):
        return list(dict.fromkeys([*by_cosine[: stage.dense_k], *by_bm25[: stage.sparse_k]]))
    fused = reciprocal_rank_fusion([by_bm25, by_cosine], stage.constant)
    for place, score in fused.items():
        search.children[place].scores["fusion"] = score
    return sorted(fused, key=lambda place: (-fused[place], place))[: stage.top_k]


def _parents(children: Sequence[_Child]) -> list[Passage]:
    """The parents of the children without duplicates, with the scores of their best child."""
    passages: dict[tuple[int, int], Passage] = {}
    for child in children:
        source, span = child.source, child.parent.span
        key = (id(source), span.start)
        if key not in passages:
            passages[key] = Passage(
                text=source.text[span.start : span.end],
                url=source.url,
                page_name=source.page_name,
                page_rank=source.page_rank,
                kind=source.kind,
                start=span.start,
                end=span.end,
                scores=dict(child.scores),
                heading=source.heading,
            )
    return list(passages.values())
