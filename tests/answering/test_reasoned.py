"""The prompt `reasoned`: whatever a model makes of its form, reasoning is never given as an answer."""

from typing import get_args

import pytest

from crag.answering import Answerer
from crag.answering.reasoned import read_examples_by_domain, read_reasoned
from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION, Query
from crag.engines.llm import Generation
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.settings import AnsweringSettings, DomainName, ScriptedEngine, SettingsError, load_settings
from tests.pipeline.asking import agent_of, ask, page

WHOLE = "Premise: holds\nReasoning: The page dates the canal to 1825, so it is older.\nAnswer: 1825\n[end]"
THINKS = "Reasoning: The page speaks of a canal that somebody dug"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (WHOLE, "1825"),
        # Spellings of the form.
        ("**Premise:** holds\n**Reasoning:** It says so.\n**Answer:** 1825\n[END]", "1825"),
        ("- premise : holds\n- reasoning : It says so.\n- final answer : 1825 [end]", "1825"),
        (f"{THINKS}.\nAnswer:\n1825\n\n[ end ]", "1825"),
        (f"{THINKS}.\nAnswer:\n- Erie\n- Miami\n[end]", "Erie, Miami"),
        (f"{THINKS}.\nAnswer: 1825\nThat is what the page says.\n[end]", "1825"),
        (f"{WHOLE}\nI hope that this helps!", "1825"),
        (f"{THINKS}: the answer: 1900 is wrong.\nAnswer: 1825\n[end]", "1825"),
        # No end mark, cut off anywhere.
        (WHOLE.removesuffix("[end]"), I_DONT_KNOW),
        (WHOLE.removesuffix("]"), I_DONT_KNOW),
        (WHOLE[:40], I_DONT_KNOW),
        ("1825", I_DONT_KNOW),
        ("", I_DONT_KNOW),
        # The mark twice, second thoughts.
        (f"{WHOLE}\n[end]", "1825"),
        (f"{WHOLE}\n{WHOLE}", "1825"),
        (f"{WHOLE}\n{WHOLE.replace('Answer: 1825', 'Answer: 1826')}", I_DONT_KNOW),
        (f"{WHOLE}\nWait. Answer: 1826", "1825"),
        (f"{WHOLE}\nAnswer: 1826", I_DONT_KNOW),
        ("Answer: 1825\nAnswer: 1826\n[end]", I_DONT_KNOW),
        (f"[end]\n{WHOLE}", "1825"),
        (f"{THINKS}.\n[end]\nAnswer: 1825", I_DONT_KNOW),
        # Empty fields, other fields, prose in place of the answer.
        ("Premise:\nReasoning:\nAnswer:\n[end]", I_DONT_KNOW),
        ("Premise:\nReasoning:\nAnswer: 1825\n[end]", "1825"),
        (f"{THINKS}.\nAnswer: ...\n[end]", I_DONT_KNOW),
        (f"{THINKS}.\n[end]", I_DONT_KNOW),
        (f"Answer: {THINKS}.\n[end]", I_DONT_KNOW),
        (f"Answer:\n{THINKS}.\n[end]", I_DONT_KNOW),
        (f"Answer: 1825. {THINKS}.\n[end]", I_DONT_KNOW),
        ("Answer:\nThe page speaks of a canal.\nIt was dug early.\n[end]", I_DONT_KNOW),
        (f"Answer: {'because the page says that ' * 5}1825\n[end]", I_DONT_KNOW),
        # Abstentions and false premises.
        (f"{THINKS}.\nAnswer: I don't know.\n[end]", I_DONT_KNOW),
        ("Premise: false, there is no canal\nAnswer: invalid question\n[end]", INVALID_QUESTION),
        ("Premise: False.\nAnswer: i don't know\n[end]", I_DONT_KNOW),
        ("Premise: false\nAnswer: 1825\n[end]", I_DONT_KNOW),
        ("Premise: holds\nAnswer: invalid question\n[end]", I_DONT_KNOW),
        ("Premise:\nAnswer: invalid question\n[end]", I_DONT_KNOW),
        ("Premise: nobody doubts it\nAnswer: 1825\n[end]", "1825"),
    ],
)
def test_only_a_whole_answer_is_given(reply: str, expected: str) -> None:
    assert read_reasoned(reply, "web", word_limit=20).text == expected


