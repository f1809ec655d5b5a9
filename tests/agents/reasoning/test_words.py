"""How a value is said: rounding, grouping, signs, and the singular of a unit."""

from fractions import Fraction

import pytest

from agents.reasoning import Quantity, evaluate, in_words
from agents.reasoning.quantities import CURRENCIES, PERCENT, PLAIN, Unit


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (Fraction(9_999), "9999"),
        (Fraction(10_000), "10,000"),
        (Fraction(-10_000), "-10,000"),
        (Fraction(12_345_678, 1_000), "12,345.68"),
        (Fraction(2_125, 1_000), "2.13"),
        (Fraction(-2_125, 1_000), "-2.13"),
        (Fraction(-1, 3), "-0.3333"),
        (Fraction(12_345, 10**9), "0.00001235"),
        (10**29 + Fraction(1, 3), f"100{',000' * 9}.33"),
    ],
)
def test_plain_numbers(number: Fraction, said: str) -> None:
    assert in_words(Quantity(number, PLAIN)) == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (Fraction(0), "$0"),
        (Fraction(-5), "-$5"),
        (Fraction(1_234), "$1,234"),
        (Fraction(-5, 2), "-$2.50"),
        (Fraction(1, 3), "$0.33"),
        (Fraction(1_125, 1_000), "$1.13"),
        (Fraction(1, 10), "$0.10"),
        (Fraction(4, 10_000), "$0.0004"),
        (Fraction(-341, 100_000), "-$0.00341"),
    ],
)
def test_money_is_said_to_the_cent_and_less_than_a_cent_is_not_nothing(number: Fraction, said: str) -> None:
    assert in_words(Quantity(number, CURRENCIES["$"])) == said


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("3 inches - 2 inches", "1 inch"),
        ("1 foot + 0 feet", "1 foot"),
        ("2 centuries - 1 century", "1 century"),
        ("3 days - 2 days", "1 day"),
        ("2 km - 1 km", "1 km"),
        ("2 inches - 1 foot", "-10 inches"),
        ("1.5 feet + 0 feet", "1.5 feet"),
    ],
)
def test_one_of_a_unit_is_singular(formula: str, said: str) -> None:
    assert in_words(evaluate(formula)) == said


def test_a_unit_stands_behind_its_number() -> None:
    assert in_words(Quantity(Fraction(12_500), Unit("miles", "length"))) == "12,500 miles"
    assert in_words(Quantity(Fraction(1, 3), PERCENT)) == "0.3333%"
