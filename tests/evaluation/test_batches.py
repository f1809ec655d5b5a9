"""The agent sees what the evaluator shows, and nothing else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.evaluation.batches import evaluator_batch, gold_answers, in_batches
from crag.evaluation.question_fields import LABEL_FIELDS, PAGE_FIELDS

SECRET = "never to be seen"


def row(name: str, **more: Any) -> dict[str, Any]:
    return {"interaction_id": name, "query": f"q {name}", "alt_ans": [], **more}


@given(
    extra=st.dictionaries(st.text(min_size=1, max_size=12), st.just(SECRET), max_size=5),
    page_extra=st.dictionaries(st.text(min_size=1, max_size=12), st.just(SECRET), max_size=3),
    pages=st.integers(0, 3),
    count=st.integers(1, 5),
    size=st.integers(1, 6),
)
def test_nothing_but_the_four_fields_leaks_and_the_order_stays(
    extra: dict[str, Any], page_extra: dict[str, Any], pages: int, count: int, size: int
) -> None:
    labels = {"answer": SECRET, "alt_ans": [SECRET], **dict.fromkeys(LABEL_FIELDS, SECRET), "split": SECRET}
    page = {**page_extra, **dict.fromkeys(PAGE_FIELDS, "shown")}
    rows = [
        {**extra, **row(str(number)), **labels, "search_results": [page] * pages, "query_time": "t"}
        for number in range(count)
    ]
    asked = []

    for number, batch in enumerate(in_batches(rows, size)):
        shown = evaluator_batch(batch)
        assert list(shown) == ["interaction_id", "query", "search_results", "query_time"]
        assert {len(values) for values in shown.values()} == {len(batch)} == {min(size, count - number * size)}
        assert SECRET not in json.dumps(shown)
        assert all(set(result) == set(PAGE_FIELDS) for results in shown["search_results"] for result in results)
        assert {question.batch for question in batch} == {number}
        asked += shown["interaction_id"]

    assert asked == [str(number) for number in range(count)]


@pytest.mark.parametrize(
    ("fields", "golds"),
    [
        ({"answer": "Ann", "alt_ans": ["Anna", " "]}, ("Ann", "Anna")),
        ({"answer": "", "alt_ans": ["Anna"]}, ("Anna",)),
        ({"answer": None, "alt_ans": None}, ()),
        ({"answer": " \n"}, ()),
        ({}, ()),
    ],
)
def test_a_blank_gold_answer_is_none(fields: dict[str, Any], golds: tuple[str, ...]) -> None:
    assert gold_answers(fields) == golds
