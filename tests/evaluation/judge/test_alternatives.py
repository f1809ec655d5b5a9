"""Several possibilities in one answer."""

import pytest

from evaluation.judge.alternatives import alternatives, left_open
from evaluation.judge.case import Case


@pytest.mark.parametrize(
    ("query", "gold", "parts"),
    [
        ("what sport is it?", "soccer / football", ["soccer", "football"]),
        ("what sport is it?", "soccer/football", ["soccer", "football"]),
        ("when was it built?", "December 1972/14 December 1972", ["December 1972", "14 December 1972"]),
        ("which country?", "Varn Federation/Varn", ["Varn Federation", "Varn"]),
        ("what colour is it?", "grey or silver", ["grey", "silver"]),
        ("how many are there?", "3 or 4", ["3", "4"]),
        ("when was it?", "march 3, 2011 or may 5, 2012", ["march 3, 2011", "may 5, 2012"]),
        ("what goes with it?", "red wine or white wine", ["red wine", "white wine"]),
        ("who wrote it?", "Ann Lee or Bob Ray", ["Ann Lee", "Bob Ray"]),
        ("which film won?", "dead or alive", []),
        ("who sang it?", "dead or alive", []),
        ("who sang it?", "Dead or Alive", []),
        ("what did they play at the party?", "truth or dare", []),
        ("what challenge is it?", "Truth or Dare", []),
        ("which film won?", "face/off", []),
        ("what came out in 1997?", "Face/Off", []),
        ("how fast is it?", "km/h", []),
        ("when was it?", "10/12/1999", []),
        ("what share?", "1 / 2", []),
        ("which band?", "AC/DC", []),
        ("which man?", "it was either the third of the brothers who did it or it was nobody", []),
    ],
)
def test_a_gold_answer_that_offers_alternatives(query: str, gold: str, parts: list[str]) -> None:
    assert alternatives(query, gold) == [gold, *parts]


@pytest.mark.parametrize(
    ("gold", "prediction"),
    [
        ("3", "3 or 4"),
        ("4", "It has three or four."),
        ("3", "either 3 doors or 4 doors"),
        ("3 doors", "3, or maybe 4"),
        ("$5 million", "$5 million or $6 million"),
        ("2011", "2011 or 2012"),
        ("2012", "It was built in 2011 or in 2012."),
        ("march 3, 2011", "march 3, 2011 or may 5, 2012"),
        ("2012-05-05", "on March 3, 2011, or on May 5, 2012"),
        ("yes", "yes and no"),
        ("no, it has not", "Yes or no."),
    ],
)
def test_two_possibilities_are_no_answer(gold: str, prediction: str) -> None:
    found = left_open(Case("what is it?", gold, prediction))
    assert found is not None
    assert not found.correct


@pytest.mark.parametrize(
    ("query", "gold", "prediction"),
    [
        ("how many?", "3", "3 or more"),
        ("how many?", "3 or 4", "3 or 4"),
        ("is it 3 or 4?", "3", "3 or 4"),
        ("how long?", "5 miles", "5 miles or 8 km"),
        ("how much?", "1000000", "1 million or 1,000,000"),
        ("how many titles?", "5", "With 2 or 3 friends she won 5 titles."),
        ("is it?", "yes", "Yes, and no other is."),
        ("who?", "ann lee", "Ann Lee or, in full, Ann B. Lee"),
    ],
)
def test_an_or_that_leaves_nothing_open(query: str, gold: str, prediction: str) -> None:
    assert left_open(Case(query, gold, prediction)) is None
