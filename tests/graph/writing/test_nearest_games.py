"""Calls for the last or next game get it as their date, if the question names no day."""

from datetime import datetime

import pytest

from crag.graph.language import parse, render
from crag.graph.schema import Domain
from crag.graph.writing import with_nearest_games

ASKED_AT = datetime(2023, 7, 20, 10, 0)
PROGRAMS = """
did the nuggets win their most recent game? | get_nba_on_date("nuggets","today")["result"] | get_nba_on_date("nuggets","last game")["result"]
what was the score of the heat's last game? | get_nba_on_date("heat","2023-01-28")["GF"] | get_nba_on_date("heat","last game")["GF"]
how did the celtics do in their last five games? | get_nba_on_date("celtics")["result"] | get_nba_on_date("celtics","last 5 games")["result"]
how did the celtics do in their last 5 games? | get_nba_on_date("celtics","latest")["result"][:5] | get_nba_on_date("celtics","last game")["result"][:5]
how did roma do in their last 3 matches? | get_soccer_last_game("roma")["result"] | get_soccer_last_game("roma")["result"][:3]
who do the lakers play next? | get_nba_on_date("lakers","today")["opponent"] | get_nba_on_date("lakers","next game")["opponent"]
when is the next nba game of the suns? | get_nba_on_date("suns")["date"] | get_nba_on_date("suns","next game")["date"]
when did roma last play? | get_soccer_last_game("roma")["date"] | get_soccer_last_game("roma")["date"]
did the bulls win on 2023-03-08? | get_nba_on_date("bulls","2023-03-08")["result"] | get_nba_on_date("bulls","2023-03-08")["result"]
who won the last game of march 2023, the bulls? | get_nba_on_date("bulls","2023-03")["result"] | get_nba_on_date("bulls","2023-03")["result"]
did the bulls win yesterday? | get_nba_on_date("bulls","yesterday")["result"] | get_nba_on_date("bulls","yesterday")["result"]
how many games did the bulls win last season? | get_nba_on_date("bulls","last season")["len"] | get_nba_on_date("bulls","last season")["len"]
"""  # noqa: E501 - a table


@pytest.mark.parametrize("case", PROGRAMS.strip().splitlines())
def test_the_games_that_the_question_is_about_are_called(case: str) -> None:
    question, written, expected = case.split(" | ")
    program = with_nearest_games(question, Domain.SPORTS, parse(written, Domain.SPORTS), ASKED_AT)
    assert render(program) == expected


def test_a_program_that_sorts_all_games_or_is_about_a_film_stays() -> None:
    program = parse('get_nba_on_date("bulls")\nsort(None,-date)["opponent"]', Domain.SPORTS)
    assert with_nearest_games("who did the bulls play in their last game?", Domain.SPORTS, program, ASKED_AT) == program

    film = parse('get_movie("the last game")["year"]', Domain.MOVIE)
    assert with_nearest_games("when was the last game released?", Domain.MOVIE, film, ASKED_AT) == film
