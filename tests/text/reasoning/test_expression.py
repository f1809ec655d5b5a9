"""Formulas against the standard library's own decimals and dates, and which answers of a model are formulas."""

import datetime as dt
import statistics
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.text.matching import CURRENCIES, PERCENT, PLAIN, Unit
from crag.text.reasoning import computed
from crag.text.reasoning.expression import MAX_FORMULA_CHARACTERS, evaluate
from crag.text.reasoning.values import CalendarDate, ExpressionError, Quantity, in_words

DAYS = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))
NUMBERS = st.integers(-(10**6), 10**6).map(lambda number: Fraction(number, 100))


def number_of(text: str) -> Fraction:
    value = evaluate(text)
    assert isinstance(value, Quantity)
    return value.number


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("(3.5 + 4.1) / 2", "3.8"),
        ("45% of 200 million", "90,000,000"),
        ("percent change from 80 to 100", "25%"),
        ("percentage change (100, 80)", "-20%"),
        ("difference between $3 million and $5 million", "$2,000,000"),
        ("1 mile - 1 km", "0.3786 miles"),
        ("5 feet 11 inches + 1 inch", "6 feet"),
        ("90 minutes / 1 hour", "1.5"),
        ("max(100, 200)", "200"),
        ("min of 2019-03-01; 2018-05-05", "2018-05-05"),
        ("$1.5bn + $5m", "$1,505,000,000"),
        ("sept. 1st 1999 + 1 day", "1999-09-02"),
        ("5th of march 2024 + 1 day", "2024-03-06"),
        ("total 1,000, 2,000 and 1", "3001"),
        ("days between march 1, 2019 and 2020-02-11", "347 days"),
        ("weeks between 2020-01-01 and 2020-01-15", "2 weeks"),
        ("months between 2020-01-31 and 2020-03-30", "1 month"),
        ("2024-01-31 + 1 month", "2024-02-29"),
        ("2024-03-01 - 2 days", "2024-02-28"),
        ("age on 2020-03-04 born 1980-03-05", "39 years"),
        ("age(1980-03-05, 2020-03-05)", "40 years"),
        ("$5 > $4.99", "yes"),
        ("1 foot = 12 inches", "yes"),
        ("2020-02-29 + 1 year", "2021-02-28"),
        ("may 2010 = 2010-05-20", "yes"),
    ],
)
def test_a_formula_has_its_value(formula: str, said: str) -> None:
    assert in_words(evaluate(formula)) == said


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (" ", "not a formula"),
        ("1 +", "not a formula"),
        ("1 2", "not a formula from '2' on"),
        ("__import__('os')", "not a formula"),
        ("today - 2020-01-01", "not a formula"),
        ("5 of 10", 'only a percentage has "of"'),
        ("1 +" * MAX_FORMULA_CHARACTERS, "a formula has at most"),
        (" * ".join(["999999999999999"] * 3), "too large"),
        ("9999-12-31 + 1 day", "out of range"),
        ("1 / (2 - 2)", "division by zero"),
        ("percent change from -5 to 5", "negative number"),
        ("$5 + £5", r"a number of \$ and a number of £ cannot be added"),
        ("5 km - (1 > 2)", "a number of km and a yes or no cannot be added"),
        ("2020-01-01 + 2020-01-01", "a date and a date cannot be added"),
        ("2020-01-01 + 36 hours", "not a duration"),
        ("(2 > 1) * 3", "cannot be multiplied"),
        ("3 km > 3 kg", "cannot be compared"),
        ("age(2020-01-01, 1990-01-01)", "before birth"),
        ("days between 2019 and 2020", "is not a day"),
        ("months between 2019 and 2020-05-01", "between years"),
        ("max(100,200)", "thousands or items"),
    ],
)
def test_a_formula_without_a_value_says_why(formula: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        evaluate(formula)


@given(DAYS, DAYS)
def test_dates_against_the_standard_library(one: dt.date, other: dt.date) -> None:
    assert number_of(f"days between {one} and {other}") == abs((one - other).days)
    assert number_of(f"{one} - {other}") == (one - other).days
    first, last = sorted((one, other))
    years = last.year - first.year - ((last.month, last.day) < (first.month, first.day))
    assert number_of(f"years between {one} and {other}") == years
    assert number_of(f"age on {last} born {first}") == years


@given(st.dates(dt.date(1000, 1, 1), dt.date(3000, 1, 1)), st.integers(0, 1200))
def test_a_date_some_months_later(day: dt.date, months: int) -> None:
    moved = evaluate(f"{day} + {months} months")
    assert isinstance(moved, CalendarDate)
    assert moved.month is not None
    assert (moved.year - day.year) * 12 + moved.month - day.month == months
    assert moved.day == day.day or moved.exact == dt.date(
        moved.year + moved.month // 12, moved.month % 12 + 1, 1
    ) - dt.timedelta(days=1)


@given(st.lists(NUMBERS, min_size=2, max_size=8))
def test_lists_against_the_standard_library(numbers: list[Fraction]) -> None:
    listed = "; ".join(f"{float(number):.2f}" for number in numbers)
    assert number_of(f"sum({listed})") == sum(numbers)
    assert number_of(f"average of {listed}") == statistics.mean(numbers)
    assert number_of(f"max({listed})") == max(numbers)
    assert number_of(f"min of {listed}") == min(numbers)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS.filter(bool))
