"""How answers are read into typed parts."""

import pytest

from crag.evaluation.judge.reading import plain_text, read_answer, same_quantity
from crag.evaluation.judge.reading.denial import without_denied
from crag.evaluation.judge.reading.name_series import name_series
from crag.evaluation.judge.reading.polarity import read_polarity
from crag.evaluation.judge.reading.signed_names import signed_names


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("12", [12]),
        ("1,234,567.5", [1_234_567.5]),
        ("twenty-one and seven", [21, 7]),
        ("$1.9 billion", [1.9e9]),
        ("$75m", [75e6]),
        ("75m tall", [75]),
        ("3 million people", [3e6]),
        ("12.5%", [12.5]),
        ("1929-1941", [1929, 1941]),
        ("the 1990s", [1990]),
        ("3rd of 10", [3, 10]),
        ("born on 10 July 1939, aged 5", [5]),
        ("none", []),
    ],
)
def test_values_of_quantities(text: str, values: list[float]) -> None:
    assert [number.value for number in read_answer(text).quantities] == values


SAME_NUMBERS = (
    "$1.89 billion = $1.9 billion|1,097,379 = 1.1 million|309.6 = 310|12.5% = 12.5|5 = 5.0|1 billion = 1000 million"
    "|3.14159 = 3.14|3.14 = 3.14159|€5 = 5|98.6 = 98.6%"
)
DIFFERENT_NUMBERS = (
    "$1.89 billion = $1.8 billion|309.6 = 309|43.5 = 43|$12.5 = 12.5%|2008 = 2009|5 = 5.4|100 = 101"
    "|1 million = 1 billion|12.5 million = 13 million|3.14 = 3.15|-4 = 4|€5 = $5|2008 = 2008.4"
)


@pytest.mark.parametrize(("pairs", "same"), [(SAME_NUMBERS, True), (DIFFERENT_NUMBERS, False)])
def test_same_quantity(pairs: str, same: bool) -> None:
    for pair in pairs.split("|"):
        gold, found = (read_answer(text).quantities[0] for text in pair.split(" = "))
        assert same_quantity(gold, found) is same, pair


@pytest.mark.parametrize(
    ("text", "year"),
    [("1945", True), ("1,945", False), ("$1945", False), ("999", False), ("1000", True), ("2101", False)],
)
def test_years(text: str, year: bool) -> None:
    assert read_answer(text).quantities[0].year_like is year


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("one hundred and twenty", "120"),
        ("between one hundred and two hundred", "between 100 and 200"),
        ("two hundred thousand", "200 thousand"),
        ("one million two hundred thousand", "1200000"),
        ("nineteen eighty-four", "1984"),
        ("half a million", "0.5 million"),
        ("the third largest", "the 3th largest"),
        ("first quarter of 2020", "1th quarter of 2020"),
        ("2½ or 4 1/2", "2.5 or 4.5"),
        ("3/4 cup in 2/3 days", "0.75 cup in 2/3 days"),
        ("3.2 × 10⁵", "3.2e5"),
        ("12 degrees below zero", "-12 degrees"),
        ("half a mile below sea level", "-0.5 mile"),
        ("5 minus 3", "5 minus 3"),
        ("The Half Blood Prince", "the half blood prince"),
        ("5 times a day", "5 times a day"),
    ],
)
def test_numbers_are_written_in_digits(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("5 ft 11 in", "inches", 71),
        ("2 hours and 5 minutes", "minutes", 125),
        ("Rs 5 crore", "₹", 5e7),
        ("C$20 million", "C$", 2e7),
        ("212 °F", "°F", 212),
        ("-$0.35", "$", -0.35),
        ("($0.35)", "$", -0.35),
    ],
)
def test_quantities_have_a_unit_and_a_sign(text: str, unit: str, value: float) -> None:
    (quantity,) = read_answer(text).quantities
    assert quantity.units[0].name == unit
    assert quantity.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("3–1", [(3, 1)]),
        ("1999-00", [(1999, 2000)]),
        ("between 10 and 12", [(10, 12)]),
        ("10-6-1", [(10, 6, 1)]),
        ("1939-07-10", []),
        ("3 in 1990", []),
    ],
)
def test_series(text: str, numbers: list[tuple[float, ...]]) -> None:
    assert [series.numbers for series in read_answer(text).series] == numbers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not Oslo but Bergen", "Bergen"),
        ("Oslo, not Bergen", "Oslo"),
        ("Oslo did not host it.", ""),
        ("neither Oslo nor Bergen", ""),
        ("It did not open until 1990.", "It did not open until 1990."),
        ("no more than 300", "no more than 300"),
        ("none other than Ann Lee", "Ann Lee"),
        ("Ann Lee, a teacher, did not build it; Bo Chan did.", "Bo Chan did."),
    ],
)
def test_what_is_denied_is_left_out(text: str, said: str) -> None:
    assert without_denied(text) == said


@pytest.mark.parametrize(
    ("text", "polarity"),
    [("he never did.", False), ("that isn't true", False), ("of course", True), ("no doubt", True), ("in 1990", None)],
)
def test_polarity(text: str, polarity: bool | None) -> None:
    assert read_polarity(text) is polarity


def test_signs_belong_to_names() -> None:
    assert signed_names("c++, an aa- and b flat; 300+ aa-rated bonds") == {"c": {"++"}, "aa": {"-"}, "b": {"♭"}}


def test_series_of_names() -> None:
    (names,) = name_series("It was founded by Ann Lee, Bo Chan and Cy Dean in 1990.")
    assert names[:2] == [
        ("ann", "lee"),
        ("bo", "chan"),
    ]
