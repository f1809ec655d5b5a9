"""Lengths, weights and times in other units."""

import pytest

from agents.matching import read_measures
from evaluation.judge.case import Case
from evaluation.judge.measures import same_measure


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("1,204 metres", "length", 1204),
        ("1.2 km", "length", 1200),
        ("6 feet 2 inches", "length", 1.8796),
        ("6'2\"", "length", 1.8796),
        ("a 5-mile walk", "length", 8046.72),
        ("10 lbs", "weight", 4.535924),
        ("two weeks", "time", 1_209_600),
    ],
)
def test_measures(text: str, dimension: str, value: float) -> None:
    (found,) = read_measures(text)
    assert found.dimension == dimension
    assert found.value == pytest.approx(value)


@pytest.mark.parametrize("text", ["5 million", "12 minnows", "$5", "5", "10 in1"])
def test_no_measure(text: str) -> None:
    assert read_measures(text) == []


@pytest.mark.parametrize(
    ("gold", "prediction", "correct"),
    [
        ("8 km", "about 5 miles", True),
        ("8 km", "50 miles", False),
        ("188 cm", "6 ft 2 in", True),
        ("2 years", "24 months", True),
        ("2 years", "25 months", False),
        ("8 km", "8 km", None),
        ("8 km", "5 miles (8 km)", None),
        ("8 km", "8 kg", None),
        ("8", "5 miles", None),
    ],
)
def test_same_measure(gold: str, prediction: str, correct: bool | None) -> None:
    finding = same_measure(Case("how much is it?", gold, prediction))
    assert (None if finding is None else finding.correct) is correct
