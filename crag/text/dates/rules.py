"""The forms of date expressions: a table of patterns, each with its reader function.

Patterns match lower-case text with single blanks (prepared by `crag.text.dates.expressions`). None has an unbounded
repetition, so matching takes linear time.

A reader returns None if the form matches but means no date. A ValueError or OverflowError (February 30, the year 10000)
means the same.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from crag.text.dates.calendars import (
    ONE_DAY,
    DateRange,
    Unit,
    is_session,
    period_around,
    period_from,
    session_at,
    shifted,
)

# --- words ------------------------------------------------------------------------------------------------------------
STEPS = (
    dict.fromkeys(("last", "past", "previous", "prior", "preceding"), -1)
    | dict.fromkeys(("this", "current"), 0)
    | dict.fromkeys(("next", "coming", "upcoming"), 1)
)
"""How many weeks, months, ... a word steps forward."""
ORDINALS = {
    word: number
    for number, words in enumerate(("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"), start=1)
    for word in words.split()
}
NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {word: number for number, word in enumerate(NUMBER_WORDS.split())} | {"a": 1, "an": 1}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
UNITS = {"qtr": Unit.QUARTER} | {unit.value: unit for unit in Unit}

YEAR = "(?:1[89]|20)[0-9]{2}"
AND_YEAR = f"(?:(?:,|, | |-)(?P<year>{YEAR}))?"
MONTH, DAY = "(?P<month>[0-9]{1,2})", "(?P<day>[0-9]{1,2})"
STEP = "|".join(STEPS)
RECENT = "most recent|recent|latest"
ORDINAL = "|".join(ORDINALS)
NUMBER = "[0-9]{1,3}|" + "|".join(NUMBERS)
MONTH_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
WEEKDAY = "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
SESSION = "(?:stock )?(?:trading day|day of trading|trading session|market day|market close|session|close)"
OF = "(?: of| in| for| from|,)? ?(?:the )?(?:year )?"
NTH_UNIT = f"trading day|trading session|session|day of trading|day|week|month|quarter|qtr|half|{WEEKDAY}"
COUNTED = "trading day|trading session|session|business day|day|week|month|quarter|year"


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """The day of asking, and whether days are sessions of the stock exchange."""

    today: date
    trading: bool

    def day_at_or_before(self, day: date) -> DateRange:
        """The day; on the trading calendar the latest session up to it."""
        return one_day(session_at(day, -1) if self.trading and not is_session(day) else day)

    def day_at_or_after(self, day: date) -> DateRange:
        """The day; on the trading calendar the first session from it on, but for a past day no session after today."""
        if not self.trading or is_session(day):
            return one_day(day)
        session = session_at(day, 1)
        return one_day(session_at(day, -1) if session > self.today >= day else session)


_YEARS_WITH_A_LEAP_DAY = 8
"""Any eight consecutive years have a February 29, even around 1900 and 2100."""

Match = re.Match[str]
Reader = Callable[[Match, Viewpoint], DateRange | None]


# --- readers: days ----------------------------------------------------------------------------------------------------
def one_day(day: date) -> DateRange:
    """The day as a range."""
    return DateRange(day, day)


def _numbered_day(match: Match, _view: Viewpoint) -> DateRange:
    year, month, day = (int(match[name]) for name in ("year", "month", "day"))
    return one_day(date(year, day, month) if month > 12 else date(year, month, day))


def _day_of_month(match: Match, view: Viewpoint) -> DateRange | None:
    """Without a year: the latest such day up to today."""
    month, day = month_number(match["name"]), int(match["day"])
    if match["year"]:
        return one_day(date(int(match["year"]), month, day))
    years = range(view.today.year, view.today.year - 1 - _YEARS_WITH_A_LEAP_DAY, -1)
    dates = (date(year, month, 1) + timedelta(days=day - 1) for year in years)
    return next((one_day(found) for found in dates if found.month == month and found <= view.today), None)


def _named_day(match: Match, view: Viewpoint) -> DateRange:
    words = match[0]
    if "tomorrow" in words:
        return view.day_at_or_after(view.today + timedelta(days=2 if "after" in words else 1))
    back = 2 if "before" in words else int(words in {"yesterday", "last night"})
    return view.day_at_or_before(view.today - timedelta(days=back))


def _neighbouring_day(match: Match, view: Viewpoint) -> DateRange:
    """For "last day" or "next trading day": the day before or after today, never today."""
    step = -1 if STEPS.get(match["step"], -1) < 0 else 1
    trading = view.trading or match["day"] != "day"
    return one_day(session_at(view.today, step) if trading else view.today + step * ONE_DAY)


def _weekday(match: Match, view: Viewpoint) -> DateRange:
    """A weekday of the last, this or the next calendar week; "recent": before today; alone: up to today."""
    groups = match.groupdict()
    number, step = WEEKDAYS.index(match["weekday"][:3]), groups["week"] or groups.get("step")
    if step in STEPS:
        week = period_around(shifted(view.today, Unit.WEEK, STEPS[step]), Unit.WEEK)
        return view.day_at_or_after(week.first + timedelta(days=(number + 1) % 7))
    back = (view.today.weekday() - number) % 7
    return view.day_at_or_after(view.today - timedelta(days=back or (7 if step else 0)))


# --- readers: periods -------------------------------------------------------------------------------------------------
def _season(match: Match, _view: Viewpoint) -> DateRange | None:
    """For "2022-23": consecutive years only. Without "season", "2011-12" is a month and "2022-2023" two years."""
    year, end, said = int(match["year"]), int(match["end"]), match["word"]
    if end != year + 1 and match["end"] != f"{(year + 1) % 100:02}":
        return None
    if match["mark"] == "-" and not said and (end <= 12 or end > year):
        return None
    return period_around(date(year, 7, 1), Unit.SEASON)


def _month(year: int, month: int) -> DateRange:
    return period_around(date(year, month, 1), Unit.MONTH)


def _quarter(match: Match, view: Viewpoint) -> DateRange:
    """Without a year: the latest such quarter that has started."""
    groups, year = match.groupdict(), int(match["year"] or view.today.year)
    number = int(groups["number"] or 0) or ORDINALS[groups["ordinal"]]
    first = date(year, 3 * number - 2, 1)
    if not groups["year"] and first > view.today:
        first = shifted(first, Unit.YEAR, -1)
    return period_from(first, Unit.QUARTER)


def _named_month(match: Match, view: Viewpoint) -> DateRange:
    """Without a year: the latest such month that has started; "last": before this month; "next": after it."""
    groups, month = match.groupdict(), month_number(match["name"])
    if groups["year"]:
        return _month(int(groups["year"]), month)
    year, now, step = view.today.year, view.today.month, groups["step"]
    direction = STEPS[step] if step else -1
    if direction > 0 and month <= now:
        year += 1
    if direction < 0 and (month > now or (step and month == now)):
        year -= 1
    return _month(year, month)


def _relative(match: Match, view: Viewpoint) -> DateRange:
    unit = UNITS[match["unit"]]
    return period_around(shifted(view.today, unit, STEPS[match["step"]]), unit)


def _to_date(match: Match, view: Viewpoint) -> DateRange:
    unit = {"m": Unit.MONTH, "y": Unit.YEAR}.get(match["unit"]) or UNITS[match["unit"]]
    return DateRange(period_around(view.today, unit).first, view.today)


# --- readers: counts and compositions ---------------------------------------------------------------------------------
def _ago(match: Match, view: Viewpoint) -> DateRange:
    count, unit = _number(match["count"]), match["unit"]
    if unit not in UNITS:
        return one_day(session_at(view.today, -count))
    return view.day_at_or_before(shifted(view.today, UNITS[unit], -count))


def _count(match: Match, view: Viewpoint) -> DateRange:
    """For "past 5 days": five days (on the trading calendar: sessions) up to today; "next": from tomorrow on."""
    count, unit = _number(match["count"]), match["unit"]
    future = STEPS[match["step"]] > 0
    if unit not in UNITS or (unit == Unit.DAY and view.trading):
        if future:
            return DateRange(session_at(view.today, 1), session_at(view.today, count))
        last = view.today if is_session(view.today) else session_at(view.today, -1)
        return DateRange(session_at(last, 1 - count), last)
    if future:
        return period_from(view.today + ONE_DAY, UNITS[unit], count)
    return DateRange(shifted(view.today, UNITS[unit], -count) + ONE_DAY, view.today)


def _part_of_period(match: Match, view: Viewpoint) -> DateRange | None:
    """For "first trading day of 2024", "last week of january" (its last seven days), "second friday of march"."""
    period, unit = _period(match["period"], view), match["unit"]
    position = ORDINALS.get(match["nth"], 0) - 1  # "last" and "final" are -1
    if unit in UNITS and not (unit == Unit.DAY and view.trading):
        start = period.first if position >= 0 else shifted(period.last + ONE_DAY, UNITS[unit], -1)
        part = period_from(shifted(start, UNITS[unit], max(position, 0)), UNITS[unit])
        return part if period.contains(part.first) and period.contains(part.last) else None
    if unit[:3] in WEEKDAYS:
        number = WEEKDAYS.index(unit[:3])
        day = period.first + timedelta(days=(number - period.first.weekday()) % 7 + 7 * position)
        if position < 0:
            day = period.last - timedelta(days=(period.last.weekday() - number) % 7)
        return view.day_at_or_after(day) if period.contains(day) else None
    day = session_at(period.first - ONE_DAY, position + 1) if position >= 0 else session_at(period.last + ONE_DAY, -1)
    return one_day(day) if period.contains(day) else None


def _edge_of_period(match: Match, view: Viewpoint) -> DateRange:
    """For "end of 2023", "close of last month": its last day or session."""
    period = _period(match["period"], view)
    if match["edge"] in {"end", "close"}:
        return view.day_at_or_before(period.last)
    return one_day(session_at(period.first - ONE_DAY, 1) if view.trading else period.first)


def _from_to(match: Match, view: Viewpoint) -> DateRange:
    """If the first date lacks a year, it is the latest one before the second. Two years may come in any order."""
    end = _date(match["end"], view)
    start = _date(match["start"], view)
    if start.first > end.last:
        start = _date(match["start"], Viewpoint(end.last, view.trading))
    start, end = sorted((start, end), key=lambda one: one.first)
    return DateRange(start.first, max(start.last, end.last))


# --- help for readers -------------------------------------------------------------------------------------------------
def month_number(written: str) -> int:
    """The number, 1 to 12, of a month in digits or in a spelling of `MONTH_NAME`."""
    return int(written) if written.isdigit() else 1 + MONTHS.index(written[:3].casefold())


def _number(text: str) -> int:
    """Raises ValueError for zero: "past 0 days" is not a time."""
    number = NUMBERS[text] if text in NUMBERS else int(text)
    if number == 0:
        raise ValueError("a count of zero")
    return number


def _period(text: str, view: Viewpoint) -> DateRange:
    return period_around(view.today, UNITS[text]) if text in UNITS else _date(text, view)


def _date(text: str, view: Viewpoint) -> DateRange:
    """A date inside a longer expression. Raises ValueError for other text."""
    for rule in SIMPLE_RULES:
        match = rule.pattern.fullmatch(text)
        found = rule.read(match, view) if match else None
        if found:
            return found
    raise ValueError(f"{text!r} is no date")


# --- the rules --------------------------------------------------------------------------------------------------------
class Rule:
    """A form of expression. `newest`: it means the newest record; its range is None if it names no day.

    The pattern must match whole words and not part of a number, price or percentage.
    """

    def __init__(self, pattern: str, read: Reader, newest: bool = False) -> None:
        self.pattern = re.compile(rf"(?<![\w$€£])(?<![0-9][.,/:-])(?:{pattern})(?![\w%])(?![.,/:-][0-9])")
        self.read = read
        self.newest = newest


_DAY_FORMS: tuple[tuple[str, Reader], ...] = (
    (f"(?P<year>{YEAR})[-/.]{MONTH}[-/.]{DAY}(?:[ t][0-9:]{{5,8}}(?: e[sd]?t)?)?", _numbered_day),
    (f"{MONTH}[-/]{DAY}[-/](?P<year>{YEAR})", _numbered_day),
    (f"(?P<name>{MONTH_NAME})[ -]?{DAY}(?:st|nd|rd|th)?{AND_YEAR}", _day_of_month),
    (f"{DAY}(?:st|nd|rd|th)?(?: of)?[ -](?P<name>{MONTH_NAME}){AND_YEAR}", _day_of_month),
    ("day before yesterday|yesterday|last night|today|tonight|this (?:morning|afternoon|evening)", _named_day),
    ("day after tomorrow|tomorrow", _named_day),
    (f"(?P<week>{STEP}) week(?:'s|,)?(?: on)? (?P<weekday>{WEEKDAY})", _weekday),
    (
        f"(?:(?P<step>{STEP}|{RECENT}) )?(?P<weekday>{WEEKDAY})(?:(?: of| in| from)?(?: the)? (?P<week>{STEP}) week)?",
        _weekday,
    ),
)
_PERIOD_FORMS: tuple[tuple[str, Reader], ...] = (
    (f"(?P<year>{YEAR})(?P<mark>[-/])(?P<end>{YEAR}|[0-9]{{2}})(?P<word> season)?", _season),
    (
        "(?P<decade>(?:1[89]|20)[0-9])0'?s",
        lambda match, _: period_from(date(int(match["decade"]) * 10, 1, 1), Unit.YEAR, 10),
    ),
    (
        f"(?P<year>{YEAR})[-/](?P<month>0?[1-9]|1[0-2])(?: season)?",
        lambda match, _: _month(int(match["year"]), int(match["month"])),
    ),
    (
        f"(?:year )?(?P<year>{YEAR})(?: season)?",
        lambda match, _: period_from(date(int(match["year"]), 1, 1), Unit.YEAR),
    ),
    (f"(?:q(?P<number>[1-4])|(?P<ordinal>{ORDINAL}) (?:quarter|qtr))(?:{OF}(?P<year>{YEAR}))?", _quarter),
    (f"(?:(?P<step>{STEP}) )?(?P<name>{MONTH_NAME})(?:(?:,|, | | of |-)(?P<year>{YEAR}))?", _named_month),
    (f"(?P<step>{STEP}) (?P<unit>weekend|week|month|quarter|qtr|half|year|season)", _relative),
)


def _alternatives(*forms: tuple[str, Reader]) -> str:
    """The patterns as one group, without group names."""
    return "(?:" + "|".join(re.sub(r"\(\?P<\w+>", "(?:", pattern) for pattern, _ in forms) + ")"


_DATES = _alternatives(*_DAY_FORMS, *_PERIOD_FORMS)
_PERIOD = f"(?:the )?(?P<period>{_alternatives(*_PERIOD_FORMS)}|week|month|quarter|year|season)"

SIMPLE_RULES = tuple(Rule(*form) for form in (*_DAY_FORMS, *_PERIOD_FORMS))
"""Expressions that can be part of a longer one."""

RULES = (
    *SIMPLE_RULES,
    Rule(f"(?P<step>{STEP}|{RECENT}|final) (?P<day>{SESSION}|day(?! of))", _neighbouring_day),
    Rule(
        f"(?:last|previous|final|{RECENT}) day (?:that |when |on which )?(?:the )?(?:stock )?markets? (?:was|were)"
        " open(?: for trading)?",
        lambda _, view: one_day(session_at(view.today, -1)),
    ),
    Rule(r"(?P<unit>year|month|quarter|week|season|y|m)(?: to |-to-|t)d(?:ate)?", _to_date),
    Rule(f"(?P<count>{NUMBER}) (?P<unit>{COUNTED})s? ago", _ago),
    Rule(f"(?P<step>last|past|previous|prior|next|coming) (?P<count>{NUMBER}) (?P<unit>{COUNTED})s?", _count),
    Rule(f"(?P<nth>{ORDINAL}|last|final) (?P<unit>{NTH_UNIT}) (?:of|in|for|from) {_PERIOD}", _part_of_period),
    Rule(f"(?P<edge>end|close|start|beginning) of {_PERIOD}", _edge_of_period),
    Rule(f"between (?:the )?(?P<start>{_DATES}) and (?:the )?(?P<end>{_DATES})", _from_to),
    Rule(
        f"(?:from )?(?P<start>{_DATES})(?: to | until | till | through | - |-)(?:the )?(?P<end>{_DATES})",
        _from_to,
    ),
    Rule(
        f"since (?:the )?(?P<date>{_DATES})",
        lambda match, view: DateRange(_date(match["date"], view).first, view.today),
    ),
    Rule(
        "as of now|right now|now|at the moment|at this moment|at present|currently|current",
        lambda _, view: one_day(view.today),
        newest=True,
    ),
    Rule("most recent(?:ly)?|latest|newest|recent", lambda *_: None, newest=True),
)
"""Every form; the first that matches wins."""
