"""Days, periods and trading sessions: arithmetic for date expressions.

Weeks run from Sunday to Saturday, as in the answers to CRAG's sports questions. A season runs from July 1 to June 30,
which covers a European football season and an NBA season with its play-offs.

Sessions are those of the New York Stock Exchange. Holidays follow its rule 7.2 and its weekend rules; other closings
are listed. Correct for 2000 to 2030, as far as announced. Other years use the same rules, although the exchange had
others. Days with an early close are sessions.
"""

from calendar import MONDAY, SATURDAY, SUNDAY, THURSDAY, monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from functools import lru_cache

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

    def __str__(self) -> str:
        return f"{self.first}" if self.is_day else f"{self.first} to {self.last}"


class Unit(StrEnum):
    """Units of the calendar."""

    DAY = "day"
    WEEK = "week"
    WEEKEND = "weekend"
    MONTH = "month"
    QUARTER = "quarter"
    HALF = "half"
    YEAR = "year"
    SEASON = "season"


_MONTHS_IN = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.HALF: 6, Unit.YEAR: 12, Unit.SEASON: 12}


def shifted(day: date, unit: Unit, count: int) -> date:
    """The day `count` units later (negative: earlier). A day missing in the new month becomes its last day.

    Raises ValueError or OverflowError outside the years 1 to 9999.
    """
    if unit not in _MONTHS_IN:
        return day + timedelta(days=count * (1 if unit is Unit.DAY else 7))
    years, month_index = divmod(day.month - 1 + count * _MONTHS_IN[unit], 12)
    year, month = day.year + years, month_index + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def period_around(day: date, unit: Unit) -> DateRange:
    """The calendar unit that contains the day; for a weekend that of its Monday-to-Sunday week."""
    if unit is Unit.WEEKEND:
        sunday = day + timedelta(days=SUNDAY - day.weekday())
        return DateRange(sunday - ONE_DAY, sunday)
    if unit is Unit.WEEK:
        day -= timedelta(days=day.isoweekday() % 7)
    elif unit in _MONTHS_IN:
        start = _SEASON_STARTS_IN_MONTH if unit is Unit.SEASON else 1
        day = shifted(day.replace(day=1), Unit.MONTH, -((day.month - start) % _MONTHS_IN[unit]))
    return period_from(day, unit)


def period_from(first: date, unit: Unit, count: int = 1) -> DateRange:
    """The `count` units that start on `first`."""
    return DateRange(first, shifted(first, unit, count) - ONE_DAY)


def month_range(year: int, month: int) -> DateRange:
    """The month."""
    return period_from(date(year, month, 1), Unit.MONTH)


def quarter_range(year: int, quarter: int) -> DateRange:
    """The quarter (1 to 4) of the calendar year."""
    return period_around(date(year, 3 * quarter, 1), Unit.QUARTER)


def season_range(first_year: int) -> DateRange:
    """The season that starts in the year."""
    return period_from(date(first_year, _SEASON_STARTS_IN_MONTH, 1), Unit.SEASON)


# --- sessions of the stock exchange -----------------------------------------------------------------------------------

_SPECIAL_CLOSINGS = frozenset(
    {
        *(date(2001, 9, day) for day in (11, 12, 13, 14)),  # attacks of September 11
        date(2004, 6, 11),  # mourning for President Reagan
        date(2007, 1, 2),  # mourning for President Ford
        *(date(2012, 10, 29), date(2012, 10, 30)),  # hurricane Sandy
        date(2018, 12, 5),  # mourning for President George H. W. Bush
        date(2025, 1, 9),  # mourning for President Carter
    }
)
_NTH_WEEKDAYS = (
    (1, MONDAY, 3),  # Martin Luther King
    (2, MONDAY, 3),  # Presidents' Day
    (9, MONDAY, 1),  # Labor Day
    (11, THURSDAY, 4),  # Thanksgiving
)
_FIRST_JUNETEENTH = 2022


def is_session(day: date) -> bool:
    """Whether the exchange is open on the day, even if only for part of it."""
    return day.weekday() < SATURDAY and day not in _SPECIAL_CLOSINGS and day not in _holidays(day.year)


def sessions(first: date, last: date) -> Iterator[date]:
    """The sessions from `first` to `last`, inclusive, in order."""
    days = (first + timedelta(days=offset) for offset in range((last - first).days + 1))
    return filter(is_session, days)


def session_at(day: date, count: int) -> date:
    """The session `count` sessions after the day (negative: before); OverflowError at an end of the calendar."""
    step = ONE_DAY if count > 0 else -ONE_DAY
    for _ in range(abs(count)):
        day += step
        while not is_session(day):
            day += step
    return day


@lru_cache(maxsize=256)
def _holidays(year: int) -> frozenset[date]:
    """The observed holidays of the year."""
    new_year = date(year, 1, 1)
    observed = {
        # Not observed on a Saturday: December 31 closes the books of the old year.
        new_year + ONE_DAY if new_year.weekday() == SUNDAY else new_year,
        *(_nth_weekday(year, *rule) for rule in _NTH_WEEKDAYS),
        _easter(year) - timedelta(days=2),  # Good Friday
        _nth_weekday(year, 6, MONDAY, 1) - timedelta(weeks=1),  # Memorial Day, the last Monday of May
        _weekday_nearest(date(year, 7, 4)),  # Independence Day
        _weekday_nearest(date(year, 12, 25)),  # Christmas
    }
    if year >= _FIRST_JUNETEENTH:
        observed.add(_weekday_nearest(date(year, 6, 19)))
    return frozenset(observed)


def _nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))


def _weekday_nearest(day: date) -> date:
    """A Saturday holiday is observed on Friday, a Sunday holiday on Monday."""
    return day + {SATURDAY: -ONE_DAY, SUNDAY: ONE_DAY}.get(day.weekday(), timedelta(0))


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the full moon of the church's tables."""
    century, golden_number = year // 100, year % 19
    moon_correction = century - century // 4 - (8 * century + 13) // 25
    epact = (19 * golden_number + moon_correction + 15) % 30
    epact -= (epact // 28) * (1 - (epact // 28) * (29 // (epact + 1)) * ((21 - golden_number) // 11))
    weekday = (year + year // 4 + epact + 2 - century + century // 4) % 7
    return date(year, 3, 28) + timedelta(days=epact - weekday)
