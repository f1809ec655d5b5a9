from dataclasses import replace

import pytest

from agents.common.contracts import PassageKind
from agents.common.deadline import Deadline
from agents.settings import Bm25Stage, DenseStage, FusionStage, ParentChildChunks, RetrieveStage, UnionStage, WordChunks
from agents.web.chunk import split
from agents.web.retrieve import Retrieved, Source, retrieve
from tests.agents.web.fakes import HashedWords

LINES = ParentChildChunks(method="parent_child", parent_characters=60, child_characters=30)
WORDS = WordChunks(method="words", words=5, overlap=0)


def source(text: str, kind: PassageKind = PassageKind.PAGE, chunks: ParentChildChunks | WordChunks = WORDS) -> Source:
    return Source(text, split(text, chunks), "https://example.org", "Name", 0, kind)


def found_by(stages: list[RetrieveStage], query: str, *sources: Source, dense: HashedWords | None = None) -> Retrieved:
    (found,) = retrieve([query], [list(sources)], stages, dense, Deadline(9))
    return found


def texts(stages: list[RetrieveStage], query: str, *sources: Source, dense: HashedWords | None = None) -> list[str]:
    return [passage.text for passage in found_by(stages, query, *sources, dense=dense).passages]


def bm25(top_k: int, *, per_kind: bool = False) -> Bm25Stage:
    return Bm25Stage(method="bm25", top_k=top_k, per_kind=per_kind)


def test_hits_bring_their_parents_each_once_in_the_order_of_the_best_child() -> None:
    text = (
        "Nothing at all to see here.\nThe matrix is a film.\n"
        "Other words stand in this line.\nThe matrix was made in 1999."
    )
    found = found_by([bm25(2)], "matrix 1999", source(text, chunks=LINES)).passages
    assert [passage.text.splitlines() for passage in found] == [
        ["Other words stand in this line.", "The matrix was made in 1999."],
        ["Nothing at all to see here.", "The matrix is a film."],
    ]
    for passage in found:
        assert text[passage.start : passage.end] == passage.text
    assert found[0].score is not None
    assert found[1].score is not None
    assert found[0].score > found[1].score


def test_per_kind_gives_snippets_places_of_their_own() -> None:
    sources = [source("pears " * 4), source("red pears"), source("a few pears here", PassageKind.SNIPPET)]
    assert len(texts([bm25(1, per_kind=True)], "red pears", *sources)) == 2
    assert "a few pears here" not in texts([bm25(1)], "red pears", *sources)


@pytest.mark.parametrize("stage", [bm25(1), DenseStage(method="dense", top_k=1)])
def test_a_heading_is_searched_with_every_chunk_of_its_source_but_is_no_part_of_it(stage: RetrieveStage) -> None:
    headed = replace(source("it was made in 1999"), heading="The matrix")
    plain = source("a dog and a cat were seen in town")
    found = found_by([stage], "the matrix", plain, headed, dense=HashedWords())
    assert [(passage.text, passage.heading) for passage in found.passages] == [("it was made in 1999", "The matrix")]


def test_dense_without_time_keeps_the_order_it_was_given() -> None:
    stages: list[RetrieveStage] = [bm25(3), DenseStage(method="dense", top_k=2)]
    sources = [source("one"), source("moon moon x"), source("moon")]
    found = texts(stages, "moon", *sources, dense=HashedWords(at_most=0))
    assert found == texts([bm25(2)], "moon", *sources)


def test_fusion_prefers_what_both_rankings_like() -> None:
    stage = FusionStage(method="reciprocal_rank_fusion", top_k=2)
    sources = [source("moon landing of apollo"), source("moon"), source("sun")]
    found = found_by([stage], "apollo moon landing", *sources, dense=HashedWords()).passages
    assert found[0].text == "moon landing of apollo"
    assert found[0].scores["fusion"] == pytest.approx(2 / 61)
    assert set(found[0].scores) == {"bm25", "dense", "fusion"}


def test_union_takes_the_best_of_each_once() -> None:
    stage = UnionStage(method="union", sparse_k=1, dense_k=2)
    sources = [source("blue moon"), source("blue moon over the lake"), source("sun")]
    assert len(texts([stage], "blue moon", *sources, dense=HashedWords())) == 2
