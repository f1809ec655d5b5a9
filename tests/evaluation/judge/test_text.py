"""What makes two texts the same to the rules."""

import pytest

from evaluation.judge.text import alike, position_of, recall, tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Beatles'", "beatle"),
        ("J. R. R. Tolkien", "JRR Tolkien"),
        ("the U.S. Navy", "united states navy"),
        ("Beyoncé", "beyonce"),
        ("Tom & Jerry", "tom and jerry"),
        ("twenty-two films", "22 film"),
        ("1,000,000", "1000000"),
        ("**Bold**", "bold"),
        ("3rd", "third"),
        ("1. one thing", "one thing"),
        ("rock ’n’ roll", "rock 'n' roll"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_same_tokens(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


@pytest.mark.parametrize(("one", "other"), [("5", "50"), ("class", "clas"), ("1.5", "15"), ("james", "jane")])
def test_different_tokens(one: str, other: str) -> None:
    assert tokens(one) != tokens(other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("magellan", "magelan", True),
        ("publishing", "published", True),
        ("1974", "1975", False),
        ("mary", "mark", False),
        ("hockey", "tennis", False),
    ],
)
def test_alike(one: str, other: str, same: bool) -> None:
    assert alike(one, other) is same


def test_recall_and_position() -> None:
    assert recall([], ["x"]) == 1.0
    assert recall(["x", "y"], ["x"]) == 0.5
    assert position_of(["b", "c"], ["a", "b", "c"]) == 1
    assert position_of(["c", "b"], ["a", "b", "c"]) == -1
    assert position_of([], ["a"]) == -1
