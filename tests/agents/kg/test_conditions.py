"""Which rows conditions let through, in what order rows stand, and what several names share."""

import ast
from collections.abc import Sequence

import pytest

from agents.common.deadline import Deadline
from agents.dates import Calendar
from agents.kg.client import KgClient
from agents.kg.conditions import Comparer, shared_rows
from agents.kg.context import LookupContext
from agents.kg.language import Condition, Key, Operator, Previous
from agents.kg.results import Cell, MeaninglessCallError, Row
from agents.kg.schema import Domain, load_schema
from tests.agents.kg.conftest import WEDNESDAY
from tests.agents.kg.faulty_server import unused_address

EQ, NEQ, GE, LE = Operator.EQ, Operator.NEQ, Operator.GE, Operator.LE


def comparer(domain: str, table: str, previous: tuple[str, ...] = ()) -> Comparer:
    """No server is asked by a comparison."""
    with KgClient(unused_address()) as client, client.batch(Deadline(1.0)) as batch:
        context = LookupContext(batch.question(0), WEDNESDAY, 100)
    return Comparer(load_schema(domain).tables[table], context, Calendar.CIVIL, previous)


def passes(domain: str, table: str, cells: dict[str, Cell], *condition: object) -> bool:
    operator, key, value = condition
    assert isinstance(operator, Operator)
    tested = Condition(operator, str(key), value)  # type: ignore[arg-type]
    return bool(comparer(domain, table, ("Ann Lee", "Bo")).matching([Row(table, "x", cells)], [tested]))


CASES = """
get_movie release_date | "2020-05-17" | eq 2020 | True
get_movie release_date | "2020-05-17" | eq 2020-06 | False
get_movie release_date | "2020-05-17" | neq 2020-06 | True
get_movie release_date | "2020" | eq 2020 | True
get_movie release_date | "2020" | eq 2020-05-17 | False
get_movie release_date | "2020" | ge 2020-05 | False
get_movie release_date | "2020" | le 2020-05 | False
get_movie release_date | "2020" | ge 2020 | True
get_movie release_date | "2020-02" | le 2020-02-29 | True
get_movie release_date | "2024-02-27" | eq yesterday | True
get_movie release_date | "2024-02-20" | eq last week | True
get_movie release_date | "not known" | eq 2020 | False
get_movie release_date | "2023-02-30" | eq 2023 | False
get_movie release_date | None | neq 2020 | False
get_movie revenue | 900 | ge 900 | True
get_movie revenue | 900 | le 899.9 | False
get_movie revenue | 2_500_000 | ge 2.5 million | True
get_movie revenue | 2_500_000 | ge $2,500,001 | False
get_movie revenue | "73,601" | eq 73601 | True
get_movie revenue | 900 | neq 900 | False
get_movie revenue | None | le 5 | False
get_movie_person_cast name | "Ann Lee" | eq ann lee | True
get_movie_person_cast name | "Ann Lee" | neq lee | False
get_movie_person_cast name | "Ann Leeds" | eq lee | False
get_movie_person_cast name | "Ann Leeds" | neq lee | True
get_movie_person_cast character | "James Bond (007)" | eq james bond | True
get_movie_person_cast gender | "female" | eq actress | True
get_movie_person_cast gender | "male" | eq 1 | False
get_movie_person_cast genres | ("Drama", "Science Fiction") | eq science fiction | True
get_movie_person_cast genres | ("Drama",) | neq comedy | True
get_movie_person_oscar winner | True | eq True | True
get_movie_person_oscar winner | True | eq false | False
get_movie_person_oscar winner | True | neq false | True
get_movie_person_oscar category | "DIRECTING" | eq best director | True
"""


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_a_cell_meets_a_condition(case: str) -> None:
    column, cell, condition, expected = case.split(" | ")
    table, key = column.split()
    operator, wanted = condition.split(" ", 1)
    cells = {key: ast.literal_eval(cell)}
    assert str(passes("movie", table, cells, Operator(operator), key, wanted)) == expected


def test_what_is_no_date_is_no_condition_on_a_date() -> None:
    with pytest.raises(MeaninglessCallError, match="is no date"):
        passes("movie", "get_movie", {"release_date": "2020"}, EQ, "release_date", "blue")


@pytest.mark.parametrize(
    ("ours", "operator", "theirs", "expected"),
    [
        (1, GE, 1, False),  # strict between two keys
        (2, GE, 1, True),
        (1, LE, 2, True),
        ("1", EQ, 1, True),  # soccer mixes types
        ("10", GE, "9", True),
        ("1", NEQ, 1, False),
        (1, EQ, None, False),
    ],
)
def test_two_keys(ours: Cell, operator: Operator, theirs: Cell, expected: bool) -> None:
    cells = {"GF": ours, "GA": theirs}
    assert passes("sports", "get_soccer_on_date", cells, operator, "GF", Key("GA")) is expected


