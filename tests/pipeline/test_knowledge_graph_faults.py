"""The whole agent beside a graph that works, fails or hangs: answers come in time, from the source they should."""

import json
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION, Answer, Classification, Fact, Query, Route, Trace
from crag.core.deadline import BatchClock, Deadline
from crag.engines.llm import Generation, GenerationRequest, LanguageModel
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.graph import KnowledgeGraph, KnowledgeGraphPath, Lookup, NoKnowledgeGraph
from crag.graph.client import RequestLimits
from crag.graph.context import LookupContext, TableQuery
from crag.graph.results import Row, Status
from crag.graph.tables import movie
from crag.mock_api import serve
from crag.pipeline.agent import CragAgent
from crag.pipeline.model_health import WatchedModel
from crag.router import QuestionRouter
from crag.settings import KnowledgeGraphSettings, ScriptedEngine, SettingsError, load_settings
from crag.web import RetrievedPassages, WebPath
from tests.graph.faulty_server import Fault, FaultyServer, unused_address
from tests.hang_guard import finish
from tests.pipeline.test_agent import questions_of, settings_with
from tests.toml_text import toml_table

QUESTION = "who directed rain man?"
CALLS = 'get_movie_person_crew("rain man",None,eq(job,"Director"))["name"]'
FROM_GRAPH, FROM_WEB = "Barry Levinson", "B. Levinson"
MARK = '<doc source="knowledge graph'
SECONDS_PER_QUERY = 30.0
"""Enough on any machine."""
SECONDS_IF_STUCK = 3.0
"""For tests that wait until the time is over; two seconds of a batch are the reserve."""


def replies(from_graph: str = FROM_GRAPH, from_web: str = FROM_WEB, calls: str = CALLS) -> dict[str, str]:
    """What the model says to whom: the writer's prompt ends with the open calls, the graph's answerer sees its mark."""
    return {"Calls:\n": calls, MARK: from_graph, f"Question: {QUESTION}": from_web}


@contextmanager
def agent_with(
    graph: KnowledgeGraph | str | None,
    said: Mapping[str, str] | None = None,
    model: LanguageModel | None = None,
    web: type[WebPath] = WebPath,
    domain: str | None = None,
    seconds: float = SECONDS_PER_QUERY,
    **policy: Any,
) -> Iterator[CragAgent]:
    """An agent over a graph or the address of one."""
    graph_settings = KnowledgeGraphSettings.model_validate(policy)
    settings = settings_with({"replies": dict(said or replies())}, seconds)
    settings = settings.model_copy(update={"knowledge_graph": graph_settings})
    assert isinstance(settings.language_model, ScriptedEngine)
    model = WatchedModel(model or ScriptedLanguageModel(settings.language_model))
    if isinstance(graph, str):
        graph = KnowledgeGraphPath(graph_settings, graph, model, limits=RequestLimits(seconds=1.0))
    agent = CragAgent(settings, model, web(settings.web, None, None, model), Classified(domain), graph)
    agent.warm_up()
    yield agent
    agent.close()


class Classified(QuestionRouter):
    """A router that says the same about every question."""

    def __init__(self, domain: str | None) -> None:
        self._domain = domain

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        route = Route(domain=Classification(self._domain) if self._domain else None)
        return [route for _ in queries]


