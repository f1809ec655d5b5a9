"""Words, numbers, lists and whole dates as people write them, and what makes two of them the same."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.text.matching import (
    alike,
    count_listed,
    position_of,
    read_dates,
    recall,
    split_list,
    tokens,
    without_dates,
)

SAME = (
    "The Beatles' = beatle|J. R. R. Tolkien = JRR Tolkien|the U.S. Navy = united states navy|Beyoncé = beyonce"
    "|Hawaiʻi = hawaii"
    "|Tom & Jerry = tom and jerry|twenty-two films = 22 film|1,000,000 = 1000000|**Bold** = bold|3rd = third"
    "|1. one thing = one thing|rock ’n’ roll = rock 'n' roll|zero\u200bwidth = zerowidth|straße = strasse"
)


@pytest.mark.parametrize("pair", SAME.split("|"))
def test_spellings_of_one_name_or_number_have_the_same_tokens(pair: str) -> None:
    one, other = pair.split(" = ")
    assert tokens(one) == tokens(other)


@pytest.mark.parametrize(("one", "other"), [("5", "50"), ("class", "clas"), ("1.5", "15"), ("james", "jane")])
def test_different_numbers_and_words_have_different_tokens(one: str, other: str) -> None:
    assert tokens(one) != tokens(other)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("magellan", "magelan", True),
        ("publishing", "published", True),
        ("1974", "1975", False),
        ("mary", "mark", False),
        ("hockey", "tennis", False),
    ],
)
def test_long_words_may_differ_by_a_typo_or_their_ending(one: str, other: str, *, expected: bool) -> None:
    assert alike(one, other) is expected


def test_recall_is_the_share_of_expected_tokens_and_whole_if_none_are_expected() -> None:
    assert recall(["ann", "ann", "lee"], ["ann"]) == pytest.approx(2 / 3)
    assert recall([], ["x"]) == 1.0


@pytest.mark.parametrize(("phrase", "position"), [("b c", 1), ("c b", -1), ("", -1)])
def test_a_phrase_is_found_where_its_tokens_stand_in_a_row(phrase: str, position: int) -> None:
    assert position_of(phrase.split(), ["a", "b", "c"]) == position


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("the cities of spain", ("city", "of", "spain")),
        ("Ann's dogs' bones", ("ann", "dog", "bone")),
        ("1,234.5 & 6", ("1234.5", "and", "6")),
        ("1,23", ("1", "23")),
        ("U.K. and Great Britain", ("uk", "and", "uk")),
        ("日本 2", ("日本", "2")),
    ],
)
def test_tokens_are_words_and_numbers_without_plurals_and_possessives(text: str, kept: tuple[str, ...]) -> None:
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


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("ann lee; bob ray", ["ann lee", "bob ray"]),
        ("ann lee, bob ray, and cy young", ["ann lee", "bob ray", "cy young"]),
        ("nick and norah, tom", ["nick and norah", "tom"]),
        ("tom & jerry", ["tom", "jerry"]),
        ("1,000 apples, 2,000 pears", ["1,000 apples", "2,000 pears"]),
    ],
)
def test_a_list_in_words_is_split_where_its_items_end(text: str, items: list[str]) -> None:
    assert [item.strip() for item in split_list(text)] == items


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1. a\n2. b\n3. c", 3),
        ("1) a 2) b", 2),
        ("- a\n- b", 2),
        ("It rose 2.5 points in 3. quarter", 0),
        ("", 0),
    ],
)
def test_the_items_of_a_numbered_or_bulleted_list_are_counted(text: str, count: int) -> None:
    assert count_listed(text) == count


DAY = date(1939, 7, 4)
NOTATIONS = "1939-07-04|7/4/1939|jul. 4 1939|the 4th of July, 1939|July 4th, 1939|It was on July the 4th 1939."
NO_WHOLE_DATES = "July 1939|1939|2023-02-30|31/12/1999|may 5|11939-07-040|March 3rd to 1999|February 29, 2023"


@pytest.mark.parametrize("text", NOTATIONS.split("|"))
def test_a_date_is_read_in_any_common_notation(text: str) -> None:
    assert read_dates(text) == {DAY}


@pytest.mark.parametrize("text", NO_WHOLE_DATES.split("|"))
def test_what_lacks_a_day_or_does_not_exist_is_no_whole_date(text: str) -> None:
    assert read_dates(text) == set()


def test_every_date_of_a_text_is_read_with_the_month_before_the_day() -> None:
    assert read_dates("from 1939-07-04 to May 8, 1945") == {DAY, date(1945, 5, 8)}
    assert read_dates("3/4/2021") == {date(2021, 3, 4)}


@pytest.mark.parametrize("month", range(1, 13))
def test_every_month_in_full_and_short(month: int) -> None:
    day = date(2021, month, 17)
    for form in ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%b. %d %Y", "%Y-%m-%d", "%m/%d/%Y"):
        assert read_dates(day.strftime(form)) == {day}
        assert read_dates(day.strftime(form).upper()) == {day}


def test_a_text_without_its_whole_dates_keeps_its_other_words() -> None:
    assert without_dates("On July 4, 1939 and 5 May 1940 in 1941").split() == ["on", "and", "in", "1941"]