def test_each_domain_has_examples_with_and_without_an_answer_that_are_read_as_written() -> None:
    examples = read_examples_by_domain()
    assert set(examples) == set(get_args(DomainName))
    for text in examples.values():
        replies = [part.partition("Premise:")[2] for part in text.split("Example\n")[1:]]
        answers = [read_reasoned(f"Premise:{reply}", "web", word_limit=20).text for reply in replies]
        shown = [line.removeprefix("Answer: ") for line in text.splitlines() if line.startswith("Answer: ")]
        assert answers == shown
        assert len({answer in {I_DONT_KNOW, INVALID_QUESTION} for answer in answers}) == 2


def test_the_prompt_shows_the_domains_examples_and_leaves_room_for_reasoning() -> None:
    settings = AnsweringSettings(prompt="reasoned", word_limit=20)
    answerer = Answerer(settings, ScriptedLanguageModel(ScriptedEngine(engine="scripted")))
    query = Query("id", "how long is the canal?", "03/05/2024, 23:18:31 PT", None, ())
    examples = read_examples_by_domain()
    for domain, shown in [("music", "music"), ("open", "open"), (None, "open")]:
        request = answerer.request(query, "<doc>363 miles.</doc>", domain)
        system, user = request.messages
        assert system.content.endswith(examples[shown])
        assert "at most 20 words" in system.content
        assert "asked at 03/05/2024, 23:18:31 PT.\nQuestion: how long is the canal?\n" in user.content
        assert request.max_tokens == 75 + 300


@pytest.mark.parametrize("reason", ["length", "stop"])
def test_a_reply_that_was_cut_off_is_an_abstention_and_keeps_its_text_in_the_trace(reason: str) -> None:
    answerer = Answerer(AnsweringSettings(prompt="reasoned"), ScriptedLanguageModel(ScriptedEngine(engine="scripted")))
    generation = Generation(f"{THINKS}\nAnswer: 18", -0.1, 900, 375, reason, None)  # type: ignore[arg-type]
    draft = answerer.read(generation, "<doc>Dug in 1825.</doc>", "web")
    assert draft.answer.text == I_DONT_KNOW
    assert draft.answer.reason == "the model's reasoning has no end mark"
    assert draft.generation is generation


@pytest.mark.parametrize(
    ("reply", "expected"),
    [(WHOLE, "1825"), (f"{THINKS}.", I_DONT_KNOW), (WHOLE.replace("holds", "false"), I_DONT_KNOW)],
)
def test_the_whole_agent_gives_the_answer_alone(reply: str, expected: str) -> None:
    settings = load_settings("scripted", ["answering.prompt=reasoned", "knowledge_graph=none"])
    model = ScriptedLanguageModel(ScriptedEngine(engine="scripted", default_reply=reply))
    agent = agent_of(settings, model)
    answer, trace = ask(agent, "when was the canal dug?", page("<p>The canal was dug until 1825.</p>"))
    agent.close()
    assert answer.text == expected
    assert trace.generations["answer"].text == reply


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("db3_task1", ["answering.prompt=reasoned"]),
        ("db3_task23", ["knowledge_graph.answer_prompt=reasoned"]),
    ],
)
def test_an_adapter_is_served_the_prompt_of_its_tuning(preset: str, changes: list[str]) -> None:
    with pytest.raises(SettingsError, match="tuned = false runs without"):
        load_settings(preset, changes)
    assert "reasoned" in load_settings(preset, [*changes, "tuned=false"]).model_dump_json()