class FixedGraph(NoKnowledgeGraph):
    """A graph that says the same about every question."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def look_up(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[Lookup]:
        return [self._lookup for _ in queries]


FOUND = Lookup((CALLS,), (Fact("The director is Barry Levinson.", "knowledge graph: x"),), "movie", (Status.OK,))
NOTHING = Lookup((CALLS,), (), "movie", (Status.INVALID,))


def ask(agent: CragAgent, count: int = 2, question: str = QUESTION) -> list[tuple[Answer, Trace]]:
    """Answers and traces of the same question so many times; no fault hangs the batch, and traces can be written."""
    answers, traces = finish(lambda: agent.answer_batch(questions_of([question] * count)))
    assert len(answers) == len(traces) == count
    for trace in traces:
        assert json.loads(json.dumps(trace.to_dict(), allow_nan=False))["query"] == question
    return list(zip(answers, traces, strict=True))


# --- a server that fails ----------------------------------------------------------------------------------------------


def assert_from_the_web_because_down(reported: Sequence[tuple[Answer, Trace]]) -> None:
    for answer, trace in reported:
        assert (answer.text, answer.source, trace.facts, trace.calls) == (FROM_WEB, "web", [], [CALLS])
        assert any(event.startswith("kg_down: ") and "/movie/get_movie_info" in event for event in trace.events)


@pytest.mark.parametrize("fault", ["drop", "hang", "drip_body", "not_json", "endless", "500"])  # all: test_client.py
def test_whatever_the_server_does_the_web_answers_in_time(fault: Fault) -> None:
    with FaultyServer() as server, agent_with(server.url) as agent:
        server.fault = fault
        reported = ask(agent, 16)  # more questions, more time: a busy machine has some to spare
        assert_from_the_web_because_down(reported)
        assert server.requests
        server.fault = None
        director = {"name": "Barry Levinson", "job": "Director"}
        server.results["/movie/get_movie_info"] = [{"title": "Rain Man", "id": 1, "crew": [director]}]
        # A server that is back is asked again; on a busy machine its first reply may come late.
        assert any(ask(agent)[0][0].source == "knowledge graph" for _ in range(50))


def test_a_dead_server_forbids_no_web() -> None:
    with agent_with(unused_address(), graph_only_domains=["movie"]) as agent:
        assert_from_the_web_because_down(ask(agent))


@pytest.mark.parametrize(
    "strange", [None, "Rain Man", [None], [{"title": ["Rain Man"]}], [{"title": "Rain Man", "crew": 5}]]
)
def test_a_reply_in_a_strange_form_counts_as_none(strange: object) -> None:
    with FaultyServer() as server, agent_with(server.url) as agent:
        server.results["/movie/get_movie_info"] = strange
        assert_from_the_web_because_down(ask(agent))


def test_a_fault_of_ours_in_a_call_costs_the_facts_of_one_question(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rows_of_crew = movie.get_movie_person_crew

    def broken(context: LookupContext, query: TableQuery) -> list[Row]:
        if query.names[0] == "jaws":
            raise KeyError("no such key")
        return rows_of_crew(context, query)

    monkeypatch.setattr(movie, "get_movie_person_crew", broken)
    of_jaws = CALLS.replace("rain man", "jaws")
    said = {"who directed jaws?\nCalls:": of_jaws, **replies(), "who directed jaws?": FROM_WEB}
    with FaultyServer() as server, agent_with(server.url, said) as agent:
        director = {"name": "Barry Levinson", "job": "Director"}
        server.results["/movie/get_movie_info"] = [{"title": "Rain Man", "id": 1, "crew": [director]}]
        answers, traces = finish(lambda: agent.answer_batch(questions_of([QUESTION, "who directed jaws?", QUESTION])))

    assert [trace.graph_state for trace in traces] == ["found", None, "found"]
    assert [answer.source for answer in answers] == ["knowledge graph", "web", "knowledge graph"]
    assert any("KeyError: 'no such key'" in event for event in traces[1].events)
    assert not any(event.startswith(("kg_down", "invalid")) for event in traces[1].events)
    logged = [record for record in caplog.records if record.exc_info]
    assert any("broken" in str(traceback.format_exception(record.exc_info[1])) for record in logged if record.exc_info)


# --- other parts that fail beside it ----------------------------------------------------------------------------------


class StuckWeb(WebPath):
    """Pages that are never read to their end."""

    def prepare(self, queries: Sequence[Query], clock: BatchClock) -> list[RetrievedPassages]:
        threading.Event().wait()
        return []


class RaisingGraph(NoKnowledgeGraph):
    """A graph path with a fault in it."""

    def look_up(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[Lookup]:
        raise KeyError("title")


def test_a_broken_graph_path_and_a_stuck_web_path_cost_answers_but_no_time() -> None:
    with agent_with(RaisingGraph(), web=StuckWeb, seconds=SECONDS_IF_STUCK) as agent:
        for answer, trace in ask(agent):
            assert answer.text == I_DONT_KNOW
            assert answer.reason.startswith("web failed: StuckError")
            assert any("knowledge graph failed: KeyError" in event for event in trace.events)


def test_a_stuck_web_path_does_not_hold_up_what_the_graph_knows() -> None:
    with agent_with(FixedGraph(FOUND), web=StuckWeb, seconds=SECONDS_IF_STUCK) as agent:
        assert ask(agent)[0][0].text == FROM_GRAPH


class StuckWriter(ScriptedLanguageModel):
    """The call writer's generation comes back long after its time; nobody else may enter the model meanwhile."""

    inside = most_inside = 0

    def __init__(self, settings: ScriptedEngine) -> None:
        super().__init__(settings)
        self.release = threading.Event()

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        self.inside += 1
        self.most_inside = max(self.inside, self.most_inside)
        if requests[0].prompt is not None:
            self.release.wait()
        self.inside -= 1
        return super().generate(requests, deadline)


