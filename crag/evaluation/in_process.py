"""The agent in this process, for debuggers; `crag.evaluation.process` runs it in a process that can be killed."""

import json
import logging
import os
import re
import sys
import sysconfig
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard, cast

from crag.core.files import UserError
from crag.core.text import clean
from crag.evaluation.agent_loading import has_name_of_ours, is_ours, load_agent_class
from crag.evaluation.batches import MAX_BATCH_SIZE
from crag.evaluation.worker import Agent, AgentSpec, AgentStartError, BatchResult, Worker

log = logging.getLogger(__name__)

METHODS = ("get_batch_size", "batch_generate_answer")
_INSTALLED = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
"""The folders of Python and of packages."""
_LONGEST_CAUSE = 400
"""Characters of the message of an agent that cannot be built."""


class InProcessWorker(Worker):
    """The agent in this process: no limits, and its output goes to this process's."""

    def __init__(self, spec: AgentSpec) -> None:
        self._spec = spec
        self._agent: Agent | None = None
        # What the agent may change, for `stop`.
        self._saved_environment = dict(os.environ)
        self._saved_modules = dict(sys.modules)
        self._saved_search_path = list(sys.path)

    def wait_until_ready(self) -> int:
        """Build the agent.
        Raises AgentStartError: it cannot be imported or built, or its batch size is not from 1 to 16. The message is
        one line; the error's cause is what the agent raised.
        """
        path = self._spec.path
        # Before the import: the agent may read variables when it is loaded
        os.environ.update(self._spec.environment)
        try:
            build_agent = load_agent_class(path)
            agent = build_agent()
            missing_methods = _missing_methods(agent)
            size = None if missing_methods else agent.get_batch_size()
        except UserError as error:  # of our own agent: its message is enough
            raise AgentStartError(str(error)) from None
        except (Exception, SystemExit) as error:  # whatever external code raises
            raise AgentStartError(
                f"agent {path} could not be built: {_describe_cause(error)}; --in-process shows the traceback"
            ) from error

        if missing_methods:
            raise AgentStartError(f"agent {path}: it has no method {' and no '.join(missing_methods)}")
        if not _is_batch_size(size):
            raise AgentStartError(
                f"agent {path}: get_batch_size() must return a whole number from 1 to {MAX_BATCH_SIZE}, found {size!r}"
            )
        self._agent = agent
        return size

    def ask(self, batch: dict[str, Any]) -> BatchResult:
        """Answers without traces. An exception, or a result that is not one string per question, becomes the error."""
        answers: list[str] | None = None
        error = None

        start = time.monotonic()
        try:
            reply: object = cast("Agent", self._agent).batch_generate_answer(batch)
            if _is_list_of_strings(reply, len(batch["query"])):
                answers = cast("list[str]", reply)
            else:
                error = (
                    f"batch_generate_answer must return a list of {len(batch['query'])} strings, one per question; "
                    f"found {repr(reply)[:200]}"
                )
        except (Exception, SystemExit):  # noqa: BLE001 - external code: its failure costs a batch, not the run
            error = traceback.format_exc()

        return BatchResult(
            answers,
            error,
            time.monotonic() - start,
            peak_memory_mb=read_peak_memory(),
        )

    def traces(self, expected: int) -> list[dict[str, Any]]:
        """The agent's traces of its last batch as plain data; empty unless there is one per question."""
        try:
            traces = getattr(self._agent, "last_traces", None)
            if not isinstance(traces, Sequence) or len(traces) != expected:
                return []

            # Through text and back: only plain data may cross to the evaluator
            text = json.dumps([_as_dict(trace) for trace in traces], default=str)

            # Half-precision scores can be NaN, which JSON lacks: readers of the traces would fail.
            without_nan: list[dict[str, Any]] = json.loads(text, parse_constant=lambda _: None)
        except Exception as error:  # external code: its traces must not cost the answers
            log.exception("the agent's traces cannot be read")
            return [{"trace_error": f"{type(error).__name__}: {error}"} for _ in range(expected)]
        return without_nan

    def answer(self, batch: dict[str, Any], limit: float) -> BatchResult:
        """Answers to one batch; `limit` is not enforced here."""
        result = self.ask(batch)
        traces = self.traces(len(batch["query"]))
        return replace(result, traces=traces)

    def stop(self, *, in_order: bool = False) -> None:
        """Close the agent, which cannot be killed here, and take its variables and modules out of this process."""
        agent = self._agent
        self._agent = None
        try:
            close = getattr(agent, "close", None)
            if close is not None:
                close()
        except (Exception, SystemExit):
            log.exception("closing the agent failed")

        os.environ.clear()
        os.environ.update(self._saved_environment)
        # An agent's `models` may have replaced ours, or stand where ours would be loaded
        sys.modules.update(self._saved_modules)
        for name in sys.modules.keys() - self._saved_modules.keys():
            if has_name_of_ours(name) and not is_ours(sys.modules[name]):
                del sys.modules[name]
        sys.path[:] = self._saved_search_path


def _describe_cause(error: BaseException) -> str:
    """An error of the agent in one line, with the place in the agent's code, for example
    ``KeyError: 'url' (my_agent.py, line 12, in __init__)``.
    """
    try:
        words = f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - external code, which has to write its own message
        words = type(error).__name__
    line = " ".join(clean(words, max_characters=_LONGEST_CAUSE).split()).removesuffix(":")

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_file()]
    # The first ones are those that import and build agents
    frames_of_agent = [frame for frame in frames if Path(frame.filename).parent != Path(__file__).parent]
    own_code = [frame for frame in frames_of_agent if not frame.filename.startswith(_INSTALLED)]
    for frame in (own_code or frames_of_agent)[-1:]:
        function = "" if frame.name == "<module>" else f", in {frame.name}"
        line += f" ({_short_path(frame.filename)}, line {frame.lineno}{function})"
    return line


def _short_path(file: str) -> str:
    """The path below the current folder, if the file is there."""
    path = Path(file).resolve()
    folder = Path.cwd()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _missing_methods(agent: object) -> list[str]:
    return [name for name in METHODS if not callable(getattr(agent, name, None))]


def _is_batch_size(value: object) -> TypeGuard[int]:
    """A whole number from 1 to `MAX_BATCH_SIZE`; a bool is none."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_BATCH_SIZE


def _as_dict(trace: Any) -> dict[str, Any]:  # noqa: ANN401 - another agent's trace
    return trace.to_dict() if hasattr(trace, "to_dict") else dict(trace)


def _is_list_of_strings(value: object, length: int) -> bool:
    if not isinstance(value, list) or len(value) != length:
        return False
    return all(isinstance(item, str) for item in value)


def read_peak_memory(status: Path = Path("/proc/self/status")) -> float:
    """Peak resident memory in MiB of the process with this file of /proc, by default this one.

    0 without such a file. `ru_maxrss` would include the parent's memory. Raises OSError: the process ends meanwhile.
    """
    if not status.is_file():
        return 0.0
    peak = re.search(r"VmHWM:\s+(\d+)", status.read_text(errors="replace"))
    return int(peak[1]) / 1024 if peak else 0.0
