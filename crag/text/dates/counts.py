"""Readers of counts ("two weeks ago"), of neighbours of a date ("the day after ...") and of parts of a period.

As in `crag.text.dates.readers`, a ValueError or OverflowError means that the words are no date.
"""

from calendar import SATURDAY
from datetime import date, timedelta
from fractions import Fraction

from crag.text.dates.calendars import (
    ONE_DAY,
    CalendarUnit,
    DateRange,
    is_session,
    period_around,
    period_from,
    session_at,
    shifted,
)
from crag.text.dates.readers import Match, Viewpoint, one_day
from crag.text.dates.vocabulary import (
    COUNTED_UNITS,
    POSITIONS,
    UNITS,
    count_number,
    is_weekday,
    weekday_number,
)


# --- counts -----------------------------------------------------------------------------------------------------------
def shifted_by_count(day: date, written: str, unit: str, direction: int, view: Viewpoint) -> DateRange:
    """The day so many units later (direction 1) or earlier (-1): "two and a half years", "3 trading days".

    A number of calendar units that has no session leads on to the next session in that direction. Raises ValueError
    for a part of a day or session.
    """
    count = count_number(written)
    if unit not in COUNTED_UNITS:
        return one_day(session_at(day, direction * _whole(count)))

    calendar_unit, number = _in_calendar_units(count, unit)
    shifted_day = shifted(day, calendar_unit, direction * number)
    if not view.trading or is_session(shifted_day):
        return one_day(shifted_day)
    return one_day(session_at(shifted_day, direction))


def _in_calendar_units(count: Fraction, unit: str) -> tuple[CalendarUnit, int]:
    """A count of what people count as whole calendar units: two and a half years are 30 months."""
    calendar_unit, size = COUNTED_UNITS[unit]
    number = count * size
    if number.denominator != 1 and calendar_unit is CalendarUnit.YEAR:
        return CalendarUnit.MONTH, _whole(number * 12)
    return calendar_unit, _whole(number)


def _whole(count: Fraction) -> int:
    if count.denominator != 1:
        raise ValueError(f"{count} is not a whole number")
    return count.numerator


def _counts_sessions(unit: str, view: Viewpoint) -> bool:
    """Whether a unit means sessions: by its name, or as a day on the trading calendar."""
    return unit not in COUNTED_UNITS or (unit == CalendarUnit.DAY and view.trading)


def read_ago(match: Match, view: Viewpoint) -> DateRange:
    """For "two weeks ago", "3 trading days ago", "a year and a half ago": that day."""
    return shifted_by_count(view.today, match["count"] + (match["half"] or ""), match["unit"], -1, view)


def read_two_units_ago(match: Match, view: Viewpoint) -> DateRange:
    """For "1 year and 2 months ago"."""
    between = shifted_by_count(view.today, match["count"], match["unit"], -1, view).first
    return shifted_by_count(between, match["second_count"], match["second_unit"], -1, view)


def read_counted_period(match: Match, view: Viewpoint) -> DateRange:
    """For "past 5 days": five days (on the trading calendar: sessions) up to today; "next": from tomorrow on."""
    written_count = (match["count"] or "one") + (match["half"] or "")
    count = Fraction(1, 2) if match["half_year"] else count_number(written_count)
    unit = match["units"] or match["unit"] or match["long_unit"] or CalendarUnit.YEAR
    is_future = match["step"] in {"next", "coming"}

    if _counts_sessions(unit, view):
        sessions = _whole(count)
        if is_future:
            return DateRange(session_at(view.today, 1), session_at(view.today, sessions))
        latest_session = view.today if is_session(view.today) else session_at(view.today, -1)
        # The latest session is itself one of the count.
        return DateRange(session_at(latest_session, 1 - sessions), latest_session)

    calendar_unit, number = _in_calendar_units(count, unit)
    if is_future:
        return period_from(view.today + ONE_DAY, calendar_unit, number)
    return DateRange(shifted(view.today, calendar_unit, -number) + ONE_DAY, view.today)


def read_before_last(match: Match, view: Viewpoint) -> DateRange:
    """For "the week before last" and "the month after next"."""
    steps = 2 if match["direction"] == "after next" else -2
    unit = UNITS[match["unit"]]
    return period_around(shifted(view.today, unit, steps), unit)


