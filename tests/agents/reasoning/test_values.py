"""Values as texts write them, and as answers say them."""

from fractions import Fraction

import pytest

from agents.matching import CURRENCIES, PERCENT, PLAIN, Unit
from agents.reasoning.values import CalendarDate, Quantity, in_words, read_value

DOLLARS = CURRENCIES["$"]


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("1,234.50", Fraction(2469, 2), ""),
        ("3.2 million", 3_200_000, ""),
        ("$1.5bn", 1_500_000_000, "$"),
        ("$5m", 5_000_000, "$"),
        ("2 billion dollars", 2_000_000_000, "$"),
        ("12 per cent", 12, "%"),
        ("170-minute", 170, "minutes"),
        (".5", Fraction(1, 2), ""),
    ],
)
def test_numbers_with_magnitude_and_unit(text: str, number: Fraction, unit: str) -> None:
    read = read_value(text)
    assert read is not None
    assert isinstance(read.value, Quantity)
    assert (read.value.number, read.value.unit.name, read.end) == (number, unit, len(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2020-02-29", CalendarDate(2020, 2, 29)),
        ("March 5, 2024", CalendarDate(2024, 3, 5)),
        ("sept. 1st 1999", CalendarDate(1999, 9, 1)),
        ("5th of march 2024", CalendarDate(2024, 3, 5)),
        ("may 2010", CalendarDate(2010, 5)),
        *((text, None) for text in ("", "abc", "2021-02-30", "7th", "$", "3d", "1" * 31)),
    ],
)
def test_dates_in_any_order_and_texts_without_a_value(text: str, expected: CalendarDate | None) -> None:
    read = read_value(text)
    assert (read and read.value, read and read.end) == (expected, expected and len(text))


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
def test_how_a_quantity_is_said(number: Fraction, unit: Unit, said: str) -> None:
    assert in_words(Quantity(Fraction(number), unit)) == said
