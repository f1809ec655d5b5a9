"""Units of the calendar against day-by-day counting, sessions against known days."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.dates.calendars import (
    DateRange,
    Unit,
    is_session,
    period_around,
    season_range,
    session_at,
    shifted,
)

DAYS = st.dates(date(1800, 1, 1), date(2200, 12, 31))


@given(DAYS, st.sampled_from([unit for unit in Unit if unit is not Unit.WEEKEND]))
def test_units_tile_the_calendar(day: date, unit: Unit) -> None:
    period = period_around(day, unit)
    assert period.contains(day)
    assert period_around(period.first, unit) == period_around(period.last, unit) == period
    assert period_around(period.last + timedelta(days=1), unit).first == period.last + timedelta(days=1)


@pytest.mark.parametrize(
    ("day", "unit", "expected"),
    [
        (date(2024, 2, 28), Unit.WEEK, "2024-02-25 to 2024-03-02"),
        (date(2024, 2, 25), Unit.WEEK, "2024-02-25 to 2024-03-02"),
        (date(2024, 2, 25), Unit.WEEKEND, "2024-02-24 to 2024-02-25"),
        (date(2024, 2, 26), Unit.WEEKEND, "2024-03-02 to 2024-03-03"),
        (date(2024, 2, 28), Unit.MONTH, "2024-02-01 to 2024-02-29"),
        (date(2024, 6, 30), Unit.QUARTER, "2024-04-01 to 2024-06-30"),
        (date(2024, 7, 1), Unit.HALF, "2024-07-01 to 2024-12-31"),
        (date(2024, 6, 30), Unit.SEASON, "2023-07-01 to 2024-06-30"),
        (date(2024, 7, 1), Unit.SEASON, "2024-07-01 to 2025-06-30"),
    ],
)
def test_the_unit_around_a_day(day: date, unit: Unit, expected: str) -> None:
    assert str(period_around(day, unit)) == expected
    if unit is Unit.SEASON:
        assert season_range(period_around(day, unit).first.year) == period_around(day, unit)


@pytest.mark.parametrize(
    ("day", "unit", "count", "expected"),
    [
        (date(2024, 1, 31), Unit.MONTH, 1, date(2024, 2, 29)),
        (date(2024, 3, 31), Unit.MONTH, -1, date(2024, 2, 29)),
        (date(2024, 2, 29), Unit.YEAR, -1, date(2023, 2, 28)),
        (date(2024, 1, 15), Unit.MONTH, -1, date(2023, 12, 15)),
        (date(2024, 8, 31), Unit.HALF, 1, date(2025, 2, 28)),
        (date(2024, 2, 28), Unit.WEEKEND, 1, date(2024, 3, 6)),
        (date(2024, 2, 28), Unit.DAY, -2, date(2024, 2, 26)),
    ],
)
def test_a_day_some_units_away(day: date, unit: Unit, count: int, expected: date) -> None:
    assert shifted(day, unit, count) == expected


def test_both_ends_belong_to_a_range_and_they_stand_in_order() -> None:
    days = DateRange(date(2024, 1, 1), date(2024, 1, 2))
    assert [days.contains(date(2023, 12, 31) + timedelta(days=number)) for number in range(4)] == [
        False,
        True,
        True,
        False,
    ]
    with pytest.raises(ValueError, match="before it begins"):
        DateRange(date(2024, 1, 2), date(2024, 1, 1))


@pytest.mark.parametrize(
    ("day", "open_"),
    [
        (date(2024, 1, 1), False),
        (date(2021, 12, 31), True),  # New Year on a Saturday is not observed
        (date(2021, 6, 18), True),  # Juneteenth closes the exchange since 2022
        (date(2022, 6, 20), False),
        (date(2024, 3, 29), False),  # Good Friday
        (date(2001, 9, 11), False),
        (date(2012, 10, 29), False),
        (date(2025, 1, 9), False),
        (date(2024, 7, 3), True),  # an early close
        (date(2024, 7, 6), False),  # a Saturday
    ],
)
def test_sessions_of_the_exchange(day: date, open_: bool) -> None:
    assert is_session(day) is open_


@given(st.dates(date(1990, 1, 1), date(2060, 12, 31)))
def test_the_neighbouring_sessions_are_sessions_with_none_between(day: date) -> None:
    before, after = session_at(day, -1), session_at(day, 1)
    days = [before + timedelta(days=number) for number in range((after - before).days + 1)]
    assert [each for each in days if is_session(each) and each != day] == [before, after]
