"""Numbers as people write them."""

import pytest

from agents.matching import read_numbers, same_number


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("12", [12]),
        ("1,234,567.5", [1_234_567.5]),
        ("twenty-one and seven", [21, 7]),
        ("$1.9 billion", [1.9e9]),
        ("2.5bn", [2.5e9]),
        ("$75m", [75e6]),
        ("75m tall", [75]),
        ("3 million people", [3e6]),
        ("12.5%", [12.5]),
        (".5", [0.5]),
        ("-4 degrees", [-4]),
        ("1929-1941", [1929, 1941]),
        ("the 1990s", [1990]),
        ("3rd of 10", [3, 10]),
        ("born on 10 July 1939, aged 5", [5]),
        ("none", []),
    ],
)
def test_values(text: str, values: list[float]) -> None:
    assert [number.value for number in read_numbers(text)] == values


@pytest.mark.parametrize(
    ("gold", "found", "same"),
    [
        ("$1.89 billion", "$1.9 billion", True),
        ("$1.89 billion", "$1.8 billion", False),
        ("1,097,379", "1.1 million", True),
        ("309.6", "310", True),
        ("309.6", "309", False),
        ("43.5", "43", False),
        ("12.5%", "12.5", True),
        ("$12.5", "12.5%", False),
        ("2008", "2009", False),
        ("5", "5.4", False),
        ("5", "5.0", True),
        ("100", "101", False),
        ("1 million", "1 billion", False),
        ("1 billion", "1000 million", True),
        ("12.5 million", "13 million", False),
        ("3.14159", "3.14", True),
        ("3.14", "3.14159", True),
        ("3.14", "3.15", False),
        ("€5", "$5", True),
        ("-4", "4", False),
        ("2008", "2008.4", False),
        ("98.6", "98.6%", True),
    ],
)
def test_same_number(gold: str, found: str, same: bool) -> None:
    assert same_number(read_numbers(gold)[0], read_numbers(found)[0]) is same


@pytest.mark.parametrize(
    ("text", "year"),
    [("1945", True), ("1,945", False), ("$1945", False), ("999", False), ("1000", True), ("2101", False)],
)
def test_years(text: str, year: bool) -> None:
    assert read_numbers(text)[0].year_like is year


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [
        ("1.23 billion", 1.23e9, 1e7),
        ("$5k", 5000, 1000),
        ("€2.50", 2.5, 0.01),
        ("7 hundred", 700, 100),
        ("3-million", 3e6, 1e6),
        ("1,000", 1000, 1),
        ("12.50%", 12.5, 0.01),
    ],
)
def test_step_is_the_value_of_the_last_digit(text: str, value: float, step: float) -> None:
    (number,) = read_numbers(text)
    assert (number.value, number.step) == pytest.approx((value, step))


def test_marks_of_a_number() -> None:
    numbers = read_numbers("$5, 6%, 7th and 8,000")
    marks = [(number.currency, number.percent, number.ordinal, number.grouped) for number in numbers]
    assert marks == [tuple(place == mark for mark in range(4)) for place in range(4)]


@pytest.mark.parametrize("text", ["mp3", "b2b", "version v2", "no numbers here", "12/31/1999"])
def test_digits_inside_words_are_no_numbers(text: str) -> None:
    assert read_numbers(text) == []


@pytest.mark.parametrize("value", [7, 1999, 25_000, 3_141_593])
@pytest.mark.parametrize("form", ["{:d}", "{:,d}", "{:.1f}", "${:,d}"])
def test_a_number_is_itself_in_any_notation(value: int, form: str) -> None:
    written = form.format(value)
    assert same_number(read_numbers(str(value))[0], read_numbers(written)[0])
    assert not same_number(read_numbers(str(value))[0], read_numbers(form.format(value + 1))[0])
