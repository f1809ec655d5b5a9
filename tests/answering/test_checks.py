"""Gates are data: which classes and scores close them, and what is said about it."""

import pytest

from crag.answering import find_closed_class_gate, find_closed_score_gate, gated_answer
from crag.core.contracts import Classification, Decision, GateScope, Route
from crag.settings import ClassGate, ScoreGate, load_settings

ROUTE = Route(
    domain=Classification("movie", {"movie": 0.7, "music": 0.2, "open": 0.1}),
    question_type=Classification("simple", {"simple": 0.5, "false_premise": 0.3, "set": 0.2}),
    static_or_dynamic=Classification("static", {"static": 1.0}),
)


@pytest.mark.parametrize(
    ("classes", "above", "said"),
    [("false_premise", 0.29, "0.30"), ("false_premise", 0.3, ""), ("false_premise set", 0.45, "0.50")],
)
def test_probabilities_of_all_classes_of_a_gate_are_compared(classes: str, above: float, said: str) -> None:
    gate = ClassGate(gate="class", field="question_type", classes=tuple(classes.split()), above=above)
    firing = find_closed_class_gate([gate], ROUTE, "any")
    assert (said in firing.reason) if firing else not said


def test_a_question_of_which_nothing_is_known_passes() -> None:
    gates = load_settings("nec").answering.gates
    assert find_closed_class_gate(gates, Route(), "any") is None


def test_a_gate_before_the_web_does_not_close_before_the_graph() -> None:
    gate = ClassGate(gate="class", field="domain", classes=("movie",), source="web")
    assert find_closed_class_gate([gate], ROUTE, "any") is None
    assert find_closed_class_gate([gate], ROUTE, "web") is not None


def test_a_firing_tells_what_its_gate_withholds() -> None:
    gate = ClassGate(gate="class", field="domain", classes=("movie",))
    gate_of_pages = gate.model_copy(update={"source": "web"})
    firings = (
        find_closed_class_gate([gate], ROUTE, "any"),
        find_closed_class_gate([gate_of_pages], ROUTE, "web"),
        find_closed_score_gate([ScoreGate(gate="score", score="top_passage", minimum=0.8)], 0.7),
    )
    scopes = [firing.scope for firing in firings if firing]
    assert scopes == [GateScope.QUESTION, GateScope.PAGES, GateScope.PAGES]


def test_a_gate_may_answer_that_the_question_is_invalid() -> None:
    gate = ClassGate(
        gate="class", field="question_type", classes=("false_premise",), above=0.2, answer="invalid question"
    )
    firing = find_closed_class_gate([gate], ROUTE, "any")
    assert firing is not None
    answer = gated_answer(firing, "none")
    assert (answer.text, answer.decision) == ("invalid question", Decision.INVALID_QUESTION)
    assert "0.30" in answer.reason
