"""The side of the agent: build it, ask it, check what it gives back. Runs in the agent's own process or in this one."""

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

from agents.llm import EngineUnavailableError
from agents.settings import SettingsError
from agents.web import ExtractionUnavailableError
from evaluation.real_evaluator import MAX_BATCH_SIZE
from models.manifest import UnknownModelError, WeightsMissingError

log = logging.getLogger(__name__)

DEFAULT_AGENT = "agents.user_config:UserAgent"

EXPECTED_START_FAULTS = (
    EngineUnavailableError,
    ExtractionUnavailableError,
    SettingsError,
    UnknownModelError,
    WeightsMissingError,
)
"""Faults of our own agent whose messages say what to do; they are shown without a traceback."""


class Agent(Protocol):
    """The evaluator's interface (2024 starter kit). `last_traces` and `close` are used where an agent has them."""

    def get_batch_size(self) -> int:
        """How many questions a batch has, from 1 to 16; asked once."""

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        """One answer per question, in order."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """Which agent (``module:Class``, built without arguments), and what its environment has besides this process's."""

    path: str = DEFAULT_AGENT
    environment: Mapping[str, str] = field(default_factory=dict)


class AgentStartError(RuntimeError):
    """The agent cannot be built."""


@dataclass(slots=True)
class BatchResult:
    """What the agent made of a batch.

    `answers` is None where there are none: the batch ran over its time (`timed_out`) or failed (`error` says how; for
    an overrun it holds the stack where the agent was, if known). `seconds` are those of the agent alone.
    """

    answers: list[str] | None
    error: str | None
    seconds: float
    timed_out: bool = False
    traces: Sequence[dict[str, Any]] = ()


def build_agent(spec: AgentSpec) -> tuple[Agent, int]:
    """The agent and its batch size.

    Raises:
        AgentStartError: It cannot be imported or built, or its batch size is none from 1 to 16.
    """
    os.environ.update(spec.environment)
    try:
        built = _agent_class(spec.path)()
        size = built.get_batch_size()
    except (AgentStartError, *EXPECTED_START_FAULTS) as error:
        raise AgentStartError(str(error)) from None
    except (Exception, SystemExit) as error:  # any failure of foreign code is reported with its traceback
        raise AgentStartError(f"agent {spec.path} could not be built:\n{traceback.format_exc()}") from error
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_BATCH_SIZE:
        raise AgentStartError(
            f"agent {spec.path}: get_batch_size() must return a whole number from 1 to {MAX_BATCH_SIZE}, found {size!r}"
        )
    return cast("Agent", built), size


def _agent_class(path: str) -> Callable[[], Any]:
    """What the path names. Faults within the agent's own module pass through."""
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
    """Let the agent answer one batch; whatever it raises becomes the result's error."""
    began = time.monotonic()
    try:
        answers = agent.batch_generate_answer(batch)
        error = _fault_of_answers(answers, len(batch["query"]))
    except (Exception, SystemExit):  # noqa: BLE001 - foreign code: its failure costs a batch, not the run
        error = traceback.format_exc()
    return BatchResult(None if error else answers, error, time.monotonic() - began)


def _fault_of_answers(value: object, expected: int) -> str | None:
    """Why the evaluator could not use this; None for a list of as many texts as there were questions."""
    rule = f"batch_generate_answer must return a list of {expected} texts, one per question"
    if not isinstance(value, list):
        return f"{rule}; found {type(value).__name__}"
    for position, answer in enumerate(value):
        if not isinstance(answer, str):
            return f"{rule}; found {type(answer).__name__} at position {position}"
    return None if len(value) == expected else f"{rule}; found {len(value)}"


def traces_of(agent: Agent, expected: int) -> list[dict[str, Any]]:
    """The agent's traces of its last batch as plain data; none where it keeps none, or not one per question."""
    try:
        traces = getattr(agent, "last_traces", None)
        if not isinstance(traces, Sequence) or len(traces) != expected:
            return []
        plain = [trace.to_dict() if hasattr(trace, "to_dict") else dict(trace) for trace in traces]
        # A score of half precision can be NaN, which JSON does not have: what reads traces would fail there.
        return cast("list[dict[str, Any]]", json.loads(json.dumps(plain, default=str), parse_constant=lambda _: None))
    except Exception as error:  # foreign code: its traces must not cost the answers
        log.exception("the agent's traces cannot be read")
        return [{"trace_error": f"{type(error).__name__}: {error}"} for _ in range(expected)]


def close_agent(agent: Agent) -> None:
    """Call the agent's `close`, where it has one; a failure there is only logged."""
    close = getattr(agent, "close", None)
    if callable(close):
        try:
            close()
        except (Exception, SystemExit):
            log.exception("the agent could not close itself")


def peak_memory_mb() -> float:
    """Peak resident memory of this process in MiB.

    Linux counts in ``ru_maxrss`` what the parent had used when it started the process, so VmHWM is read there.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024) if sys.platform == "darwin" else peak / 1024


# --- the process ------------------------------------------------------------------------------------------------------


def serve(connection: Connection, spec: AgentSpec, stack_file: str) -> None:
    """The whole life of the agent's process: build, then answer batches until the connection closes.

    Messages are JSON. The process leads its own group, so that it can be killed with all that it started; it dies when
    the evaluator dies. What the agent prints goes to standard error, as standard output belongs to the evaluator.
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
    with Path(stack_file).open("w", encoding="utf-8") as stacks, contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            request = receive(connection)
            send(connection, {"started": True})
            stacks.truncate(0)
            # A thread in C that needs no interpreter lock: it sees where an agent hangs even in C code.
            faulthandler.dump_traceback_later(request["limit"] * 0.95, file=stacks)
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
    """The next message; EOFError where the other side is gone."""
    return cast("dict[str, Any]", json.loads(connection.recv_bytes()))


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.killpg(os.getpgid(0), signal.SIGKILL)
