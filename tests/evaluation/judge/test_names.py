"""Names that are written in another way."""

import pytest

from evaluation.judge.case import Case
from evaluation.judge.names import same_name

WHO, WHERE = "who founded the school?", "where was the treaty signed?"


@pytest.mark.parametrize(
    ("query", "gold", "prediction", "met"),
    [
        (WHO, "Sir Ines Valdoro", "Ines Valdoro founded it.", True),
        (WHO, "King Otto III of Varn", "Otto the Third", True),
        ("which band was it?", "King Crow", "They met a crow.", False),
        ("which river is it?", "Orle River", "the Orle", True),
        ("which town is it?", "Orle River", "the Orle", False),
        (WHO, "Joanna Kim Krell", "It was J. K. Krell.", True),
        (WHO, "Joanna Krell", "J. Krell", True),
        (WHO, "J. Krell", "Joanna Krell", True),
        (WHO, "Joanna Krell", "M. Krell", False),
        (WHO, "Joanna Krell", "It was founded by Krell.", True),
        (WHO, "Joanna Krell", "President Krell founded it.", True),
        (WHO, "Joanna Krell", "Martin Krell founded it.", False),
        (WHO, "Joanna Krell", "The Krell Foundation did.", False),
        ("which city is it?", "East Varn", "It is Varn.", False),
        ("where?", "Harbor School Foundation", "at the HSF", True),
        ("where?", "Harbor School Foundation", "at the HSX", False),
        ("where?", "HSF", "at the Harbor School Foundation", True),
        ("where?", "HSF", "he saw fire", False),
        (WHERE, "Amsel, Varn", "It was signed in Amsel.", True),
        (WHERE, "Amsel, Varn", "in Amsel, in 1763", True),
        (WHERE, "Amsel, Varn", "It was signed in Amsel, Kessa.", False),
        (WHERE, "Amsel, Varn", "It was signed in Kessa, Varn.", False),
        ("which album is it?", "Amsel, by Krell", "Amsel", False),
        ("which film?", "The Glass Harbor: Return of the Tide", "Return of the Tide", True),
        ("which film?", "The Glass Harbor: Return of the Tide", "The Glass Harbor", False),
        ("which film?", "Glass Harbor (1990)", "It is Glass Harbor.", True),
        (WHO, "?", "Krell", False),
        ("which team is it?", "Amsel Ravens", "He plays for the Ravens.", True),
        ("which team is it?", "Amsel Ravens", "He plays for the Varn Ravens.", False),
        ("which ship is it?", "Amsel Ravens", "It is the Ravens.", False),
    ],
)
def test_same_name(query: str, gold: str, prediction: str, met: bool) -> None:
    finding = same_name(Case(query, gold, prediction))
    assert (finding is not None and finding.correct) is met
