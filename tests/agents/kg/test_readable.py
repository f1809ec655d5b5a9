"""Values, labels and the form of "to be", as people write them."""

import pytest

from agents.kg.readable import MOST_LISTED, grouped, label, money, readable, verb
from agents.kg.results import Cell, Row
from agents.kg.schema import Column, Domain, Table, load_schema


def table(name: str) -> Table:
    return next(schema.tables[name] for schema in map(load_schema, Domain) if name in schema.tables)


def column(place: str) -> Column:
    name, _, key = place.partition(".")
    tables = (schema.tables[name] for schema in map(load_schema, Domain) if name in schema.tables)
    return next(table.columns[key] for table in tables if key in table.columns)


@pytest.mark.parametrize(
    ("place", "value", "text"),
    [
        ("get_movie_person_cast.year", 1999, "1999"),
        ("get_grammy_person.award_date", (2012, 2018), "2012 and 2018"),
        ("get_stock_price.close", "1234567", "$1,234,567"),
        ("get_stock_price.close", "n/a", "n/a"),
        ("get_stock_price.volume", "1200", "1,200 shares"),
        ("get_movie.length", 90.5, "90.5 minutes"),
        ("get_movie_person_oscar.winner", False, "no"),
        ("get_song.release_country", "XE", "Europe (XE)"),
        ("get_movie.original_language", "qq", "qq"),
        ("get_soccer_on_date.result", "D", "draw"),
        ("get_soccer_on_date.result", "abandoned", "abandoned"),
        ("get_person.lifespan", ("1990", None), "1990 to unknown"),
    ],
)
def test_values(place: str, value: Cell, text: str) -> None:
    assert readable(value, column(place)) == text


def test_as_many_as_fit_are_listed_and_rows_are_not() -> None:
    names = tuple(f"n{number}" for number in range(MOST_LISTED + 1))
    assert readable(names[:-1]).endswith(f"n{MOST_LISTED - 2} and n{MOST_LISTED - 1}")
    assert readable(names).endswith(f"n{MOST_LISTED - 1} and 1 more")
    assert readable((Row("music", "x"),)) == ""


@pytest.mark.parametrize(
    ("number", "text"), [(-12345.5, "-12,345.5"), (-0.034125, "-0.03413"), (1e15, "1,000,000,000,000,000"), (1.0, "1")]
)
def test_numbers_below_zero_and_beyond_the_exact(number: float, text: str) -> None:
    assert grouped(number) == text


def test_small_money_keeps_its_digits() -> None:
    assert [money(number) for number in (0.0341, -0.0341, 0.999, 1.999, 0)] == [
        "$0.0341", "-$0.0341", "$0.999", "$2.00", "$0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("get_stock_info", "fullTimeEmployees", "full-time employees"),
        ("get_stock_info", "auditRisk", "audit risk"),
        ("get_stock_info", "USDValue", "USDValue"),
        ("get_open", "Population_total", "population total"),
        ("get_open", "GDP per Head", "GDP per head"),
        ("get_movie", "release_date", "release date"),
    ],
)
def test_labels(name: str, key: str, words: str) -> None:
    assert label(table(name), key) == words


@pytest.mark.parametrize(
    ("place", "value", "form"),
    [
        ("get_person.members", ("Ida",), "are"),
        ("get_grammy_year.best_new_artist", ("Ida",), "is"),
        ("get_grammy_year.best_new_artist", ("Ida", "Max"), "are"),
        ("get_person.lifespan", ("1990", "2001"), "is"),
        ("get_stock_info.fullTimeEmployees", 3, "are"),
        ("get_stock_info.profitMargins", 0.2, "is"),
        ("get_stock_info.trailingPE", 20, "is"),
        ("get_stock_info.fiftyTwoWeekHigh", 20, "is"),
        ("get_stock_eps.value", 2.5, "is"),
        ("get_grammy_person.award_count", 3, "is"),
        ("get_grammy_person.award_date", (2012,), "are"),
    ],
)
def test_to_be(place: str, value: Cell, form: str) -> None:
    assert verb(value, column(place)) == form


def test_of_a_whole_record_it_is() -> None:
    assert verb(("a", "b"), None) == "is"
