"""The evaluator's side of the agent: starts it, sends batches, stops it at its time limit."""

import contextlib
import multiprocessing
import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
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


Answered = Iterator[tuple[Sequence[Question], BatchResult]]


class _Running(NamedTuple):
    """The agent's process, and our ends of its messages and of the stacks that it writes before its limit."""

    process: SpawnProcess
    connection: Connection
    stacks: Connection


class _OneAgent(ABC):
    """`peak_memory_mb` is the agent's peak resident memory so far, in MiB."""

    peak_memory_mb = 0.0

    @abstractmethod
    def answer(self, batch: dict[str, Any], limit: float) -> BatchResult:
        """Answers to one batch, within `limit` seconds."""

    def answers(self, batches: Iterable[Sequence[Question]], seconds_per_query: float) -> Answered:
        """The results for the batches, one after another; a batch of n questions gets n times `seconds_per_query`."""
        for questions in batches:
            yield questions, self.answer(evaluator_batch(questions), seconds_per_query * len(questions))


class ProcessWorker(_OneAgent):
    """The agent in its own process, which is killed on a timeout and restarted for the next batch."""

    def __init__(self, spec: AgentSpec, startup_seconds: float = STARTUP_SECONDS) -> None:
        self._spec = spec
        self._startup_seconds = startup_seconds
        self._running: _Running | None = None
        self._ready = False

    def start(self) -> _Running:
        """Start to build the agent in a new process."""
        self.stop()
        context = multiprocessing.get_context("spawn")
        (ours, theirs), (stacks, written) = context.Pipe(), context.Pipe(duplex=False)
        # Not a daemon: an agent may start worker processes, which daemons of multiprocessing may not.
        process = context.Process(target=serve, args=(theirs, self._spec, written), name="crag-agent", daemon=False)
        process.start()
        theirs.close()
        written.close()
        self._running = _Running(process, ours, stacks)
        return self._running

    def wait_until_ready(self) -> int:
        """Wait until the agent is built, which is started if need be; returns its batch size.

        Raises:
            AgentStartError: it could not be built, or not in time.
        """
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
        """Answers to one batch. The limit starts when the agent has the batch; a timeout kills its process.

        Raises:
            AgentStartError: a killed agent could not be rebuilt.
        """
        if not self._ready:
            self.wait_until_ready()
        running = self._running or self.start()
        began = time.monotonic()
        _stack(running)  # of the batch before, which came just in time
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
            seconds, stack = time.monotonic() - began, _stack(running)
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
            running.connection.close()
            running.stacks.close()

    def _stopped(self, why: str) -> AgentStartError:
        self.stop()
        return AgentStartError(f"agent {self._spec.path}: {why}")


def _stack(running: _Running) -> str | None:
    """What the agent has written of its stack since the last time."""
    text = os.read(running.stacks.fileno(), 1 << 16) if running.stacks.poll() else b""
    return text.decode("utf-8", "replace").strip() or None


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


class InProcessWorker(_OneAgent):
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
