"""The forms that a date expression takes, each a pattern with the function that reads it.

A reader returns None where the form fits but means no date; a ValueError or OverflowError from it (February 30,
the year 10000) means the same.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from agents.questions.date_patterns import (
    AMERICAN_DAY,
    DATES,
    DAY_MONTH,
    DAYS,
    DECADE,
    ISO_DAY,
    ISO_MONTH,
    MONTH_DAY,
    MONTH_OF_YEAR,
    MONTHS,
    NAMED_DAY,
    NAMED_MONTH,
    NUMBER,
    NUMBERS,
    ONE_YEAR,
    ORDINAL,
    ORDINALS,
    PERIOD_OR_CURRENT,
    QUARTER,
    RECENT,
    RELATIVE,
    SEASON,
    SESSION,
    SHORT_SEASON,
    STEP,
    STEPS,
    UNITS,
    WEEK_DAY,
    WEEKDAY,
    WEEKDAY_DAY,
    WEEKDAYS,
    YEAR_NAMED_MONTH,
    YEAR_QUARTER,
)
from agents.questions.date_ranges import (
    DateRange,
    Unit,
    month_range,
    one_day,
    period_around,
    period_from,
    quarter_range,
    season_range,
    shifted,
    year_range,
)
from agents.questions.trading_calendar import is_session, next_session, previous_session


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """Whence an expression is seen: the day of asking, and whether days mean sessions of the stock exchange."""

    today: date
    trading: bool

    def day_at_or_before(self, day: date) -> DateRange:
        """The day; on the trading calendar the latest session up to it."""
        return one_day(previous_session(day) if self.trading and not is_session(day) else day)

    def day_at_or_after(self, day: date) -> DateRange:
        """The day; on the trading calendar the earliest session from it on, but never one that is still to come for
        a day that is over.
        """
        if not self.trading or is_session(day):
            return one_day(day)
        session = next_session(day)
        return one_day(previous_session(day) if session > self.today >= day else session)


_ONE_DAY = timedelta(days=1)
_YEARS_WITH_A_LEAP_DAY = 8
"""Any eight years in a row have a February 29, also around 1900 and 2100."""

Match = re.Match[str]
Reader = Callable[[Match, Viewpoint], DateRange | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A form of expression. `newest`: it asks for the newest record; its range is None where it names no day."""

    pattern: re.Pattern[str]
    read: Reader
    newest: bool = False


# --- readers: days ----------------------------------------------------------------------------------------------------
def _numbered_day(match: Match, _view: Viewpoint) -> DateRange | None:
    year, month, day = (int(match[name]) for name in ("year", "month", "day"))
    return one_day(date(year, day, month) if month > 12 else date(year, month, day))


def _day_of_month(match: Match, view: Viewpoint) -> DateRange | None:
    """Without a year: the latest such day that is not in the future."""
    month, day = _month_number(match["name"]), int(match["day"])
    if match["year"]:
        return one_day(date(int(match["year"]), month, day))
    years = range(view.today.year, view.today.year - 1 - _YEARS_WITH_A_LEAP_DAY, -1)
    dates = (month_range(year, month).first + timedelta(days=day - 1) for year in years)
    return next((one_day(found) for found in dates if found.month == month and found <= view.today), None)


def _named_day(match: Match, view: Viewpoint) -> DateRange | None:
    words = match[0]
    if "tomorrow" in words:
        return view.day_at_or_after(view.today + timedelta(days=2 if "after" in words else 1))
    back = 2 if "before" in words else int(words in {"yesterday", "last night"})
    return view.day_at_or_before(view.today - timedelta(days=back))


def _neighbouring_day(match: Match, view: Viewpoint) -> DateRange | None:
    """Of "last day" or "next trading day": days before or after today, never today itself."""
    trading = view.trading or match["day"] != "day"
    if STEPS.get(match["step"], -1) < 0:
        return one_day(previous_session(view.today) if trading else view.today - _ONE_DAY)
    return one_day(next_session(view.today) if trading else view.today + _ONE_DAY)


def _last_open_day(_match: Match, view: Viewpoint) -> DateRange | None:
    return one_day(previous_session(view.today))


