"""From a draft to a decision."""

import pytest

from agents.answering.answerer import Draft
from agents.answering.decide import abstain, decide, low_relevance
from agents.contracts import I_DONT_KNOW, INVALID_QUESTION, Decision
from agents.llm.base import Generation, GenerationRequest

REQUEST = GenerationRequest(prompt="who directed rain man?")


def draft_of(text: str, finish_reason: str = "stop", error: str | None = None) -> Draft:
    return Draft(REQUEST, Generation(text, -0.1, 10, 5, finish_reason, error))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("draft", "text", "decision", "reason"),
    [
        (draft_of("Barry Levinson"), "Barry Levinson", Decision.ANSWERED, "answered"),
        (draft_of("Barry Levinson and", "length"), "Barry Levinson and", Decision.ANSWERED, "answered"),
        (draft_of("invalid question"), INVALID_QUESTION, Decision.INVALID_QUESTION, "false premise"),
        (draft_of("Barry Lev", "deadline"), I_DONT_KNOW, Decision.ABSTAINED, "time ran out"),
        (draft_of("", "error", "out of memory"), I_DONT_KNOW, Decision.ABSTAINED, "out of memory"),
    ],
)
def test_only_finished_text_becomes_an_answer(draft: Draft, text: str, decision: Decision, reason: str) -> None:
    answer = decide(draft, "web")
    assert (answer.text, answer.decision, answer.source) == (text, decision, "web")
    assert reason in answer.reason


@pytest.mark.parametrize(
    ("top", "minimum", "stops"),
    [(0.9, 0.8, False), (0.8, 0.8, True), (0.1, 0.8, True), (None, 0.8, True), (None, None, False), (0.0, None, False)],
)
def test_the_gate_wants_more_than_the_minimum(top: float | None, minimum: float | None, stops: bool) -> None:
    assert (low_relevance(top, minimum) is not None) is stops


def test_abstaining_is_the_official_phrase() -> None:
    assert abstain("nothing was found").text == I_DONT_KNOW
