from datetime import datetime

import pytest

from agents.kg.results import Status
from tests.agents.kg.conftest import Run

MARCH = datetime(2024, 3, 5, 12, 0)


@pytest.mark.parametrize(
    ("program", "values"),
    [
        ('get_soccer_last_game("everton")["opponent"]', ("Fulham",)),
        ('get_soccer_last_game("everton fc")["date"]', ("2024-03-02",)),
        ('get_soccer_last_game("everton",eq(venue,"home"))["opponent"]', ("Arsenal",)),
        ('get_soccer_last_game("everton",ge(GF,"5"))["date"]', ("2023-12-30",)),  # in the year before
        ('get_soccer_next_game("everton")["opponent"]', ("Luton Town",)),
        ('get_soccer_next_game("everton")["GF"]', ()),  # not played yet
        ('get_soccer_on_date("everton","2024-02")["result"]', ("D", "L")),
        ('get_soccer_on_date("everton","2024-02-24")["GA"]', (10,)),
        ('get_soccer_on_date("everton","2024-02",eq(GF,GA))["opponent"]', ("Arsenal",)),  # one goal is a text
        ('get_soccer_on_date("everton","2024-02",ge(GA,GF))["opponent"]', ("Arsenal",)),
        ('get_soccer_on_date("arsenal","2024-02")\nsort(None,-GF)["GF"]', (10,)),  # as numbers
        ('get_soccer_on_date("everton","last week")["opponent"]', ("Fulham",)),
        ('get_soccer_on_date(None,"2024-02")["team"]', ("Everton", "Arsenal")),  # each match once
        ('get_soccer_on_date(["everton","arsenal"],"2024")["result"]', ("D", "L")),
        ('get_nba_on_date("bulls","2022")["GF"]', (127.0, 90.0, 101.0)),
        ('get_nba_on_date("bulls","2022",eq(venue,"away"))["reb"]', (50.0,)),
        ('get_nba_on_date("chicago bulls","2022-12",eq(result,"win"))["len"]', (1,)),
        ('get_nba_on_date("bulls","2022",neq(season_type,"pre season"))["len"]', (2,)),
        ('get_nba_on_date(None,"2022-12-01")["team"]', ("Milwaukee Bucks",)),
    ],
)
def test_values(run: Run, program: str, values: tuple[object, ...]) -> None:
    result = run("sports", program, MARCH).results[-1]
    assert result.values == values
    assert result.status is (Status.OK if values else Status.NOT_FOUND)


def test_no_game_of_a_known_team_is_evidence_and_no_game_of_an_unknown_one_is_not(run: Run) -> None:
    for team, date, empty in (
        ("everton", "2024-02-11", True),
        ("springfield", "2024-02-10", False),
        ("manchester", "2024-02-10", False),
    ):
        (result,) = run("sports", f'get_soccer_on_date("{team}","{date}")["GF"]', MARCH).results
        assert (result.status, result.empty_calendar) == (Status.NOT_FOUND, empty)


def test_the_evidence_outlives_a_sort(run: Run) -> None:
    results = run("sports", 'get_nba_on_date("bulls","2022-12-25")\nsort(None,-GF)["GF"]', MARCH).results
    assert [result.empty_calendar for result in results] == [True, True]
    assert results[1].explanation[0] == "the graph has no game of Chicago Bulls on 2022-12-25"


def test_a_span_costs_a_call_a_month_or_a_year(run: Run) -> None:
    assert run("sports", 'get_soccer_on_date("everton","2024-02")["GF"]', MARCH).calls == 1
    assert run("sports", 'get_soccer_on_date("everton","last month")["GF"]', MARCH).calls == 1
    assert run("sports", 'get_nba_on_date("bulls","2022")["GF"]', MARCH).calls == 1
