"""Every spelling of a word or number that a date expression may use means the same."""

from datetime import datetime

import pytest

from agents.questions.dates import MomentKind, find_dates, resolve_date

WEDNESDAY = datetime(2024, 2, 28, 8, 0)


@pytest.mark.parametrize(
    ("spellings", "expected"),
    [
        ("last|past|previous|prior|preceding", "2024-02-18 to 2024-02-24"),
        ("this|current", "2024-02-25 to 2024-03-02"),
        ("next|coming|upcoming", "2024-03-03 to 2024-03-09"),
    ],
)
def test_steps(spellings: str, expected: str) -> None:
    for step in spellings.split("|"):
        assert _days(f"{step} week") == expected


@pytest.mark.parametrize(
    ("number", "spellings"),
    [(1, "first 1st"), (2, "second 2nd"), (3, "third 3rd"), (4, "fourth 4th"), (5, "fifth 5th")],
)
def test_ordinals(number: int, spellings: str) -> None:
    for ordinal in spellings.split():
        assert _days(f"{ordinal} day of 2023") == f"2023-01-0{number}"


def test_number_words() -> None:
    words = "one two three four five six seven eight nine ten eleven twelve"
    for number, word in enumerate(words.split(), start=1):
        assert _days(f"{word} days ago") == _days(f"{number} days ago")
    assert _days("an year ago") == _days("a year ago") == "2023-02-28"


@pytest.mark.parametrize(
    ("day", "spellings"),
    [
        ("2024-02-19", "mon monday"),
        ("2024-02-20", "tue tues tuesday"),
        ("2024-02-21", "wed wednesday"),
        ("2024-02-22", "thu thur thurs thursday"),
        ("2024-02-23", "fri friday"),
        ("2024-02-24", "sat saturday"),
        ("2024-02-18", "sun sunday"),
    ],
)
def test_weekdays(day: str, spellings: str) -> None:
    for weekday in spellings.split():
        assert _days(f"last {weekday}") == day
        assert _days(f"last week's {weekday}") == _days(f"last week, {weekday}") == day


def test_months() -> None:
    for number in range(1, 13):
        first = datetime(2023, number, 1)
        for name in (f"{first:%B}", f"{first:%b}", f"{first:%b}."):
            assert _days(f"{name} 9, 2023") == f"2023-{number:02}-09"
    assert _days("sept. 9 2023") == "2023-09-09"


@pytest.mark.parametrize(
    ("spellings", "expected"),
    [
        ("2023-02|2023/2|2/2023|02/2023|2023 february|2023-feb|february of 2023", "2023-02-01 to 2023-02-28"),
        ("q2 2023|2023q2|2023 q2|2023-q2|second qtr of 2023|2nd quarter, 2023", "2023-04-01 to 2023-06-30"),
        ("01-05-2024|1/5/2024|2024.01.05|2024-01-05 16:00:00 edt|2024-01-05t09:30:00 et|5 jan 2024", "2024-01-05"),
        ("1850|year 1850|the year 1850", "1850-01-01 to 1850-12-31"),
        ("1850s|the 1850s", "1850-01-01 to 1859-12-31"),
        ("last half|previous half", "2023-07-01 to 2023-12-31"),
        ("this morning|this afternoon|this evening|tonight|today", "2024-02-28"),
        ("last market day|last market close|last stock trading session|last day of trading|final close", "2024-02-27"),
        ("last day the stock market was open|final day when markets were open for trading", "2024-02-27"),
        ("end of the week|end of week", "2024-03-02"),
        ("end of quarter|end of this quarter", "2024-03-31"),
        ("end of the season|end of this season", "2024-06-30"),
    ],
)
def test_forms_of_one_date(spellings: str, expected: str) -> None:
    for expression in spellings.split("|"):
        assert _days(expression) == expected, expression


def test_a_decade_with_an_apostrophe() -> None:
    (found,) = find_dates("who led the charts in the 1990’s?", WEDNESDAY)
    assert (found.text, str(found.resolved.range)) == ("1990’s", "1990-01-01 to 1999-12-31")


@pytest.mark.parametrize("words", ["at this moment", "at present", "currently", "most recently"])
def test_words_for_the_newest_record(words: str) -> None:
    resolved = resolve_date(words, WEDNESDAY)
    assert resolved is not None
    assert resolved.kind is MomentKind.LATEST


@pytest.mark.parametrize("expression", ["13/2023", "1750", "2150", "q5 2023", "sixth day of 2023", "2023-00"])
def test_what_is_out_of_range_is_no_date(expression: str) -> None:
    assert resolve_date(expression, WEDNESDAY) is None


def _days(expression: str) -> str:
    resolved = resolve_date(expression, WEDNESDAY)
    assert resolved is not None, expression
    return str(resolved.range)
