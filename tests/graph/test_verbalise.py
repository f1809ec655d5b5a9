"""The sentences that the answering model reads, whole: their wording is what a user sees."""

from random import Random

import pytest

from crag.graph.language import Condition, Operator
from crag.graph.results import Cell, Row
from crag.graph.schema import Column, Domain, load_schema
from crag.graph.statement_rows import Selection
from crag.graph.verbalise import MAX_CHARACTERS, verbalise
from crag.graph.wording import format_money, format_number, readable


def test_long_lists_are_cut_and_counted() -> None:
    table = load_schema("finance").tables["get_stock_dividend"]
    rows = [Row("ABC", {"date": f"20{n:02}-01-01", "value": n / 100}) for n in range(1, 61)]
    text = verbalise(Selection(table, rows, rows, rows), "value")
    assert text.startswith("60 dividends of ABC.")
    assert "and 35 more. The sum is $18.30, the average $0.305, the lowest $0.01, the highest $0.6." in text
    members = tuple(f"Member {n}" for n in range(1000))
    person = load_schema("music").tables["get_person"]
    rows = [Row("X", {"members": members})]
    said = verbalise(Selection(person, rows, rows, rows), "members")
    assert said.endswith("Member 24 and 975 more.")


@pytest.mark.parametrize(
    ("winner", "said"),
    [("true", "Oscar wins of Jaws is 1."), ("won", "Oscar wins of Jaws is 1."), ("no", "winner is no")],
)
def test_nominations_that_are_selected_as_won_are_called_wins(winner: str, said: str) -> None:
    table = load_schema("movie").tables["get_movie_person_oscar"]
    rows = [Row("Jaws", {"film": "Jaws", "winner": winner != "no"})]
    conditions = (Condition(Operator.EQ, "winner", winner),)
    assert said in verbalise(Selection(table, rows, rows, rows), None, conditions=conditions, count=1)


def test_every_text_is_bounded() -> None:
    rng = Random(5)
    for domain in ("movie", "finance", "music", "sports", "open"):
        for table in load_schema(domain).tables.values():
            values: list[Cell] = ["w " * 50, 3, None, ("v " * 40,) * 9]
            rows = [Row("e" * 40, {key: rng.choice(values) for key in table.columns}) for _ in range(60)]
            for key in (None, *table.columns):
                for taken in (rows, rows[:1]):
                    assert len(verbalise(Selection(table, rows, rows, taken), key)) <= MAX_CHARACTERS + 60


def column(place: str) -> Column:
    name, _, key = place.partition(".")
    tables = (schema.tables[name] for schema in map(load_schema, Domain) if name in schema.tables)
    return next(table.columns[key] for table in tables if key in table.columns)


@pytest.mark.parametrize(
    ("place", "value", "text"),
    [
        ("get_stock_price.close", "1234567", "$1,234,567"),
        ("get_stock_price.close", "n/a", "n/a"),
        ("get_movie.length", 90.5, "90.5 minutes"),
        ("get_movie_person_oscar.winner", False, "no"),
        ("get_song.release_country", "XE", "Europe (XE)"),
        ("get_movie.original_language", "qq", "qq"),
        ("get_soccer_on_date.result", "D", "draw"),
        ("get_soccer_on_date.result", "abandoned", "abandoned"),
        ("get_person.lifespan", ("1990", None), "1990 to unknown"),
    ],
)
def test_a_value_is_written_as_its_column_says(place: str, value: Cell, text: str) -> None:
    assert readable(value, column(place)) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1234567, "1,234,567"),
        (3.14159, "3.142"),
        (0.03412, "0.03412"),
        (-7, "-7"),
        (0, "0"),
        (-12345.5, "-12,345.5"),
        (-0.034125, "-0.03413"),
        (1e15, "1,000,000,000,000,000"),
    ],
)
def test_a_number_has_separators_and_no_more_decimals_than_say_something(number: float, text: str) -> None:
    assert format_number(number) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (1234.5, "$1,234.50"),
        (1200, "$1,200"),
        (0.0341, "$0.0341"),
        (0.00001234, "$0.00001234"),
        (-5, "-$5"),
        (-2.5, "-$2.50"),
        (0.999, "$0.999"),
        (1.999, "$2.00"),
        (0, "$0"),
    ],
)
def test_money_has_cents_if_it_is_not_whole_and_more_digits_below_a_dollar(amount: float, text: str) -> None:
    assert format_money(amount) == text
