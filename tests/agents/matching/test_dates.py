"""Whole dates in any notation."""

from datetime import date

import pytest

from agents.matching import read_dates, without_dates

DAY = date(1939, 7, 4)


NOTATIONS = "1939-07-04|7/4/1939|jul. 4 1939|the 4th of July, 1939|July 4th, 1939|It was on July the 4th 1939."
NO_WHOLE_DATES = "July 1939|1939|2023-02-30|31/12/1999|may 5|11939-07-040|March 3rd to 1999|February 29, 2023"


def test_notations() -> None:
    assert [read_dates(text) for text in NOTATIONS.split("|")] == [{DAY}] * 6
    assert [read_dates(text) for text in NO_WHOLE_DATES.split("|")] == [set()] * 8
    assert read_dates("from 1939-07-04 to May 8, 1945") == {DAY, date(1945, 5, 8)}
    assert read_dates("3/4/2021") == {date(2021, 3, 4)}


@pytest.mark.parametrize("month", range(1, 13))
def test_every_month_in_full_and_short(month: int) -> None:
    day = date(2021, month, 17)
    for form in ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%b. %d %Y", "%Y-%m-%d", "%m/%d/%Y"):
        assert read_dates(day.strftime(form)) == {day}
        assert read_dates(day.strftime(form).upper()) == {day}


def test_the_rest_without_dates() -> None:
    assert without_dates("On July 4, 1939 and 5 May 1940 in 1941").split() == ["on", "and", "in", "1941"]