def _weekday(match: Match, view: Viewpoint) -> DateRange | None:
    """A weekday of the last, this or the next calendar week; "recent": the latest before today; bare: up to today."""
    groups = match.groupdict()
    number, step = WEEKDAYS.index(match["weekday"][:3]), groups["week"] or groups.get("step")
    if step in STEPS:
        week = period_around(shifted(view.today, Unit.WEEK, STEPS[step]), Unit.WEEK)
        return view.day_at_or_after(week.first + timedelta(days=(number + 1) % 7))
    back = (view.today.weekday() - number) % 7
    return view.day_at_or_after(view.today - timedelta(days=back or (7 if step else 0)))


# --- readers: periods -------------------------------------------------------------------------------------------------
def _season(match: Match, _view: Viewpoint) -> DateRange | None:
    """Of "2022-23": consecutive years only; "2011-12" is a month, "2022-2023" two years, unless "season" is said."""
    year, end, said = int(match["year"]), int(match["end"]), match["word"]
    if end != year + 1 and match["end"] != f"{(year + 1) % 100:02}":
        return None
    if match["mark"] == "-" and not said and (end <= 12 or end > year):
        return None
    return season_range(year)


def _short_season(match: Match, _view: Viewpoint) -> DateRange | None:
    """Of "2324". What can be a year is one, by the order of the rules: "2021" is 2021, not the season of 2020."""
    start, end = int(match["start"]), int(match["end"])
    if end != (start + 1) % 100:
        return None
    return season_range((1900 if start > 50 else 2000) + start)


def _decade(match: Match, _view: Viewpoint) -> DateRange | None:
    return period_from(date(int(match["decade"]) * 10, 1, 1), Unit.YEAR, 10)


def _month_by_number(match: Match, _view: Viewpoint) -> DateRange | None:
    return month_range(int(match["year"]), int(match["month"]))


def _year(match: Match, _view: Viewpoint) -> DateRange | None:
    return year_range(int(match["year"]))


def _quarter(match: Match, view: Viewpoint) -> DateRange | None:
    """Without a year: the latest such quarter that has begun."""
    number = int(match["number"] or 0) or ORDINALS[match["ordinal"]]
    if match["year"]:
        return quarter_range(int(match["year"]), number)
    quarter = quarter_range(view.today.year, number)
    return quarter if quarter.first <= view.today else quarter_range(view.today.year - 1, number)


def _named_month(match: Match, view: Viewpoint) -> DateRange | None:
    """Without a year: the latest such month that has begun; "last": before this month; "next": after it."""
    groups, month = match.groupdict(), _month_number(match["name"])
    if groups["year"]:
        return month_range(int(groups["year"]), month)
    year, step = view.today.year, groups["step"]
    if step in {"this", "current"}:
        return month_range(year, month)
    if STEPS.get(step or "", -1) > 0:
        return month_range(year + (month <= view.today.month), month)
    return month_range(year - (month > view.today.month or (month == view.today.month and step is not None)), month)


def _relative(match: Match, view: Viewpoint) -> DateRange | None:
    unit = UNITS[match["unit"]]
    return period_around(shifted(view.today, unit, STEPS[match["step"]]), unit)


def _to_date(match: Match, view: Viewpoint) -> DateRange | None:
    unit = UNITS[match["unit"]] if match["unit"] in UNITS else Unit.MONTH if match["unit"] == "m" else Unit.YEAR
    return DateRange(period_around(view.today, unit).first, view.today)


# --- readers: counts and compositions ---------------------------------------------------------------------------------
def _ago(match: Match, view: Viewpoint) -> DateRange | None:
    count, unit = _number(match["count"]), match["unit"]
    if unit not in UNITS:
        return one_day(_session_at(view.today, -count))
    return view.day_at_or_before(shifted(view.today, UNITS[unit], -count))