def test_any_of_the_values_before() -> None:
    assert passes("movie", "get_movie_person_cast", {"name": "Bo"}, EQ, "name", Previous())
    assert not passes("movie", "get_movie_person_cast", {"name": "Bo"}, NEQ, "name", Previous())
    assert passes("movie", "get_movie_person_cast", {"name": "Cy"}, NEQ, "name", Previous())


Films = Sequence[tuple[object, object]]


def ordered(films: Films, key: str, *, descending: bool) -> list[str]:
    rows = [Row("get_movie", str(place), {"revenue": a, "release_date": b}) for place, (a, b) in enumerate(films)]  # type: ignore[dict-item]
    return [row.entity for row in comparer("movie", "get_movie").ordered(rows, key, descending=descending)]


def test_order() -> None:
    films = [(5, "2000-05"), (None, "1999"), (70, "2000"), (5, "1998-01-01"), (5, None)]
    assert ordered(films, "revenue", descending=True) == ["2", "0", "3", "4", "1"]
    assert ordered(films, "revenue", descending=False) == ["4", "3", "0", "2", "1"]
    assert ordered(films, "release_date", descending=False) == ["3", "1", "2", "0", "4"]
    assert ordered(films, "date", descending=True) == ["0", "2", "1", "3", "4"]  # by another name of the key
    assert ordered([(5, None), (5, None)], "revenue", descending=True) == ["0", "1"]


def rows(entity: str, *cells: dict[str, Cell]) -> list[Row]:
    return [Row("table", entity, one) for one in cells]


def shared(domain: str, table: str, place: int, *found: list[Row], select: str | None = None) -> list[list[Row]]:
    return shared_rows(load_schema(Domain(domain)).tables[table], place, found, select)


def test_people_of_several_films_each_once_and_the_first_role() -> None:
    one = rows("A", {"name": "Ann", "character": "Queen"}, {"name": "Bob"}, {"name": "Ann", "character": "Ghost"})
    other = rows("B", {"name": "Ann"}, {"name": "Cy"}, {"name": None})
    (group,) = shared("movie", "get_movie_person_cast", 0, [*one, *rows("A", {"name": None})], other)
    assert group == rows("A and B", {"name": "Ann", "character": "Queen"})


@pytest.mark.parametrize(
    ("table", "key"), [("get_movie_person_cast", "movie_name"), ("get_movie_person_oscar", "film")]
)
def test_films_of_several_people(table: str, key: str) -> None:
    found = (rows("Ann", {key: "Heat"}, {key: "Up"}), rows("Bob", {key: "Up"}), rows("Cy", {key: "Up"}, {key: "It"}))
    assert shared("movie", table, 1, *found) == [rows("Ann and Bob and Cy", {key: "Up"})]


def test_films_themselves_share_nothing() -> None:
    found = [rows("A", {"title": "A", "budget": 1}), rows("B", {"title": "B", "budget": 1})]
    assert shared("movie", "get_movie", 0, *found, select="budget") == found


def test_games_are_those_against_every_other_team_as_the_first_saw_them() -> None:
    owls = rows("Owls", {"team": "Owls", "opponent": "Cats"}, {"team": "Owls", "opponent": "Dogs"})
    cats = rows("Cats", {"team": "Cats", "opponent": "Owls"})
    dogs = rows("Dogs", {"team": "Dogs", "opponent": "Owls"})
    table = "get_soccer_on_date"
    assert shared("sports", table, 0, owls, cats) == [owls[:1]]
    assert shared("sports", table, 0, owls, cats, dogs) == [[]]


@pytest.mark.parametrize(
    ("table", "key", "lists", "entries"),
    [
        ("get_person", "members", [("Ida", "Max", "Jo"), ("Jo", "Max")], ("Max", "Jo")),
        ("get_person", "members", [("Ida", "Max", "Jo"), ("Max", "Jo"), ("Jo",)], ("Jo",)),
        ("get_person", "members", [("Ida",), None], ()),
        ("get_grammy_person", "award_date", [(2012, 2018), (2018,)], (2018,)),
    ],
)
def test_entries_that_all_lists_have(table: str, key: str, lists: list[Cell], entries: Cell) -> None:
    found = [rows(name, {key: each}) for name, each in zip("ABC", lists, strict=False)]
    ((row,),) = shared("music", table, 0, *found, select=key)
    assert (row.entity, row.cells) == (" and ".join("ABC"[: len(lists)]), {key: entries})