def test_a_model_stuck_in_the_writer_is_not_entered_for_the_answer() -> None:
    model = StuckWriter(ScriptedEngine(engine="scripted", replies=replies()))
    with agent_with(unused_address(), model=model, seconds=SECONDS_IF_STUCK) as agent:
        reported = ask(agent)
        model.release.set()
    assert model.most_inside == 1
    assert {answer.text for answer, _ in reported} <= {FROM_WEB, I_DONT_KNOW}


class MuteAboutTheGraph(ScriptedLanguageModel):
    """Fails whenever it is asked to answer from the graph's facts."""

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        if any(MARK in message.content for request in requests for message in request.messages):
            raise RuntimeError("CUDA error")
        return super().generate(requests, deadline)


def test_a_fault_in_answering_from_the_graph_falls_back_to_the_web() -> None:
    model = MuteAboutTheGraph(ScriptedEngine(engine="scripted", replies=replies()))
    with agent_with(FixedGraph(FOUND), model=model) as agent:
        for answer, trace in ask(agent):
            assert (answer.text, answer.source) == (FROM_WEB, "web")
            assert any("CUDA error" in event for event in trace.events)


# --- a server that works, and the policies ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped_graph() -> Iterator[str]:
    with serve() as address:
        yield address


def test_an_answer_of_the_shipped_graph(shipped_graph: str) -> None:
    calls = 'get_movie("the godfather")["release_date"]'
    with agent_with(shipped_graph, replies(from_graph="1972", calls=calls)) as agent:
        ((answer, trace), _) = ask(agent)
    assert (answer.text, answer.source) == ("1972", "knowledge graph")
    assert trace.calls == [calls]
    assert "1972-" in trace.facts[0].text
    assert trace.facts[0].text in trace.prompts["graph_answer"][-1]["content"]
    assert trace.generations["calls"].text == calls
    assert not trace.events


def test_calls_that_cannot_be_read_go_to_the_web(shipped_graph: str) -> None:
    with agent_with(shipped_graph, replies(calls='get_movie("rain man"["director"')) as agent:
        ((answer, trace), _) = ask(agent)
    assert answer.source == "web"
    assert any("could not be read" in event for event in trace.events), trace.events


@pytest.mark.parametrize("policy", ["graph_first", "synthesis"])
@pytest.mark.parametrize("lookup", [FOUND, NOTHING])
def test_a_domain_of_the_graph_alone_is_never_answered_from_the_web(policy: str, lookup: Lookup) -> None:
    said = replies(from_graph=I_DONT_KNOW)
    with agent_with(FixedGraph(lookup), said, source_policy=policy, graph_only_domains=["movie"]) as agent:
        ((answer, trace), _) = ask(agent)
    assert (answer.text, answer.source) == (I_DONT_KNOW, "knowledge graph")
    assert "answer" not in trace.generations


