"""A mention is linked by its exact name, then by a part of one, then by similarity."""

import pytest

from crag.core.deadline import Deadline
from crag.facts.link import Link, Linker
from crag.facts.mentions import Mention
from crag.settings import LinkLevel, LinkSettings
from crag.text.matching import company_names, plain_name, spellings
from tests.facts.fakes import SOON, entity
from tests.web.fakes import HashedWords

ENTITIES = [
    entity("The Godfather", "movie", 1972),
    entity("The Godfather Part II", "movie", 1974),
    entity("King Kong", "movie", 1933),
    entity("King Kong", "movie", 2005),
    entity("Alien", "movie", 1979),
    entity("Microsoft Corporation", "finance"),
]


def linked(text: str, level: LinkLevel, floor: float = 0.5, domain: str = "movie") -> list[Link]:
    settings = LinkSettings(level=level, minimum_similarity=floor)
    linker = Linker(ENTITIES, {domain: settings}, HashedWords())
    linker.warm_up()
    return linker.link([Mention(text, domain)], Deadline(SOON))[0]


def names(links: list[Link]) -> list[str]:
    return [link.entity.names[0] for link in links]


def test_an_exact_name_ends_the_search_and_gives_all_namesakes() -> None:
    links = linked("king KONG!", "similarity")
    assert [link.entity.years for link in links] == [(1933,), (2005,)]
    assert names(linked("godfather", "similarity")) == ["The Godfather"]


def test_substrings_link_in_both_directions_the_closest_first() -> None:
    assert names(linked("microsoft", "substring", domain="finance")) == ["Microsoft Corporation"]
    assert names(linked("the godfather part", "substring")) == ["The Godfather Part II", "The Godfather"]
    assert linked("the godfather part", "exact") == []


def test_a_substring_is_whole_words_and_not_a_scrap_of_a_name() -> None:
    assert linked("alienation", "substring") == []
    assert linked("the day when alien visitors came to the kingdom", "substring") == []


def test_similarity_is_the_last_resort_and_has_a_floor() -> None:
    links = linked("kong king", "similarity")
    assert names(links) == ["King Kong"] * 2
    assert links[0].score == pytest.approx(1.0)
    assert linked("kong king", "substring") == []
    assert linked("kong island", "similarity", floor=0.6) == []


def test_a_possessive_and_an_article_are_optional() -> None:
    assert spellings("Schindler's List") == {"schindlers list", "schindler list"}
    assert spellings("The Godfather") == {"the godfather", "godfather"}
    assert spellings("A") == {"a"}


def test_companies_are_known_without_their_legal_form() -> None:
    known = {
        "Airbnb Inc. Class A Common Stock": "airbnb",
        "American Airlines Group Inc.": "american airlines",
        "Deere & Company": "deere",
        "Example Holdings Ltd. American Depositary Shares": "example",
        "Group 1 Automotive": "group 1 automotive",
    }
    for listed, short in known.items():
        first, *_, last = [*company_names(listed)] * 2
        assert (first, last) == (plain_name(listed), short)
