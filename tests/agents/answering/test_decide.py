"""From a draft to a decision."""

import pytest

from agents.answering.answerer import Draft
from agents.answering.assessment import Assessed
from agents.answering.decide import abstain, decide
from agents.contracts import I_DONT_KNOW, INVALID_QUESTION, Decision
from agents.llm.base import Generation, GenerationRequest

REQUEST = GenerationRequest(prompt="who directed rain man?")


def draft_of(text: str, finish_reason: str = "stop", error: str | None = None) -> Draft:
    generation = Generation(text, -0.1, 10, 5, finish_reason, error)  # type: ignore[arg-type]
    return Draft(REQUEST, generation, Assessed(text, None))


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


def test_abstaining_is_the_official_phrase() -> None:
    assert abstain("nothing was found").text == I_DONT_KNOW
