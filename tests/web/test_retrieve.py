import math
from collections.abc import Sequence

import pytest

from crag.core.deadline import Deadline
from crag.settings import Bm25Stage, DenseStage, RerankSettings, RetrieveStage
from crag.web.page_search import Chunk, PageSearch
from crag.web.rerank import rerank
from crag.web.retrieve import retrieve
from tests.web.fakes import HashedWords, SharedWords, passage
from tests.web.fakes import query as query_of


def found_by(stages: list[RetrieveStage], query: str, *texts: str, dense: HashedWords | None = None) -> PageSearch:
    search = PageSearch(query_of(query), chunks=[Chunk(passage(text), text) for text in texts])
    retrieve([search], stages, dense, Deadline(600))
    return search


def bm25(top_k: int) -> Bm25Stage:
    return Bm25Stage(method="bm25", top_k=top_k)


def test_dense_without_time_keeps_the_order_it_was_given() -> None:
    stages: list[RetrieveStage] = [bm25(3), DenseStage(method="dense", top_k=2)]
    words = ["one", "moon moon x", "moon"]
    found = found_by(stages, "moon", *words, dense=HashedWords(at_most=0))
    assert [each.text for each in found.passages] == [
        each.text for each in found_by([bm25(2)], "moon", *words).passages
    ]
    assert found.events == ["dense retrieval stopped at the clock: 0 of 3 chunks were encoded"]


def test_fusion_prefers_what_both_rankings_like() -> None:
    stage = DenseStage(method="reciprocal_rank_fusion", top_k=2)
    texts = ["moon landing of apollo", "moon", "sun"]
    found = found_by([stage], "apollo moon landing", *texts, dense=HashedWords()).passages
    assert found[0].text == "moon landing of apollo"
    assert found[0].scores["fusion"] == pytest.approx(2 / 61)
    assert set(found[0].scores) == {"bm25", "dense", "fusion"}


def test_reranking_is_one_call_and_what_time_did_not_allow_follows_in_the_order_of_retrieval() -> None:
    encoder = SharedWords(at_most=3)
    searches = [PageSearch(query_of("a"), passages=[passage(text) for text in texts]) for texts in ("xabc", "a", "")]
    rerank(searches, encoder, RerankSettings(top_k=2, max_pairs=3), Deadline(600))
    assert encoder.calls == [[("a", "x"), ("a", "a"), ("a", "a"), ("a", "b")]]
    assert [[each.text for each in own.passages] for own in searches] == [["a", "x"], ["a"], []]
    assert [own.events for own in searches] == [["reranking stopped at the clock: 2 of 3 passages were scored"], [], []]


def test_a_logit_that_is_no_number_was_in_time_but_ranks_nothing() -> None:
    class Overflowing(SharedWords):
        def score(self, pairs: Sequence[tuple[str, str]], deadline: Deadline | None = None) -> list[float | None]:
            return [math.nan, 1.0]

    search = PageSearch(query_of("q"), passages=[passage("1"), passage("2")])
    rerank([search], Overflowing(), RerankSettings(top_k=9), Deadline(600))
    assert [each.text for each in search.passages] == ["2", "1"]
    assert search.events == ["the cross-encoder gave no number for 1 of 2 passages"]
