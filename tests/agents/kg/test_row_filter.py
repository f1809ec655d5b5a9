"""Rows that the question means, whatever the call forgot to say."""

from agents.kg.masked_question import Asked
from agents.kg.results import Row
from agents.kg.row_filter import letters_of, meant_rows


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
