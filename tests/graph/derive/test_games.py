"""Games counted, summed and named, with the conditions that the question states and the call forgot."""

import pytest

from tests.graph.derive.cases import Found, derived, game

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
