"""The agent's side: builds it, asks it, checks its answers. Runs in the agent's process or in this one."""

import contextlib
import faulthandler
import importlib
import json
import logging
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol, cast

from tqdm import tqdm

from agents.common.files import UserError
from evaluation.batches import MAX_BATCH_SIZE
from models.manifest import UnknownModelError, WeightsMissingError

log = logging.getLogger(__name__)

DEFAULT_AGENT = "agents.user_config:UserAgent"

METHODS = ("get_batch_size", "batch_generate_answer")
"""Those that the evaluator calls."""


class Agent(Protocol):
    """The evaluator's interface (2024 starter kit). `last_traces` and `close` are used if present."""

    def get_batch_size(self) -> int:
        """The number of questions in a batch, from 1 to 16; called once."""

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        """One answer per question, in order."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """The agent (``module:Class``, built without arguments), and its additional environment variables."""

    path: str = DEFAULT_AGENT
    environment: Mapping[str, str] = field(default_factory=dict)


class AgentStartError(UserError, RuntimeError):
    """The agent cannot be built."""


@dataclass(slots=True)
class BatchResult:
    """The agent's result for a batch.

    `answers` is None if the batch exceeded its time (`timed_out`) or failed (`error` says how; after a timeout it holds
    the agent's stack, if known). `seconds` are the agent's alone.
    """

    answers: list[str] | None
    error: str | None
    seconds: float
    timed_out: bool = False
    traces: Sequence[dict[str, Any]] = ()


def build_agent(spec: AgentSpec) -> tuple[Agent, int]:
    """The agent and its batch size.

    Raises:
        AgentStartError: it cannot be imported or built, or its batch size is not from 1 to 16.
    """
    os.environ.update(spec.environment)
    try:
        built = _agent_class(spec.path)()
        absent = [name for name in METHODS if not callable(getattr(built, name, None))]
        size = None if absent else built.get_batch_size()
    except (UserError, UnknownModelError, WeightsMissingError) as error:  # of our own agent: the message helps
        raise AgentStartError(str(error)) from None
    except (Exception, SystemExit) as error:  # any failure of external code is reported with its traceback
        raise AgentStartError(f"agent {spec.path} could not be built:\n{traceback.format_exc()}") from error
    if absent:
        raise AgentStartError(f"agent {spec.path}: it has no method {' and no '.join(absent)}")
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_BATCH_SIZE:
        raise AgentStartError(
            f"agent {spec.path}: get_batch_size() must return a whole number from 1 to {MAX_BATCH_SIZE}, found {size!r}"
        )
    return cast("Agent", built), size


def _agent_class(path: str) -> Callable[[], Any]:
    """The object that the path names. Errors in the agent's own module are not caught."""
    module_name, _, class_name = path.partition(":")
    if not module_name or not class_name:
        raise AgentStartError(f"agent {path!r}: expected MODULE:CLASS, for example {DEFAULT_AGENT}")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise AgentStartError(f"agent {path}: {error}, neither in this folder nor among the packages") from None
    if not hasattr(module, class_name):
        raise AgentStartError(f"agent {path}: the module has no attribute {class_name!r}")
    return cast("Callable[[], Any]", getattr(module, class_name))


def ask_agent(agent: Agent, batch: dict[str, Any]) -> BatchResult:
    """Let the agent answer one batch; an exception becomes the result's error."""
    began = time.monotonic()
    try:
        answers = agent.batch_generate_answer(batch)
        error = _fault_of_answers(answers, len(batch["query"]))
    except (Exception, SystemExit):  # noqa: BLE001 - external code: its failure costs a batch, not the run
        error = traceback.format_exc()
    return BatchResult(None if error else answers, error, time.monotonic() - began)


def _fault_of_answers(value: object, expected: int) -> str | None:
    """Why the answers are invalid; None for a list with one text per question."""
    rule = f"batch_generate_answer must return a list of {expected} texts, one per question"
    if not isinstance(value, list):
        return f"{rule}; found {type(value).__name__}"
    for position, answer in enumerate(value):
        if not isinstance(answer, str):
            return f"{rule}; found {type(answer).__name__} at position {position}"
    return None if len(value) == expected else f"{rule}; found {len(value)}"


def traces_of(agent: Agent, expected: int) -> list[dict[str, Any]]:
    """The agent's traces of its last batch as plain data; empty unless there is one per question."""
    try:
        traces = getattr(agent, "last_traces", None)
        if not isinstance(traces, Sequence) or len(traces) != expected:
            return []
        plain = [trace.to_dict() if hasattr(trace, "to_dict") else dict(trace) for trace in traces]
        # Half-precision scores can be NaN, which JSON lacks: readers of the traces would fail.
        return cast("list[dict[str, Any]]", json.loads(json.dumps(plain, default=str), parse_constant=lambda _: None))
    except Exception as error:  # external code: its traces must not cost the answers
        log.exception("the agent's traces cannot be read")
        return [{"trace_error": f"{type(error).__name__}: {error}"} for _ in range(expected)]


def close_agent(agent: Agent) -> None:
    """Call the agent's `close`, if any; a failure is only logged."""
    close = getattr(agent, "close", None)
    if callable(close):
        try:
            close()
        except (Exception, SystemExit):
            log.exception("closing the agent failed")


def peak_memory_mb() -> float:
    """Peak resident memory of this process in MiB.

    In ``ru_maxrss`` Linux includes the parent's memory at the start of the process, so VmHWM is read there.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024) if sys.platform == "darwin" else peak / 1024


def serve(connection: Connection, spec: AgentSpec, stacks: Connection) -> None:
    """The agent's process: builds the agent, then answers batches until the connection closes.

    Messages are JSON. The process leads its own group, so it can be killed with its children; it dies with the
    evaluator. The agent's output goes to standard error, because standard output belongs to the evaluator.
    """
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    # Progress bars would otherwise hold a named semaphore, which outlives a killed process.
    tqdm.set_lock(threading.RLock())
    threading.Thread(target=_die_with_parent, daemon=True).start()
    try:
        agent, batch_size = build_agent(spec)
    except AgentStartError as error:
        send(connection, {"failed": str(error)})
        return
    send(connection, {"batch_size": batch_size, "peak_memory_mb": peak_memory_mb()})
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            request = receive(connection)
            send(connection, {"started": True})
            # A thread in C that needs no interpreter lock: it also sees hangs in C code.
            faulthandler.dump_traceback_later(request["limit"] * 0.95, file=stacks.fileno())
            reply = ask_agent(agent, request["batch"])
            faulthandler.cancel_dump_traceback_later()
            send(connection, asdict(reply))
            traces = traces_of(agent, len(request["batch"]["query"]))
            send(connection, {"traces": traces, "peak_memory_mb": peak_memory_mb()})
    close_agent(agent)


def send(connection: Connection, message: Mapping[str, Any]) -> None:
    """Send one JSON message."""
    connection.send_bytes(json.dumps(message).encode())


def receive(connection: Connection) -> dict[str, Any]:
    """The next message; EOFError if the other side is closed."""
    return cast("dict[str, Any]", json.loads(connection.recv_bytes()))


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.killpg(os.getpgid(0), signal.SIGKILL)
