"""Whole calendar dates and lengths of time, in any common notation."""

import re
from datetime import date
from typing import NamedTuple

from agents.matching.words import normalise

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_DATES = (
    re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?!\d)"),
    re.compile(r"(?<!\d)(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?!\d)"),
    re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\s?,?\s+(?:in\s+|of\s+)?{_YEAR}\b"),
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}\b"),
)
"""Numbers between slashes are month/day/year, as CRAG writes its query_time."""

_DAYS_OF_YEAR = (
    re.compile(rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}\b(?!,?\s+(?:in\s+|of\s+)?\d{{4}})"),
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?!,?\s+\d{{4}})(?!\w)"),
)

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_TIME_UNIT = r"(?:hours?|hrs?|h|minutes?|mins?|seconds?|secs?|(?<=\dh \d\d)m)\b"
_TIME_PART = re.compile(rf"(?P<number>\d+(?:\.\d+)?)[\s-]?(?P<unit>{_TIME_UNIT})")
_ANY_PART = rf"\d+(?:\.\d+)?[\s-]?{_TIME_UNIT}"
_DURATION = re.compile(rf"{_ANY_PART}(?:,?\s+(?:and\s+)?{_ANY_PART})*")


class DayOfYear(NamedTuple):
    """A date without a year."""

    month: int
    day: int


class PlacedDate(NamedTuple):
    """A whole date and the characters of the normalised text where it stands."""

    day: date
    start: int
    end: int


def placed_dates(normalised: str) -> list[PlacedDate]:
    """The whole dates of a normalised text with their places; impossible ones such as 2023-02-30 are left out."""
    found = []
    for match in (match for pattern in _DATES for match in pattern.finditer(normalised)):
        try:
            day = date(int(match["year"]), _month(match["month"]), int(match["day"]))
        except ValueError:
            continue
        found.append(PlacedDate(day, *match.span()))
    return found


def read_dates(text: str) -> set[date]:
    """The whole dates of a text."""
    return {found.day for found in placed_dates(normalise(text))}


def read_days_of_year(text: str) -> set[DayOfYear]:
    """The dates of a text that come without a year."""
    normalised = normalise(text)
    found = (match for pattern in _DAYS_OF_YEAR for match in pattern.finditer(normalised))
    return {DayOfYear(_month(match["month"]), int(match["day"])) for match in found}


def without_dates(text: str) -> str:
    """The normalised text with everything that is written as a whole date cut out."""
    text = normalise(text)
    for pattern in _DATES:
        text = pattern.sub(" ", text)
    return text


def read_durations(text: str) -> tuple[list[float], str]:
    """Hours, minutes and seconds as seconds, neighbouring parts added up, and the normalised text without them."""
    normalised = normalise(text)
    found = [
        sum(float(part["number"]) * _SECONDS[part["unit"][0]] for part in _TIME_PART.finditer(whole[0]))
        for whole in _DURATION.finditer(normalised)
    ]
    return found, _DURATION.sub(" ", normalised)


def _month(written: str) -> int:
    return int(written) if written.isdigit() else 1 + MONTHS.index(written[:3])
