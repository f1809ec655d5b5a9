"""The right answer in the form in which a model should give it."""

import pytest

from training.labels.gold import best_gold, short_form


@pytest.mark.parametrize(
    ("query", "gold", "short"),
    [
        ("how many moons does mars have?", "mars has a total of two known moons around it.", "two"),
        ("how much did the bridge cost in 1883?", "the bridge has cost $15.5 million in 1883.", "$15.5 million"),
        (
            "which river is the longest in france?",
            "the loire is the longest river in france, with 1,006 km.",
            "the loire",
        ),
        (
            "who wrote the novel emma?",
            "the novel emma was written by jane austen.",
            "jane austen",
        ),
        ("who are the members of the trio?", "the members of the trio are ann, bea and cleo.", "ann, bea and cleo"),
        (
            "which is longer, the loire or the seine?",
            "the loire is longer than the seine which ends at le havre.",
            "the loire",
        ),
    ],
)
def test_a_sentence_gives_the_part_that_answers(query: str, gold: str, short: str) -> None:
    assert short_form(query, gold) == short


@pytest.mark.parametrize(
    ("query", "gold"),
    [
        ("how many cups has she won?", "she has never won a cup, though she has been nominated four times."),
        ("how many matches did they win?", "they had 76 victories out of 114 matches in all."),
        ("who was the first and what year was it?", "ann was the first, and it was in the year 1966."),
        ("what is a roth ira?", "a roth ira is an account to which you contribute after-tax dollars."),
        ("how long has he been in power?", "he has been in power as a president since 2020."),
        ("where was she born?", "los angeles, usa"),
    ],
)
def test_what_does_not_divide_stays_whole(query: str, gold: str) -> None:
    assert short_form(query, gold) == gold


def test_of_several_texts_the_one_in_the_context_is_the_label() -> None:
    golds = ("new york city", "NYC", "the big apple")
    assert best_gold("where?", golds, "She moved to N.Y.C. in 1999.") == "NYC"
    assert best_gold("where?", golds, "She never moved.") == "new york city"
