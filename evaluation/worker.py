"""The evaluator's side of the agent: starts it, sends batches, stops it at its time limit."""

import contextlib
import multiprocessing
import os
import signal
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.agent_host import (
    Agent,
    AgentSpec,
    AgentStartError,
    BatchResult,
    ask_agent,
    build_agent,
    close_agent,
    peak_memory_mb,
    receive,
    send,
    serve,
    traces_of,
)
from evaluation.batches import STARTUP_SECONDS, Question, evaluator_batch

TRACE_SECONDS = 120.0
"""Time limit for an agent's traces after its answers; they do not count for the evaluator's limit."""

CLOSE_SECONDS = 10.0
"""Time limit for an agent to close itself after the last batch."""


class _Running(NamedTuple):
    process: SpawnProcess
    connection: Connection


Answered = Iterator[tuple[Sequence[Question], BatchResult]]


class Workers(ABC):
    """One agent or several, which answer the batches of a run; one with too little time raises `AgentStartError`.

    `peak_memory_mb` is the peak resident memory of an agent so far, in MiB.
    """

    peak_memory_mb = 0.0

    @abstractmethod
    def start(self) -> object:
        """Begin to build the agent; returns at once."""

    @abstractmethod
    def wait_until_ready(self) -> int:
        """The batch size of an agent that is built; starts it if need be."""

    @abstractmethod
    def answers(self, batches: Iterable[Sequence[Question]], seconds_per_query: float) -> Answered:
        """The agent's results for the batches, in the order in which they are finished. Call `wait_until_ready` first.

        A batch of n questions gets n times `seconds_per_query`.
        """

    @abstractmethod
    def stop(self, *, in_order: bool = False) -> None:
        """Stop the agents; `in_order`: idle ones may close themselves before."""


class _OneWorker(Workers):
    def answers(self, batches: Iterable[Sequence[Question]], seconds_per_query: float) -> Answered:
        for questions in batches:
            yield questions, self.answer(evaluator_batch(questions), seconds_per_query * len(questions))

    @abstractmethod
    def answer(self, batch: dict[str, Any], limit: float) -> BatchResult:
        """Answers to one batch, within `limit` seconds."""


_STACK = "crag-agent-stack-"


def _clear_stacks() -> None:
    """Delete the stack files of evaluators that were killed."""
    for file in Path(tempfile.gettempdir()).glob(f"{_STACK}*.txt"):
        owner = file.stem.removeprefix(_STACK)
        with contextlib.suppress(OSError, ValueError):
            try:
                os.kill(int(owner), 0)  # asks only whether the process lives
            except ProcessLookupError:
                file.unlink()


