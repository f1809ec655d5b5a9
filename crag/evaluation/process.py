"""The agent in a process that can be killed: built, asked and stopped at its time limit, as by the real evaluator.

`ProcessWorker` is the evaluator's side, `serve` the agent's. They exchange plain data over a pipe; a second pipe
carries the stack of an agent whose time is nearly over, a third what the agent prints.
"""

import contextlib
import faulthandler
import io
import multiprocessing
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, NamedTuple

from tqdm import tqdm

from crag.core.log_lines import one_line_warnings
from crag.evaluation.batches import STARTUP_SECONDS
from crag.evaluation.in_process import InProcessWorker
from crag.evaluation.worker import CLOSE_SECONDS, AgentSpec, AgentStartError, BatchResult, Worker

TRACE_SECONDS = 120.0
"""Time limit for an agent's traces after its answers; they do not count for the evaluator's limit."""
OUTPUT_SECONDS = 2.0
"""How long the last output of an ended agent is waited for."""
STACK_SHARE = 0.95
"""The share of the limit after which the agent writes its stack."""


class _AgentProcess(NamedTuple):
    """The agent's process, our ends of its messages and of the stacks that it writes before its limit, and the thread
    that prints its output.
    """

    process: SpawnProcess
    connection: Connection
    stacks: Connection
    output: threading.Thread

    def next_message(self, seconds: float | None) -> Any:  # noqa: ANN401 - see `serve`
        """The next message, or None at the time limit; EOFError if the process has ended without one."""
        # Whichever comes first: a message or the end of the process
        ready = wait([self.connection, self.process.sentinel], seconds)
        if not ready:
            return None
        # `poll`: the process may have ended just after it sent its message.
        if self.connection in ready or self.connection.poll():
            return self.connection.recv()
        raise EOFError

    def read_stack(self) -> str | None:
        """What the agent has written of its stack since the previous call."""
        if not self.stacks.poll():
            return None
        text = os.read(self.stacks.fileno(), 1 << 16).decode("utf-8", "replace")
        return text.strip() or None

    def describe_ending(self) -> str:
        """How the process has ended: ``(exit code 3)`` or ``(signal SIGSEGV)``."""
        self.process.join(5)
        code = self.process.exitcode
        # A negative code is the number of the signal
        if code is None or code >= 0:
            return f"(exit code {code})"
        hint = "; perhaps the machine ran out of memory" if code == -signal.SIGKILL else ""
        return f"(signal {signal.Signals(-code).name}{hint})"


class ProcessWorker(Worker):
    """The agent in its own process, which is killed on a timeout and restarted for the next batch."""

    def __init__(self, spec: AgentSpec, startup_seconds: float = STARTUP_SECONDS) -> None:
        self._spec = spec
        self._startup_seconds = startup_seconds
        self._running: _AgentProcess | None = None
        self._ready = False

    def start(self) -> _AgentProcess:
        """Start to build the agent in a new process."""
        self.stop()
        # A fork would inherit the evaluator's threads, locks and modules
        context = multiprocessing.get_context("spawn")
        connection, agent_connection = context.Pipe()
        # Of its own, so that a stack cannot mix with messages
        stacks, agent_stacks = context.Pipe(duplex=False)
        # Printed by us, line by line: written straight to the terminal it would tear the progress bar
        output, agent_output = context.Pipe(duplex=False)

        process = context.Process(
            target=serve,
            args=(agent_connection, self._spec, agent_stacks, agent_output),
            name="crag-agent",
            daemon=False,  # an agent may start worker processes, which daemons of multiprocessing may not
        )
        process.start()

        # With our copies closed, the end of the agent closes the pipes.
        agent_connection.close()
        agent_stacks.close()
        agent_output.close()
        printing = threading.Thread(target=_print_output, args=(output,), name="agent-output", daemon=True)
        printing.start()
        self._running = _AgentProcess(process, connection, stacks, printing)
        return self._running

    def wait_until_ready(self) -> int:
        """Wait until the agent is built, which is started if need be; returns its batch size.
        Raises AgentStartError: it could not be built, or not in time.
        """
        running = self._running or self.start()
        try:
            message = running.next_message(self._startup_seconds)
        except EOFError:
            fault = f"agent {self._spec.path}: its process ended during construction {running.describe_ending()}"
        else:
            if isinstance(message, int):
                self._ready = True
                return message
            # The agent's process sends what went wrong; None: it was too slow
            fault = message
            if message is None:
                fault = f"agent {self._spec.path}: not built within {self._startup_seconds:g} seconds"

        self.stop()
        raise AgentStartError(fault)

    def answer(self, batch: dict[str, Any], limit: float) -> BatchResult:
        """Answers to one batch. The limit starts when the agent has the batch; a timeout kills its process.
        Raises AgentStartError: a killed agent could not be rebuilt.
        """
        if not self._ready:
            self.wait_until_ready()
        running = self._running or self.start()
        running.read_stack()  # drop the one of the batch before, which was answered just in time

        start = time.monotonic()
        result: tuple[Any, ...] | None = None
        try:
            running.connection.send((batch, limit))
            # Without a limit: unpacking the batch in the agent is not the agent's time
            running.next_message(None)  # the agent has the batch
            start = time.monotonic()
            result = running.next_message(limit)
            if result:
                # The same result again, now with traces
                with_traces = running.next_message(TRACE_SECONDS)
                if with_traces:
                    return BatchResult(*with_traces)

            # Too late for an answer, or only for the traces
            error = running.read_stack()
            timed_out = True
        except (EOFError, BrokenPipeError, ConnectionResetError):
            error = f"the agent's process ended during a batch {running.describe_ending()}"
            timed_out = False

        seconds = time.monotonic() - start
        self.stop()
        if result:  # the answers came in time; only their traces were lost
            return BatchResult(*result)
        return BatchResult(None, error, seconds, timed_out)

    def stop(self, *, in_order: bool = False) -> None:
        """Kill the agent's process and all its children, if any; an idle one may first close itself `in_order`."""
        running = self._running
        was_ready = self._ready
        self._running = None
        self._ready = False
        if running is None:
            return

        process = running.process
        if in_order and was_ready:
            running.connection.close()  # ends the loop of `serve`
            process.join(CLOSE_SECONDS)
        if process.pid is not None and process.exitcode != 0:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # the process leads its own group: see `serve`

        process.kill()
        process.join()
        process.close()
        running.connection.close()
        running.stacks.close()
        # A child of the agent that outlives it may hold the pipe open
        running.output.join(OUTPUT_SECONDS)


