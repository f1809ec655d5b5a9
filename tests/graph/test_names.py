"""Which names mean the same: titles and people, teams, companies, award categories."""

import re

import pytest

from crag.core.deadline import Deadline
from crag.graph.client import KgClient, KgSession
from crag.graph.context import LookupContext
from crag.graph.entities import League, company_data, team_spelling
from crag.graph.results import NotFoundError
from crag.graph.tables.films import find_films, release_year
from crag.text.matching import best_match, same_category
from tests.graph.conftest import WEDNESDAY
from tests.graph.faulty_server import FaultyServer


@pytest.mark.parametrize(
    ("name", "league", "spelling"),
    [
        ("man united", "soccer", "Manchester Utd"),
        ("PSG", "soccer", "Paris S-G"),
        ("wolverhampton wanderers", "soccer", "Wolves"),
        ("nottingham forrest", "soccer", "Nott'ham Forest"),
        ("bulls", "nba", "Chicago Bulls"),
        ("new york", "nba", "New York Knicks"),
        ("t-wolves", "nba", "Minnesota Timberwolves"),
        ("houston rockets basketball team", "nba", "Houston Rockets"),
        ("A.C. Milan", "soccer", "Milan"),
        ("Arsenal F.C.", "soccer", "Arsenal"),
        ("S.S. Lazio", "soccer", "Lazio"),
        ("everton football club", "soccer", "Everton"),
        ("Paris St-Germain", "soccer", "Paris S-G"),
        ("Borussia M'gladbach", "soccer", "Gladbach"),
    ],
)
def test_a_team_in_common_use_has_the_graphs_spelling(name: str, league: League, spelling: str) -> None:
    assert team_spelling(name, league) == (spelling, True)


@pytest.mark.parametrize(
    ("name", "league"),
    [
        ("manchester", "soccer"),
        ("barcelona b", "soccer"),
        ("los angeles", "nba"),
        ("Springfield Isotopes", "nba"),
        ("chelsea women", "soccer"),
        ("real madrid castilla", "soccer"),
        ("", "nba"),
    ],
)
def test_what_may_be_several_teams_or_none_stays_as_it_is(name: str, league: League) -> None:
    assert team_spelling(name, league) == (name, False)


LISTINGS = {
    "Abacus Inc. Common Stock": "ABC",
    "Abacus Inc. Warrant": "ABCW",
    "Thin Holdings Corporation Class A Common Stock": "THN",
    "Thick Holdings Corporation Class A Common Stock": "THK",
    "Berkshire Hathaway Inc. Class B": "BRK/B",
    "Gap Filler plc American Depositary Shares": "GAP",
    "Kite-Lark Inc. Common Stock": "KLRK",
    "RedKite Corporation Common Stock": "RDKT",
    "P Q Heron Depositary Shares Preferred Stock Series D": "PQH^D",
    "PQ Heron & Co. Common Stock": "PQH",
    "The Egret Company Common Stock": "EGR",
}


def ticker_of(name: str) -> tuple[str, list[str], list[str]]:
    """The ticker, the remarks and the endpoints asked, against a server whose search gives all listings."""
    with FaultyServer() as server, KgClient(server.url) as client:
        known = {*LISTINGS.values(), "BRK-B", "GOOGL"}
        server.results["/finance/get_eps"] = lambda payload: 1.5 if payload["query"] in known else None
        server.results["/finance/get_company_name"] = lambda payload: list(LISTINGS)
        server.results["/finance/get_ticker_by_name"] = lambda payload: LISTINGS.get(payload["query"])
        context = LookupContext(KgSession(client.batch(Deadline(600.0)), 20), WEDNESDAY)
        ticker, _ = company_data(context, "/finance/get_eps", name)
        return ticker, context.remarks, [path.rsplit("/")[-1] for path, _ in server.requests]


@pytest.mark.parametrize(
    ("name", "ticker"),
    [
        ("abc", "ABC"),
        ("abc stock", "ABC"),
        ("NYSE: ABC", "ABC"),
        ("Abacus (ABC)", "ABC"),
        ("Abacus (NASDAQ: THN)", "THN"),
        ("abacus", "ABC"),  # the share, not the warrant
        ("Abacus Inc. Warrant", "ABCW"),
        ("brk.b", "BRK-B"),
        ("google", "GOOGL"),
        ("gap", "GAP"),  # a word that is a ticker
        ("kite lark", "KLRK"),
        ("red kite", "RDKT"),
        ("P.Q. Heron", "PQH"),  # not the preferred share of "P Q Heron"
        ("egret's", "EGR"),
    ],
)
def test_a_name_or_symbol_of_a_company_leads_to_its_ticker(name: str, ticker: str) -> None:
    assert ticker_of(name)[0] == ticker


