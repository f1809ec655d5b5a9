"""The agent in a process that can be killed: built, asked and stopped at its time limit, as by the real evaluator."""

import contextlib
import faulthandler
import importlib
import importlib.util
import itertools
import json
import logging
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol, cast

from tqdm import tqdm

from crag.core.files import UserError
from crag.core.places import REPOSITORY
from crag.evaluation.batches import MAX_BATCH_SIZE, STARTUP_SECONDS, Question, evaluator_batch

log = logging.getLogger(__name__)

_IN_CLONE = (REPOSITORY / "agents" / "user_config.py").is_file()
DEFAULT_AGENT = "agents.user_config:UserAgent" if _IN_CLONE else "crag:UserAgent"
"""In a clone the agent that would be pushed. An installed package has no `agents`: that may be somebody else's."""
METHODS = ("get_batch_size", "batch_generate_answer")
TRACE_SECONDS = 120.0
"""Time limit for an agent's traces after its answers; they do not count for the evaluator's limit."""
OURS = ("agents", "crag", "models")
"""Our top-level packages: an agent's own folder may have some of these names (the 2024 kit has `models`)."""
CLOSE_SECONDS = 10.0
"""Time limit for an agent to close itself after the last batch."""


class Agent(Protocol):
    """The evaluator's interface (2024 starter kit). `last_traces` and `close` are used if present."""

    def get_batch_size(self) -> int:
        """The number of questions in a batch, from 1 to 16; called once."""

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        """One answer per question, in order."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """The agent (``module:Class`` or ``FILE.py:Class``, built without arguments), and its additional environment."""

    path: str = DEFAULT_AGENT
    environment: Mapping[str, str] = field(default_factory=dict)


class AgentStartError(UserError, RuntimeError):
    """The agent cannot be built."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The agent's result for a batch.

    `answers` is None if the batch exceeded its time (`timed_out`) or failed (`error` says how; after a timeout it holds
    the agent's stack, if known). `seconds` are the agent's alone; `peak_memory_mb` is of all its batches.
    """

    answers: list[str] | None
    error: str | None
    seconds: float
    timed_out: bool = False
    traces: Sequence[dict[str, Any]] = ()
    peak_memory_mb: float = 0.0


Answered = Iterator[tuple[Sequence[Question], BatchResult]]


class Worker(ABC):
    """What a run needs of its agents, wherever they are."""

    def start(self) -> object:
        """Begin to build the agent, where it can be done beside other work."""
        return None

    @abstractmethod
    def wait_until_ready(self) -> int:
        """Wait until the agent is built; returns its batch size. Raises AgentStartError."""

    def answer(self, batch: dict[str, Any], limit: float) -> BatchResult:
        """Answers to one batch, within `limit` seconds."""
        raise NotImplementedError

    def answers(self, batches: Iterable[Sequence[Question]], seconds_per_query: float) -> Answered:
        """The results for the batches as they are finished; a batch of n questions gets n times `seconds_per_query`."""
        for questions in batches:
            yield questions, self.answer(evaluator_batch(questions), seconds_per_query * len(questions))

    @abstractmethod
    def stop(self, *, in_order: bool = False) -> None:
        """End all that was started; an idle agent may first close itself `in_order`."""


class InProcessWorker(Worker):
    """The agent in this process, for debuggers: no limits, and its output goes to this process's."""

    def __init__(self, spec: AgentSpec) -> None:
        self._spec = spec
        self._agent: Agent | None = None
        self._environment, self._modules, self._search = dict(os.environ), dict(sys.modules), list(sys.path)

    def wait_until_ready(self) -> int:
        """Build the agent.
        Raises AgentStartError: it cannot be imported or built, or its batch size is not from 1 to 16.
        """
        path = self._spec.path
        os.environ.update(self._spec.environment)
        try:
            built = _named(path)()
            absent = [name for name in METHODS if not callable(getattr(built, name, None))]
            size = None if absent else built.get_batch_size()
        except UserError as error:  # of our own agent: the message helps
            raise AgentStartError(str(error)) from None
        except (Exception, SystemExit) as error:  # any failure of external code is reported with its traceback
            raise AgentStartError(f"agent {path} could not be built:\n{traceback.format_exc()}") from error
        if absent:
            raise AgentStartError(f"agent {path}: it has no method {' and no '.join(absent)}")
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_BATCH_SIZE:
            wanted = f"a whole number from 1 to {MAX_BATCH_SIZE}"
            raise AgentStartError(f"agent {path}: get_batch_size() must return {wanted}, found {size!r}")
        self._agent = built
        return size

    def ask(self, batch: dict[str, Any]) -> BatchResult:
        """Answers without traces; an exception, or answers that are no list of texts, become the result's error."""
        began, expected = time.monotonic(), len(batch["query"])
        answers, error = None, None
        try:
            answers = cast("Agent", self._agent).batch_generate_answer(batch)
            is_right = isinstance(answers, list) and all(isinstance(answer, str) for answer in answers)
            if not is_right or len(answers) != expected:
                rule = f"batch_generate_answer must return a list of {expected} texts, one per question"
                answers, error = None, f"{rule}; found {repr(answers)[:200]}"
        except (Exception, SystemExit):  # noqa: BLE001 - external code: its failure costs a batch, not the run
            error = traceback.format_exc()
        return BatchResult(answers, error, time.monotonic() - began, peak_memory_mb=_peak_memory_mb())

    def traces(self, expected: int) -> list[dict[str, Any]]:
        """The agent's traces of its last batch as plain data; empty unless there is one per question."""
        try:
            traces = getattr(self._agent, "last_traces", None)
            if not isinstance(traces, Sequence) or len(traces) != expected:
                return []
            plain = [trace.to_dict() if hasattr(trace, "to_dict") else dict(trace) for trace in traces]
            # Half-precision scores can be NaN, which JSON lacks: readers of the traces would fail.
            whole: list[dict[str, Any]] = json.loads(json.dumps(plain, default=str), parse_constant=lambda _: None)
        except Exception as error:  # external code: its traces must not cost the answers
            log.exception("the agent's traces cannot be read")
            return [{"trace_error": f"{type(error).__name__}: {error}"} for _ in range(expected)]
        return whole

    def answer(self, batch: dict[str, Any], limit: float) -> BatchResult:
        """Answers to one batch; `limit` is not enforced here."""
        return replace(self.ask(batch), traces=self.traces(len(batch["query"])))

    def stop(self, *, in_order: bool = False) -> None:
        """Close the agent, which cannot be killed here, and take its variables and modules out of this process."""
        agent, self._agent = self._agent, None
        try:
            getattr(agent, "close", lambda: None)()
        except (Exception, SystemExit):
            log.exception("closing the agent failed")
        os.environ.clear()
        os.environ.update(self._environment)
        sys.modules.update(self._modules)
        sys.path[:] = self._search


def _named(path: str) -> Any:  # noqa: ANN401 - external code
    """The object that the path names. Errors in the agent's own module are not caught."""
    module, _, name = path.rpartition(":")
    if module.endswith(".py"):
        imported = _from_file(Path(module).resolve())
    else:
        try:
            imported = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not f"{module}.".startswith(f"{error.name}."):
                raise
            raise AgentStartError(f"agent {path}: {error}, neither in this folder nor among the packages") from None
        found, here = imported.__file__, Path(*module.split(".")).with_suffix(".py")
        if found and here.is_file() and not here.samefile(found):
            wanted = f"the file in this folder is --agent {here}:{name}"
            raise AgentStartError(f"agent {path}: that module is {found}; {wanted}")
    if not hasattr(imported, name):
        raise AgentStartError(f"agent {path}: the module has no attribute {name!r}, expected as in {DEFAULT_AGENT}")
    return getattr(imported, name)


def _from_file(file: Path) -> ModuleType:
    """The module of a file. For what it imports, its folder and the one above take precedence over our packages."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise AgentStartError(f"agent {file}: there is no such file")
    folders = [file.parent, file.parents[1]]
    for folder, name in itertools.product(reversed(folders), OURS):
        own = folder / name
        has_code = any(own.glob("*.py")) or own.with_suffix(".py").is_file()
        if has_code and own != REPOSITORY / name:
            for known in [known for known in sys.modules if f"{known}.".startswith(f"{name}.")]:
                del sys.modules[known]
            if own.is_dir() and not (own / "__init__.py").is_file():
                sys.modules[name] = ModuleType(name)  # else a package elsewhere would win over this folder
                sys.modules[name].__path__ = [str(own)]
    sys.path[:0] = map(str, folders)
    module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _peak_memory_mb() -> float:
    """Peak resident memory of this process in MiB; 0 without /proc (`ru_maxrss` would include the parent's)."""
    status = Path("/proc/self/status")
    peak = re.search(r"VmHWM:\s+(\d+)", status.read_text(errors="replace")) if status.is_file() else None
    return int(peak[1]) / 1024 if peak else 0.0


# --- in a process of its own ------------------------------------------------------------------------------------------


class _Running(NamedTuple):
    """The agent's process, and our ends of its messages and of the stacks that it writes before its limit."""

    process: SpawnProcess
    connection: Connection
    stacks: Connection

    def next_message(self, seconds: float | None) -> Any:  # noqa: ANN401 - see `serve`
        """The next message, or None at the time limit; EOFError if the process has ended without one."""
        ready = wait([self.connection, self.process.sentinel], seconds)
        if not ready:
            return None
        if self.connection in ready or self.connection.poll():  # the second: sent at the last moment
            return self.connection.recv()
        raise EOFError

    def stack(self) -> str | None:
        """What the agent has written of its stack since the last time."""
        text = os.read(self.stacks.fileno(), 1 << 16) if self.stacks.poll() else b""
        return text.decode("utf-8", "replace").strip() or None

    def ending(self) -> str:
        """How the process has ended."""
        self.process.join(5)
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"(exit code {code})"
        hint = "; perhaps the machine ran out of memory" if code == -signal.SIGKILL else ""
        return f"(signal {signal.Signals(-code).name}{hint})"


class ProcessWorker(Worker):
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
        Raises AgentStartError: it could not be built, or not in time.
        """
        running = self._running or self.start()
        try:
            message = running.next_message(self._startup_seconds)
        except EOFError:
            message = f"its process ended during construction {running.ending()}"
        if isinstance(message, int):
            self._ready = True
            return message
        self.stop()
        if isinstance(message, tuple):
            raise AgentStartError(*message)
        raise AgentStartError(
            f"agent {self._spec.path}: {message or f'not built within {self._startup_seconds:g} seconds'}"
        )

    def answer(self, batch: dict[str, Any], limit: float) -> BatchResult:
        """Answers to one batch. The limit starts when the agent has the batch; a timeout kills its process.
        Raises AgentStartError: a killed agent could not be rebuilt.
        """
        if not self._ready:
            self.wait_until_ready()
        running = self._running or self.start()
        began = time.monotonic()
        running.stack()  # of the batch before, which came just in time
        result: tuple[Any, ...] | None = None
        try:
            running.connection.send((batch, limit))
            running.next_message(None)
            began = time.monotonic()
            result = running.next_message(limit)
            if result and (traced := running.next_message(TRACE_SECONDS)):
                return BatchResult(*traced)
            error, timed_out = running.stack(), True
        except (EOFError, BrokenPipeError, ConnectionResetError):
            error, timed_out = f"the agent's process ended during a batch {running.ending()}", False
        seconds = time.monotonic() - began
        self.stop()
        return BatchResult(*(result or (None, error, seconds, timed_out)))  # a result: only its traces were lost

    def stop(self, *, in_order: bool = False) -> None:
        """Kill the agent's process and all its children, if any; an idle one may first close itself `in_order`."""
        running, ready = self._running, self._ready
        self._running, self._ready = None, False
        if running is None:
            return
        process = running.process
        if in_order and ready:
            running.connection.close()
            process.join(CLOSE_SECONDS)
        if process.pid is not None and process.exitcode != 0:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # the process leads its own group: see `serve`
        process.kill()
        process.join()
        process.close()
        running.connection.close()
        running.stacks.close()


def serve(connection: Connection, spec: AgentSpec, stacks: Connection) -> None:
    """The agent's process: builds the agent, then answers batches until the connection closes.

    It sends plain data, as its modules may not be ours: the batch size, or the text of an AgentStartError in a tuple;
    then for each batch a sign that it has it, the result, and the result with traces. It leads its own
    group, so it can be killed with its children; it dies with the evaluator. The agent's output goes to standard error,
    because standard output belongs to the evaluator.
    """
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    # Progress bars would otherwise hold a named semaphore, which outlives a killed process.
    tqdm.set_lock(threading.RLock())
    threading.Thread(target=_die_with_parent, daemon=True).start()
    agent = InProcessWorker(spec)
    try:
        connection.send(agent.wait_until_ready())
    except AgentStartError as error:
        connection.send((str(error),))
        return
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            batch, limit = connection.recv()
            connection.send("begun")
            # A thread in C that needs no interpreter lock: it also sees hangs in C code.
            faulthandler.dump_traceback_later(limit * 0.95, file=stacks.fileno())
            result = agent.ask(batch)
            faulthandler.cancel_dump_traceback_later()
            connection.send(_plain(result))
            connection.send(_plain(replace(result, traces=agent.traces(len(batch["query"])))))
    agent.stop()


def _plain(result: BatchResult) -> tuple[object, ...]:
    return tuple(getattr(result, name) for name in BatchResult.__slots__)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.killpg(os.getpgid(0), signal.SIGKILL)
