"""The agent sees what the evaluator shows, and nothing else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.batches import WHOLE, RowKey, Shard, evaluator_batch, in_batches
from evaluation.datasets import LABEL_FIELDS, PAGE_FIELDS


def row(name: str, **more: Any) -> dict[str, Any]:
    return {"interaction_id": name, "query": f"q {name}", "alt_ans": [], **more}


def test_batches_keep_the_order_and_the_last_is_shorter() -> None:
    batches = list(in_batches((row(str(number)) for number in range(5)), 2))
    assert [[question.key.interaction_id for question in batch] for batch in batches] == [["0", "1"], ["2", "3"], ["4"]]
    assert [batch[0].batch for batch in batches] == [0, 1, 2]


def test_rows_are_taken_only_when_needed() -> None:
    taken = []

    def rows() -> Any:
        for number in range(100):
            taken.append(number)
            yield row(str(number))

    next(in_batches(rows(), 4))
    assert taken == [0, 1, 2, 3]


def test_equal_ids_stay_apart() -> None:
    (batch,) = in_batches([row("a"), row("b"), row("a")], 16)
    assert [question.key for question in batch] == [RowKey("a", 0), RowKey("b", 0), RowKey("a", 1)]


def test_what_a_row_lacks_is_empty() -> None:
    (batch,) = in_batches([row("a")], 1)
    assert evaluator_batch(batch)["search_results"] == [[]]
    assert evaluator_batch(batch)["query_time"] == [""]
    assert batch[0].golds == ()


SECRET = "SECRET-LABEL"


@given(
    extra=st.dictionaries(st.text(min_size=1, max_size=12), st.just(SECRET), max_size=5),
    page_extra=st.dictionaries(st.text(min_size=1, max_size=12), st.just(SECRET), max_size=3),
    pages=st.integers(0, 3),
    count=st.integers(1, 5),
    size=st.integers(1, 6),
)
def test_nothing_but_the_four_fields_leaks(
    extra: dict[str, Any], page_extra: dict[str, Any], pages: int, count: int, size: int
) -> None:
    labels = {"answer": SECRET, "alt_ans": [SECRET], **dict.fromkeys(LABEL_FIELDS, SECRET), "split": SECRET}
    page = {**page_extra, **dict.fromkeys(PAGE_FIELDS, "shown")}
    rows = [
        {**extra, **row(str(number)), **labels, "search_results": [page] * pages, "query_time": "t"}
        for number in range(count)
    ]
    sizes = []
    for batch in in_batches(rows, size):
        shown = evaluator_batch(batch)
        assert list(shown) == ["interaction_id", "query", "search_results", "query_time"]
        assert {len(values) for values in shown.values()} == {len(batch)}
        assert SECRET not in json.dumps(shown)
        assert all(set(result) == set(PAGE_FIELDS) for results in shown["search_results"] for result in results)
        sizes.append(len(batch))
    assert sum(sizes) == count
    assert all(found == size for found in sizes[:-1])


def test_labels_and_gold_answers_are_those_that_rows_have() -> None:
    rows = [row("a", popularity="head", domain="movie", answer="x", alt_ans=["y"]), row("b", popularity=None)]
    (batch,) = in_batches(rows, 2)
    assert [question.labels for question in batch] == [{"domain": "movie", "popularity": "head"}, {}]
    assert [question.golds for question in batch] == [("x", "y"), ()]


@given(total=st.integers(0, 60), size=st.integers(1, 16), shards=st.integers(1, 9))
def test_every_batch_belongs_to_one_shard_and_the_shards_differ_by_one_batch(
    total: int, size: int, shards: int
) -> None:
    batches = list(in_batches((row(str(number)) for number in range(total)), size))
    parts = [Shard(number, shards) for number in range(1, shards + 1)]
    for batch in batches:
        assert sum(part.holds(batch[0].batch) for part in parts) == 1
    held = [[batch for batch in batches if part.holds(batch[0].batch)] for part in parts]
    assert [sum(map(len, part)) for part in held] == [part.questions(total, size) for part in parts]
    assert max(map(len, held)) - min(map(len, held)) <= 1


def test_shards_as_text() -> None:
    assert str(Shard.parse("2/4")) == "2/4"
    assert Shard.parse("1/1") == WHOLE
    assert all(WHOLE.holds(batch) for batch in range(5))
    for wrong in ("0/4", "5/4", "1/0"):
        with pytest.raises(ValueError, match=f"a shard is one of 1/n to n/n, found {wrong}"):
            Shard.parse(wrong)
    for wrong in ("2", "2/", "a/b", "-1/4", "1/4/2", "1.0/2", ""):
        with pytest.raises(ValueError, match="a shard is written as 2/4, found"):
            Shard.parse(wrong)
