"""What hangs costs its own batch answers, and no later one: each fake hangs until its test lets it go."""

import logging
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from agents.common.contracts import I_DONT_KNOW, Answer, Query, Trace
from agents.common.deadline import BatchClock, Deadline
from agents.crag_agent import CragAgent
from agents.encoders import BatchedCrossEncoder, base
from agents.kg import Lookup, NoKnowledgeGraph
from agents.llm import Generation, GenerationRequest
from agents.llm.scripted_engine import ScriptedLanguageModel
from agents.pipeline import batch_run, model_health
from agents.pipeline.model_health import STUCK, WatchedModel
from agents.settings import CrossEncoderSettings, RerankSettings, ScriptedEngine
from agents.web import WebEvidence, WebPath
from tests.agents.asking import agent_of, page
from tests.agents.test_crag_agent import QUESTIONS, REPLIES, questions_of, settings_with

QUESTION, ANSWER = next(iter(QUESTIONS.items()))
REQUEST = GenerationRequest(prompt=f"Question: {QUESTION}")
LONG = 600.0
"""Seconds that no test waits for."""


class Gate:
    """Where a call hangs: it tells that it is inside and stays until it is let go."""

    def __init__(self) -> None:
        self.entered, self.open = threading.Event(), threading.Event()

    def pass_through(self) -> None:
        self.entered.set()
        self.open.wait(LONG)


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open.set()


class Engine(ScriptedLanguageModel):
    """Hangs at a gate: in `generate`, or while it is loaded."""

    def __init__(self, stuck_at: Gate | None = None, loading: Gate | None = None, fault: str | None = None) -> None:
        super().__init__(ScriptedEngine(engine="scripted", replies=REPLIES))
        self.stuck_at, self.loading, self.fault = stuck_at, loading, fault
        self.was_closed = threading.Event()

    def warm_up(self) -> None:
        if self.fault:
            raise RuntimeError(self.fault)
        if self.loading:
            self.loading.pass_through()

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        if self.stuck_at:
            self.stuck_at.pass_through()
        return super().generate(requests, deadline)

    def close(self) -> None:
        self.was_closed.set()


def ask_beside(model: WatchedModel) -> threading.Thread:
    thread = threading.Thread(target=model.generate, args=([REQUEST], Deadline(LONG)), daemon=True)
    thread.start()
    return thread


def hung(gate: Gate, *fresh: Engine) -> WatchedModel:
    """A model with a call inside that does not end; the engines that can replace it, in order."""
    waiting = iter(fresh)
    model = WatchedModel(Engine(gate), fresh=(lambda: next(waiting)) if fresh else None)
    ask_beside(model)
    assert gate.entered.wait(LONG)
    return model


