"""The child process that runs `crag.engines.llm.vllm_worker`, seen from its parent."""

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from typing import Any

from crag.core.child_process import start_piped
from crag.core.deadline import Deadline
from crag.core.log_lines import one_line

_COMMAND = "import sys; from crag.engines.llm.vllm_worker import main; main(int(sys.argv[1]))"
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    # The engine itself runs in our child process; only tensor-parallel workers are further processes.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # The child has no main module that could be imported again, and no state that a fork would copy.
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    # All processes are on this machine. Otherwise vLLM looks for a route to the internet, and gloo (torch) for the
    # address of the host's name: a machine without network has neither.
    "VLLM_HOST_IP": "127.0.0.1",
    "GLOO_SOCKET_IFNAME": "lo",
    "NCCL_SOCKET_IFNAME": "lo",
}
"""Variables of the child, unless the user has set another value."""

_POLL_SECONDS = 0.05
"""How often a waiting parent looks at the deadline, which may have a clock of its own."""
_CLOSE_SECONDS = 15.0
"""Time for vLLM to stop its workers and remove its shared memory; then all are killed."""
_LOGGED_ERROR = re.compile(
    r"""\][ ]                        # the end of "process, level, time, [file:line]" in vLLM's log
        (?P<error>(?:\w{1,60}\.){0,9}\w{0,60}(?:Error|Exception):[ ]?\S.*)   # the last line of a traceback
    """,
    re.VERBOSE,
)
_LOG_BYTES = 200_000
"""How much of the end of the log is searched."""
_MOST_CHARACTERS = 600
"""Of the cause in a message."""


class VllmProcessError(RuntimeError):
    """The process did not start, ended or hung. The message is one line that names the cause."""


class VllmProcess:
    """A child process with vLLM.

    It is a plain child, not one of `multiprocessing`, which would import the main program again: an evaluator's script
    without a main guard would start a second time. It leads a group of its own, which is killed as a whole.

    Example:
        process = VllmProcess()
        process.start({"settings": ..., "more_arguments": {}}, Deadline(540))
        process.request({"do": "reset_prefix_cache"}, Deadline(30), 60)
        process.close()
    """

    def __init__(self) -> None:
        # vLLM's processes talk through sockets whose files it leaves behind.
        self._sockets = tempfile.TemporaryDirectory(prefix="vllm-", ignore_cleanup_errors=True)
        environment = {**_ENVIRONMENT, "VLLM_RPC_BASE_PATH": self._sockets.name, **os.environ}
        # Standard output belongs to the evaluator
        self._process, self._connection, self._log = start_piped(_COMMAND, environment, logs_output=True)

    def start(self, request: Mapping[str, object], deadline: Deadline) -> None:
        """Return once the engine is loaded. Raises VllmProcessError, also at the deadline."""
        self._send(request)
        step = "start Python"
        while True:
            message = self._receive(deadline)
            if message is None:
                self._kill()
                raise VllmProcessError(
                    f"it did not within {deadline.elapsed:.0f} seconds; it hangs at the step: {step}{self._log_end()}"
                )
            if "failed" in message:
                raise VllmProcessError(one_line(self._logged_error() or message["failed"], _MOST_CHARACTERS))
            if "ready" in message:
                return
            step = message["step"]

    def request(self, message: Mapping[str, object], deadline: Deadline, stop_seconds: float) -> dict[str, Any]:
        """The reply to a message. At the deadline vLLM is asked to stop, and has `stop_seconds` to do so.

        Raises VllmProcessError: the process has ended, or does not stop in that time.
        """
        self._send(message)
        reply = self._receive(deadline)
        if reply is None:
            self._send({"do": "stop"})
            reply = self._receive(Deadline(stop_seconds))
        if reply is None:
            raise VllmProcessError(f"it hangs: no reply {stop_seconds:g} seconds after the deadline{self._log_end()}")
        return reply

    def close(self) -> None:
        """Stop the process and its workers, at first in order; safe to call twice."""
        self._connection.close()
        if self._process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_CLOSE_SECONDS)
        self._kill()
        self._log.close()
        self._sockets.cleanup()

    def _kill(self) -> None:
        # Also without the leader: a worker that hangs outlives it.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _send(self, message: Mapping[str, object]) -> None:
        try:
            self._connection.send_bytes(json.dumps(message).encode())
        except OSError as error:
            raise VllmProcessError(self._describe_end()) from error

    def _receive(self, deadline: Deadline) -> dict[str, Any] | None:
        """The next message, or None at the deadline."""
        try:
            while True:
                if self._connection.poll(min(deadline.remaining, _POLL_SECONDS)):
                    message: dict[str, Any] = json.loads(self._connection.recv_bytes())
                    return message
                if deadline.expired:
                    return None
        except (EOFError, OSError) as error:
            raise VllmProcessError(self._describe_end()) from error

    # --- why it failed ------------------------------------------------------------------------------------------------

    def _describe_end(self) -> str:
        """How the process has ended, as one line."""
        self._kill()
        status = self._process.returncode
        ending = f"its process ended with status {status}"
        # A negative status is the number of the signal.
        if status < 0:
            hint = ": perhaps the machine ran out of memory" if status == -signal.SIGKILL else ""
            ending = f"its process was ended by {signal.Signals(-status).name}{hint}"
        cause = self._logged_error()
        return f"{ending}: {one_line(cause, _MOST_CHARACTERS)}" if cause else f"{ending}{self._log_end()}"

    def _read_log(self) -> str:
        descriptor = self._log.fileno()
        size = os.fstat(descriptor).st_size
        # `pread` leaves the position alone, at which the child writes.
        return os.pread(descriptor, _LOG_BYTES, max(0, size - _LOG_BYTES)).decode("utf-8", "replace")

    def _logged_error(self) -> str | None:
        """The first error that a process of vLLM has logged: later ones are its consequences."""
        for line in self._read_log().splitlines():
            match = _LOGGED_ERROR.search(line) if "ERROR" in line else None
            if match is not None:
                return match["error"]
        return None

    def _log_end(self) -> str:
        """The last line of the log, as the end of a sentence."""
        lines = self._read_log().strip().splitlines()
        return f"; its last words: {one_line(lines[-1], 300)}" if lines else ""
