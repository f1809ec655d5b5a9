"""Whole calendar dates in any common notation."""

import re
from datetime import date

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
    re.compile(r"(?<!\d)(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?!\d)"),
    re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY},?\s+(?:in\s+|of\s+)?{_YEAR}\b"),
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}\b"),
)
"""Matched on cleaned text. Numbers between slashes are month/day/year, as the questions' own query_time writes them."""


def dates(text: str) -> set[date]:
    """The whole dates of a text; impossible ones such as 2023-02-30 are left out."""
    cleaned = clean(text)
    found = set()
    for pattern in DATE_PATTERNS:
        for match in pattern.finditer(cleaned):
            month = match["month"]
            number = int(month) if month.isdigit() else 1 + _MONTHS.index(month[:3])
            try:
                found.add(date(int(match["year"]), number, int(match["day"])))
            except ValueError:
                continue
    return found


def without_dates(text: str) -> str:
    """The cleaned text with whole dates cut out."""
    cleaned = clean(text)
    for pattern in DATE_PATTERNS:
        cleaned = pattern.sub(" ", cleaned)
    return cleaned
