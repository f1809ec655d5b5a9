"""A name is found in the graph although the question spells it in another way, by the server's own search."""

from typing import Any

import pytest

from crag.graph.results import NotFoundError
from crag.graph.spelling import MOST_SPELLINGS, other_spellings, search_names
from crag.graph.tables.movie import find_person
from crag.mock_api.search import NameSearch
from crag.text.matching import best_match

NAMES = [
    *("Chloé", "Dvořák Trio", "Zoë Šimić", "Łukasz Nowicki", "Søren Ås", "Señor Kite", "Jürgen Weiß", "Émile"),
    *("ZZ-Top", "Bat-Man", "Bat-Man 2", "Catman", "E.L.O.", "O'Malley", "B&Q", "Helene", "Red Kite"),
]


class Searching:
    """A context whose server has `NAMES` only; counts the requests."""

    def __init__(self) -> None:
        self.request_count = 0
        self._search = NameSearch(NAMES)

    def ask(self, _: str, query: str) -> list[str]:
        self.request_count += 1
        return self._search(query)


def found(name: str) -> tuple[str | None, int]:
    context: Any = Searching()
    names = search_names(context, "/music/search_artist_entity_by_name", name)
    match = best_match(name, names)
    return (names[match.position] if match else None), context.request_count


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("chloe", "Chloé"),
        ("dvorak trio", "Dvořák Trio"),
        ("zoe simic", "Zoë Šimić"),
        ("lukasz nowicki", "Łukasz Nowicki"),
        ("soren as", "Søren Ås"),
        ("soeren aas", "Søren Ås"),
        ("senor kite", "Señor Kite"),
        ("jurgen weiss", "Jürgen Weiß"),
        ("juergen weiss", "Jürgen Weiß"),
        ("emile", "Émile"),
        ("e\u0301mile", "Émile"),
        ("hélène", "Helene"),
        ("zztop", "ZZ-Top"),
        ("zz top", "ZZ-Top"),
        ("zz/top", "ZZ-Top"),
        ("batman", "Bat-Man"),
        ("bat man", "Bat-Man"),
        ("bat man 2", "Bat-Man 2"),
        ("cat man", "Catman"),
        ("elo", "E.L.O."),
        ("omalley", "O'Malley"),
        ("bq", "B&Q"),
    ],
)
def test_a_name_is_found_in_another_spelling(asked: str, expected: str) -> None:
    assert found(asked)[0] == expected


@pytest.mark.parametrize("asked", ["chlo", "dvorak", "bat man 3", "nobody"])
def test_another_name_is_not_taken_for_it(asked: str) -> None:
    assert found(asked)[0] is None


@pytest.mark.parametrize(
    ("people", "expected"),
    [
        (["Joel Kite", "Ann Lark"], "Joel Kite"),
        (["Joel Kite", "Joel Kite"], "Joel Kite"),
        (["Joel Kite", "Joey Kite"], None),  # either may be meant
        (["Noel Kite"], None),  # the first letter tells people apart
        (["Joel Lark"], None),
        (["Joel Kite", *(f"Joe{number} Lark" for number in range(9))], None),  # a full reply may hide another one
    ],
)
def test_one_wrong_letter_in_a_short_word_is_read_where_one_person_alone_fits(
    people: list[str], expected: str | None
) -> None:
    class Knowing:
        def ask(self, _: str, query: str) -> list[dict[str, str]]:
            return [{"name": name} for name in people]

        def remark(self, text: str) -> None:
            assert text == f'"joen kite" is read as the person "{expected}"'

    context: Any = Knowing()
    if expected is None:
        with pytest.raises(NotFoundError):
            find_person(context, "joen kite")
    else:
        assert find_person(context, "joen kite")["name"] == expected


def test_a_name_that_is_found_as_it_is_costs_one_request() -> None:
    assert found("red kite") == ("Red Kite", 1)
    assert found("nobody")[1] == 2


def test_a_query_holds_few_enough_words_for_a_server_that_scans_all_names_for_each() -> None:
    assert len(other_spellings("the extraordinary adventures of adele blanc sec")) <= MOST_SPELLINGS
    assert other_spellings("2012") == ["2012"]
