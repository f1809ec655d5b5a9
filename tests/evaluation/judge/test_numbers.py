"""Numbers as people write them."""

import pytest

from evaluation.judge.numbers import numbers, same_number


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
    assert [number.value for number in numbers(text)] == values


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
    ],
)
def test_same_number(gold: str, found: str, same: bool) -> None:
    assert same_number(numbers(gold)[0], numbers(found)[0]) is same


def test_a_thousands_comma_makes_no_year() -> None:
    assert numbers("1945")[0].year_like
    assert not numbers("1,945")[0].year_like
    assert not numbers("$1945")[0].year_like
