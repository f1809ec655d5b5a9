"""Whole dates in any notation."""

from datetime import date

import pytest

from evaluation.judge.dates import dates

DAY = date(1939, 7, 4)


@pytest.mark.parametrize(
    "text",
    [
        "1939-07-04",
        "7/4/1939",
        "July 4, 1939",
        "jul. 4 1939",
        "4 July 1939",
        "the 4th of July, 1939",
        "July 4th, 1939",
        "It was on July the 4th 1939.",
    ],
)
def test_notations(text: str) -> None:
    assert dates(text) == {DAY}


@pytest.mark.parametrize("text", ["July 1939", "1939", "2023-02-30", "31/12/1999", "may 5", "11939-07-040"])
def test_no_whole_date(text: str) -> None:
    assert dates(text) == set()


def test_several() -> None:
    assert dates("from 1939-07-04 to May 8, 1945") == {DAY, date(1945, 5, 8)}