@pytest.mark.parametrize(
    ("domain", "calls"),
    [
        ("open", 'get_open("barack obama")'),
        ("music", 'get_person("barack obama")["birth_date"]'),
        ("movie", 'get_movie_person_oscar("parasite","barack obama")["category"]'),
        ("sports", 'get_nba_on_date("springfield","2023-07-20")["opponent"]'),
    ],
)
def test_a_gap_of_the_graph_makes_no_question_invalid(shipped_graph: str, domain: str, calls: str) -> None:
    with agent_with(shipped_graph, replies(calls=calls), domain=domain, invalid_without_game=True) as agent:
        ((answer, trace), _) = ask(agent, question=f"{QUESTION} on 2023-07-20")
    assert (trace.graph_state, answer.text) == ("not_found", FROM_WEB)


def test_a_sort_of_no_games_is_still_a_day_without_a_game(shipped_graph: str) -> None:
    calls = 'get_nba_on_date("Los Angeles Lakers","2023-07-20")\nsort(None,-date)["opponent"]'
    with agent_with(shipped_graph, replies(calls=calls), domain="sports", invalid_without_game=True) as agent:
        ((answer, trace), _) = ask(agent, question=f"{QUESTION} on 2023-07-20")
        ((unsaid, other), _) = ask(agent)
    assert answer.text == INVALID_QUESTION, trace.events
    assert len(trace.calls) == 2
    assert unsaid.text == FROM_WEB
    assert any("2023-07-20, for which the question gives no reason" in event for event in other.events)


@pytest.mark.parametrize(
    ("question", "state"),
    [
        ("did the lakers win their last game?", "found"),
        ("did the lakers win their game?", "not_found"),
        ("did the lakers win their game on 2023-07-20?", "empty_calendar"),
    ],
)
def test_only_a_question_about_certain_days_can_be_about_no_game(shipped_graph: str, question: str, state: str) -> None:
    said = replies(calls='get_nba_on_date("lakers","2023-07-20")["opponent"]')
    with agent_with(
        shipped_graph, said, domain="sports", drop_doubtful_calls=False, invalid_without_game=True
    ) as agent:
        ((answer, trace), _) = ask(agent, question=question)
    assert trace.graph_state == state
    assert (answer.text == INVALID_QUESTION) is (state == "empty_calendar")


def test_a_value_of_the_graph_is_the_answer_and_the_trace_tells_what_was_computed() -> None:
    value = replace(FOUND, direct_answer="4.11", direct_reason="computed 502.3 - 498.19")
    with agent_with(FixedGraph(value), replies(I_DONT_KNOW)) as agent:
        ((answer, trace), _) = ask(agent)
    assert answer.text == "4.11"
    assert any("502.3 - 498.19" in event for event in trace.events)


@pytest.mark.parametrize("address", ["foo", "ftp://x", "http://", "localhost:8000"])
def test_what_is_no_address_is_reported_with_the_name_of_the_variable(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_MOCK_API_URL", address)
    with pytest.raises(SettingsError, match=f"CRAG_MOCK_API_URL: '{address}' is not an address such as http://"):
        CragAgent.from_settings(load_settings("scripted"))


def test_quotes_that_a_container_engine_keeps_are_no_part_of_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    said = toml_table(replies(calls='get_movie("titanic")["revenue"]'))
    with serve() as graph:
        monkeypatch.setenv("CRAG_MOCK_API_URL", f'"{graph}"')
        agent = CragAgent.from_settings(
            load_settings("scripted", [f"language_model.replies = {said}", "web.extract.workers = 0"])
        )
        (_, trace), _ = ask(agent)
    assert trace.graph_state == "found"
