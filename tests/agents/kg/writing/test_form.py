"""Questions that ask the same of different things have the same form."""

import pytest

from agents.kg.writing.bank import load_bank
from agents.kg.writing.choice import MARK, QuestionForm


@pytest.fixture(scope="module")
def form() -> QuestionForm:
    return QuestionForm(load_bank())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("who directed rear window?", "who directed gremlins?"),
        ("what was zyxq's closing price yesterday?", "What was Palantir's closing price yesterday?"),
        ("who won best actor in 1971?", "who won best actor in 2019?"),
        ("how many grammy awards has björk won?", "how many grammy awards has wolfmother won?"),
    ],
)
def test_names_and_numbers_make_no_difference(form: QuestionForm, one: str, other: str) -> None:
    assert form.of(one) == form.of(other)
    assert MARK in form.of(one)


def test_what_is_asked_makes_one(form: QuestionForm) -> None:
    assert form.of("what was zyxq's closing price yesterday?") != form.of("what was zyxq's opening price yesterday?")


def test_names_of_an_example_are_known_from_its_calls(form: QuestionForm) -> None:
    example = next(each for each in load_bank() if each.question == "what did nvda close at yesterday?")
    assert form.of_example(example) == f"what did {MARK} close at {MARK} ?"


def test_nothing_but_names_is_one_mark(form: QuestionForm) -> None:
    assert form.of("xylophagous zzyzx") == MARK
    assert form.of("") == ""
