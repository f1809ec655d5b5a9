"""Prompts carry what the paper lists, and text that is filled in cannot open new places."""

import pytest

from agents.answering.prompts import PROMPTS
from agents.llm.base import Message

WITHOUT_SYSTEM_TURN = {"nec", "nec_refine"}


def rendered(name: str) -> tuple[Message, ...]:
    return PROMPTS[name].render(
        token_limit=37,
        query_time="03/05/2024, 23:18:31 PT",
        context="<doc>Tin is a metal.</doc>",
        query="is tin a metal?",
        answer="no, a gas",
    )


@pytest.mark.parametrize("name", PROMPTS)
def test_every_prompt_shows_context_and_question(name: str) -> None:
    text = " ".join(message.content for message in rendered(name))
    assert "<doc>Tin is a metal.</doc>" in text
    assert "is tin a metal?" in text
    assert "$" not in text
    assert ("no, a gas" in text) is name.endswith("refine")
    assert ("Confidence: high" in text) is PROMPTS[name].assesses


@pytest.mark.parametrize("name", sorted({*PROMPTS} - WITHOUT_SYSTEM_TURN))
def test_a_chat_prompt_shows_the_limit_and_the_time_of_asking(name: str) -> None:
    text = " ".join(message.content for message in rendered(name))
    assert ("37" in text) is (name != "facts")  # a tuned model has learnt how long answers are
    assert "03/05/2024, 23:18:31 PT" in text


def test_places_in_a_page_are_not_filled_in() -> None:
    _, user = PROMPTS["basic"].render(token_limit=5, query_time="now", context="cost: $query $5", query="how much?")
    assert "cost: $query $5" in user.content
