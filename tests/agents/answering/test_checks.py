"""Gates are data: which classes and scores close them, and what is said about it."""

import pytest

from agents.answering import class_gate, gated_answer, score_gate
from agents.common.contracts import Decision, Route
from agents.settings import ClassGate, ScoreGate, load_settings

ROUTE: Route = {
    "domain": {"label": "movie", "probabilities": {"movie": 0.7, "music": 0.2, "open": 0.1}},
    "question_type": {"label": "simple", "probabilities": {"simple": 0.5, "false_premise": 0.3, "set": 0.2}},
    "static_or_dynamic": {"label": "static", "probabilities": {"static": 1.0}},
}


@pytest.mark.parametrize(("above", "closes"), [(0.29, True), (0.3, False), (0.5, False)])
def test_a_gate_may_compare_the_probability_instead(above: float, closes: bool) -> None:
    gate = ClassGate(gate="class", field="question_type", classes=("false_premise",), above=above)
    assert (class_gate([gate], ROUTE, "any") is not None) is closes


def test_probabilities_of_several_classes_add_up() -> None:
    gate = ClassGate(gate="class", field="question_type", classes=("false_premise", "set"), above=0.45)
    firing = class_gate([gate], ROUTE, "any")
    assert firing is not None
    assert "0.50" in firing.reason


def test_a_question_of_which_nothing_is_known_passes() -> None:
    gates = load_settings("nec").answering.gates
    assert class_gate(gates, None, "any") is None
    assert class_gate(gates, {}, "any") is None


def test_a_gate_before_the_web_does_not_close_before_the_graph() -> None:
    gate = ClassGate(gate="class", field="domain", classes=("movie",), source="web")
    assert class_gate([gate], ROUTE, "any") is None
    assert class_gate([gate], ROUTE, "web") is not None


@pytest.mark.parametrize(("value", "closes"), [(0.81, False), (0.8, True), (0.1, True), (None, True)])
def test_a_score_must_be_above_the_minimum(value: float | None, closes: bool) -> None:
    gate = ScoreGate(gate="score", score="top_passage", minimum=0.8)
    assert (score_gate([gate], value) is not None) is closes


def test_a_gate_may_answer_that_the_question_is_invalid() -> None:
    gate = ClassGate(
        gate="class", field="question_type", classes=("false_premise",), above=0.2, answer="invalid question"
    )
    firing = class_gate([gate], ROUTE, "any")
    assert firing is not None
    answer = gated_answer(firing, "none")
    assert (answer.text, answer.decision) == ("invalid question", Decision.INVALID_QUESTION)
    assert "0.30" in answer.reason
