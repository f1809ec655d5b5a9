"""Names in questions: what the rules find, and what they are known to miss."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.questions import find_entities
from agents.questions.entities import MAX_ENTITIES, entity_entries

CASES = [
    ("what was the closing price of acme widgets yesterday?", ["acme widgets"]),
    ("which is older, the humber bridge or the clifton suspension bridge?",
     ["humber bridge", "clifton suspension bridge"]),
    ("who wrote the song \"days of pearly spencer\" in 1967?", ["days of pearly spencer"]),
    ("how many goals did ferenc puskás score for real madrid?", ["ferenc puskás", "real madrid"]),
    ("what's agnès varda's first film?", ["agnès varda"]),
    ("Who directed The Passion of Joan of Arc?", ["The Passion of Joan of Arc"]),
    ("Did Lev Yashin play for Dynamo Moscow?", ["Lev Yashin", "Dynamo Moscow"]),
    ("how many days are there in a year?", []),
    ("", []),
]  # fmt: skip


@pytest.mark.parametrize(("question", "names"), CASES)
def test_names_are_found(question: str, names: list[str]) -> None:
    assert [span.text for span in find_entities(question)] == names


def test_a_title_of_everyday_words_is_missed_unless_it_is_quoted() -> None:
    assert "it happened one night" not in [span.text for span in find_entities("who starred in it happened one night?")]
    assert [span.text for span in find_entities('who starred in "it happened one night"?')] == ["it happened one night"]


@given(st.text(alphabet="aB9 '\"“”,.é?-s", max_size=120))
def test_spans_are_where_they_say_and_apart(question: str) -> None:
    spans = find_entities(question)
    assert len(spans) <= MAX_ENTITIES
    assert all(question[span.start : span.end] == span.text and span.text.strip() for span in spans)
    assert all(first.end <= second.start for first, second in pairwise(spans))


def test_a_route_holds_them_as_plain_data() -> None:
    assert entity_entries("who founded acme?") == [{"text": "acme", "start": 12, "end": 16}]
