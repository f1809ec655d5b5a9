"""Reads whole calendar dates, and spans of days, in any common notation."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, timedelta
from typing import NamedTuple

from crag.text.dates import MONTH_NAME, month_number
from crag.text.matching.words import normalise_text

MONTH_GROUP = f"(?P<month>{MONTH_NAME})"
"""The pattern of a month's name, as the group `month`. It has no spaces, so it fits into verbose patterns too."""

_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_SHORT_YEAR = r"'(?P<year>\d{2})"

_DATES = (
    # 1939-07-04 and 1939/7/4, not inside a longer number
    re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})(?!\d)"),
    # 7/4/1939: month before day, as in CRAG's query_time
    re.compile(r"(?<!\d)(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?!\d)"),
    # 07-04-1939; not the end of a longer number
    re.compile(r"(?<![\d-])(?P<month>\d{1,2})-(?P<day>\d{1,2})-(?P<year>(?:1[5-9]|20)\d{2})(?![\d-])"),
    # 7/4/39; not the statistics 30/10/12
    re.compile(r"(?<![\d/])(?P<month>0?[1-9]|1[0-2])/(?P<day>0?[1-9]|[12]\d|3[01])/(?P<year>\d{2})(?![\d/])"),
    # 19390704
    re.compile(
        r"(?<![\d.,])(?P<year>(?:1[89]|20)\d{2})(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?![\d.,]*\d)"
    ),
    # 4.7.1939: day before month, as in Europe
    re.compile(r"(?<!\d)(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})(?!\d)"),
    # July the 4th, 1939; not "July 1939"
    re.compile(rf"\b{MONTH_GROUP}\s+(?:the\s+)?{_DAY}(?:\s?,\s*|\s+)(?:in\s+|of\s+)?{_YEAR}\b"),
    # the 4th of July 1939, 4. July 1939
    re.compile(rf"\b{_DAY}\.?\s+(?:of\s+)?{MONTH_GROUP},?\s+{_YEAR}\b"),
    # Jul-04-1939, 04-Jul-1939
    re.compile(rf"\b{MONTH_GROUP}-{_DAY}-{_YEAR}\b"),
    re.compile(rf"\b{_DAY}-{MONTH_GROUP}-{_YEAR}\b"),
    # 4-Jul-39
    re.compile(rf"(?<![\d-])\b{_DAY}-{MONTH_GROUP}-(?P<year>\d{{2}})\b(?![-\d])"),
    # 1939 July 4
    re.compile(rf"\b{_YEAR},?\s+{MONTH_GROUP}\s+{_DAY}\b(?![.,]?\d)"),
    # July 4, '39; 4 July '39
    re.compile(rf"\b{MONTH_GROUP}\s+{_DAY},?\s+{_SHORT_YEAR}\b"),
    re.compile(rf"\b{_DAY}\s+{MONTH_GROUP},?\s+{_SHORT_YEAR}\b"),
)


_TO = r"\s?(?:-|\bto\b|\bthrough\b|\buntil\b|\btill\b)\s?"
_FIRST_DAY = r"(?P<first_day>\d{1,2})(?:st|nd|rd|th)?"
_FIRST_MONTH = f"(?P<first_month>{MONTH_NAME})"
_SPANS = (
    # July 4-6, 1939; July 4 to August 2, 1939
    re.compile(rf"\b{MONTH_GROUP}\s+{_FIRST_DAY}{_TO}{_DAY},?\s+{_YEAR}\b"),
    re.compile(rf"\b{_FIRST_MONTH}\s+{_FIRST_DAY}{_TO}{MONTH_GROUP}\s+{_DAY},?\s+{_YEAR}\b"),
    # 4-6 July 1939; 4 July to 2 August 1939
    re.compile(rf"\b{_FIRST_DAY}(?:\s+{_FIRST_MONTH})?{_TO}(?:the\s)?{_DAY}\s+(?:of\s+)?{MONTH_GROUP},?\s+{_YEAR}\b"),
)


_AND_DAYS = r"(?P<days>\d{1,2}(?:st|nd|rd|th)?(?:(?:,|,?\s(?:and|&))\s\d{1,2}(?:st|nd|rd|th)?){1,30})"
_LISTS = (
    # July 4, 5 and 7, 1939
    re.compile(rf"\b{MONTH_GROUP}\s+{_AND_DAYS},?\s+{_YEAR}\b"),
    # 4, 5 and 7 July 1939
    re.compile(rf"(?<![\d.,])\b{_AND_DAYS}\s+(?:of\s+)?{MONTH_GROUP},?\s+{_YEAR}\b"),
)
_LONGEST_SPAN = 31
"""Days; a longer span is no list of its days."""
_FIRST_SHORT_YEAR = 69


class DaySpan(NamedTuple):
    """The first and the last of several days."""

    first: date
    last: date


def read_day_spans(text: str) -> set[DaySpan]:
    """The spans of days in a text that name their year once: "July 4-6, 1939", "from 4 July to 2 August 1939".

    >>> read_day_spans("4 to 6 July 1939") == read_day_spans("July 4-6, 1939")
    True
    """
    spans: set[DaySpan] = set()
    for match in _find_all(_SPANS, normalise_text(text)):
        groups = match.groupdict()
        with suppress(ValueError):
            year = int(match["year"])
            last = date(year, month_number(match["month"]), int(match["day"]))
            first = date(year, month_number(groups.get("first_month") or match["month"]), int(match["first_day"]))
            # "from 30 December to 2 January 1940" begins in the year before
            if first > last:
                first = first.replace(year=year - 1)
            spans.add(DaySpan(first, last))
    return spans


def read_dates(text: str) -> set[date]:
    """The whole dates of a text; impossible ones such as 2023-02-30 are left out.

    >>> read_dates("from 1939-07-04 on")
    {datetime.date(1939, 7, 4)}
    """
    days: set[date] = set()
    for match in _find_all(_DATES, normalise_text(text)):
        with suppress(ValueError):
            days.add(date(_year_number(match["year"]), month_number(match["month"]), int(match["day"])))
    return days


def read_listed_days(text: str) -> set[date]:
    """All days that a text names: whole dates, those of lists, and each day of a short span.

    >>> len(read_listed_days("July 4, 5 and 7, 1939, and August 1-3, 1939"))
    6
    """
    days = read_dates(text)
    for match in _find_all(_LISTS, normalise_text(text)):
        for day in re.findall(r"\d+", match["days"]):
            with suppress(ValueError):
                days.add(date(int(match["year"]), month_number(match["month"]), int(day)))

    for span in read_day_spans(text):
        length = (span.last - span.first).days + 1
        if length <= _LONGEST_SPAN:
            days.update(span.first + timedelta(days=number) for number in range(length))
    return days


def _year_number(written: str) -> int:
    """The year; of two digits as POSIX reads them: 1969 to 2068."""
    year = int(written)
    if len(written) == len("1939"):
        return year
    return 1900 + year if year >= _FIRST_SHORT_YEAR else 2000 + year


def _find_all(patterns: Iterable[re.Pattern[str]], text: str) -> Iterator[re.Match[str]]:
    for pattern in patterns:
        yield from pattern.finditer(text)


def without_dates(text: str) -> str:
    """The normalised text without whole dates."""
    text = normalise_text(text)
    for pattern in _DATES:
        text = pattern.sub(" ", text)
    return text
