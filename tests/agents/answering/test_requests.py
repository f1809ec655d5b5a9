"""Requests have the preset's form, and every one of them gets a generation."""

from agents.answering.requests import generate_all, request_of, shown
from agents.deadline import Deadline
from agents.llm.base import Message
from agents.llm.scripted_engine import ScriptedLanguageModel
from agents.settings import AnsweringSettings, ScriptedEngine

TURNS = (Message("system", "Be brief."), Message("user", "Who?"))


def test_a_chat_keeps_its_turns_and_a_completion_is_one_text() -> None:
    chat = request_of(TURNS, AnsweringSettings(temperature=0.5, top_p=0.9), 7, "tuned", "start: WORD")
    assert (chat.messages, chat.prompt, chat.adapter, chat.grammar) == (TURNS, None, "tuned", "start: WORD")
    assert (chat.max_tokens, chat.temperature, chat.top_p) == (7, 0.5, 0.9)
    plain = request_of(TURNS, AnsweringSettings(form="completion"), 7, None)
    assert (plain.messages, plain.prompt) == ((), "Be brief.\n\nWho?")
    assert shown(chat) == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}]
    assert shown(plain) == plain.prompt


def test_generations_that_an_engine_leaves_out_are_failures_of_their_own() -> None:
    engine = ScriptedEngine(engine="scripted", default_reply="fine", fault="short_list", fault_after=1)
    request = request_of(TURNS, AnsweringSettings(), 7, None)
    found = generate_all(ScriptedLanguageModel(engine), [request] * 3, Deadline(10))
    assert [generation.finish_reason for generation in found] == ["stop", "error", "error"]