def _count(match: Match, view: Viewpoint) -> DateRange | None:
    """Of "past 5 days": five days (on the trading calendar: sessions), the last is today; "next": from tomorrow on."""
    count, unit = _number(match["count"]), match["unit"]
    future = STEPS[match["step"]] > 0
    if unit not in UNITS or (unit == Unit.DAY and view.trading):
        if future:
            return DateRange(next_session(view.today), _session_at(view.today, count))
        last = view.today if is_session(view.today) else previous_session(view.today)
        return DateRange(_session_at(last, 1 - count), last)
    if future:
        return period_from(view.today + _ONE_DAY, UNITS[unit], count)
    return DateRange(shifted(view.today, UNITS[unit], -count) + _ONE_DAY, view.today)


def _part_of_period(match: Match, view: Viewpoint) -> DateRange | None:
    """Of "first trading day of 2024", "last week of january" (its last seven days), "second friday of march"."""
    period, unit = _period(match["period"], view), match["unit"]
    position = ORDINALS.get(match["nth"], 0) - 1  # "last" and "final" are -1
    if unit in UNITS and not (unit == Unit.DAY and view.trading):
        start = period.first if position >= 0 else shifted(period.last + _ONE_DAY, UNITS[unit], -1)
        part = period_from(shifted(start, UNITS[unit], max(position, 0)), UNITS[unit])
        return part if period.contains(part.first) and period.contains(part.last) else None
    if unit[:3] in WEEKDAYS:
        number = WEEKDAYS.index(unit[:3])
        day = period.first + timedelta(days=(number - period.first.weekday()) % 7 + 7 * position)
        if position < 0:
            day = period.last - timedelta(days=(period.last.weekday() - number) % 7)
        return view.day_at_or_after(day) if period.contains(day) else None
    before_or_after = period.first - _ONE_DAY if position >= 0 else period.last + _ONE_DAY
    day = _session_at(before_or_after, position + 1 if position >= 0 else -1)
    return one_day(day) if period.contains(day) else None


def _edge_of_period(match: Match, view: Viewpoint) -> DateRange | None:
    """Of "end of 2023", "close of last month": its last day or session."""
    period = _period(match["period"], view)
    if match["edge"] in {"end", "close"}:
        return view.day_at_or_before(period.last)
    return one_day(next_session(period.first - _ONE_DAY) if view.trading else period.first)


def _whole_period(match: Match, view: Viewpoint) -> DateRange | None:
    return _period(match["period"], view)


def _week_around(match: Match, view: Viewpoint) -> DateRange | None:
    day = _date(match["date"], view).first
    if match["how"] == "ending":
        return DateRange(day - timedelta(days=6), day)
    return period_around(day, Unit.WEEK) if match["how"] == "of" else period_from(day, Unit.WEEK)


def _from_to(match: Match, view: Viewpoint) -> DateRange | None:
    """Where the first date lacks a year it is the latest one before the second; two years may stand in any order."""
    end = _date(match["end"], view)
    start = _date(match["start"], view)
    if start.first > end.last:
        start = _date(match["start"], Viewpoint(end.last, view.trading))
    start, end = sorted((start, end), key=lambda one: one.first)
    return DateRange(start.first, max(start.last, end.last))


def _since(match: Match, view: Viewpoint) -> DateRange | None:
    return DateRange(_date(match["date"], view).first, view.today)


def _today(_match: Match, view: Viewpoint) -> DateRange | None:
    return one_day(view.today)


def _no_day(_match: Match, _view: Viewpoint) -> DateRange | None:
    return None


# --- help for readers -------------------------------------------------------------------------------------------------
def _month_number(name: str) -> int:
    return MONTHS.index(name[:3]) + 1


def _number(text: str) -> int:
    """Raises ValueError for zero: "past 0 days" is no time."""
    number = NUMBERS[text] if text in NUMBERS else int(text)
    if number == 0:
        raise ValueError("a count of zero")
    return number


def _session_at(day: date, count: int) -> date:
    """The session `count` sessions after (before where negative) the day."""
    for _ in range(abs(count)):
        day = next_session(day) if count > 0 else previous_session(day)
    return day


def _period(text: str, view: Viewpoint) -> DateRange:
    return period_around(view.today, UNITS[text]) if text in UNITS else _date(text, view)


def _date(text: str, view: Viewpoint) -> DateRange:
    """A date inside a longer expression. Raises ValueError where it is none."""
    for rule in SIMPLE_RULES:
        match = rule.pattern.fullmatch(text)
        found = rule.read(match, view) if match else None
        if found:
            return found
    raise ValueError(f"{text!r} is no date")


