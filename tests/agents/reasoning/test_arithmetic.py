"""Units and dates at their edges: what may be computed with what, and what a date is moved to."""

from fractions import Fraction

import pytest

from agents.reasoning import CalendarDate, ExpressionError, Fault, Quantity, evaluate, in_words
from agents.reasoning.arithmetic import Value, add
from agents.reasoning.quantities import MONTHS, YEARS

NINES = "9" * 30


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("1 km + 500 m", "1.5 km"),
        ("100 * 20%", "20"),
        ("years between 2019-05-01 and 2021", "2 years"),
        ("years between 2021 and 2019", "2 years"),
        ("months between march 2020 and 2020-05-01", "2 months"),
        ("weeks between 2020-01-01 and 2020-01-04", "0.4286 weeks"),
        ("age(1980-03-05, 1980-03-05)", "0 years"),
        ("2020-01-01 + 48 hours", "2020-01-03"),
        ("may 2010 + 1 month", "2010-06"),
        ("december 2010 + 2 months", "2011-02"),
        ("january 2011 - 1 month", "2010-12"),
        ("2020-02-29 + 1 year", "2021-02-28"),
        ("2020-02-29 - 4 years", "2016-02-29"),
        ("may 2010 = 2010-05-20", "yes"),
        ("may 2010 < 2010-06-01", "yes"),
        ("2010-05-20 > may 2010", "no"),
        ("1 km > 999 m", "yes"),
        ("max(1 km; 999 m)", "1 km"),
    ],
)
def test_what_belongs_together_is_computed(formula: str, said: str) -> None:
    assert in_words(evaluate(formula)) == said


@pytest.mark.parametrize(
    ("formula", "fault"),
    [
        ("10 / 2 km", Fault.UNITS),
        ("-(2 > 1)", Fault.UNITS),
        ("-2020-01-01", Fault.UNITS),
        ("(2 > 1) * 3", Fault.UNITS),
        ("percent change from -5 to 5", Fault.UNITS),
        ("percent change from 0 to 5", Fault.DIVISION_BY_ZERO),
        ("2020-01-01 + 36 hours", Fault.UNITS),
        ("2020-01-01 + 3 km", Fault.UNITS),
        ("may 2010 + 1 day", Fault.IMPRECISE),
        ("months between 2019 and 2020-05-01", Fault.IMPRECISE),
        ("years between 10000 and 2000", Fault.UNITS),
        ("years between 1990.5 and 2000", Fault.UNITS),
        ("9999-12-31 + 1 month", Fault.TOO_LARGE),
        ("0001-01-01 - 1 month", Fault.TOO_LARGE),
        ("0001-01-01 - 1 day", Fault.TOO_LARGE),
        (f"-{NINES} * 2", Fault.TOO_LARGE),
        (f"1 / {NINES} / {NINES} / {NINES}", Fault.TOO_LARGE),
    ],
)
def test_nothing_else_is(formula: str, fault: Fault) -> None:
    with pytest.raises(ExpressionError) as raised:
        evaluate(formula)
    assert raised.value.fault is fault


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("5 + 2020-01-01", "a plain number and a date cannot be added"),
        ("5 km - (1 > 2)", "a number of km and a yes or no cannot be added or subtracted"),
    ],
)
def test_the_message_names_what_does_not_fit(formula: str, told: str) -> None:
    with pytest.raises(ExpressionError, match=told):
        evaluate(formula)


@pytest.mark.parametrize(
    ("duration", "moved"),
    [(Quantity(Fraction(2), YEARS), CalendarDate(2021)), (Quantity(Fraction(24), MONTHS), CalendarDate(2021))],
)
def test_a_year_moves_by_years_and_stays_a_year(duration: Value, moved: CalendarDate) -> None:
    assert add(CalendarDate(2019), duration) == moved
    assert add(moved, duration, -1) == CalendarDate(2019)


def test_a_year_does_not_move_by_part_of_one() -> None:
    with pytest.raises(ExpressionError, match="no duration"):
        add(CalendarDate(2019), Quantity(Fraction(6), MONTHS))
