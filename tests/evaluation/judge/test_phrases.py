"""Rules for answers in words."""

import pytest

from evaluation.judge.case import Case, Finding
from evaluation.judge.phrases import gold_phrase, hedged, nothing_but_gold, same_words, telling_words

QUERY = "who wrote the book?"


def decided(finding: Finding | None) -> bool | None:
    return None if finding is None else finding.correct


@pytest.mark.parametrize(
    ("gold", "prediction", "correct"),
    [
        ("Spider-Man", "spiderman", True),
        ("The Beatles", "beatles!", True),
        ("Beyoncé", "BEYONCE", True),
        ("“Heroes”", '"Heroes"', True),
        ("J.R.R. Tolkien", "J R R Tolkien", True),
        ("ann lee", "lee ann", None),
        ("ann lee", "ann", None),
        ("?", "!", None),
    ],
)
def test_same_words(gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(same_words(Case(QUERY, gold, prediction))) is correct


@pytest.mark.parametrize(
    ("prediction", "correct"),
    [
        ("I do not have that information.", False),
        ("I can’t verify this.", False),
        ("The author is not mentioned.", False),
        ("I am unable to tell.", False),
        ("I do not have the first edition. The author is Ann Lee.", None),
        ("Ann Lee", None),
        ("", None),
    ],
)
def test_hedged(prediction: str, correct: bool | None) -> None:
    assert decided(hedged(Case(QUERY, "ann lee", prediction))) is correct


def test_a_gold_answer_that_cannot_tell_either_is_left_to_other_rules() -> None:
    assert hedged(Case(QUERY, "the author is not mentioned", "not stated")) is None


@pytest.mark.parametrize(
    ("gold", "prediction", "correct"),
    [
        ("ann lee", "The author is Ann Lee.", True),
        ("ann lee", "Lee, Ann", True),
        ("ann lee", "It was not Ann Lee.", False),
        ("ann lee", "unlike Ann Lee", False),
        ("ann lee", "Ann Lee and Bob Ray wrote it.", False),
        ("ann lee", "1. Ann Lee\n2. Bob Ray", False),
        ("spider-man", "It was called Spiderman in print.", True),
        ("john paul jones", "John Jones wrote it", True),
        ("ann lee", "Bob Ray", None),
        ("ann lee", "Joanne Leeds", None),
        ("ann", "anniversary", None),
    ],
)
def test_gold_phrase(gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(gold_phrase(Case(QUERY, gold, prediction))) is correct


@pytest.mark.parametrize(
    ("gold", "prediction", "correct"),
    [
        ("melbourne, australia", "Melbourne", True),
        ("melbourne, australia", "Australia", None),
        ("melbourne, australia", "Melbourne, Florida", None),
        ("ann lee wrote the book.", "Ann Lee", True),
        ("ann lee wrote the book.", "The book", None),
        ("ann lee wrote the book.", "Ann Ray", None),
        ("ann lee wrote the book.", "", None),
    ],
)
def test_nothing_but_gold(gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(nothing_but_gold(Case(QUERY, gold, prediction))) is correct


@pytest.mark.parametrize(
    ("gold", "prediction", "correct"),
    [
        ("the book was written by ann lee in rome", "Ann Lee did, in Rome.", True),
        ("the book was written by ann lee in rome", "Bob Ray did.", False),
        ("the book was sold 30 times by ann lee", "Ann Lee sold it 40 times.", False),
        ("?", "x", None),
    ],
)
def test_telling_words(gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(telling_words(Case(QUERY, gold, prediction))) is correct


def test_the_share_of_telling_words_is_in_the_reason() -> None:
    finding = telling_words(Case(QUERY, "alpha bravo charlie delta", "alpha bravo"))
    assert finding == Finding(False, "50% of the gold answer's telling words are in the prediction")


@pytest.mark.parametrize(
    ("query", "gold", "prediction", "correct"),
    [
        ("which film is it?", "the glass harbor", "The Glass Harbor Returns", False),
        ("what is the highest-grossing film?", "harbor", "Harbor: The Way of Glass", False),
        ("which film is it?", "the glass harbor", "The Glass Harbor by Ann Lee", True),
        ("which film is it?", "the glass harbor", "The Glass Harbor is the film.", True),
        ("who is it?", "ann lee", "Ann Lee Ray", True),
    ],
)
def test_a_longer_title_is_another_work(query: str, gold: str, prediction: str, correct: bool) -> None:
    assert decided(gold_phrase(Case(query, gold, prediction))) is correct


@pytest.mark.parametrize(
    ("query", "gold", "correct"),
    [
        ("which film is it?", "the glass harbor returns", False),
        ("which film is it?", "the glass harbor by ann lee", True),
        ("which film is it?", "the glass harbor: a tale", True),
        ("where is it?", "the glass harbor varn", True),
    ],
)
def test_a_shorter_title_is_another_work(query: str, gold: str, correct: bool) -> None:
    assert decided(nothing_but_gold(Case(query, gold, "The Glass Harbor"))) is correct


def test_the_ends_of_a_list_are_no_name_without_its_middle() -> None:
    assert decided(gold_phrase(Case(QUERY, "alpine rock, bavarian folk", "alpine folk"))) is not True