# --- neighbours of a date ---------------------------------------------------------------------------------------------
def neighbour_of_date(days: DateRange, unit: str, direction: int, view: Viewpoint) -> DateRange:
    """The unit after (direction 1) or before (-1) some days: "the day after february 23", "the friday before".

    On the trading calendar the next day is the next session.
    """
    edge = days.last if direction > 0 else days.first
    if is_weekday(unit):
        # From 1 to 7: a Friday before a Friday is a week away.
        distance = ((weekday_number(unit) - edge.weekday()) * direction - 1) % 7 + 1
        return view.day_at_or_after(edge + timedelta(days=distance * direction))

    if _counts_sessions(unit, view):
        return one_day(session_at(edge, direction))
    calendar_unit, size = COUNTED_UNITS[unit]
    return period_around(shifted(edge, calendar_unit, direction * size), calendar_unit)


# --- parts of a period ------------------------------------------------------------------------------------------------
def part_of_period(period: DateRange, position: str, unit: str, view: Viewpoint) -> DateRange | None:
    """The numbered part of a period: "first trading day", "last week" (the last seven days), "second friday".

    `position` is a word of `POSITIONS`. None if the period has no such part.
    """
    index = POSITIONS[position]
    if unit == CalendarUnit.WEEKEND:
        saturday = _nth_weekday(period, index, SATURDAY, view)
        return period_around(saturday.first, CalendarUnit.WEEKEND) if saturday else None
    if unit in UNITS and not (unit == CalendarUnit.DAY and view.trading):
        return _nth_unit(period, index, UNITS[unit])
    if is_weekday(unit):
        return _nth_weekday(period, index, weekday_number(unit), view)
    return _nth_session(period, index)


def _nth_unit(period: DateRange, index: int, unit: CalendarUnit) -> DateRange | None:
    if unit is CalendarUnit.HALF and period == period_around(period.first, CalendarUnit.MONTH):
        middle = period.first + timedelta(days=14)
        return DateRange(middle + ONE_DAY, period.last) if index else DateRange(period.first, middle)

    after = period.last + ONE_DAY
    # The last unit is counted back from the day after the period.
    first = shifted(period.first, unit, index) if index >= 0 else shifted(after, unit, index)
    part = period_from(first, unit)
    return part if period.covers(part) else None


def first_or_last_units(period: DateRange, edge: str, count: str, unit: str, view: Viewpoint) -> DateRange | None:
    """For "first nine months of 2023": so many units at the beginning or the end; None if the period is shorter."""
    number = _whole(count_number(count))
    before = period.first - ONE_DAY
    after = period.last + ONE_DAY
    if _counts_sessions(unit, view):
        if edge == "first":
            part = DateRange(session_at(before, 1), session_at(before, number))
        else:
            part = DateRange(session_at(after, -number), session_at(after, -1))
    else:
        calendar_unit, size = COUNTED_UNITS[unit]
        first = period.first if edge == "first" else shifted(after, calendar_unit, -number * size)
        part = period_from(first, calendar_unit, number * size)
    return part if period.covers(part) else None


def _nth_weekday(period: DateRange, index: int, weekday: int, view: Viewpoint) -> DateRange | None:
    if index >= 0:
        days_to_first = (weekday - period.first.weekday()) % 7
        day = period.first + timedelta(days=days_to_first + 7 * index)
    else:
        days_after_last = (period.last.weekday() - weekday) % 7
        day = period.last - timedelta(days=days_after_last - 7 * (index + 1))
    return view.day_at_or_after(day) if period.contains(day) else None


def _nth_session(period: DateRange, index: int) -> DateRange | None:
    before = period.first - ONE_DAY
    after = period.last + ONE_DAY
    day = session_at(before, index + 1) if index >= 0 else session_at(after, index)
    return one_day(day) if period.contains(day) else None


def edge_of_period(period: DateRange, edge: str, view: Viewpoint) -> DateRange:
    """The last day or session of a period for "end" and "close", else its first."""
    if edge in {"end", "close"}:
        return view.day_at_or_before(period.last)
    if view.trading:
        return one_day(session_at(period.first - ONE_DAY, 1))
    return one_day(period.first)
