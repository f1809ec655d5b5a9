"""The agent's process: what it cannot do to the evaluator."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.agent_host import AgentSpec, AgentStartError
from evaluation.worker import InProcessWorker, ProcessWorker
from tests.evaluation.test_agent_host import batch

FAKES = "tests.evaluation.fake_agents"


@pytest.fixture
def workers() -> Iterator[list[ProcessWorker]]:
    started: list[ProcessWorker] = []
    yield started
    for worker in started:
        worker.stop()


def started(workers: list[ProcessWorker], name: str, startup_seconds: float = 600) -> ProcessWorker:
    worker = ProcessWorker(AgentSpec(f"{FAKES}:{name}"), startup_seconds)
    workers.append(worker)
    worker.wait_until_ready()
    return worker


def test_an_agent_in_this_process_leaves_its_environment_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_PRESET", "mine")
    monkeypatch.delenv("CRAG_SETTINGS", raising=False)
    worker = InProcessWorker(AgentSpec(f"{FAKES}:EchoAgent", {"CRAG_PRESET": "cpu", "CRAG_SETTINGS": "a = 1"}))
    worker.wait_until_ready()
    assert (os.environ["CRAG_PRESET"], os.environ["CRAG_SETTINGS"]) == ("cpu", "a = 1")
    worker.stop(in_order=True)
    assert (os.environ["CRAG_PRESET"], os.environ.get("CRAG_SETTINGS")) == ("mine", None)


def test_answers_and_traces_come_back(workers: list[ProcessWorker]) -> None:
    worker = started(workers, "TracingAgent")
    outcome = worker.answer(batch("say é\ud800", "say b"), 600)
    assert outcome.answers == ["é\ud800", "b"]
    assert [trace["interaction_id"] for trace in outcome.traces] == ["say é\ud800", "say b"]
    assert (outcome.timed_out, outcome.error) == (False, None)
    assert worker.peak_memory_mb > 10


@pytest.mark.parametrize(
    ("name", "limit", "timed_out", "error"),
    [
        ("HangingAgent", 1.0, True, "fake_agents.py"),  # the stack says where it hung, in C code
        ("DyingAgent", 600, False, "signal SIGABRT"),
    ],
)
def test_an_agent_that_hangs_or_dies_is_replaced_for_the_next_batch(
    workers: list[ProcessWorker], name: str, limit: float, timed_out: bool, error: str
) -> None:
    worker = started(workers, name)
    outcome = worker.answer(batch("say a", "say crash"), limit)
    assert (outcome.answers, outcome.timed_out) == (None, timed_out)
    assert outcome.seconds >= limit or not timed_out
    assert error in (outcome.error or "")
    assert worker.answer(batch("say b"), 600).answers == ["b"]


def test_printing_does_not_reach_our_standard_output(
    workers: list[ProcessWorker], capfd: pytest.CaptureFixture[str]
) -> None:
    worker = started(workers, "NoisyAgent")
    assert worker.answer(batch("say a"), 10).answers == ["a"]
    worker.stop()
    assert "noise" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("name", "startup_seconds", "message"),
    [
        ("BrokenAgent", 60, "the planted constructor fault"),
        ("StuckAgent", 2, "not built within 2 seconds"),
    ],
)
def test_an_agent_that_cannot_be_built(
    workers: list[ProcessWorker], name: str, startup_seconds: float, message: str
) -> None:
    with pytest.raises(AgentStartError, match=message):
        started(workers, name, startup_seconds)


def test_an_agent_may_close_itself(
    workers: list[ProcessWorker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_AGENT_LOG", str(tmp_path / "log"))
    worker = started(workers, "ClosingAgent")
    worker.answer(batch("say a"), 10)
    worker.stop(in_order=True)
    assert (tmp_path / "log").read_text(encoding="utf-8") == "closed"


def test_in_process() -> None:
    worker = InProcessWorker(AgentSpec(f"{FAKES}:TracingAgent"))
    worker.start()
    assert worker.wait_until_ready() == 2
    outcome = worker.answer(batch("say a"), 0.0)
    assert outcome.answers == ["a"]
    assert len(outcome.traces) == 1
    worker.stop()
    with pytest.raises(AgentStartError):
        worker.answer(batch("say a"), 1)


def test_huge_answers_arrive_whole(workers: list[ProcessWorker]) -> None:
    worker = started(workers, "HugeAgent")
    assert worker.answer(batch("say a", "say b"), 30).answers == ["é" * 2_000_000] * 2


@pytest.mark.parametrize("overrun", [True, False])
def test_what_an_agent_started_is_stopped_with_it(
    workers: list[ProcessWorker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overrun: bool
) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("FAKE_AGENT_LOG", str(log))
    worker = started(workers, "ForkingAgent")
    child = Path(f"/proc/{log.read_text(encoding='utf-8')}/stat")
    assert child.exists()
    if overrun:
        assert worker.answer(batch("say crash"), 0.3).timed_out
    else:
        worker.stop()
    while _alive(child):
        time.sleep(0.02)


def _alive(stat: Path) -> bool:
    try:
        return stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
