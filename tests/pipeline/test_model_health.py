"""What hangs costs its own batch answers, and later batches no time: each fake hangs until its test lets it go."""

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from crag.core.contracts import I_DONT_KNOW, Answer, Query, Trace
from crag.core.deadline import Deadline
from crag.engines.encoders import BatchedCrossEncoder, base
from crag.engines.llm import Generation, GenerationRequest
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.graph import Lookup, NoKnowledgeGraph
from crag.pipeline import isolation, model_health
from crag.pipeline.agent import CragAgent
from crag.pipeline.model_health import STUCK, WatchedModel
from crag.settings import CrossEncoderSettings, RerankSettings, ScriptedEngine
from crag.web import WebPath
from tests.pipeline.asking import agent_of
from tests.pipeline.test_agent import QUESTIONS, REPLIES, questions_of, settings_with

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
    """Hangs at a gate in `generate`."""

    def __init__(self, stuck_at: Gate | None = None) -> None:
        super().__init__(ScriptedEngine(engine="scripted", replies=REPLIES))
        self.stuck_at = stuck_at

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        if self.stuck_at:
            self.stuck_at.pass_through()
        return super().generate(requests, deadline)


def ask_beside(model: WatchedModel) -> threading.Thread:
    thread = threading.Thread(target=model.generate, args=([REQUEST], Deadline(LONG)), daemon=True)
    thread.start()
    return thread


def hanging_model(gate: Gate) -> WatchedModel:
    """A model with a call inside that does not end."""
    model = WatchedModel(Engine(gate))
    ask_beside(model)
    assert gate.entered.wait(LONG)
    return model


def reply_of(model: WatchedModel, seconds: float = LONG) -> str:
    """What the model replies in that time, or why it does not."""
    (generation,) = model.generate([REQUEST], Deadline(seconds))
    return generation.text or generation.error or ""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What hangs is given up at once, and a stage whose time is over too."""
    monkeypatch.setattr(model_health, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(base, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(isolation, "GRACE_SECONDS", 0.05)


# --- the language model -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("impatient")
def test_an_engine_that_hangs_is_waited_for_once_and_used_again_when_its_call_ends(gate: Gate) -> None:
    model = hanging_model(gate)
    assert model.begin_batch() == [STUCK]
    assert [reply_of(model), reply_of(model)] == [STUCK, STUCK]
    assert model.count_tokens("two words") == 2, "counting needs no engine"
    gate.open.set()
    while model.begin_batch():
        time.sleep(0.01)
    assert reply_of(model) == ANSWER


# --- the agent --------------------------------------------------------------------------------------------------------


def agent_with(model: WatchedModel | None = None, **parts: Any) -> CragAgent:
    return agent_of(settings_with(), model or WatchedModel(Engine()), **parts)


def ask(agent: CragAgent, seconds: float, **columns: Any) -> tuple[Answer, Trace]:
    """The answer to a batch of one question that has so many seconds, and its trace."""
    clock = agent.settings.deadline.model_copy(update={"seconds_per_query": seconds, "reserve_seconds": 0.0})
    agent.settings = agent.settings.model_copy(update={"deadline": clock})
    (answer,), (trace,) = agent.answer_batch(questions_of([QUESTION]) | columns)
    return answer, trace


class Valued(NoKnowledgeGraph):
    """A graph that knows the value and needs no model to ask for it."""

    def look_up(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[Lookup]:
        return [Lookup(direct_answer=ANSWER) for _ in queries]


@pytest.mark.usefixtures("impatient")
def test_what_needs_no_model_is_answered_while_the_model_hangs(gate: Gate) -> None:
    model = hanging_model(gate)
    answer, trace = ask(agent_with(model, knowledge_graph=Valued()), LONG)
    assert (answer.text, answer.source) == (ANSWER, "knowledge graph")
    assert STUCK in trace.events
    answer, trace = ask(agent_with(model), 0.3)
    assert answer.text == I_DONT_KNOW
    assert STUCK in trace.events


class Cross(BatchedCrossEncoder):
    """Hangs at its gate, if it has one."""

    def __init__(self, gate: Gate | None) -> None:
        super().__init__(CrossEncoderSettings(engine="onnx", model="none", batch_size=2))
        self.gate = gate

    def warm_up(self) -> None:
        """There is nothing to load."""

    def _load(self, folder: Path) -> None: ...

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def _score_batch(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        gate, self.gate = self.gate, None
        if gate:
            gate.pass_through()
        return [0.5] * len(pairs)


@pytest.mark.usefixtures("impatient")
def test_while_an_encoder_hangs_questions_are_answered_without_it(gate: Gate) -> None:
    model, cross = WatchedModel(Engine()), Cross(gate)
    settings = settings_with().web.model_copy(update={"rerank": RerankSettings(top_k=3)})
    agent = agent_with(model, web=WebPath(settings, None, cross, model))
    call = threading.Thread(target=cross.score, args=([("a", "b")],), daemon=True)
    call.start()
    assert gate.entered.wait(LONG)

    for _ in range(2):
        answer, trace = ask(agent, LONG)
        assert answer.text == ANSWER
        assert "cross_encoder" not in trace.passages[0].scores

    gate.open.set()
    call.join(LONG)
    assert ask(agent, LONG)[1].passages[0].score == 0.5