@pytest.mark.parametrize("name", ["zzz", "no such company", "holdings"])
def test_a_name_of_nobody_is_not_found(name: str) -> None:
    with pytest.raises(NotFoundError, match=name):
        ticker_of(name)


@pytest.mark.parametrize(
    ("wanted", "candidates", "expected"),
    [
        ("lord of the kites", ["Kites", "The Lord of the Kites"], "The Lord of the Kites"),
        ("lord of the kytes", ["Kites", "The Lord of the Kites"], "The Lord of the Kites"),
        ("red kite 5", ["Red Kite 4"], None),  # another part of a series is another film
        ("red kite five", ["Red Kite"], None),
        ("red kite iv", ["Red Kite 4"], "Red Kite 4"),
        ("rod taylor sr", ["Rod Taylor Jr."], None),  # father and son
        ("man on fire", ["Man on Wire"], None),  # another word, no slip of the fingers
        ("good will hutning", ["Good Will Hunting"], "Good Will Hunting"),
        ("jon hurt", ["John Hurt"], "John Hurt"),
        ("jimmy carter", ["Amy Carter"], None),
        ("jon smth", ["Jon Smith", "Jon Smyth"], None),  # either may be meant
        ("gaga", ["Ga-Ga", "Gaga", "GAGA"], "Gaga"),
        ("the heron", ["Heron", "The Heron"], "The Heron"),
        ("heron", ["The Heron", "Heron"], "Heron"),
        ("heron", ["The Heron"], "The Heron"),
        ("doctor heron", ["Dr. Heron", "Heron"], "Dr. Heron"),
        ("ann lee junior", ["Ann Lee Sr.", "Ann Lee Jr."], "Ann Lee Jr."),
        ("dame ann lee", ["Ann Lee", "Anna Lee"], "Ann Lee"),
        ("heron, the", ["The Heron", "Herons"], "The Heron"),
        ("jon lee the 3rd", ["Jon Lee III", "Jon Lee"], "Jon Lee III"),
        ("orle bros", ["Orle Brothers"], "Orle Brothers"),
        ("orle five", ["Orle 5", "Orle 6"], "Orle 5"),
        ("the orle 5", ["Orle Five"], "Orle Five"),
        ("kites incorporated", ["Kites, Inc."], "Kites, Inc."),
        ("anything", [], None),
        ("kite", ["Completely Different"], None),
    ],
)
def test_a_hit_is_trusted_only_if_it_is_clearly_the_best(
    wanted: str, candidates: list[str], expected: str | None
) -> None:
    match = best_match(wanted, candidates)
    assert (candidates[match.position] if match else None) == expected


@pytest.mark.parametrize(("title", "years"), [("the heron", [1990, 2020]), ("heron", [2020, 1990]), ("herons", [])])
def test_of_two_films_the_one_with_the_same_article_comes_first(title: str, years: list[int]) -> None:
    films = [
        {"title": "The Heron", "id": 1, "release_date": "1990-01-01", "revenue": 1},
        {"title": "Heron", "id": 2, "release_date": "2020-01-01", "revenue": 900},
    ]
    with FaultyServer() as server, KgClient(server.url) as client:
        server.results["/movie/get_movie_info"] = lambda payload: films if "heron" in payload["query"].split() else []
        context = LookupContext(KgSession(client.batch(Deadline(600.0)), 20), WEDNESDAY)
        try:
            found = find_films(context, title, ())
        except NotFoundError:
            found = []
    assert [release_year(film) for film in found] == years


AWARDS = """
best actor == ACTOR IN A LEADING ROLE
Best Actor == ACTOR
best picture == BEST MOTION PICTURE
best picture == OUTSTANDING PRODUCTION
best foreign language film == INTERNATIONAL FEATURE FILM
best original screenplay == WRITING (Screenplay Written Directly for the Screen)
best adapted screenplay == WRITING (Adaptation)
best production design == ART DIRECTION
visual effects == SPECIAL VISUAL EFFECTS
best sound == SOUND MIXING
best vfx == VISUAL EFFECTS
best actor != ACTOR IN A SUPPORTING ROLE
best picture != DIRECTING (Dramatic Picture)
best picture != ANIMATED FEATURE FILM
best original song != MUSIC (Original Score)
best != DIRECTING
"""


@pytest.mark.parametrize("case", AWARDS.strip().splitlines())
def test_an_award_is_the_same_under_any_of_its_names(case: str) -> None:
    asked, sign, official = re.split(" (==|!=) ", case)
    assert same_category(asked, official) is (sign == "==")
