"""What several names share, table by table."""

import pytest

from agents.kg.combine import shared_rows
from agents.kg.results import Cell, Row
from agents.kg.schema import Domain, load_schema


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
    ("table", "key", "one", "other", "both"),
    [
        ("get_person", "members", ("Ida", "Max", "Jo"), ("Jo", "Max"), ("Max", "Jo")),
        ("get_person", "members", ("Ida",), None, ()),
        ("get_grammy_person", "award_date", (2012, 2018), (2018,), (2018,)),
    ],
)
def test_entries_that_all_lists_have(
    table: str, key: str, one: tuple[str | int, ...], other: Cell, both: tuple[str | int, ...]
) -> None:
    found = (rows("A", {key: one}), rows("B", {key: other}))
    ((row,),) = shared("music", table, 0, *found, select=key)
    assert (row.entity, row.cells) == ("A and B", {key: both})


def test_an_entry_that_one_of_three_lists_lacks_is_not_shared() -> None:
    lists = (("Ida", "Max", "Jo"), ("Max", "Jo"), ("Jo",))
    found = [rows(name, {"members": members}) for name, members in zip("ABC", lists, strict=True)]
    assert shared("music", "get_person", 0, *found, select="members") == [rows("A and B and C", {"members": ("Jo",)})]


def test_single_values_and_single_names_stay_as_they_are() -> None:
    found = [rows("A", {"birth_date": "1990"}), rows("B", {"birth_date": "1990"})]
    assert shared("music", "get_person", 0, *found, select="birth_date") == found
    assert shared("music", "get_person", 0, *found) == found
    assert shared("music", "get_person", 0, rows("A", {"members": ("Ida",)}), select="members") == [
        rows("A", {"members": ("Ida",)})
    ]


def test_where_no_name_is_known_there_is_no_row() -> None:
    assert shared("music", "get_person", 0, [], [], select="members") == [[]]
    assert shared("movie", "get_movie_person_cast", 0, [], []) == [[]]