# --- the rules --------------------------------------------------------------------------------------------------------
def _rule(pattern: str, read: Reader, newest: bool = False) -> Rule:
    """The pattern stands between the ends of words and is no part of a number, a price or a percentage."""
    return Rule(re.compile(rf"(?<![\w$€£])(?<![0-9][.,/:-])(?:{pattern})(?![\w%])(?![.,/:-][0-9])"), read, newest)


SIMPLE_RULES = (
    _rule(ISO_DAY, _numbered_day),
    _rule(AMERICAN_DAY, _numbered_day),
    _rule(MONTH_DAY, _day_of_month),
    _rule(DAY_MONTH, _day_of_month),
    _rule(NAMED_DAY, _named_day),
    _rule(WEEKDAY_DAY, _weekday),
    _rule(WEEK_DAY, _weekday),
    _rule(SEASON, _season),
    _rule(ISO_MONTH, _month_by_number),
    _rule(MONTH_OF_YEAR, _month_by_number),
    _rule(ONE_YEAR, _year),
    _rule(SHORT_SEASON, _short_season),
    _rule(DECADE, _decade),
    _rule(QUARTER, _quarter),
    _rule(YEAR_QUARTER, _quarter),
    _rule(NAMED_MONTH, _named_month),
    _rule(YEAR_NAMED_MONTH, _named_month),
    _rule(RELATIVE, _relative),
)
"""Expressions that can stand inside a longer one."""

_NTH_UNIT = f"trading day|trading session|session|day of trading|day|week|month|quarter|qtr|half|{WEEKDAY}"
_COUNTED = "trading day|trading session|session|business day|day|week|month|quarter|year"

RULES = (
    *SIMPLE_RULES,
    _rule(f"(?P<step>{STEP}|{RECENT}|final) (?P<day>{SESSION}|day(?! of))", _neighbouring_day),
    _rule(
        f"(?:last|previous|final|{RECENT}) day (?:that |when |on which )?(?:the )?(?:stock )?markets? (?:was|were)"
        " open(?: for trading)?",
        _last_open_day,
    ),
    _rule(r"(?P<unit>year|month|quarter|week|season|y|m)(?: to |-to-|t)d(?:ate)?", _to_date),
    _rule(r"this (?P<unit>year|month|quarter|week|season) (?:so far|to date)", _to_date),
    _rule(r"so far this (?P<unit>year|month|quarter|week|season)", _to_date),
    _rule(f"(?P<count>{NUMBER}) (?P<unit>{_COUNTED})s? ago", _ago),
    _rule(f"(?P<step>last|past|previous|prior|next|coming) (?P<count>{NUMBER}) (?P<unit>{_COUNTED})s?", _count),
    _rule(
        f"(?P<nth>{ORDINAL}|last|final) (?P<unit>{_NTH_UNIT}) (?:of|in|for|from) (?:the )?{PERIOD_OR_CURRENT}",
        _part_of_period,
    ),
    _rule(f"(?P<edge>end|close|start|beginning) of (?:the )?{PERIOD_OR_CURRENT}", _edge_of_period),
    _rule(
        f"(?:start|beginning) of (?:the )?{PERIOD_OR_CURRENT} (?:to|until|till|through) (?:its|it's|the) end",
        _whole_period,
    ),
    _rule(f"week (?P<how>of|starting|beginning|ending)(?: on)? (?:the )?(?P<date>{DAYS})", _week_around),
    _rule(f"between (?:the )?(?P<start>{DATES}) and (?:the )?(?P<end>{DATES})", _from_to),
    _rule(
        f"(?:from )?(?P<start>{DATES})(?: to | until | till | through | - |-)(?:the )?(?P<end>{DATES})",
        _from_to,
    ),
    _rule(f"since (?:the )?(?P<date>{DATES})", _since),
    _rule("as of now|right now|now|at the moment|at this moment|at present|currently|current", _today, newest=True),
    _rule("most recent(?:ly)?|latest|newest|recent", _no_day, newest=True),
)
"""Every form, the one to prefer first where two fit the same words."""
