"""What makes two texts the same to the rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.matching import alike, position_of, recall, tokens

SAME = (
    "The Beatles' = beatle|J. R. R. Tolkien = JRR Tolkien|the U.S. Navy = united states navy|Beyoncé = beyonce"
    "|Tom & Jerry = tom and jerry|twenty-two films = 22 film|1,000,000 = 1000000|**Bold** = bold|3rd = third"
    "|1. one thing = one thing|rock ’n’ roll = rock 'n' roll|zero\u200bwidth = zerowidth"
)


@pytest.mark.parametrize("pair", SAME.split("|"))
def test_same_tokens(pair: str) -> None:
    one, other = pair.split(" = ")
    assert tokens(one) == tokens(other)


@pytest.mark.parametrize(("one", "other"), [("5", "50"), ("class", "clas"), ("1.5", "15"), ("james", "jane")])
def test_different_tokens(one: str, other: str) -> None:
    assert tokens(one) != tokens(other)


def test_alike() -> None:
    assert alike("magellan", "magelan")
    assert alike("publishing", "published")
    assert not alike("1974", "1975")
    assert not alike("mary", "mark")
    assert not alike("hockey", "tennis")


def test_recall_and_position() -> None:
    assert recall([], ["x"]) == 1.0
    assert recall(["ann", "ann", "lee"], ["ann"]) == pytest.approx(2 / 3)
    assert position_of(["b", "c"], ["a", "b", "c"]) == 1
    assert position_of(["c", "b"], ["a", "b", "c"]) == -1
    assert position_of([], ["a"]) == -1


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("the cities of spain", ("city", "of", "spain")),
        ("a bus of glass", ("bus", "of", "glass")),
        ("Ann's dogs' bones", ("ann", "dog", "bone")),
        ("don’t", ("dont",)),
        ("1,234.5 & 6", ("1234.5", "and", "6")),
        ("1,23", ("1", "23")),
        ("U.K. and Great Britain", ("uk", "and", "uk")),
        ("日本 2", ("日本", "2")),
    ],
)
def test_tokens(text: str, kept: tuple[str, ...]) -> None:
    assert tokens(text) == kept


@given(st.text(max_size=60))
def test_any_text_is_like_itself(text: str) -> None:
    parts = tokens(text)
    assert all(alike(part, part) for part in parts)
    assert recall(parts, parts) == 1.0
    assert position_of(parts, parts) == (0 if parts else -1)


@given(st.text("abcdefgh12", min_size=1, max_size=12), st.integers(0, 9))
def test_tokens_with_digits_are_never_merely_alike(one: str, digit: int) -> None:
    assert not alike(one, f"{one}{digit}")
    assert not alike(f"{one}{digit}", one)
