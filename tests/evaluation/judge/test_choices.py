"""Rules where the question leaves a choice."""

import pytest

from evaluation.judge.case import Case, Finding
from evaluation.judge.choices import this_or_that, yes_or_no


def decided(finding: Finding | None) -> bool | None:
    return None if finding is None else finding.correct


@pytest.mark.parametrize(
    ("gold", "prediction", "correct"),
    [
        ("yes", "Yes.", True),
        ("yes", "**Yes**, it is.", True),
        ("yes", "Answer: yes", True),
        ("yes, in 1998", "Correct, it did.", True),
        ("yes", "No.", False),
        ("no", "Nope, never.", True),
        ("no", "Yes, it is.", False),
        ("no, it is not", "False", True),
        ("yes", "Yesterday it was open.", False),
        ("no", "The nile is not longer than the rhine.", True),
        ("yes", "The nile is longer than the rhine.", True),
        ("no", "The nile is longer than the rhine.", False),
        ("yes", "The nile isn’t longer than the rhine.", False),
        ("no", "That is not what I was taught.", False),
        ("northern africa", "Yes.", None),
        ("yes", "The nile (6,650 km) is longer than the rhine (1,230 km).", True),
    ],
)
def test_yes_or_no(gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(yes_or_no(Case("is the nile longer than the rhine?", gold, prediction))) is correct


@pytest.mark.parametrize("query", ["who wrote it?", "is it ann lee or cy young?"])
def test_a_missing_yes_is_left_to_other_rules_where_the_question_is_no_yes_or_no_question(query: str) -> None:
    assert yes_or_no(Case(query, "yes", "Ann Lee wrote it.")) is None


RIVER = "which is longer, the nile or the rhine?"


@pytest.mark.parametrize(
    ("query", "gold", "prediction", "correct"),
    [
        (RIVER, "the nile", "Nile", True),
        (RIVER, "the nile", "The Rhine.", False),
        (RIVER, "nile", "The Nile is longer than the Rhine.", True),
        (RIVER, "nile", "The Rhine is shorter. The Nile is longer than the Rhine.", True),
        (RIVER, "nile", "The Rhine is longer than the Nile.", False),
        (RIVER, "nile", "The Nile has 6,650 km and the Rhine 1,230 km.", True),
        (RIVER, "nile", "The Nile has 1,230 km and the Rhine 6,650 km.", False),
        (RIVER, "nile", "Both have the same length.", False),
        (RIVER, "nile", "The Amazon.", False),
        ("who is older, ann lee or bob ray?", "ann lee", "Bob Ray was born in 1950, Ann Lee in 1940.", True),
        ("who is older, ann lee or bob ray?", "ann lee", "Bob Ray was born in 1940, Ann Lee in 1950.", False),
        ("who is younger, ann lee or bob ray?", "bob ray", "Bob Ray was born in 1950, Ann Lee in 1940.", True),
        ("which sold fewer, alpha or beta?", "beta", "Alpha sold 30 and Beta sold 20.", True),
        ("which sold fewer, alpha or beta?", "alpha", "Alpha sold 30 and Beta sold 20.", False),
        ("which is longer, the nile river or the rhine river?", "nile river", "the rhine river", False),
        ("which river is longest?", "nile", "nile", None),
        (RIVER, "neither", "nile", None),
        ("which river is longer between the nile and the rhine?", "nile is longer than rhine by far", "The Nile", True),
        ("out of the nile and the rhine, which is longer?", "nile", "rhine", False),
        ("how many towns are between the nile and the rhine?", "nile", "rhine", None),
        (RIVER, "nile has a bed, with a length of 6,650 km, while rhine has 1,230 km.", "Nile", True),
        (RIVER, "nile has a bed, with a length of 6,650 km, while rhine has 1,230 km.", "Rhine", False),
        ("who is taller, ann lee or bob ray?", "ann lee has 6 ft 2 in, and bob ray 6 ft 1 in.", "Ann Lee", True),
        ("which sold more, area 51 or beta?", "area 51 sold 20 while beta sold 30.", "Beta", True),
    ],
)
def test_this_or_that(query: str, gold: str, prediction: str, correct: bool | None) -> None:
    assert decided(this_or_that(Case(query, gold, prediction))) is correct
