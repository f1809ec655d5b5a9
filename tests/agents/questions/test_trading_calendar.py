"""Sessions of the New York Stock Exchange, compared with the `holidays` package, which keeps its own list of them."""

from datetime import date, timedelta

import holidays
from hypothesis import given
from hypothesis import strategies as st

from agents.questions.trading_calendar import is_session, next_session, previous_session, sessions

YEARS = range(2000, 2031)
DAYS = st.dates(date(1990, 1, 1), date(2060, 12, 31))


def test_the_closed_days_of_2000_to_2030_are_those_of_an_independent_list() -> None:
    closed = holidays.financial_holidays("NYSE", years=YEARS)
    days = [date(2000, 1, 1) + timedelta(days=number) for number in range(365 * 31 + 8)]
    assert days[-1] == date(2030, 12, 31)
    assert [day for day in days if is_session(day) == (day.weekday() >= 5 or day in closed)] == []


def test_new_year_on_a_saturday_leaves_the_friday_before_it_open() -> None:
    assert is_session(date(2021, 12, 31))
    assert previous_session(date(2022, 1, 3)) == date(2021, 12, 31)


def test_juneteenth_is_a_holiday_from_2022_on() -> None:
    assert is_session(date(2020, 6, 19))
    assert not is_session(date(2023, 6, 19))


@given(DAYS)
def test_the_neighbouring_sessions_are_sessions_with_none_between(day: date) -> None:
    before, after = previous_session(day), next_session(day)
    assert before < day < after
    assert list(sessions(before, after)) == [before, *([day] if is_session(day) else []), after]


def test_no_sessions_in_a_range_that_ends_before_it_begins() -> None:
    assert list(sessions(date(2024, 1, 5), date(2024, 1, 2))) == []