def said(model: WatchedModel, seconds: float = LONG) -> str:
    """What the model replies in that time, or why it does not."""
    (generation,) = model.generate([REQUEST], Deadline(seconds))
    return generation.text or generation.error or ""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What hangs is given up at once, and a stage whose time is over too."""
    monkeypatch.setattr(model_health, "PATIENCE_SHARE", 0.0)
    monkeypatch.setattr(model_health, "ENCODER_PATIENCE_SHARE", 0.0)
    monkeypatch.setattr(batch_run, "GRACE_SECONDS", 0.05)


# --- the language model -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("impatient")
def test_an_engine_that_hangs_is_replaced_at_once_and_closed_when_its_call_ends(gate: Gate) -> None:
    model = hung(gate, Engine())
    old = model._newest.model
    assert model.begin_batch(Deadline(LONG)) == STUCK
    assert said(model) == ANSWER
    assert isinstance(old, Engine)
    assert not old.was_closed.is_set()
    gate.open.set()
    assert old.was_closed.wait(LONG)
    assert model.begin_batch(Deadline(LONG)) is None
    assert said(model) == ANSWER


def test_a_call_that_ends_within_its_patience_costs_no_engine(gate: Gate) -> None:
    model = hung(gate, Engine(fault="must not be asked for"))
    assert model.begin_batch(Deadline(LONG)) == STUCK
    gate.open.set()
    for _ in range(3):
        assert said(model) == ANSWER
    assert model.begin_batch(Deadline(LONG)) is None


def test_without_another_engine_the_call_is_waited_for_within_the_time_of_the_stage(gate: Gate) -> None:
    model = hung(gate)
    assert model.begin_batch(Deadline(0)) == STUCK
    assert said(model, 0) == STUCK
    gate.open.set()
    assert said(model) == ANSWER


@pytest.mark.usefixtures("impatient")
def test_where_loading_fails_nobody_waits_and_the_next_batch_tries_again(
    gate: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    model = hung(gate, Engine(fault="out of memory"), Engine())
    with caplog.at_level(logging.CRITICAL):
        model.begin_batch(Deadline(LONG))
        assert said(model) == "the language model could not be loaded again: out of memory"
    assert "being loaded" in (model.begin_batch(Deadline(LONG)) or "")
    assert said(model) == ANSWER


@pytest.mark.usefixtures("impatient")
def test_engines_that_all_hang_do_not_fill_the_memory(gate: Gate) -> None:
    inside = [Gate() for _ in range(model_health.MOST_LEFT_BEHIND)]
    model = hung(gate, *map(Engine, inside), Engine(fault="memory is full"))
    calls = []
    for beside in inside:
        model.begin_batch(Deadline(LONG))
        calls.append(ask_beside(model))
        assert beside.entered.wait(LONG)
    assert model.begin_batch(Deadline(LONG)) == STUCK
    renewal = model._renewal
    if renewal is not None:
        renewal.join(LONG)
    assert said(model, 0) == STUCK
    for beside, call in zip(inside, calls, strict=True):
        beside.open.set()
        call.join(LONG)
    assert model.begin_batch(Deadline(LONG)) is None
    assert said(model) == ANSWER


def test_what_a_call_left_behind_gives_back_is_not_counted_for_a_later_batch(gate: Gate) -> None:
    class Late(Engine):
        """Time ran out while it hung."""

        def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
            super().generate(requests, deadline)
            return [Generation.out_of_time() for _ in requests]

    model = WatchedModel(Late(gate))
    call = ask_beside(model)
    assert gate.entered.wait(LONG)
    assert model.take_counts()["out_of_time"] == {"not_begun": 0, "cut_short": 0}
    gate.open.set()
    call.join(LONG)
    assert model.take_counts()["out_of_time"] == {"not_begun": 0, "cut_short": 0}
    said(model)
    assert model.take_counts()["out_of_time"] == {"not_begun": 1, "cut_short": 0}


@pytest.mark.usefixtures("impatient")
def test_loading_that_hangs_is_waited_for_within_the_time_of_the_stage(gate: Gate) -> None:
    loading = Gate()
    model = hung(gate, Engine(loading=loading))
    model.begin_batch(Deadline(LONG))
    assert loading.entered.wait(LONG)
    assert "a fresh one is being loaded" in said(model, 0)
    assert model.count_tokens("two words") == 2, "counting needs no weights"
    loading.open.set()
    assert said(model) == ANSWER


@pytest.mark.usefixtures("impatient")
def test_an_engine_that_is_ready_after_the_agent_was_closed_is_closed_too(gate: Gate) -> None:
    loading = Gate()
    late = Engine(loading=loading)
    model = hung(gate, late)
    model.begin_batch(Deadline(LONG))
    assert loading.entered.wait(LONG)
    model.close()
    loading.open.set()
    assert late.was_closed.wait(LONG)


# --- the agent --------------------------------------------------------------------------------------------------------


def agent_with(model: WatchedModel | None = None, **parts: Any) -> CragAgent:
    return agent_of(settings_with(), model or WatchedModel(Engine()), **parts)


def ask(agent: CragAgent, seconds: float, **columns: Any) -> tuple[Answer, Trace]:
    """The answer to a batch of one question that has so many seconds, and its trace."""
    clock = agent.settings.deadline.model_copy(update={"seconds_per_query": seconds, "reserve_seconds": 0.0})
    agent.settings = agent.settings.model_copy(update={"deadline": clock})
    (answer,), (trace,) = agent.answer_batch(questions_of([QUESTION]) | columns)
    return answer, trace


@pytest.mark.usefixtures("impatient")
def test_the_batch_after_one_that_hung_in_the_language_model_is_answered(gate: Gate) -> None:
    agent = agent_with(hung(gate, Engine()))
    answer, trace = ask(agent, LONG)
    assert answer.text == ANSWER
    assert STUCK in trace.events
    assert ask(agent, LONG)[1].events == []
    agent.close()


class Valued(NoKnowledgeGraph):
    """A graph that knows the value and needs no model to ask for it."""

    def look_up(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[Lookup]:
        return [Lookup(direct_answer=ANSWER) for _ in queries]


@pytest.mark.usefixtures("impatient")
def test_what_needs_no_model_is_answered_while_the_model_hangs(gate: Gate) -> None:
    model = hung(gate)
    answer, trace = ask(agent_with(model, knowledge_graph=Valued()), LONG)
    assert (answer.text, answer.source) == (ANSWER, "knowledge graph")
    assert STUCK in trace.events
    answer, trace = ask(agent_with(model), 0.3)
    assert answer.text == I_DONT_KNOW
    assert STUCK in trace.events


class HangsOnce(WebPath):
    """Work in Python that does not end, for the first batch."""

    gate: Gate | None

    def prepare(self, queries: Sequence[Query], clock: BatchClock) -> list[WebEvidence]:
        gate, self.gate = self.gate, None
        if gate:
            gate.pass_through()
        return super().prepare(queries, clock)


@pytest.mark.usefixtures("impatient")
def test_a_thread_of_the_web_that_hangs_costs_the_next_batch_nothing(gate: Gate) -> None:
    model = WatchedModel(Engine())
    web = HangsOnce(settings_with().web, None, None, model)
    web.gate = gate
    agent = agent_with(model, web=web)
    answer, trace = ask(agent, 0.3)
    assert gate.entered.wait(LONG)
    assert answer.text == I_DONT_KNOW
    assert any("StuckError" in event for event in trace.events)
    answer, trace = ask(agent, LONG)
    assert not gate.open.is_set()
    assert (answer.text, trace.events) == (ANSWER, [])


class Cross(BatchedCrossEncoder):
    """Loads something that hangs in its first batch of pairs and, when it is loaded again, does not."""

    def __init__(self, gate: Gate) -> None:
        super().__init__(CrossEncoderSettings(engine="onnx", model="none", batch_size=2))
        self.gates: list[Gate | None] = [gate, None, None, None]

    def warm_up(self) -> None:
        self._model = self._model or [self.gates.pop(0)]

    def _score_batch(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        (gate,) = self._model
        if gate:
            gate.pass_through()
        return [0.5] * len(pairs)


@pytest.mark.usefixtures("impatient")
def test_an_encoder_with_a_stuck_call_inside_is_loaded_again(gate: Gate) -> None:
    model, cross = WatchedModel(Engine()), Cross(gate)
    settings = settings_with().web.model_copy(update={"rerank": RerankSettings(top_k=3)})
    agent = agent_with(model, web=WebPath(settings, None, cross, model), encoders=[cross])
    threading.Thread(target=cross.score, args=([("a", "b")],), daemon=True).start()
    assert gate.entered.wait(LONG)
    answer, trace = ask(agent, LONG)
    assert not gate.open.is_set()
    assert answer.text == ANSWER
    assert trace.events == ["an earlier call is still stuck in an encoder: another one is loaded"]
    assert trace.passages[0].score == 0.5


def test_encoders_that_all_hang_do_not_fill_the_memory(gate: Gate) -> None:
    cross, hanging = Cross(gate), [Gate() for _ in range(base.MOST_LEFT_BEHIND + 1)]
    cross.gates = [*hanging]
    calls: list[threading.Thread] = []
    for inside in hanging:
        calls.append(threading.Thread(target=cross.score, args=([("a", "b")],), daemon=True))
        calls[-1].start()
        assert inside.entered.wait(LONG)
        assert cross.leave_behind(0) is (len(calls) <= base.MOST_LEFT_BEHIND)
    assert cross.gates == [], "nothing else is loaded"
    for inside, call in zip(hanging, calls, strict=True):
        inside.open.set()
        call.join(LONG)
    cross.gates = [None]
    assert not cross.leave_behind(0)
    assert cross.score([("a", "b")]) == [0.5]
    assert cross.gates == [None], "an encoder that nobody is in keeps its weights"


# --- what is too much -------------------------------------------------------------------------------------------------


def test_a_hostile_batch_and_the_batch_after_it_are_answered() -> None:
    """Twenty megabytes of snippet, a reference of 5,000 digits, a question of a megabyte."""
    agent = agent_with()
    reference = "&#" + "9" * 5_000 + ";"
    hostile = [
        page(f"<p>{QUESTION} A sentence.</p>") | {"page_snippet": f"<b>word{reference}" * 4_000 + "x" * 10},
        page("<p>more</p>", name=reference * 10) | {"page_url": "https://" + "a" * 1_000_000},
        *([page("<p>more</p>")] * 5_000),
    ]
    assert len(hostile[0]["page_snippet"]) > 20_000_000
    answer, trace = ask(agent, LONG, query=[f"{QUESTION} {'very ' * 250_000}"], search_results=[hostile])
    assert answer.text == ANSWER
    cut = [event.split(" was cut")[0] for event in trace.events if " was cut from " in event]
    assert sorted(cut) == [
        "query",
        "search result 0: page_snippet",
        "search result 1: page_name",
        "search result 1: page_url",
        "search_results",
    ]
    assert not any("failed" in event for event in trace.events)
    answer, trace = ask(agent, LONG)
    assert (answer.text, trace.events) == (ANSWER, [])
    agent.close()
