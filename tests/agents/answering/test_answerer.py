"""What the answering model is asked, and the draft that its reply gives."""

import pytest

from agents.answering import draft_of
from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION, Decision
from agents.llm import Generation


@pytest.mark.parametrize(
    ("said", "finish_reason", "text", "decision", "reason"),
    [
        ("Barry Levinson", "stop", "Barry Levinson", Decision.ANSWERED, "answered"),
        ("Barry Levinson and", "length", "Barry Levinson and", Decision.ANSWERED, "answered"),
        ("invalid question", "stop", INVALID_QUESTION, Decision.INVALID_QUESTION, "false premise"),
        ("Barry Lev", "deadline", I_DONT_KNOW, Decision.ABSTAINED, "time ran out"),
        ("", "error", I_DONT_KNOW, Decision.ABSTAINED, "out of memory"),
    ],
)
def test_only_finished_text_becomes_an_answer(
    said: str, finish_reason: str, text: str, decision: Decision, reason: str
) -> None:
    answer = draft_of(Generation(said, -0.1, 10, 5, finish_reason, "out of memory"), "web").answer  # type: ignore[arg-type]
    assert (answer.text, answer.decision, answer.source) == (text, decision, "web")
    assert reason in answer.reason
