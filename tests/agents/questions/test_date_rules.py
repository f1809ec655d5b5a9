"""Forms of date expressions at their edges: where two readings touch, and what just fails to be a date."""

from datetime import date, datetime

import pytest

from agents.questions.dates import Calendar, find_dates, resolve_date

WEDNESDAY = datetime(2024, 2, 28, 8, 0)


def days_of(expression: str, asked_at: datetime = WEDNESDAY, calendar: Calendar = Calendar.CIVIL) -> str | None:
    resolved = resolve_date(expression, asked_at, calendar)
    return str(resolved.range) if resolved and resolved.range else None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # days
        ("last night", "2024-02-27"),
        ("tonight", "2024-02-28"),
        ("day after tomorrow", "2024-03-01"),
        ("may 31", "2023-05-31"),
        ("february 30", None),
        ("next day", "2024-02-29"),
        ("last sunday", "2024-02-18"),
        ("this sunday", "2024-02-25"),
        ("next trading day", "2024-02-29"),
        # seasons
        ("2022-2023", "2022-01-01 to 2023-12-31"),
        ("2022-2023 season", "2022-07-01 to 2023-06-30"),
        ("2022/2023", "2022-07-01 to 2023-06-30"),
        ("2022/2024", None),
        ("2022/24", None),
        ("1999/00", "1999-07-01 to 2000-06-30"),
        ("9798", "1997-07-01 to 1998-06-30"),
        ("2122", "2021-07-01 to 2022-06-30"),
        ("1819", "1819-01-01 to 1819-12-31"),
        ("1920", "1920-01-01 to 1920-12-31"),
        ("2325", None),
        ("last season", "2022-07-01 to 2023-06-30"),
        # months and quarters without a year
        ("this march", "2024-03-01 to 2024-03-31"),
        ("next march", "2024-03-01 to 2024-03-31"),
        ("next february", "2025-02-01 to 2025-02-28"),
        ("february", "2024-02-01 to 2024-02-29"),
        ("first quarter", "2024-01-01 to 2024-03-31"),
        # up to today
        ("mtd", "2024-02-01 to 2024-02-28"),
        ("month-to-date", "2024-02-01 to 2024-02-28"),
        ("quarter to date", "2024-01-01 to 2024-02-28"),
        ("so far this month", "2024-02-01 to 2024-02-28"),
        # counts
        ("3 trading days ago", "2024-02-23"),
        ("next 3 trading days", "2024-02-29 to 2024-03-04"),
        ("next 2 weeks", "2024-02-29 to 2024-03-13"),
        ("0 days ago", None),
        # parts and edges of periods
        ("second week of january 2024", "2024-01-08 to 2024-01-14"),
        ("fifth week of february 2024", None),
        ("second half of 2023", "2023-07-01 to 2023-12-31"),
        ("third session of 2024", "2024-01-04"),
        ("first monday of january 2024", "2024-01-01"),
        ("fifth monday of february 2024", None),
        ("last monday of february 2024", "2024-02-26"),
        ("first trading day of last weekend", None),
        ("end of the month", "2024-02-29"),
        ("close of the month", "2024-02-29"),
        ("start of the season", "2023-07-01"),
        # weeks around a day, and ranges
        ("week ending 2024-01-10", "2024-01-04 to 2024-01-10"),
        ("week starting 2024-01-10", "2024-01-10 to 2024-01-16"),
        ("from december to february", "2023-12-01 to 2024-02-29"),
        ("from february to december", "2023-02-01 to 2023-12-31"),
        ("from 2020 to 2020-05", "2020-01-01 to 2020-12-31"),
        # what is part of something else
        ("2024%", None),
        ("$2024", None),
    ],
)
def test_an_expression_seen_from_a_wednesday(expression: str, expected: str | None) -> None:
    assert days_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "asked_at", "expected"),
    [
        ("past 2 days", datetime(2024, 2, 24), "2024-02-22 to 2024-02-23"),  # asked on a Saturday
        ("last trading day", datetime(2024, 2, 24), "2024-02-23"),
        ("next day", datetime(2024, 2, 23), "2024-02-26"),
        ("end of last week", WEDNESDAY, "2024-02-23"),
        ("last monday", datetime(2024, 2, 24), "2024-02-12"),
        ("monday", datetime(2024, 2, 19), "2024-02-16"),  # a holiday, asked on it: Tuesday is still to come
        ("monday", datetime(2024, 2, 20), "2024-02-20"),
        ("this saturday", datetime(2024, 2, 28), "2024-03-04"),
    ],
)
def test_sessions_seen_from_other_days(expression: str, asked_at: datetime, expected: str) -> None:
    assert days_of(expression, asked_at, Calendar.TRADING) == expected


@pytest.mark.parametrize(
    ("year", "expected"), [(2024, date(2020, 2, 29)), (1903, date(1896, 2, 29)), (2103, date(2096, 2, 29))]
)
def test_the_latest_leap_day_may_be_eight_years_ago(year: int, expected: date) -> None:
    assert days_of("february 29", datetime(year, 2, 28)) == str(expected)


@pytest.mark.parametrize(
    ("expression", "asked_at", "expected"),
    [
        ("last month", datetime(2024, 3, 31), "2024-02-01 to 2024-02-29"),
        ("next quarter", datetime(2023, 11, 30), "2024-01-01 to 2024-03-31"),
        ("last january", datetime(2024, 1, 31), "2023-01-01 to 2023-01-31"),
        ("last weekend", datetime(2024, 2, 25), "2024-02-17 to 2024-02-18"),
        ("next day", datetime(2024, 2, 23), "2024-02-24"),
    ],
)
def test_what_comes_before_and_after_the_day_of_asking(expression: str, asked_at: datetime, expected: str) -> None:
    assert days_of(expression, asked_at) == expected


@pytest.mark.parametrize(
    "question",
    [
        "is 10-2024-12-01 a valid code?",
        "did it rise by 2024% at once?",
        "did they score 3.2021 on average?",
        "is the price 2021.5 or more?",
        "who fought on the last day of the war?",
    ],
)
def test_a_part_of_something_longer_is_no_date(question: str) -> None:
    assert find_dates(question, WEDNESDAY) == []
