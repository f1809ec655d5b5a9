"""Replies of a judging model, liberal in form but never guessed, and what they cost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.judge.llm import JudgeCost, Prices, read_verdict


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"accuracy": true}', True),
        ('{"accuracy": false}', False),
        ('{"score": 1}', True),
        ('{"score": 0, "explanation": "another person"}', False),
        ('{"Accuracy": "True"}', True),
        ("{'accuracy': False}", False),
        ('```json\n{"score": 1.0}\n```', True),
        ('Here it is: {"accuracy": true} I hope that helps.', True),
        ('{"score": 0', False),
        ("accuracy: true", True),
        ('<think>maybe {"score": 0}, no</think>{"score": 1}', True),
        ("True", True),
        ("0.", False),
        ('{"score": 1} {"score": 1}', True),
        ('{"score": 1} {"score": 0}', None),
        ('{"accuracy": true or false}', None),
        ('{"accuracy": true|false}', None),
        ('{"accuracy": True/False}', None),
        ("score: 1/5", None),
        ("score: 0,5", None),
        ("Accuracy: 0% match", None),
        ("I think it is correct: true enough?", None),
        ("The correct = 1", None),
        ('{"score": 0.5}', None),
        ('{"score": 10}', None),
        ('{"score": null}', None),
        ('{"verdict": "fine"}', None),
        ('<think>{"score": 1}', None),
        ("It is not true.", None),
        ("i don't know", None),
        ("", None),
        ("\ud800", None),
    ],
)
def test_reading(reply: str, verdict: bool | None) -> None:
    assert read_verdict(reply) is verdict


@given(st.booleans(), st.sampled_from(["accuracy", "score"]), st.integers(0, 4))
def test_every_json_object_of_ours_is_read(correct: bool, field: str, indent: int) -> None:
    value = correct if field == "accuracy" else int(correct)
    assert read_verdict(json.dumps({field: value}, indent=indent or None)) is correct


@given(st.text())
def test_any_text_is_survived(reply: str) -> None:
    assert read_verdict(reply) in {True, False, None}


def test_the_line() -> None:
    cost = JudgeCost(claims=8, cached=6, requests=3, prompt_tokens=1500, completion_tokens=30)
    assert cost.line() == (
        "judge: 3 requests, 1500 prompt and 30 completion tokens; 6 of 8 verdicts (75%) from the cache"
    )


def test_money_needs_prices() -> None:
    cost = JudgeCost(prompt_tokens=2_000_000, completion_tokens=100_000, prices=Prices(2.5, 10.0))
    assert cost.line().endswith("; 6.0000 at the given prices")
    assert "none" in JudgeCost().line()
