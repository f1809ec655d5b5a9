"""Whole calendar dates in any common notation."""

import re
from contextlib import suppress
from datetime import date

from crag.text.dates import MONTH_NAME, month_number
from crag.text.matching.words import normalise

MONTH = f"(?P<month>{MONTH_NAME})"
"""The pattern of a month's name, as the group `month`."""
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_DATES = (
    re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?!\d)"),
    re.compile(r"(?<!\d)(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?!\d)"),
    re.compile(rf"\b{MONTH}\s+(?:the\s+)?{_DAY}\s?,?\s+(?:in\s+|of\s+)?{_YEAR}\b"),
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{MONTH},?\s+{_YEAR}\b"),
)
"""Numbers between slashes are month/day/year, as in CRAG's query_time."""


def read_dates(text: str) -> set[date]:
    """The whole dates of a text; impossible ones such as 2023-02-30 are left out."""
    text, days = normalise(text), set()
    for match in (match for pattern in _DATES for match in pattern.finditer(text)):
        with suppress(ValueError):
            days.add(date(int(match["year"]), month_number(match["month"]), int(match["day"])))
    return days


def without_dates(text: str) -> str:
    """The normalised text without whole dates."""
    text = normalise(text)
    for pattern in _DATES:
        text = pattern.sub(" ", text)
    return text