def test_precedence_against_fractions(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> None:
    one, two, three, four = (f"{float(number):.2f}" for number in (a, b, c, d))
    assert number_of(f"{one} - {two} * {three} / {four}") == a - b * c / d
    assert number_of(f"({one} + {two}) * ({three} - {four})") == (a + b) * (c - d)


PIECES = st.sampled_from(
    "1|2019-03-01|march 5, 2024|$3|5%|10 km|of|(|)|+|-|*|/|>|,|and|to|days between|percent change from|average|age on"
    f"|born|max|today|million|{'9' * 29}|\x00".split("|")
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=15).map(" ".join)))
def test_any_text_has_a_value_or_raises_the_named_error(text: str) -> None:
    with suppress(ExpressionError):
        assert in_words(evaluate(text, dt.date(2024, 3, 5)))


DOLLARS = CURRENCIES["$"]


@pytest.mark.parametrize(
    ("number", "unit", "said"),
    [
        (9_999, PLAIN, "9999"),
        (-10_000, PLAIN, "-10,000"),
        (Fraction(12_345_678, 1_000), PLAIN, "12,345.68"),
        (Fraction(-2_125, 1_000), PLAIN, "-2.13"),
        (Fraction(12_345, 10**9), PLAIN, "0.00001235"),
        (10**29 + Fraction(1, 3), PLAIN, f"100{',000' * 9}.33"),
        (1_234, DOLLARS, "$1,234"),
        (Fraction(-5, 2), DOLLARS, "-$2.50"),
        (Fraction(1_125, 1_000), DOLLARS, "$1.13"),
        (Fraction(-341, 100_000), DOLLARS, "-$0.00341"),
        (12_500, Unit("miles", "length"), "12,500 miles"),
        (Fraction(1, 3), PERCENT, "0.3333%"),
    ],
)
def test_a_quantity_is_said_with_its_unit_and_few_digits(number: Fraction, unit: Unit, said: str) -> None:
    assert in_words(Quantity(Fraction(number), unit)) == said


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("= 2021 - 1985", "36"),
        ("2021 - 1985 = 35 years", "36 years"),
        ("= days between 2019-03-01 and 2020-02-11", "347 days"),
        ("= years between 1990-01-01 and today", "34 years"),
        ("3 / 4 = 75%", "75%"),
        ("1 / 3 = 33%", "33.33%"),
        ("$5 + $6 = 11", "$11"),
        ("1 mile - 1 km = 0.61 km", "0.6093 km"),
        ("= 2 + 2 = 5", "4"),
        ("= 2 x 4 x 6", "48"),
        ("= 6 feet 3 inches - 190 cm", "0.0164 feet"),
        ("2024-01-31 + 1 month = 2024-02-28", "2024-02-29"),
    ],
)
def test_a_formula_is_worked_out(answer: str, text: str) -> None:
    computation = computed(answer, dt.date(2024, 3, 5))
    assert computation is not None
    assert computation.text == text
    assert computation.explanation.startswith("computed ")
    assert computation.explanation.endswith(f" = {text}")


NO_FORMULAS = [
    "", "36", "= 36", "i don't know", "2021 - 1985", "days between 2019-03-01 and 2020-02-11", "2 x 4 x 6",
    "march 2020 = 2020-03-05", "2 + 2 = 5", "1984 - 1949 = big brother", "$5 + $6 = 11 euros", "1 / 0 = 5",
    "a\n= 1 + 1", "= " + "1 + " * 200 + "1",
]  # fmt: skip


@pytest.mark.parametrize("answer", NO_FORMULAS)
def test_an_answer_that_is_no_formula_is_left_alone(answer: str) -> None:
    assert computed(answer) is None
