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


@pytest.mark.parametrize(
    ("day", "unit", "count", "expected"),
    [
        ("2024-01-31", "month", 1, "2024-02-29"),
        ("2024-03-31", "month", -1, "2024-02-29"),
        ("2024-02-29", "year", -1, "2023-02-28"),
        ("2024-01-15", "month", -1, "2023-12-15"),
        ("2024-08-31", "half", 1, "2025-02-28"),
        ("2024-02-28", "weekend", 1, "2024-03-06"),
        ("2024-02-28", "day", -2, "2024-02-26"),
    ],
)
def test_a_day_some_units_away_is_at_most_the_last_of_its_month(day: str, unit: str, count: int, expected: str) -> None:
    assert shifted(date.fromisoformat(day), CalendarUnit(unit), count) == date.fromisoformat(expected)


@pytest.mark.parametrize(
    ("day", "is_open"),
    [
        ("2021-12-31", True),  # New Year's Day is a Saturday, which is not observed
        ("2021-06-18", True),  # Juneteenth closes the exchange since 2022
        ("2024-07-03", True),  # an early close
        ("2024-01-01", False),
        ("2022-06-20", False),
        ("2024-03-29", False),  # Good Friday
        ("2001-09-11", False),
        ("2012-10-29", False),  # a hurricane
        ("2025-01-09", False),  # a day of mourning
        ("2024-07-06", False),  # a Saturday
    ],
)
def test_the_exchange_has_sessions_but_on_weekends_holidays_and_special_closings(day: str, is_open: bool) -> None:
    assert is_session(date.fromisoformat(day)) is is_open


@given(st.dates(date(1990, 1, 1), date(2060, 12, 31)))
def test_the_neighbouring_sessions_are_sessions_with_none_between(day: date) -> None:
    before, after = session_at(day, -1), session_at(day, 1)
    days = [before + timedelta(days=number) for number in range((after - before).days + 1)]
    assert [each for each in days if is_session(each) and each != day] == [before, after]
