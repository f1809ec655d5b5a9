"""Step 4: retrieves candidate passages by sparse (BM25) and dense (embedding) search over the chunks.

The stages of the settings rank the small chunks (children). The result is their parents without duplicates, ordered by
their best child.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from crag.core.contracts import PassageKind
from crag.core.deadline import Deadline
from crag.engines.encoders import DenseEncoder
from crag.settings import Bm25Stage, DenseStage, RetrieveStage, UnionStage
from crag.web.page_search import Chunk, PageSearch
from crag.web.ranking import bm25_scores, comparison_key, cosines, remove_duplicates

FUSION_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def retrieve(
    searches: Sequence[PageSearch],
    stages: Sequence[RetrieveStage],
    dense_encoder: DenseEncoder | None,
    deadline: Deadline,
) -> None:
    """Fill in the candidate `passages` of each search, each text once, best first.

    Each stage keeps the best chunks of the stage before. Chunks that were not encoded in time count as not found.
    """
    for stage in stages:
        # Encoding is slow, so only what the stages before have kept is encoded.
        if not isinstance(stage, Bm25Stage):
            _add_cosines(searches, dense_encoder, deadline)
        for search in searches:
            search.chunks = _rank_chunks(search, stage)

    # From chunks to passages: each passage has the position and the scores of its best chunk.
    for search in searches:
        best_chunks = remove_duplicates(search.chunks, key=_passage_key)
        search.passages = [replace(chunk.passage, scores=chunk.scores) for chunk in best_chunks]


def _passage_key(chunk: Chunk) -> str:
    """Equal for chunks of the same passage, or of passages with the same words."""
    return comparison_key(chunk.passage.text)


def _add_cosines(
    searches: Sequence[PageSearch],
    dense_encoder: DenseEncoder | None,
    deadline: Deadline,
) -> None:
    """Give chunks the score ``dense``; those that were not encoded in time get none."""
    questions = [search.query.text for search in searches]
    texts_by_search = [_list_searched_texts(search.chunks) for search in searches]
    cosines_by_search = cosines(dense_encoder, questions, texts_by_search, deadline)

    for search, chunk_cosines in zip(searches, cosines_by_search, strict=True):
        encoded_count = 0
        for chunk, cosine in zip(search.chunks, chunk_cosines, strict=True):
            if not math.isnan(cosine):
                chunk.scores["dense"] = float(cosine)
                encoded_count += 1

        chunk_count = len(search.chunks)
        if encoded_count < chunk_count:
            progress = f"{encoded_count} of {chunk_count} chunks were encoded"
            search.events.append(f"dense retrieval stopped at the clock: {progress}")


def _list_searched_texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.searched_text for chunk in chunks]


def _rank_chunks(search: PageSearch, stage: RetrieveStage) -> list[Chunk]:
    """The chunks that a stage keeps, best first."""
    if isinstance(stage, Bm25Stage):
        return _rank_by_bm25_stage(search, stage)
    if isinstance(stage, UnionStage):
        return _rank_by_union(search, stage)
    return _rank_by_dense_stage(search, stage)


def _rank_by_bm25_stage(search: PageSearch, stage: Bm25Stage) -> list[Chunk]:
    """The `top_k` best chunks by BM25: of all, or of each kind."""
    ranked = _sort_by_bm25(search, stage.implementation)
    if not stage.per_kind:
        return ranked[: stage.top_k]

    top_chunks = []
    kind_counts: Counter[PassageKind] = Counter()
    for chunk in ranked:
        kind = chunk.passage.kind
        if kind_counts[kind] < stage.top_k:
            kind_counts[kind] += 1
            top_chunks.append(chunk)
    return top_chunks


def _rank_by_union(search: PageSearch, stage: UnionStage) -> list[Chunk]:
    """The best chunks by cosine, then the best by BM25 that are not among them."""
    by_cosine = _sort_by_cosine(search)[: stage.dense_k]
    by_bm25 = _sort_by_bm25(search)[: stage.sparse_k]

    # By identity, because different chunks can be equal.
    found_by_cosine = {id(chunk) for chunk in by_cosine}
    return by_cosine + [chunk for chunk in by_bm25 if id(chunk) not in found_by_cosine]


def _rank_by_dense_stage(search: PageSearch, stage: DenseStage) -> list[Chunk]:
    """The `top_k` best chunks by cosine, or by reciprocal rank fusion of cosine and BM25."""
    by_cosine = _sort_by_cosine(search)
    if stage.method == "dense":
        # They fill up the places that the encoded ones leave, in the order of the stage before.
        not_encoded = [chunk for chunk in search.chunks if "dense" not in chunk.scores]
        return (by_cosine + not_encoded)[: stage.top_k]

    by_bm25 = _sort_by_bm25(search)
    for chunk in search.chunks:
        chunk.scores["fusion"] = 0.0
    # A chunk that was not encoded is in one ranking only, and gets one term of the sum.
    for ranking in (by_bm25, by_cosine):
        for rank, chunk in enumerate(ranking, start=1):
            chunk.scores["fusion"] += 1.0 / (FUSION_CONSTANT + rank)

    by_fusion = _sort_by_score(search.chunks, "fusion")
    return by_fusion[: stage.top_k]


def _sort_by_cosine(search: PageSearch) -> list[Chunk]:
    """The chunks that were encoded in time, best first."""
    encoded = [chunk for chunk in search.chunks if "dense" in chunk.scores]
    return _sort_by_score(encoded, "dense")


def _sort_by_bm25(search: PageSearch, implementation: str = "query_terms") -> list[Chunk]:
    """All chunks, best first."""
    # The first stage computes BM25 for all: the statistics of the larger set are better.
    if any("bm25" not in chunk.scores for chunk in search.chunks):
        texts = _list_searched_texts(search.chunks)
        scores = bm25_scores(search.query.text, texts, implementation)
        for chunk, score in zip(search.chunks, scores, strict=True):
            chunk.scores["bm25"] = float(score)

    return _sort_by_score(search.chunks, "bm25")


def _sort_by_score(chunks: Sequence[Chunk], name: str) -> list[Chunk]:
    """The chunks with the greatest score of this name first; chunks with equal scores keep their order."""
    return sorted(chunks, key=lambda chunk: -chunk.scores[name])
