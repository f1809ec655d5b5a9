"""Days and periods: the arithmetic under the resolver of date expressions.

Weeks run from Sunday to Saturday, as in the answers of CRAG's sports questions. A season runs from July 1 to June 30,
which holds a European football season and an NBA season with its play-offs.
"""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

_SEASON_STARTS_IN_MONTH = 7
_SUNDAY = 6


@dataclass(frozen=True, slots=True)
class DateRange:
    """The days from `first` to `last`, both included. Raises ValueError where `last` comes before `first`."""

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

    def __str__(self) -> str:
        return f"{self.first}" if self.is_day else f"{self.first} to {self.last}"


class Unit(StrEnum):
    """What the calendar is divided into."""

    DAY = "day"
    WEEK = "week"
    WEEKEND = "weekend"
    MONTH = "month"
    QUARTER = "quarter"
    HALF = "half"
    YEAR = "year"
    SEASON = "season"


_MONTHS_IN = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.HALF: 6, Unit.YEAR: 12, Unit.SEASON: 12}


def one_day(day: date) -> DateRange:
    """The day as a range."""
    return DateRange(day, day)


def shifted(day: date, unit: Unit, count: int) -> date:
    """The day `count` units later (earlier where negative); a day that its new month lacks becomes the month's last.

    Raises ValueError or OverflowError outside the years 1 to 9999.
    """
    if unit not in _MONTHS_IN:
        return day + timedelta(days=count * (1 if unit is Unit.DAY else 7))
    years, month_index = divmod(day.month - 1 + count * _MONTHS_IN[unit], 12)
    year, month = day.year + years, month_index + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def period_around(day: date, unit: Unit) -> DateRange:
    """The unit of the calendar in which the day lies; for a weekend the one of the Monday-to-Sunday week around it."""
    if unit is Unit.DAY:
        return one_day(day)
    if unit is Unit.WEEK:
        sunday = day - timedelta(days=day.isoweekday() % 7)
        return DateRange(sunday, sunday + timedelta(days=6))
    if unit is Unit.WEEKEND:
        sunday = day + timedelta(days=_SUNDAY - day.weekday())
        return DateRange(sunday - timedelta(days=1), sunday)
    length = _MONTHS_IN[unit]
    start = _SEASON_STARTS_IN_MONTH if unit is Unit.SEASON else 1
    first = shifted(day.replace(day=1), Unit.MONTH, -((day.month - start) % length))
    return period_from(first, unit)


def period_from(first: date, unit: Unit, count: int = 1) -> DateRange:
    """The `count` units that begin on the day `first`."""
    return DateRange(first, shifted(first, unit, count) - timedelta(days=1))


def year_range(year: int) -> DateRange:
    """The calendar year."""
    return DateRange(date(year, 1, 1), date(year, 12, 31))


def month_range(year: int, month: int) -> DateRange:
    """The month."""
    return period_around(date(year, month, 1), Unit.MONTH)


def quarter_range(year: int, quarter: int) -> DateRange:
    """The quarter (1 to 4) of the calendar year."""
    return period_around(date(year, 3 * quarter, 1), Unit.QUARTER)


def season_range(first_year: int) -> DateRange:
    """The season that begins in the year."""
    return period_around(date(first_year, _SEASON_STARTS_IN_MONTH, 1), Unit.SEASON)
