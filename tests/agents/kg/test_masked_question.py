"""A question's words without courtesies and names."""

import pytest

from agents.kg.language import parse
from agents.kg.masked_question import Asked, ask, keeps_dates
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
