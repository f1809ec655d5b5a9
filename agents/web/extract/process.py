"""One extraction worker seen from outside: it answers in time or it is killed."""

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from agents.deadline import Deadline
from agents.settings import ExtractSettings
from agents.web.extract.worker import HEADER

_ROOT = Path(__file__).resolve().parents[3]
_COMMAND = "import sys; from agents.web.extract.worker import main; main(sys.stdin.buffer, sys.stdout.buffer)"
_PIPE_BYTES = 65_536


class PageTimeoutError(TimeoutError):
    """The worker did not answer in time and was killed."""


class WorkerDiedError(RuntimeError):
    """The worker ended by itself, for example because the page wanted too much memory."""


class WorkerProcess:
    """A child process that runs `agents.web.extract.worker`.

    It is a plain child rather than one of `multiprocessing`, because that would import the main program again in every
    worker: an evaluator's script without a main guard would start itself anew, and every worker would load torch.
    """

    def __init__(self, settings: ExtractSettings) -> None:
        search_path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and a constant command
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": search_path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            start_new_session=True,  # an interrupt from the keyboard is the parent's business
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise WorkerDiedError("the extraction worker has no pipes")
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        self._settings_to_send: bytes | None = settings.model_dump_json().encode()

    def wait_ready(self, deadline: Deadline) -> None:
        """Return once the worker can take a page; raises as `extract` does."""
        if self._settings_to_send is not None:
            content, self._settings_to_send = self._settings_to_send, None
            self._exchange(content, deadline)

    def extract(self, html: str, deadline: Deadline) -> str:
        """Text of one page.

        Raises:
            PageTimeoutError: the deadline passed; the worker is killed.
            WorkerDiedError: the worker ended.
        """
        return self._exchange(html.encode("utf-8", "replace"), deadline).decode("utf-8", "replace")

    def close(self) -> None:
        """Kill the worker and wait for its end; safe to call twice."""
        self._process.kill()
        self._process.wait()
        for stream in (self._stdin, self._stdout):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def _exchange(self, content: bytes, deadline: Deadline) -> bytes:
        try:
            self._send(HEADER.pack(len(content)) + content, deadline)
            (length,) = HEADER.unpack(self._receive(HEADER.size, deadline))
            return self._receive(length, deadline)
        except PageTimeoutError:
            self.close()
            raise
        except (BrokenPipeError, ConnectionError, EOFError) as error:
            self.close()
            raise WorkerDiedError(f"the extraction worker ended with status {self._process.returncode}") from error

    def _send(self, content: bytes, deadline: Deadline) -> None:
        remaining, descriptor = memoryview(content), self._stdin.fileno()
        while remaining:
            if not select.select([], [descriptor], [], deadline.remaining)[1]:
                raise PageTimeoutError
            remaining = remaining[os.write(descriptor, remaining[:_PIPE_BYTES]) :]

    def _receive(self, count: int, deadline: Deadline) -> bytes:
        return b"".join(self._received(count, deadline))

    def _received(self, count: int, deadline: Deadline) -> Iterator[bytes]:
        descriptor = self._stdout.fileno()
        while count:
            if not select.select([descriptor], [], [], deadline.remaining)[0]:
                raise PageTimeoutError
            part = os.read(descriptor, min(count, _PIPE_BYTES))
            if not part:
                raise EOFError
            count -= len(part)
            yield part
