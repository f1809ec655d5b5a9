"""When the sessions of the New York Stock Exchange begin and end, in New York time."""

from datetime import date, datetime, time
from functools import lru_cache

from holidays import financial_holidays

from crag.text.dates import is_session, session_at

_OPENING = time(9, 30)
_CLOSE = time(16, 0)
_EARLY_CLOSE = time(13, 0)
"""The close on half days, such as the day after Thanksgiving."""


def is_open(moment: datetime) -> bool:
    """Whether the exchange is open at a New York time."""
    return is_session(moment.date()) and _OPENING <= moment.time() < _closing_time(moment.date())


def last_opened_session(moment: datetime) -> date:
    """The latest session that has begun at a New York time, finished or not."""
    today = moment.date()
    has_begun = is_session(today) and moment.time() >= _OPENING
    return today if has_begun else session_at(today, -1)


def last_finished_session(moment: datetime) -> date:
    """The latest session that is over at a New York time: its high, low, close and volume are known.

    >>> last_finished_session(datetime(2024, 2, 26, 7, 0))  # a Monday, before the opening
    datetime.date(2024, 2, 23)
    """
    today = moment.date()
    is_over = is_session(today) and moment.time() >= _closing_time(today)
    return today if is_over else session_at(today, -1)


def _closing_time(day: date) -> time:
    return _EARLY_CLOSE if day in _half_days(day.year) else _CLOSE


@lru_cache(maxsize=256)
def _half_days(year: int) -> frozenset[date]:
    return frozenset(financial_holidays("NYSE", years=year, categories=("half_day",)))
