import tomllib
from pathlib import Path

import pytest

import agents.kg.teams
from agents.kg.teams import League, team_spelling


@pytest.mark.parametrize(
    ("name", "league", "spelling"),
    [
        ("man united", "soccer", "Manchester Utd"),
        ("Manchester City", "soccer", "Manchester City"),
        ("PSG", "soccer", "Paris S-G"),
        ("brentford fc", "soccer", "Brentford"),
        ("cadiz", "soccer", "Cádiz"),
        ("Real Madrid's", "soccer", "Real Madrid"),
        ("wolverhampton wanderers", "soccer", "Wolves"),
        ("nottingham forrest", "soccer", "Nott'ham Forest"),
        ("bulls", "nba", "Chicago Bulls"),
        ("sixers", "nba", "Philadelphia 76ers"),
        ("new york", "nba", "New York Knicks"),
        ("portland", "nba", "Portland Trail Blazers"),
        ("los angeles clippers", "nba", "LA Clippers"),
    ],
)
def test_the_graphs_spelling(name: str, league: League, spelling: str) -> None:
    assert team_spelling(name, league) == (spelling, True)


@pytest.mark.parametrize(
    ("name", "league"),
    [
        ("manchester", "soccer"),
        ("real", "soccer"),
        ("los angeles", "nba"),
        ("Springfield Isotopes", "nba"),
        ("", "nba"),
    ],
)
def test_what_may_be_several_teams_or_none_stays_as_it_is(name: str, league: League) -> None:
    assert team_spelling(name, league) == (name, False)


@pytest.mark.parametrize("league", ["soccer", "nba"])
def test_every_listed_name_leads_to_its_team(league: League) -> None:
    file = Path(agents.kg.teams.__file__).parent / "teams.toml"
    teams: dict[str, list[str]] = tomllib.loads(file.read_text("utf-8"))[league]
    for spelling, others in teams.items():
        for name in (spelling, *others):
            assert team_spelling(name, league) == (spelling, True), name
