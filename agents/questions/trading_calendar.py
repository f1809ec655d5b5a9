"""The days on which the New York Stock Exchange holds a session.

Holidays follow the exchange's rule 7.2 and its weekend rules; the days on which it closed for another reason are
listed one by one. Right for 2000 to 2030 as far as closings are announced; for other years the same rules are applied,
although the exchange had others before. Days with an early close are sessions.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from functools import lru_cache

_ONE_DAY = timedelta(days=1)
_MONDAY, _THURSDAY, _SATURDAY, _SUNDAY = 0, 3, 5, 6
_FIRST_JUNETEENTH = 2022

_SPECIAL_CLOSINGS = frozenset(
    {
        *(date(2001, 9, day) for day in (11, 12, 13, 14)),  # attacks of September 11
        date(2004, 6, 11),  # mourning for President Reagan
        date(2007, 1, 2),  # mourning for President Ford
        date(2012, 10, 29),  # hurricane Sandy
        date(2012, 10, 30),
        date(2018, 12, 5),  # mourning for President George H. W. Bush
        date(2025, 1, 9),  # mourning for President Carter
    }
)


def is_session(day: date) -> bool:
    """Whether the exchange is open on the day, if only for part of it."""
    return day.weekday() < _SATURDAY and day not in _SPECIAL_CLOSINGS and day not in _holidays(day.year)


def sessions(first: date, last: date) -> Iterator[date]:
    """The sessions from `first` to `last`, both included, in order."""
    days = (first + timedelta(days=offset) for offset in range((last - first).days + 1))
    return (day for day in days if is_session(day))


def previous_session(day: date) -> date:
    """The latest session before the day. Raises OverflowError at the beginning of the calendar."""
    day -= _ONE_DAY
    while not is_session(day):
        day -= _ONE_DAY
    return day


def next_session(day: date) -> date:
    """The earliest session after the day. Raises OverflowError at the end of the calendar."""
    day += _ONE_DAY
    while not is_session(day):
        day += _ONE_DAY
    return day


@lru_cache(maxsize=256)
def _holidays(year: int) -> frozenset[date]:
    """The holidays of the year as observed."""
    new_year = date(year, 1, 1)
    observed = {
        # On a Saturday it is not observed: December 31 closes the books of the old year.
        new_year + _ONE_DAY if new_year.weekday() == _SUNDAY else new_year,
        _nth_weekday(year, 1, _MONDAY, 3),  # Martin Luther King
        _nth_weekday(year, 2, _MONDAY, 3),  # Presidents' Day
        _easter(year) - timedelta(days=2),  # Good Friday
        _nth_weekday(year, 6, _MONDAY, 1) - timedelta(weeks=1),  # Memorial Day, the last Monday of May
        _weekday_nearest(date(year, 7, 4)),  # Independence Day
        _nth_weekday(year, 9, _MONDAY, 1),  # Labor Day
        _nth_weekday(year, 11, _THURSDAY, 4),  # Thanksgiving
        _weekday_nearest(date(year, 12, 25)),  # Christmas
    }
    if year >= _FIRST_JUNETEENTH:
        observed.add(_weekday_nearest(date(year, 6, 19)))
    return frozenset(observed)


def _nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (nth - 1))


def _weekday_nearest(day: date) -> date:
    """A holiday on a Saturday is kept on Friday, one on a Sunday on Monday."""
    return day + {_SATURDAY: -_ONE_DAY, _SUNDAY: _ONE_DAY}.get(day.weekday(), timedelta(0))


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the full moon of the church's tables."""
    century, golden_number = year // 100, year % 19
    moon_correction = century - century // 4 - (8 * century + 13) // 25
    epact = (19 * golden_number + moon_correction + 15) % 30
    epact -= (epact // 28) * (1 - (epact // 28) * (29 // (epact + 1)) * ((21 - golden_number) // 11))
    weekday = (year + year // 4 + epact + 2 - century + century // 4) % 7
    days = epact - weekday
    month = 3 + (days + 40) // 44
    return date(year, month, days + 28 - 31 * (month // 4))
