"""The rule for answers that are sets."""

import itertools

import pytest

from agents.matching import count_listed
from evaluation.judge.case import Case
from evaluation.judge.sets import gold_items, same_items

QUERY = "who are the members of the band?"
GOLD = "ann lee, bob ray and cyrus young"


def verdict(prediction: str, gold: str = GOLD, query: str = QUERY) -> bool | None:
    finding = same_items(Case(query, gold, prediction))
    return None if finding is None else finding.correct


@pytest.mark.parametrize("order", list(itertools.permutations(["Ann Lee", "Bob Ray", "Cyrus Young"])))
@pytest.mark.parametrize("separator", [", ", "; ", "\n", " and ", " & ", "\n- "])
def test_order_and_separator_do_not_matter(order: tuple[str, ...], separator: str) -> None:
    assert verdict(separator.join(order)) is True


@pytest.mark.parametrize("left_out", [0, 1, 2])
def test_any_missing_item_is_wrong_and_named(left_out: int) -> None:
    items = ["ann lee", "bob ray", "cyrus young"]
    lacking = items.pop(left_out)
    finding = same_items(Case(QUERY, GOLD, ", ".join(items)))
    assert finding is not None
    assert not finding.correct
    assert f'"{lacking}"' in finding.why


def test_an_empty_prediction_lacks_all() -> None:
    assert verdict("") is False


def test_slightly_misspelt_names_count_but_others_do_not() -> None:
    assert verdict("magelan, columbus", "magellan and columbus") is True
    assert verdict("macmillan, columbus", "magellan and columbus") is False


def test_middle_names_may_be_left_out_but_not_surnames() -> None:
    gold = "john paul jones and bob ray"
    assert verdict("John Jones, Bob Ray", gold) is True
    assert verdict("John Paul, Bob Ray", gold) is False


@pytest.mark.parametrize(
    "prediction",
    [
        "1. Ann Lee\n2. Bob Ray\n3. Cyrus Young\n4. Dan Fox",
        "- Ann Lee\n- Bob Ray\n- Cyrus Young\n- Dan Fox",
        "• Ann Lee\n• Bob Ray\n• Cyrus Young\n• Dan Fox",
        "(1) Ann Lee (2) Bob Ray (3) Cyrus Young (4) Dan Fox",
    ],
)
def test_further_items_of_a_list_are_wrong(prediction: str) -> None:
    assert verdict(prediction) is False
    lines = prediction.replace("\n- Dan Fox", "").replace("\n• Dan Fox", "").replace("\n4. Dan Fox", "")
    assert verdict(lines.replace(" (4) Dan Fox", "")) is True


@pytest.mark.parametrize(
    ("gold", "items"),
    [
        ("ann lee; bob ray", [["ann", "lee"], ["bob", "ray"]]),
        ("ann lee, bob ray, and cy young", [["ann", "lee"], ["bob", "ray"], ["cy", "young"]]),
        ("nick and norah, tom", [["nick", "norah"], ["tom"]]),
        ("Tom & Jerry", [["tom"], ["jerry"]]),
        ('"one, two" and "three"', [["1", "2"], ["3"]]),
        ("1,000 apples, 2,000 pears", [["1000", "apple"], ["2000", "pear"]]),
        ("ann (born 1950, in rome), bob", [["ann"], ["bob"]]),
        ("ann lee", None),
    ],
)
def test_items_of_the_gold_answer(gold: str, items: list[list[str]] | None) -> None:
    assert gold_items(Case(QUERY, gold, "")) == items


def test_a_clause_that_only_describes_is_no_item() -> None:
    gold = "ann lee, who plays for the varn ravens, was the best of all players."
    assert gold_items(Case("who was the best of all players?", gold, "")) is None


def test_items_of_a_sentence_are_told_from_its_other_side() -> None:
    gold = "the members of the band are ann lee, bob ray and cyrus young."
    assert gold_items(Case(QUERY, gold, "")) == [["ann", "lee"], ["bob", "ray"], ["cyrus", "young"]]


@pytest.mark.parametrize("query", ["where was she born?", "who is her husband?", "when did it open?"])
def test_a_question_for_one_thing_is_none_for_a_set(query: str) -> None:
    assert verdict("melbourne", "melbourne, australia", query) is None


@pytest.mark.parametrize(
    ("prediction", "count"),
    [
        ("1. a\n2. b\n3. c", 3),
        ("1) a 2) b", 2),
        ("- a\n- b", 2),
        ("* a", 0),
        ("It rose 2.5 points in 3. quarter", 0),
        ("a, b and c", 0),
        ("", 0),
    ],
)
def test_listed_items(prediction: str, count: int) -> None:
    assert count_listed(prediction) == count
