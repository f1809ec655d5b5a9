"""Rules for dates, durations and numbers as answers."""

import pytest

from evaluation.judge.case import Case, Finding
from evaluation.judge.quantities import durations, same_date, same_duration, same_quantity


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
    ],
)
def test_durations(text: str, seconds: float) -> None:
    found, rest = durations(text)
    assert found == pytest.approx([seconds])
    assert rest.strip() == ""


def test_no_durations() -> None:
    assert durations("2 hounds and 5 minutiae")[0] == []


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
    ("query", "gold", "prediction", "correct"),
    [
        ("how many films?", "5", "Five films.", True),
        ("how many films?", "five", "5", True),
        ("how many films?", "5", "6", False),
        ("how many films?", "5", "15", False),
        ("how many films?", "5", "many", False),
        ("how many films?", "0", "She has never made any.", True),
        ("how many films?", "0", "She made 3.", False),
        ("how many of the 12 films?", "5", "Of the 12 films, 5.", True),
        ("how many of the 12 films?", "12", "All 12 films.", True),
        ("how many films?", "5", "By 1998 she had made 5 films.", True),
        ("how many films?", "5", "She made 6 films. The 5 oldest are lost. One was found, so 7.", False),
        ("which year?", "1998", "It was 1998.", True),
        ("which year?", "1998", "It was 1999.", False),
        ("which year?", "1998", "On May 3, 1998.", True),
        ("which year?", "1998", "1998.5", False),
        ("how much did it make?", "$1.23 billion", "about $1,230,000,000", True),
        ("how much did it make?", "$1.23 billion", "1.23 million dollars", False),
        ("how much did it make?", "1.23 billion", "1230 million", True),
        ("what share?", "12.5%", "12.5 percent", True),
        ("what share?", "12.5%", "12.5 per cent", True),
        ("what share?", "12.5%", "$12.5", False),
        ("how cold?", "-4", "4", False),
        ("who?", "ann lee", "5", None),
        ("when?", "may 5", "5", None),
    ],
)
def test_same_quantity(query: str, gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(same_quantity(Case(query, gold, prediction))) is correct
