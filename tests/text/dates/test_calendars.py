"""Units of the calendar against day-by-day counting, sessions against known days."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.text.dates.calendars import (
    CalendarUnit,
    is_session,
    period_around,
    session_at,
    shifted,
)

DAYS = st.dates(date(1800, 1, 1), date(2200, 12, 31))


@given(DAYS, st.sampled_from([unit for unit in CalendarUnit if unit is not CalendarUnit.WEEKEND]))
def test_units_tile_the_calendar(day: date, unit: CalendarUnit) -> None:
    period = period_around(day, unit)
    assert period.contains(day)
    assert period_around(period.first, unit) == period_around(period.last, unit) == period
    assert period_around(period.last + timedelta(days=1), unit).first == period.last + timedelta(days=1)


AWAY = (
    "2024-01-31 month 1 2024-02-29|2024-03-31 month -1 2024-02-29|2024-02-29 year -1 2023-02-28"
    "|2024-01-15 month -1 2023-12-15|2024-08-31 half 1 2025-02-28|2024-02-28 weekend 1 2024-03-06"
    "|2024-02-28 day -2 2024-02-26"
)


@pytest.mark.parametrize("row", AWAY.split("|"))
def test_a_day_some_units_away(row: str) -> None:
    day, unit, count, expected = row.split(" ")
    assert shifted(date.fromisoformat(day), CalendarUnit(unit), int(count)) == date.fromisoformat(expected)


def test_sessions_of_the_exchange() -> None:
    """Open: a New Year's Saturday is not observed, Juneteenth closes it since 2022, early closes count."""
    opened = "2021-12-31 2021-06-18 2024-07-03"
    closed = "2024-01-01 2022-06-20 2024-03-29 2001-09-11 2012-10-29 2025-01-09 2024-07-06"
    assert [is_session(date.fromisoformat(day)) for day in opened.split()] == [True] * 3
    assert [is_session(date.fromisoformat(day)) for day in closed.split()] == [False] * 7


@given(st.dates(date(1990, 1, 1), date(2060, 12, 31)))
def test_the_neighbouring_sessions_are_sessions_with_none_between(day: date) -> None:
    before, after = session_at(day, -1), session_at(day, 1)
    days = [before + timedelta(days=number) for number in range((after - before).days + 1)]
    assert [each for each in days if is_session(each) and each != day] == [before, after]
