"""The last game is the last one, however long ago, and the next one the next."""

from datetime import datetime

import pytest

from crag.graph.results import Status
from crag.graph.tables.nearest_games import NearestGames, parse_nearest_games
from tests.graph.conftest import Run

LAST = NearestGames(step=-1)
NEXT = NearestGames(step=1)


@pytest.mark.parametrize(
    ("words", "games"),
    [
        ("latest", LAST),
        ("last game", LAST),
        ("their most recent match", LAST),
        ("last time", LAST),
        ("last 5 games", NearestGames(-1, 5)),
        ("past three matches", NearestGames(-1, 3)),
        ("next", NEXT),
        ("upcoming fixture", NEXT),
        ("next two games", NearestGames(1, 2)),
        ("last game played", LAST),
        ("next scheduled match", NEXT),
        ("last-game", LAST),
        ("latest result", LAST),
        ("the last couple of games", NearestGames(-1, 2)),
        ("last few games", LAST),
        ("last week", None),
        ("last season", None),
        ("next friday", None),
        ("2023-06-12", None),
        ("last game of 2022", None),
        ("last home game", None),
        ("season opener", None),
    ],
)
def test_words_for_the_nearest_games_are_told_from_days(words: str, games: NearestGames | None) -> None:
    assert parse_nearest_games(words) == games


# The Bulls play on 2022-10-11, 2022-12-01 and 2022-12-31, Everton until 2024-03-02 and again on 2024-03-30.
GAMES = """
2023-08-01 10:00 | get_nba_on_date("bulls","latest")["date"] | ('2022-12-31',)
2029-08-01 10:00 | get_nba_on_date("bulls","latest")["date"] | ('2022-12-31',)
2023-08-01 10:00 | get_nba_on_date("bulls","latest")["date"][:2] | ('2022-12-31', '2022-12-01')
2023-08-01 10:00 | get_nba_on_date("bulls","last 2 games")["date"] | ('2022-12-31', '2022-12-01')
2023-08-01 10:00 | get_nba_on_date("bulls","last game",eq(venue,"away"))["date"] | ('2022-12-01',)
2023-08-01 10:00 | get_nba_on_date("bulls","latest",eq(season_type,"pre season"))["date"] | ('2022-10-11',)
2023-08-01 10:00 | get_nba_on_date(["bulls","bucks"],"latest")["date"] | ('2022-12-01',)
2023-03-01 10:00 | get_nba_on_date(None,"latest")["team"] | ('Chicago Bulls',)
2029-08-01 10:00 | get_nba_on_date("bulls")⏎sort(None,-date)["date"] | ('2022-12-31',)
2022-11-01 10:00 | get_nba_on_date("bulls","next game")["date"] | ('2022-12-01',)
2022-12-31 10:00 | get_nba_on_date("bulls","latest")["date"] | ('2022-12-01',)
2022-12-31 23:00 | get_nba_on_date("bulls","latest")["date"] | ('2022-12-31',)
2022-12-31 10:00 | get_nba_on_date("bulls","next")["date"] | ('2022-12-31',)
2023-01-10 10:00 | get_nba_on_date("bulls","latest")["len"] | (2,)
2023-08-01 10:00 | get_soccer_last_game("bulls")["date"] | ('2022-12-31',)
2027-07-01 10:00 | get_soccer_last_game("everton")["date"] | ('2024-03-02',)
2027-07-01 10:00 | get_soccer_on_date("everton","most recent game")["opponent"] | ('Fulham',)
2024-03-05 10:00 | get_soccer_last_game("everton")["date"][:2] | ('2024-03-02', '2024-02-24')
2024-03-05 10:00 | get_soccer_on_date("everton","next match")["opponent"] | ('Luton Town',)
"""


@pytest.mark.parametrize("case", GAMES.strip().splitlines())
def test_games_nearest_to_the_time_of_asking(run: Run, case: str) -> None:
    moment, program, values = case.split(" | ")
    results = run("sports", program.replace("⏎", "\n"), datetime.fromisoformat(moment)).results
    assert str(results[-1].values) == values


@pytest.mark.parametrize("date", ["latest", "next game", None])
def test_no_game_proves_nothing_unless_a_date_was_asked_for(run: Run, date: str | None) -> None:
    argument = "None" if date is None else f'"{date}"'
    moment = datetime(1990, 1, 1) if date != "next game" else datetime(2024, 6, 1)
    (result,) = run("sports", f'get_nba_on_date("bulls",{argument})["result"]', moment).results
    assert (result.status, result.empty_calendar) == (Status.NOT_FOUND, False)


@pytest.mark.parametrize(("team", "requests"), [("bulls", 3), ("everton", 1)])
def test_years_are_asked_only_until_there_is_a_game(run: Run, team: str, requests: int) -> None:
    outcome = run("sports", f'get_nba_on_date("{team}","latest")["date"]', datetime(2024, 3, 5, 12, 0))
    assert outcome.request_count == requests
