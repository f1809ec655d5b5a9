"""db3's presets ask what its paper says: the domain, names and calls, which adapter, and with which examples."""

from collections.abc import Mapping

import pytest

from crag.answering import PROMPTS
from crag.core.deadline import Deadline
from crag.engines.llm import GenerationRequest
from crag.graph.schema import Domain, load_schema
from crag.graph.writing import CallRequest, CallWriter, load_bank
from crag.settings import KgWriterSettings, load_settings
from crag.training.api_pairs.pairs import CallPair
from crag.training.prompts import writer_examples
from tests.papers.pipeline import RecordedModel, paragraphs, pipeline, text_of
from tests.pipeline.asking import page

QUESTION = "when was the godfather released?"
CALL = 'get_movie("the godfather")["release_date"]'
PAGE = page(paragraphs("The Godfather came to the cinemas in March 1972."))
DOMAIN, CALLS, NAMES = "Reply with exactly one word", f"{QUESTION}\nCalls:", "\nNames:"
"""Ends of prompts, or words that only one of them has."""


def asked(preset: str, replies: Mapping[str, str], graph: str, *changes: str) -> tuple[str, list[GenerationRequest]]:
    """The answer, and all that the language model was asked; it replies by parts of prompts, else with "none"."""

    def says(request: GenerationRequest) -> str:
        return next((reply for part, reply in replies.items() if part in text_of(request)), "none")

    with pipeline(preset, says, *changes, graph=graph) as built:
        answer, _ = built.ask(QUESTION, PAGE)
        return answer.text, built.model.requests


def writer_of(preset: str) -> KgWriterSettings:
    graph = load_settings(preset).knowledge_graph
    assert graph is not None
    return graph.writer


# --- 2.3: the domain prompt, and the names of that domain -------------------------------------------------------------


@pytest.mark.parametrize(("word", "table"), [("music", "get_grammy_person(artist)"), ("Other.", "get_open(title)")])
def test_tasks_2_and_3_ask_the_graph_in_the_domain_that_the_model_names(graph: str, word: str, table: str) -> None:
    """The bank's nearest questions are about films; what counts is the word of the model."""
    _, (first, second, *_) = asked("db3_task23", {DOMAIN: word, CALLS: "None"}, graph)
    assert all(name in text_of(first) for name in (DOMAIN, "movie", "sports", "finance", "music", "other"))
    assert first.adapter is None
    assert table in text_of(second)
    assert "get_movie_person_crew" not in text_of(second)


@pytest.mark.parametrize(("word", "names"), [("music", ["albums"]), ("hm", [])])
def test_task_1_asks_the_domain_once_and_then_for_the_names_of_that_domain(
    graph: str, word: str, names: list[str]
) -> None:
    _, requests = asked("db3_task1", {DOMAIN: word, NAMES: "none"}, graph)
    prompts = [text_of(request) for request in requests]
    assert [DOMAIN in text for text in prompts].count(True) == 1
    found = [text for text in prompts if text.endswith(NAMES)]
    assert len(found) == len(names), "without a readable word no names are asked for"
    assert all(name in text for name, text in zip(names, found, strict=True))
    assert DOMAIN in prompts[0]


# --- 3.2 and C.3: the calls are asked for in a chat -------------------------------------------------------------------


def test_calls_are_asked_for_in_a_chat_with_typed_described_fields_rules_and_examples(graph: str) -> None:
    _, (_, request, *_) = asked("db3_task23", {DOMAIN: "movie", CALLS: "nothing readable"}, graph)
    assert (request.prompt, request.grammar, request.adapter) == (None, None, "kg_writer")
    assert [turn.role for turn in request.messages] == ["system", "user"]
    text = request.messages[1].content
    for table in load_schema(Domain.MOVIE).callable_tables:
        assert f"{table.name}(" in text
    assert "- birthday (date, YYYY-MM-DD): date of birth" in text
    assert "- winner (true or false): true for a win, false for a nomination only" in text
    assert "3. A condition compares a key" in text
    assert text.endswith(f"Question: {QUESTION}\nCalls:")


@pytest.mark.parametrize("domain", Domain)
def test_the_examples_are_chosen_ones_of_our_bank_the_same_for_every_question(domain: Domain) -> None:
    """No question of the benchmark is given away."""
    writer, model = writer_of("db3_task23"), RecordedModel(lambda _: "None")
    questions = [CallRequest(text, domain=domain) for text in ("who is this?", "how many were there in 2012?")]
    first, second = CallWriter(writer, model, None).write(questions, Deadline(10))
    assert first.neighbourhood.examples == second.neighbourhood.examples
    assert 0 < len(first.neighbourhood.examples) <= writer.examples == 24
    own = {example.question: example.calls for example in load_bank() if example.domain == domain}
    one, other = (text_of(request) for request in model.requests)
    places = [
        one.index(f"Question: {each.question}\nCalls:\n{own[each.question]}") for each in first.neighbourhood.examples
    ]
    assert places == sorted(places)
    assert one.rpartition("Question: ")[0] == other.rpartition("Question: ")[0]


def test_a_fixed_example_is_not_shown_to_itself_while_its_calls_are_learnt() -> None:
    writer = writer_of("db3_task23")
    (written,) = CallWriter(writer, RecordedModel(lambda _: ""), None).write(
        [CallRequest(QUESTION, domain=Domain.MUSIC)], Deadline(0)
    )
    known, next_one, *_ = written.neighbourhood.examples
    pair = CallPair(query=known.question, query_time="", domain=known.domain, calls=(known.calls,), source="bank")
    (learnt,) = writer_examples([pair], writer, None)
    assert learnt.messages[1].content.count(known.question) == 1
    assert next_one.question in learnt.messages[1].content


# --- 2.4, 3.1, 3.3: which tuned model answers, asked how --------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "answerers"), [("i don't know", ["kg_answerer", "web_answerer"]), ("1972", ["kg_answerer"])]
)
def test_each_source_is_answered_from_by_its_own_adapter(graph: str, said: str, answerers: list[str]) -> None:
    replies = {DOMAIN: "movie", CALLS: CALL, "1972-03-24": said, "cinemas": "in 1972"}
    answer, requests = asked("db3_task23", replies, graph)
    assert [request.adapter for request in requests] == [None, "kg_writer", *answerers]
    assert answer == ("1972" if said == "1972" else "in 1972")


@pytest.mark.parametrize(
    ("changes", "prompt", "adapter"),
    [
        ((), "basic", "web_answerer"),
        (("tuned=false",), "controlled", None),
        (("tuned=false", "answering.prompt=basic"), "basic", None),
    ],
)
def test_the_tuned_model_gets_the_basic_prompt_and_the_untuned_one_the_controlled(
    graph: str, changes: tuple[str, ...], prompt: str, adapter: str | None
) -> None:
    _, (*_, last) = asked("db3_task1", {DOMAIN: "movie"}, graph, *changes)
    assert last.adapter == adapter
    assert text_of(last).endswith(PROMPTS[prompt].user.partition("$context")[2].replace("$query", QUESTION))
