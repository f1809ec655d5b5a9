"""A question's words without courtesies and names, and the rows that they mean."""

import pytest

from agents.kg.language import parse
from agents.kg.masked_question import Asked, ask, keeps_dates, letters_of, meant_rows
from agents.kg.results import Row
from agents.kg.schema import Domain


def asked(question: str, calls: str) -> Asked:
    return ask(question, Domain.MOVIE, parse(calls, Domain.MOVIE))


def test_words_of_titles_are_masked() -> None:
    calls = 'get_movie("the more, the merrier")["length"]\nget_movie("if")["length"]'
    question = asked("Can you tell me which is longer, The More the Merrier or If?", calls)
    assert question.core == "which is longer, @0 or @1?"
    assert question.written("the more, the merrier") == "the more the merrier"
    assert question.mark("if") == "@1"
    assert (question.place("if") or 0) > (question.place("the more, the merrier") or 0)
    assert question.place("heat") is None
    assert question.written("heat") == "heat"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("is heat longer than casino?", True),
        ("in 2022, did heat win?", True),
        ("can you tell me if heat won?", True),
        ("can you tell me when heat came out?", False),
        ("do you happen to know who made heat?", False),
        ("in which year did heat come out?", False),
        ("when heat came out what was its title?", False),
        ("if i compare heat and casino, which is longer?", False),
        ("is heat or casino longer?", False),
    ],
)
def test_yes_or_no(question: str, expected: bool) -> None:
    calls = 'get_movie("heat")["length"]\nget_movie("casino")["length"]'
    assert asked(question, calls).is_yes_or_no is expected


def test_days_written_in_digits_must_stand_in_the_calls() -> None:
    program = parse('get_nba_on_date("owls","2023-01")["result"]', Domain.SPORTS)
    assert keeps_dates("how many games did the owls win in 2023-01?", program)
    assert not keeps_dates("how many games did the owls win on 2023-01-05?", program)
    assert not keeps_dates("how many games did the owls win in 2022-12?", program)


def game(result: str, venue: str, opponent: str) -> Row:
    cells = {"team": "Utah Owls", "result": result, "venue": venue, "opponent": opponent}
    return Row("get_nba_on_date", "Utah Owls", cells)


BEARS, CATS, ROVERS = (
    game("W", "Home", "Kansas Bears"),
    game("L", "Away", "Boston Cats"),
    game("L", "Home", "Utah Rovers"),
)
GAMES = (BEARS, CATS, ROVERS)


def test_places_results_and_opponents() -> None:
    def meant(text: str, *decided: str) -> tuple[Row, ...]:
        return meant_rows(Asked(text, ("owls",)), GAMES, decided)

    assert meant("how did @0 play?") == GAMES
    assert meant("how did @0 play at home?") == (BEARS, ROVERS)
    assert meant("did @0 play at home or away?") == GAMES
    assert meant("how many games did @0 lose on the road?") == (CATS,)
    assert meant("how many games did @0 win against the rovers?") == ()
    assert meant("how did @0 play the boston cats?") == (CATS,)
    assert meant("how did @0 play in utah?") == GAMES  # half of a name, and of two teams
    assert meant("how many games did @0 lose at home?", "venue") == (CATS, ROVERS)
    assert meant("which teams beat @0?", "result") == (CATS, ROVERS)
    assert meant("which teams did @0 beat?") == (BEARS,)


def test_prizes_that_were_won() -> None:
    rows = (Row("oscars", "Ann", {"winner": True}), Row("oscars", "Ann", {"winner": False}))
    assert meant_rows(Asked("how many oscars did @0 win?"), rows) == rows[:1]
    assert meant_rows(Asked("how often was @0 nominated but won?"), rows) == rows
    assert meant_rows(Asked("how many oscars did @0 win?"), rows, {"winner"}) == rows


def test_result_letters() -> None:
    assert letters_of("did they win, lose or draw?") == {"W", "L", "D"}
    assert letters_of("did they come up short?") == {"L"}
