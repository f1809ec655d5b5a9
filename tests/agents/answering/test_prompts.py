"""Prompts carry what the paper lists, and text that is filled in cannot open new places."""

from agents.answering.prompts import PROMPTS


def test_places_in_a_page_are_not_filled_in() -> None:
    _, user = PROMPTS["basic"].render(token_limit=5, query_time="now", context="cost: $query $5", query="how much?")
    assert "cost: $query $5" in user.content
