"""Resolves date expressions at the time of asking.

The router uses it to find dates in questions, the knowledge graph's executor to resolve arguments of calls. It follows
the conventions of CRAG's questions and answers:

* On the civil calendar "today" is the asker's day, in Pacific time. On the trading calendar it is New York's day, three
  hours ahead: at ``03/05/2024, 23:18:31 PT`` it is March 6.
* "last friday" is the Friday of the previous week (Sunday to Saturday), "recent friday" the latest one before today.
* "last trading day" is the latest session before today. On the trading calendar, a day counted from today ("yesterday",
  "two days ago") without a session becomes the session before it, a named weekday the session after it. Words for
  sessions ("last close") mean sessions on either calendar.
* Written-out dates stay unchanged, with or without a session.
* A month, quarter or day without a year is the latest one that has started.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crag.text.dates.calendars import DateRange
from crag.text.dates.readers import Viewpoint
from crag.text.dates.rules import RULES, Rule
from crag.text.dates.vocabulary import MONTH_NAME

MAX_QUESTION_CHARACTERS = 2_000
"""Later characters are not searched for dates."""

MAX_EXPRESSION_CHARACTERS = 200
"""A longer string is not a date expression."""

_DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLAIN_MARKS = str.maketrans("’‘‐‑–—", "''----")

_LEADING_WORDS = re.compile(r"^(?:(?:on|in|at|during|for|of|over|within|by|the|as of) ){0,4}")
_TRAILING_MARKS = re.compile(
    r"""
    (?:(?<!\d0)'s)?     # a possessive, but not the end of "1990's"
    [ ?!.,;:]{0,9}
    $
    """,
    re.VERBOSE,
)
_AMBIGUOUS_ALONE = re.compile(rf"{MONTH_NAME}|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun")
"""Names of months and short names of weekdays that are also names of people or other words ("may", "april", "sun")."""

_ANNOUNCES_DATE = re.compile(r"(?:in|on|during|since|of|for|by|until|till|from|early|mid|late|next|last) (?:the )?$")
_MAX_ANNOUNCEMENT_CHARACTERS = 12
"""The longest of these words, with the article and spaces."""


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
    """The date expressions in order; the longest match wins. A lone month counts only after a word like "in"."""
    view = _viewpoint(asked_at, calendar)
    text = _prepare(question[:MAX_QUESTION_CHARACTERS])

    matches: list[tuple[re.Match[str], Rule]] = []
    for rule in RULES:
        matches += [(match, rule) for match in rule.pattern.finditer(text) if not _is_other_word(match)]
    matches.sort(key=_longest_then_first)

    taken = bytearray(len(text))  # 1 for each character of a date
    dates: dict[int, ResolvedDate] = {}
    for match, rule in matches:
        span = slice(*match.span())
        # Part of a longer date that was read before.
        if any(taken[span]):
            continue
        resolved = _resolve_match(rule, match, view, match[0])
        if resolved:
            taken[span] = b"\1" * len(match[0])
            dates[match.start()] = resolved
    return [dates[start] for start in sorted(dates)]


def _longest_then_first(candidate: tuple[re.Match[str], Rule]) -> tuple[int, int]:
    match, _ = candidate
    start, end = match.span()
    return (start - end, start)


def _viewpoint(asked_at: datetime, calendar: Calendar) -> Viewpoint:
    trading = calendar is Calendar.TRADING
    moment = eastern_time(asked_at) if trading else asked_at
    return Viewpoint(moment.date(), trading)


def _prepare(text: str) -> str:
    """The text as patterns expect it: lower case, single spaces, plain quotes and hyphens."""
    return " ".join(text.lower().translate(_PLAIN_MARKS).split())


def _is_other_word(match: re.Match[str]) -> bool:
    """Whether "may" or "sun" is probably no date: no word like "in" announces one."""
    if not _AMBIGUOUS_ALONE.fullmatch(match[0]):
        return False
    start = match.start()
    return not _ANNOUNCES_DATE.search(match.string, max(0, start - _MAX_ANNOUNCEMENT_CHARACTERS), start)


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
