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


SAME = (
    "$1.89 billion = $1.9 billion|1,097,379 = 1.1 million|309.6 = 310|12.5% = 12.5|5 = 5.0|1 billion = 1000 million"
    "|3.14159 = 3.14|3.14 = 3.14159|€5 = $5|98.6 = 98.6%"
)
DIFFERENT = (
    "$1.89 billion = $1.8 billion|309.6 = 309|43.5 = 43|$12.5 = 12.5%|2008 = 2009|5 = 5.4|100 = 101"
    "|1 million = 1 billion|12.5 million = 13 million|3.14 = 3.15|-4 = 4|2008 = 2008.4"
)


@pytest.mark.parametrize(("pairs", "same"), [(SAME, True), (DIFFERENT, False)])
def test_same_number(pairs: str, same: bool) -> None:
    for pair in pairs.split("|"):
        gold, found = (read_numbers(text)[0] for text in pair.split(" = "))
        assert same_number(gold, found) is same, pair


@pytest.mark.parametrize(
    ("text", "year"),
    [("1945", True), ("1,945", False), ("$1945", False), ("999", False), ("1000", True), ("2101", False)],
)
def test_years(text: str, year: bool) -> None:
    assert read_numbers(text)[0].year_like is year


@pytest.mark.parametrize("value", [7, 1999, 25_000, 3_141_593])
@pytest.mark.parametrize("form", ["{:d}", "{:,d}", "{:.1f}", "${:,d}"])
def test_a_number_is_itself_in_any_notation(value: int, form: str) -> None:
    written = form.format(value)
    assert same_number(read_numbers(str(value))[0], read_numbers(written)[0])
    assert not same_number(read_numbers(str(value))[0], read_numbers(form.format(value + 1))[0])
