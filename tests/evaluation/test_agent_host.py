"""What the evaluator accepts from an agent."""

from pathlib import Path
from typing import Any

import pytest

from agents.settings import OVERRIDES_VARIABLE, PRESET_VARIABLE
from evaluation.agent_host import (
    AgentSpec,
    AgentStartError,
    ask_agent,
    build_agent,
    close_agent,
    peak_memory_mb,
    traces_of,
)
from tests.evaluation.fake_agents import (
    BadClosingAgent,
    CrashingAgent,
    EchoAgent,
    EndlessTraceAgent,
    QuittingAgent,
    TracingAgent,
)

FAKES = "tests.evaluation.fake_agents"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["a"], "a list of 2 texts, one per question; found 1"),
        (["a", "b", "c"], "found 3"),
        ("ab", "found str"),
        (("a", "b"), "found tuple"),
        (None, "found NoneType"),
        (["a", None], "found NoneType at position 1"),
        ([["a"], "b"], "found list at position 0"),
    ],
)
def test_answers_that_the_evaluator_could_not_use(value: object, message: str) -> None:
    class Odd(EchoAgent):
        def batch_generate_answer(self, batch: dict[str, Any]) -> Any:
            return value

    result = ask_agent(Odd(), batch("a", "b"))
    assert result.answers is None
    assert result.error is not None
    assert result.error.startswith("batch_generate_answer must return a list of 2 texts")
    assert result.error.endswith(message)


@pytest.mark.parametrize(
    ("agent", "error"), [(CrashingAgent(), "RuntimeError: the planted fault"), (QuittingAgent(), "SystemExit: 7")]
)
def test_a_failure_costs_the_batch_only(agent: EchoAgent, error: str) -> None:
    result = ask_agent(agent, batch("say a", "say crash"))
    assert result.answers is None
    assert error in (result.error or "")
    assert ask_agent(EchoAgent(), batch("say a")).answers == ["a"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nothing", "expected MODULE:CLASS"),
        (f"{FAKES}:NoSuchAgent", "no attribute 'NoSuchAgent'"),
        ("no.such.module:Agent", "No module named 'no'"),
        (f"{FAKES}:BrokenAgent", "ZeroDivisionError: the planted constructor fault"),
        (f"{FAKES}:ExitingAgent", "SystemExit"),
    ],
)
def test_agents_that_cannot_be_built(path: str, message: str) -> None:
    with pytest.raises(AgentStartError, match=message):
        build_agent(AgentSpec(path))


@pytest.mark.parametrize(
    ("line", "reported"), [("import no_such_library", "ModuleNotFoundError"), ("None.shape", "AttributeError")]
)
def test_what_fails_within_the_agents_module_keeps_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, reported: str
) -> None:
    name = f"module_with_{reported}"
    (tmp_path / f"{name}.py").write_text(f"{line}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AgentStartError, match=f"(?s)Traceback.*{name}.py.*{line}.*{reported}: "):
        build_agent(AgentSpec(f"{name}:Agent"))


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("agents.web.extract.worker.COMMAND", "import no_such_parser", "No module named 'no_such_parser'"),
        ("sys.executable", "/no/such/python", "No such file or directory: '/no/such/python'"),
    ],
)
def test_pages_that_nobody_can_read_are_reported_in_a_line_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str
) -> None:
    """The worker processes of the agent itself fail to start: one dies as it begins, the other cannot be run."""
    monkeypatch.setattr(name, value)
    monkeypatch.setenv(PRESET_VARIABLE, "scripted")
    with pytest.raises(AgentStartError) as caught:
        build_agent(AgentSpec())
    (line,) = str(caught.value).splitlines()
    assert line.startswith("the processes that read pages cannot start (")
    assert reason in line
    monkeypatch.setenv(OVERRIDES_VARIABLE, "web.extract.workers=0")
    assert "web.extract.workers=0 (with --set, or in CRAG_SETTINGS)" in line
    agent, _ = build_agent(AgentSpec())
    assert len(ask_agent(agent, batch("who?")).answers or ()) == 1
    close_agent(agent)


def batch(*queries: str) -> dict[str, Any]:
    empty: list[list[str]] = [[] for _ in queries]
    times = ["" for _ in queries]
    return {"interaction_id": list(queries), "query": list(queries), "search_results": empty, "query_time": times}


def test_traces_are_optional_and_plain() -> None:
    agent = TracingAgent()
    assert traces_of(agent, 1) == []
    ask_agent(agent, batch("say a"))
    assert traces_of(agent, 1)[0]["saw"] == ["interaction_id", "query", "query_time", "search_results"]
    assert traces_of(agent, 2) == [], "traces of another batch"
    agent.last_traces = [{"path": Path("x"), "text": "\ud800", "scores": [float("nan"), 1.5]}]
    assert traces_of(agent, 1) == [{"path": "x", "text": "\ud800", "scores": [None, 1.5]}]
    endless = EndlessTraceAgent()
    ask_agent(endless, batch("say a", "say b"))
    assert ["ircular" in trace["trace_error"] for trace in traces_of(endless, 2)] == [True, True]
    assert traces_of(Unreadable(), 2) == [{"trace_error": "KeyError: 'no traces today'"}] * 2


def test_peak_memory_remembers_what_is_given_back() -> None:
    block = b"x" * (128 << 20)
    del block
    assert 128 < peak_memory_mb() < 100_000


class Sized(EchoAgent):
    size: object = 2

    def get_batch_size(self) -> Any:
        return self.size


@pytest.mark.parametrize("size", [0, -1, 17, 2.0, "2", None, True])
def test_batch_sizes_that_the_evaluator_refuses(size: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sized, "size", size)
    with pytest.raises(AgentStartError) as caught:
        build_agent(AgentSpec(f"{__name__}:Sized"))
    assert str(caught.value).endswith(f"must return a whole number from 1 to 16, found {size!r}")


def test_a_failing_close_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    close_agent(BadClosingAgent())
    assert "closing the agent failed" in caplog.text
    assert "the planted fault of close" in caplog.text
    close_agent(EchoAgent())  # without a close method


class Unreadable:
    """An agent whose traces raise when they are looked at."""

    def get_batch_size(self) -> int:
        return 1

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        return ["fine"]

    @property
    def last_traces(self) -> list[Any]:
        raise KeyError("no traces today")