def _print_output(output: Connection) -> None:
    """Print what the agent writes on standard error until it ends; a carriage return ends a line too."""
    with os.fdopen(os.dup(output.fileno()), encoding="utf-8", errors="replace") as lines:
        output.close()
        for line in lines:
            if line.strip():
                sys.stderr.write(line if line.endswith("\n") else f"{line}\n")


# --- the agent's side -------------------------------------------------------------------------------------------------


def serve(
    connection: Connection,
    spec: AgentSpec,
    stacks: Connection,
    output: Connection,
) -> None:
    """The agent's process: builds the agent, then answers batches until the connection closes.

    It sends plain data, as its modules may not be ours: first the batch size, or the text of an AgentStartError;
    then, for each batch, a sign that it has it, the result, and the result with traces.
    """
    _detach_from_evaluator(output)
    with one_line_warnings():
        _answer_batches(connection, InProcessWorker(spec), stacks)


def _answer_batches(connection: Connection, agent: InProcessWorker, stacks: Connection) -> None:
    try:
        connection.send(agent.wait_until_ready())
    except AgentStartError as error:
        connection.send(str(error))
        return

    # The evaluator has closed its end, or has died: there is nobody to report to.
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            batch, limit = connection.recv()
            connection.send("begun")

            # faulthandler waits in a C thread that needs no interpreter lock: it also sees hangs in C code.
            faulthandler.dump_traceback_later(limit * STACK_SHARE, file=stacks.fileno())
            result = agent.ask(batch)
            faulthandler.cancel_dump_traceback_later()

            connection.send(_to_plain_data(result))
            traces = agent.traces(len(batch["query"]))
            connection.send(_to_plain_data(replace(result, traces=traces)))
    agent.stop()


def _detach_from_evaluator(output: Connection) -> None:
    """Make this process the leader of a group that can be killed as a whole, and that dies with the evaluator.

    All that the agent prints goes to `output`: standard output belongs to the evaluator.
    """
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the evaluator, which then ends this process
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)
    output.close()
    for text_stream in (sys.stdout, sys.stderr):
        if isinstance(text_stream, io.TextIOWrapper):
            text_stream.reconfigure(line_buffering=True)  # a pipe would make standard output wait for its buffer
    # Progress bars would otherwise hold a named semaphore, which outlives a killed process.
    tqdm.set_lock(threading.RLock())
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.killpg(os.getpgid(0), signal.SIGKILL)


def _to_plain_data(result: BatchResult) -> tuple[object, ...]:
    """The fields of a result in their order, from which the evaluator's side makes a `BatchResult` again."""
    return tuple(getattr(result, name) for name in BatchResult.__slots__)
