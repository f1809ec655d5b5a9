"""Rules for dates and lengths of time as answers."""

import pytest

from agents.matching import read_durations
from evaluation.judge.case import Case, Finding
from evaluation.judge.moments import same_date, same_dates, same_duration


def decided(finding: Finding | None) -> bool | None:
    return None if finding is None else finding.correct


@pytest.mark.parametrize(
    ("query", "gold", "prediction", "correct"),
    [
        ("when was it?", "1999-12-31", "It was on December 31st, 1999.", True),
        ("when was it?", "12/31/1999", "31 December 1999", True),
        ("when was it?", "1999-12-31", "December 30, 1999", False),
        ("when was it?", "1999-12-31", "December 31, 1998", False),
        ("when was it?", "1999-12-31", "December 1999", False),
        ("when was it?", "1999-12-31", "1999", False),
        ("when was it?", "1999-12-31", "on a Friday", False),
        ("when was it?", "december 1999", "December 31, 1999", None),
        ("when was it?", "from 1999-12-31 to 2000-01-02", "1999-12-31", None),
        ("who won?", "ann lee on 1999-12-31", "1999-12-31", None),
        ("what year was it?", "1999-12-31", "1999", True),
        ("which month was it?", "1999-12-31", "in december", True),
        ("which month was it?", "1999-12-31", "in may", False),
        ("when was it in 1999?", "1999-12-31", "on 31 December", True),
        ("when was it in 1999?", "1999-12-31", "on 30 December", False),
        ("when was it?", "1999-12-31", "on 31 December", False),
        ("when did she win?", "she won on 1999-12-31 in rome", "in Rome on December 31, 1999", True),
    ],
)
def test_same_date(query: str, gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(same_date(Case(query, gold, prediction))) is correct


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2 hours 30 minutes", 9000),
        ("2 hours and 30 minutes", 9000),
        ("2 hrs, 30 mins", 9000),
        ("150-minute", 9000),
        ("2.5 hours", 9000),
        ("two hours", 7200),
        ("1 minute 5 secs", 65),
        ("90 seconds", 90),
        ("1h 30m", 5400),
        ("an hour and a half", 5400),
        ("half an hour", 1800),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    found, rest = read_durations(text)
    assert found == pytest.approx([seconds])
    assert rest.strip() == ""


def test_no_durations() -> None:
    assert read_durations("2 hounds and 5 minutiae")[0] == []


@pytest.mark.parametrize(
    ("gold", "prediction", "correct"),
    [
        ("2 hours 30 minutes", "It lasts 150 minutes.", True),
        ("2 hours 30 minutes", "149 min", True),
        ("2 hours 30 minutes", "2 hours", False),
        ("2 hours 30 minutes", "2 hours 40 minutes", False),
        ("2 hours", "7200 seconds", True),
        ("2 hours", "very long", None),
        ("ann lee", "2 hours", None),
    ],
)
def test_same_duration(gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(same_duration(Case("how long is the film?", gold, prediction))) is correct


@pytest.mark.parametrize(
    ("gold", "prediction", "correct"),
    [
        ("2023-10-02, 2023-10-05", "October 5, 2023 and October 2, 2023", True),
        ("2023-10-02, 2023-10-05", "2023-10-02", False),
        ("2023-10-02, 2023-10-05", "2023-10-02, 2023-10-05 and 2023-10-06", False),
        ("2023-10-02, 2023-10-05", "From 2023-10-01 on: 2023-10-02, 2023-10-05", True),
        ("2023-10-02, 2023-10-05", "two days", None),
        ("2023-10-02", "2023-10-02", None),
        ("from 2023-10-02 in rome to 2023-10-05", "2023-10-02", None),
    ],
)
def test_a_list_of_dates_must_be_whole(gold: str, prediction: str, correct: bool | None) -> None:
    case = Case("on which days from 2023-10-01 on did the price fall?", gold, prediction)
    assert decided(same_dates(case)) is correct
