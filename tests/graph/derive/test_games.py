"""Games counted, summed and named, with the conditions that the question states and the call forgot."""

import datetime as dt

import pytest

from crag.graph.derive import may_be_outdated
from crag.graph.language import parse
from crag.graph.schema import Domain
from tests.graph.derive.cases import Found, derived, game, results_of

GAMES: Found = [
    game("W", "Home", "Kansas Bears", 90),
    game("L", "Home", "Boston Cats", 80),
    game("L", "Away", "Utah Falcons", 70),
    game("W", "Away", "Kansas Bears", 60),
    game("L", "Home", "Utah Falcons", 50),
    game(None, "Home", "Boston Cats", 0),
]
CALL = 'get_nba_on_date("owls","2022-12")["{key}"]'


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many games did the owls win in 2022-12?", "2"),
        ("how many times were the owls on the losing side as the home team in 2022-12?", "2"),
        ("during 2022-12, what was the total of losses that the owls had on the road?", "1"),
        ("how many games did the owls win and lose in 2022-12?", None),
        ("how many games did the owls win in 2021-12?", None),
        ("did the owls win many games in 2022-12?", None),
        ("how many games did the owls win in december 2022?", "2"),
        ("how many games did the owls win in january 2022?", None),
        # no games, or not all of them
        ("how many games in a row did the owls win in 2022-12?", None),
        ("how many playoff games did the owls win in 2022-12?", None),
        ("how many titles did the owls win in 2022-12?", None),
        ("how many games did the owls win by 10 or more in 2022-12?", None),
        ("how many points did the owls win by in 2022-12?", None),
        ("how many games did the owls not win in 2022-12?", None),
        ("name the teams that the owls lost to in 2022-12", "Boston Cats, Utah Falcons"),
        ("can you tell me which teams were beaten by the owls in 2022-12?", "Kansas Bears"),
        ("which teams played against the owls in 2022-12?", None),
    ],
)
def test_games_are_counted_and_opponents_named(question: str, expected: str | None) -> None:
    assert derived(question, "sports", CALL.format(key="result"), GAMES) == expected


def test_a_condition_of_the_call_is_not_applied_twice() -> None:
    calls = 'get_nba_on_date("owls","2022-12",eq(result,"L"))["len"]'
    assert derived("how often were the owls beaten or had losses in 2022-12?", "sports", calls, GAMES) == "6"


@pytest.mark.parametrize(
    ("question", "result", "expected"),
    [
        ("did the owls win their last game?", "W", "yes"),
        ("did the owls win their most recent game?", "L", "no"),
        ("did the owls win their last game?", "D", "no"),
        ("did the owls lose yesterday?", "L", "yes"),
        ("were the owls able to secure a win in their contest on 2023-03-08?", "W", "yes"),
        ("did the owls come out victorious?", "L", "no"),
        ("did the owls win their last game by ten points?", "W", None),
        ("did the owls win the title in their last game?", "W", None),
        ("did the owls win the league?", "W", None),
        ("did the owls fail to win their last game?", "L", None),
        ("did the owls win against the boston cats?", "W", None),
        ("did the owls win their last game?", None, None),
    ],
)
def test_yes_or_no_for_one_game(question: str, result: str | None, expected: str | None) -> None:
    calls = 'get_nba_on_date("owls","2023-03-08")["result"]'
    assert derived(question, "sports", calls, [game(result, "Home", "Boston Cats")]) == expected


@pytest.mark.parametrize(
    ("calls", "day", "outdated"),
    [
        ('get_nba_on_date("owls","last game")["result"]', "2023-05-01", False),
        ('get_nba_on_date("owls","last game")["result"]', "2022-05-01", True),
        ('get_soccer_last_game("owls")["result"]', "2022-05-01", True),
        ('get_nba_on_date("owls","2022-05-01")["result"]', "2022-05-01", False),
        ('get_nba_on_date("owls","next game")["result"]', "2022-05-01", False),
    ],
)
def test_a_last_game_of_long_ago_may_be_outdated(calls: str, day: str, outdated: bool) -> None:
    domain = Domain.SPORTS
    found: Found = [game("W", "Home", "Boston Cats") | {"date": day}]
    results = results_of(calls, domain, (found,))
    assert may_be_outdated(parse(calls, domain), results, dt.date(2023, 7, 20)) is outdated
