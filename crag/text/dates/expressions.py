"""Resolves date expressions at the time of asking.

`find_dates` finds them in questions, for the choice of pages and the check of written calls; `resolve_date` reads
arguments of calls. Both follow the conventions of CRAG's questions and answers:

* On the civil calendar "today" is the asker's day, in Pacific time. On the trading calendar it is New York's day, three
  hours ahead: at ``03/05/2024, 23:18:31 PT`` it is March 6.
* "last friday" is the Friday of the previous week (Sunday to Saturday), "recent friday" the latest one before today.
* "last trading day" is the latest session before today. On the trading calendar, a day counted from today ("yesterday",
  "two days ago") without a session becomes the session before it, a named weekday the session after it. Words for
  sessions ("last close") mean sessions on either calendar.
* Written-out dates stay unchanged, with or without a session. On the trading calendar the day after or before one is
  the next or the last session.
* A month, quarter or day without a year is the latest one that has started.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crag.text.dates.calendars import DateRange
from crag.text.dates.readers import Viewpoint
from crag.text.dates.rule import Rule
from crag.text.dates.rules import RULES
from crag.text.dates.usage import are_linked, is_used_as_date

MAX_QUESTION_CHARACTERS = 2_000
"""Later characters are not searched for dates."""

MAX_EXPRESSION_CHARACTERS = 200
"""A longer string is not a date expression."""

_DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLAIN_MARKS = str.maketrans("’‘“”‐‑–—−", "''\"\"-----")

_LEADING_WORDS = re.compile(r"^(?:(?:on|in|at|during|for|of|over|within|by|the|as of) ){0,4}")
_TRAILING_MARKS = re.compile(
    r"""
    (?:(?<!\d0)'s)?     # a possessive, but not the end of "1990's"
    [ ?!.,;:]{0,9}
    $
    """,
    re.VERBOSE,
)


class Calendar(StrEnum):
    """Which days count: all in the asker's time zone, or sessions of the New York Stock Exchange in its zone."""

    CIVIL = "civil"
    TRADING = "trading"


@dataclass(frozen=True, slots=True)
class ResolvedDate:
    """The meaning of an expression. `newest`: the newest record of any day; `range` is None if it names no time.

    For "now" it is today. `explanation` is a sentence for the trace.
    """

    newest: bool
    range: DateRange | None
    expression: str
    explanation: str


def eastern_time(asked_at: datetime) -> datetime:
    """Pacific wall-clock time as Eastern wall-clock time, both without a zone.

    Without the time zone database it adds three hours, which is wrong by one hour for three hours around each change of
    the clocks, and never wrong about the day.
    """
    try:
        pacific = asked_at.replace(tzinfo=ZoneInfo("America/Los_Angeles"))
        return pacific.astimezone(ZoneInfo("America/New_York")).replace(tzinfo=None)
    except ZoneInfoNotFoundError:
        return asked_at + timedelta(hours=3)


def resolve_date(expression: str, asked_at: datetime, calendar: Calendar = Calendar.CIVIL) -> ResolvedDate | None:
    """The meaning of the whole expression; None if it is not a date expression.

    `asked_at` is Pacific wall-clock time without a zone, as in `Query.asked_at`.

    >>> resolved = resolve_date("last friday", datetime(2024, 2, 28, 8, 0))
    >>> str(resolved.range)
    '2024-02-23'
    """
    if len(expression) > MAX_EXPRESSION_CHARACTERS:
        return None

    view = _viewpoint(asked_at, calendar)
    text = _TRAILING_MARKS.sub("", _prepare(expression))
    without_leading_words = _LEADING_WORDS.sub("", text, count=1)
    written = " ".join(expression.split())

    for rule in RULES:
        for candidate in (text, without_leading_words):
            match = rule.pattern.fullmatch(candidate)
            resolved = _resolve_match(rule, match, view, written) if match else None
            if resolved:
                return resolved
    return None


def find_dates(question: str, asked_at: datetime, calendar: Calendar = Calendar.CIVIL) -> list[ResolvedDate]:
    """The date expressions in order; the longest match wins. Parts of names are none (`crag.text.dates.usage`)."""
    view = _viewpoint(asked_at, calendar)
    cased_text = _with_plain_marks(question[:MAX_QUESTION_CHARACTERS])
    text = cased_text.lower()
    if len(text) != len(cased_text):  # some letters have a longer small form, such as the Turkish I with a dot
        cased_text = text

    dates: list[_FoundDate] = []
    for match, rule in _longest_first(text):
        start, end = match.span()
        # Part of a longer date that was read before.
        if any(start < longer.end and longer.start < end for longer in dates):
            continue
        resolved = _resolve_match(rule, match, view, match[0])
        if resolved:
            is_used = is_used_as_date(cased_text, start, end)
            dates.append(_FoundDate(start, end, resolved, is_used))

    dates.sort(key=lambda date: date.start)
    _use_linked_dates(dates, text)
    return [date.resolved for date in dates if date.is_used]


@dataclass(slots=True)
class _FoundDate:
    """Characters of a question that have the form of a date.

    `is_used`: they are used as one; otherwise the grammar around them makes them a part of a name.
    """

    start: int
    end: int
    resolved: ResolvedDate
    is_used: bool


class _RuleMatch(NamedTuple):
    """Where a rule matches a text."""

    match: re.Match[str]
    rule: Rule


def _longest_first(text: str) -> list[_RuleMatch]:
    """All matches of all rules, the longest first; of equally long ones the first in the text."""
    matches: list[_RuleMatch] = []
    for rule in RULES:
        matches.extend(_RuleMatch(match, rule) for match in rule.pattern.finditer(text))

    def order(candidate: _RuleMatch) -> tuple[int, int]:
        start, end = candidate.match.span()
        return start - end, start

    return sorted(matches, key=order)


def _use_linked_dates(dates: Sequence[_FoundDate], text: str) -> None:
    """Also use what is enumerated with a date that is used: the second year of "in 1984 or 2021"."""
    linked_pairs: list[tuple[_FoundDate, _FoundDate]] = []
    for date, next_date in pairwise(dates):
        if are_linked(text[date.end : next_date.start]):
            linked_pairs.append((date, next_date))

    # Forwards, then backwards, so that a whole chain follows one date.
    for date, next_date in linked_pairs:
        next_date.is_used = next_date.is_used or date.is_used
    for date, next_date in reversed(linked_pairs):
        date.is_used = date.is_used or next_date.is_used


def _viewpoint(asked_at: datetime, calendar: Calendar) -> Viewpoint:
    trading = calendar is Calendar.TRADING
    moment = eastern_time(asked_at) if trading else asked_at
    return Viewpoint(moment.date(), trading)


def _prepare(text: str) -> str:
    """The text as patterns expect it: lower case, single spaces, plain quotes and hyphens."""
    return _with_plain_marks(text).lower()


def _with_plain_marks(text: str) -> str:
    return " ".join(text.translate(_PLAIN_MARKS).split())


def _resolve_match(rule: Rule, match: re.Match[str], view: Viewpoint, expression: str) -> ResolvedDate | None:
    try:
        days = rule.read(match, view)
    except (ValueError, OverflowError):
        return None
    if days is None and not rule.newest:
        return None

    meaning = "the newest record" if rule.newest else str(days)
    zone = " in New York" if view.trading else ""
    seen_from = f"{_DAY_NAMES[view.today.weekday()]} {view.today}{zone}"
    return ResolvedDate(rule.newest, days, expression, f'"{expression}" seen from {seen_from} is {meaning}')
