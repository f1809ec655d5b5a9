"""Values in text, against the values that people mean."""

from fractions import Fraction

import pytest

from agents.reasoning.quantities import CURRENCIES, PERCENT, PLAIN, CalendarDate, Quantity, read_value


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("1,234.50", Fraction(2469, 2), ""),
        ("3.2 million", Fraction(3_200_000), ""),
        ("$1.5bn", Fraction(1_500_000_000), "$"),
        ("$5m", Fraction(5_000_000), "$"),
        ("5 m", Fraction(5), "m"),
        ("£20", Fraction(20), "£"),
        ("2 billion dollars", Fraction(2_000_000_000), "$"),
        ("12.5%", Fraction(25, 2), "%"),
        ("12 per cent", Fraction(12), "%"),
        ("170-minute", Fraction(170), "minutes"),
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
    ],
)
def test_dates_in_any_order(text: str, expected: CalendarDate) -> None:
    read = read_value(text)
    assert read is not None
    assert read.value == expected
    assert read.end == len(text)


@pytest.mark.parametrize("text", ["", "abc", "2021-02-30", "7th", "$", "3d", "1" * 31])
def test_what_is_no_value(text: str) -> None:
    assert read_value(text) is None


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("1 mile", "m", Fraction(1_609_344, 1_000)),
        ("6 feet", "inches", Fraction(72)),
        ("1 pound", "ounces", Fraction(16)),
        ("2 weeks", "hours", Fraction(336)),
        ("1 century", "years", Fraction(100)),
    ],
)
def test_units_of_one_dimension_convert(text: str, unit: str, expected: Fraction) -> None:
    read, target = read_value(text), read_value(f"1 {unit}")
    assert read is not None
    assert target is not None
    assert isinstance(read.value, Quantity)
    assert isinstance(target.value, Quantity)
    assert read.value.within(target.value.unit).number == expected


def test_currencies_do_not_convert() -> None:
    assert len({unit.dimension for unit in (*CURRENCIES.values(), PERCENT, PLAIN)}) == len(CURRENCIES) + 2
