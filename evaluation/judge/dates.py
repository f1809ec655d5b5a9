"""Whole calendar dates in any common notation."""

import re
from datetime import date
from typing import NamedTuple

from evaluation.judge.text import clean

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
DATE_PATTERNS = (
    re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?!\d)"),
    re.compile(r"(?<!\d)(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?!\d)"),
    re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\s?,?\s+(?:in\s+|of\s+)?{_YEAR}\b"),
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}\b"),
)
"""Matched on cleaned text. Numbers between slashes are month/day/year, as the questions' own query_time writes them."""

_DAYS_OF_YEAR = (
    re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b(?!,?\s+(?:in\s+|of\s+)?\d{{4}})"),
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?!,?\s+\d{{4}})(?!\w)"),
)


class DayOfYear(NamedTuple):
    """A date without a year."""

    month: int
    day: int


def dates(text: str) -> set[date]:
    """The whole dates of a text; impossible ones such as 2023-02-30 are left out."""
    cleaned = clean(text)
    found = set()
    for pattern in DATE_PATTERNS:
        for match in pattern.finditer(cleaned):
            month, day = _month(match["month"]), int(match["day"])
            try:
                found.add(date(int(match["year"]), month, day))
            except ValueError:
                continue
    return found


def days_of_year(text: str) -> set[DayOfYear]:
    """The dates of a text that come without a year."""
    cleaned = clean(text)
    found = (match for pattern in _DAYS_OF_YEAR for match in pattern.finditer(cleaned))
    return {DayOfYear(_month(match["month"]), int(match["day"])) for match in found}


def _month(written: str) -> int:
    return int(written) if written.isdigit() else 1 + _MONTHS.index(written[:3])


def without_dates(text: str) -> str:
    """The cleaned text with whole dates cut out."""
    cleaned = clean(text)
    for pattern in DATE_PATTERNS:
        cleaned = pattern.sub(" ", cleaned)
    return cleaned
