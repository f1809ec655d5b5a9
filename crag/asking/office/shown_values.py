"""Values of cells and charts as their number format shows them: a number, a day, a time, a duration."""

from datetime import datetime, time, timedelta

from crag.asking.office.number_formats import show_number
from crag.asking.office.time_formats import (
    count_decimals,
    is_duration_format,
    is_time_format,
    show_duration,
    show_moment,
)

FIRST_DAY = datetime(1899, 12, 30)
"""Day 0 of Excel (ECMA-376, part 1, 18.17.4.1)."""
FIRST_DAY_1904 = datetime(1904, 1, 1)
"""Day 0 of files that began on a Macintosh."""
_MOST_DECIMALS = 3
"""Of a second, in a cell: it holds parts of a day with fifteen digits."""


def show_value(value: float, number_format: str, first_day: datetime = FIRST_DAY) -> str:
    """A number as its format shows it; a number that is no day of the calendar, as a number.

    >>> show_value(45000, "dd.mm.yyyy"), show_value(45000, '0 "days"')
    ('2023-03-15', '45000 days')
    """
    if not is_time_format(number_format):
        return show_number(value, number_format)
    try:
        if is_duration_format(number_format):
            return show_duration(_round(timedelta(days=value)), number_format)
        # Excel rounds to the decimals that it shows
        decimals = count_decimals(number_format) or _MOST_DECIMALS
        return show_moment(_to_moment(value, first_day, decimals), number_format)
    except (OverflowError, ValueError):
        return show_number(value, "General")


def _to_moment(value: float, first_day: datetime, decimals: int) -> datetime | time:
    """The day or time of a serial number, to so many decimals of a second.

    Raises OverflowError, ValueError: the calendar has none.
    """
    if value < 0:
        raise ValueError("Excel shows no day before its first")
    moment = first_day + _round(timedelta(days=value), decimals)
    if first_day == FIRST_DAY:
        if moment - first_day < timedelta(days=1):
            return moment.time()
        # Excel has a 29 February 1900, day 60, which there was not.
        if value < 60:
            moment += timedelta(days=1)
    return moment


def _round(duration: timedelta, decimals: int = _MOST_DECIMALS) -> timedelta:
    """A duration to so many decimals of a second."""
    return timedelta(seconds=round(duration.total_seconds(), min(decimals, _MOST_DECIMALS)))