class ProcessWorker(_OneWorker):
    """The agent in its own process, which is killed on a timeout and restarted for the next batch."""

    def __init__(self, spec: AgentSpec, startup_seconds: float = STARTUP_SECONDS) -> None:
        self._spec = spec
        self._startup_seconds = startup_seconds
        self._running: _Running | None = None
        self._ready = False
        _clear_stacks()
        self._stack_file = Path(tempfile.gettempdir()) / f"{_STACK}{os.getpid()}.txt"

    def start(self) -> _Running:
        """Start to build the agent in a new process."""
        self.stop()
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        # Not a daemon: an agent may start worker processes, which daemons of multiprocessing may not.
        process = context.Process(
            target=serve, args=(theirs, self._spec, str(self._stack_file)), name="crag-agent", daemon=False
        )
        process.start()
        theirs.close()
        self._running = _Running(process, ours)
        return self._running

    def wait_until_ready(self) -> int:
        """Wait until the agent is built; returns its batch size."""
        running = self._running or self.start()
        try:
            message = _next_message(running, self._startup_seconds)
        except EOFError:
            raise self._stopped(f"its process ended during construction {_ending(running.process)}") from None
        if message is None:
            raise self._stopped(f"not built within {self._startup_seconds:g} seconds")
        if "failed" in message:
            self.stop()
            raise AgentStartError(message["failed"])
        self._ready = True
        self.peak_memory_mb = max(self.peak_memory_mb, message["peak_memory_mb"])
        return int(message["batch_size"])

    def answer(self, batch: dict[str, Any], limit: float) -> BatchResult:
        """Answers to one batch. The limit starts when the agent has the batch; a timeout kills its process."""
        if not self._ready:
            self.wait_until_ready()
        running = self._running or self.start()
        began = time.monotonic()
        try:
            send(running.connection, {"batch": batch, "limit": limit})
            _next_message(running, None)
            began = time.monotonic()
            reply = _next_message(running, limit)
            rest = _next_message(running, TRACE_SECONDS) if reply is not None else None
        except (EOFError, BrokenPipeError, ConnectionResetError):
            error = f"the agent's process ended during a batch {_ending(running.process)}"
            self.stop()
            return BatchResult(None, error, time.monotonic() - began)
        if reply is None:
            seconds, stack = time.monotonic() - began, self._stack()
            self.stop()
            return BatchResult(None, stack, seconds, timed_out=True)
        if rest is None:  # it hangs at its traces, but its answers came in time
            self.stop()
            return BatchResult(**reply)
        self.peak_memory_mb = max(self.peak_memory_mb, rest["peak_memory_mb"])
        return BatchResult(**{**reply, "traces": rest["traces"]})

    def stop(self, *, in_order: bool = False) -> None:
        """Kill the agent's process and all its children, if any; an idle one may first close itself `in_order`."""
        if in_order and self._running is not None and self._ready:
            self._running.connection.close()
            self._running.process.join(CLOSE_SECONDS)
        running, self._running, self._ready = self._running, None, False
        if running is not None:
            process = running.process
            if process.pid is not None and process.exitcode != 0:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)  # the process leads its own group: see agent_host.serve
            process.kill()
            process.join()
            process.close()
            if not running.connection.closed:
                running.connection.close()
        self._stack_file.unlink(missing_ok=True)

    def _stopped(self, why: str) -> AgentStartError:
        self.stop()
        return AgentStartError(f"agent {self._spec.path}: {why}")

    def _stack(self) -> str | None:
        with contextlib.suppress(OSError):
            return self._stack_file.read_text(encoding="utf-8", errors="replace").strip("\0\n") or None
        return None


def _next_message(running: _Running, seconds: float | None) -> dict[str, Any] | None:
    """The next message, or None at the time limit; EOFError if the process has ended without one."""
    ready = wait([running.connection, running.process.sentinel], seconds)
    if not ready:
        return None
    if running.connection in ready or running.connection.poll():  # the second: sent at the last moment
        return receive(running.connection)
    raise EOFError


def _ending(process: SpawnProcess) -> str:
    process.join(5)
    code = process.exitcode
    if code is not None and code < 0:
        hint = "; perhaps the machine ran out of memory" if code == -signal.SIGKILL else ""
        return f"(signal {signal.Signals(-code).name}{hint})"
    return f"(exit code {code})"


class InProcessWorker(_OneWorker):
    """The agent in this process, for debuggers: no limits, and its output goes to this process's."""

    def __init__(self, spec: AgentSpec) -> None:
        self._spec = spec
        self._agent: Agent | None = None
        self._before: dict[str, str | None] = {}

    def start(self) -> None:
        """Do nothing: `wait_until_ready` builds the agent."""

    def wait_until_ready(self) -> int:
        """Build the agent; returns its batch size."""
        self._before = {name: os.environ.get(name) for name in self._spec.environment}
        self._agent, batch_size = build_agent(self._spec)
        self.peak_memory_mb = peak_memory_mb()
        return batch_size

    def answer(self, batch: dict[str, Any], limit: float) -> BatchResult:
        """Answers to one batch; `limit` is not enforced here."""
        del limit
        if self._agent is None:
            raise AgentStartError("the agent was not started")
        result = ask_agent(self._agent, batch)
        self.peak_memory_mb = peak_memory_mb()
        result.traces = traces_of(self._agent, len(batch["query"]))
        return result

    def stop(self, *, in_order: bool = False) -> None:
        """Close the agent, which cannot be killed here, and take its variables out of this process's environment."""
        del in_order
        agent, self._agent = self._agent, None
        if agent is not None:
            close_agent(agent)
        for name, value in self._before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        self._before = {}
