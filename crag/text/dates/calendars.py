"""Days, periods and trading sessions: arithmetic for date expressions.

Weeks run from Sunday to Saturday, as in the answers to CRAG's sports questions. A season runs from July 1 to June 30,
which covers a European football season and an NBA season with its play-offs. Sessions are those of the New York Stock
Exchange; days with an early close are sessions.
"""

from calendar import SATURDAY, SUNDAY, monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import lru_cache

from holidays import financial_holidays

ONE_DAY = timedelta(days=1)
_SEASON_STARTS_IN_MONTH = 7


@dataclass(frozen=True, slots=True)
class DateRange:
    """The days from `first` to `last`, inclusive. Raises ValueError if `last` is before `first`."""

    first: date
    last: date

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError(f"a range of dates cannot end ({self.last}) before it begins ({self.first})")

    @property
    def is_day(self) -> bool:
        """Whether the range is a single day."""
        return self.first == self.last

    def contains(self, day: date) -> bool:
        """Whether the day lies in the range."""
        return self.first <= day <= self.last

    def covers(self, part: "DateRange") -> bool:
        """Whether all days of another range lie in this one."""
        return self.contains(part.first) and self.contains(part.last)

    def __str__(self) -> str:
        return f"{self.first}" if self.is_day else f"{self.first} to {self.last}"


class CalendarUnit(StrEnum):
    """Units of the calendar."""

    DAY = "day"
    WEEK = "week"
    WEEKEND = "weekend"
    MONTH = "month"
    QUARTER = "quarter"
    HALF = "half"
    YEAR = "year"
    SEASON = "season"


_MONTHS_IN = {
    CalendarUnit.MONTH: 1,
    CalendarUnit.QUARTER: 3,
    CalendarUnit.HALF: 6,
    CalendarUnit.YEAR: 12,
    CalendarUnit.SEASON: 12,
}


def shifted(day: date, unit: CalendarUnit, count: int) -> date:
    """The day `count` units later (negative: earlier), at most its month's last. Raises ValueError, OverflowError.

    >>> shifted(date(2024, 1, 31), CalendarUnit.MONTH, 1)
    datetime.date(2024, 2, 29)
    """
    if unit not in _MONTHS_IN:
        days = 1 if unit is CalendarUnit.DAY else 7
        return day + timedelta(days=count * days)

    # Months from 0 to 11, so that the division carries whole years over.
    years, month_index = divmod(day.month - 1 + count * _MONTHS_IN[unit], 12)
    year = day.year + years
    month = month_index + 1
    _, days_in_month = monthrange(year, month)
    return date(year, month, min(day.day, days_in_month))


def period_around(day: date, unit: CalendarUnit) -> DateRange:
    """The calendar unit that contains the day; for a weekend that of its Monday-to-Sunday week."""
    if unit is CalendarUnit.WEEKEND:
        sunday = day + timedelta(days=SUNDAY - day.weekday())
        return DateRange(sunday - ONE_DAY, sunday)

    first = day
    if unit is CalendarUnit.WEEK:
        # Weeks begin on Sunday, which is day 7 of the ISO week.
        first = day - timedelta(days=day.isoweekday() % 7)
    elif unit in _MONTHS_IN:
        start = _SEASON_STARTS_IN_MONTH if unit is CalendarUnit.SEASON else 1
        months_back = (day.month - start) % _MONTHS_IN[unit]
        first = shifted(day.replace(day=1), CalendarUnit.MONTH, -months_back)
    return period_from(first, unit)


def period_from(first: date, unit: CalendarUnit, count: int = 1) -> DateRange:
    """The `count` units that start on `first`."""
    return DateRange(first, shifted(first, unit, count) - ONE_DAY)


# --- sessions of the stock exchange -----------------------------------------------------------------------------------
def is_session(day: date) -> bool:
    """Whether the exchange is open on the day, even if only for part of it."""
    return day.weekday() < SATURDAY and day not in _closed_days(day.year)


def session_at(day: date, count: int) -> date:
    """The session `count` sessions after the day (negative: before); OverflowError at an end of the calendar."""
    step = ONE_DAY if count > 0 else -ONE_DAY
    for _ in range(abs(count)):
        day += step
        while not is_session(day):
            day += step
    return day


@lru_cache(maxsize=256)
def _closed_days(year: int) -> frozenset[date]:
    """The holidays and special closings of the year. One calendar for all years would not be safe between threads."""
    return frozenset(financial_holidays("NYSE", years=year))
