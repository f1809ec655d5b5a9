"""Both ends of an extraction worker: the process that reads pages, and the parent that kills it when it is late.

A frame is its length (4 bytes, big-endian) and that many bytes of UTF-8. The first frame has the settings as JSON; the
ready worker replies with an empty frame. The worker's alarm is a second safety net: it ends a page that is stuck in C
code even if the parent is dead.
"""

import contextlib
import math
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from agents.common.deadline import Deadline
from agents.settings import ExtractSettings
from agents.web.extract.page_text import page_text

HEADER = struct.Struct(">I")
MEMORY_BYTES = 3 * 1024**3
"""Memory limit of a worker; a page that exceeds it ends its worker, not the machine."""

_ROOT = Path(__file__).resolve().parents[3]
_COMMAND = "import sys; from agents.web.extract.worker import main; main(sys.stdin.buffer, sys.stdout.buffer)"
_PIPE_BYTES = 65_536
_LAST_BYTES = 4_096
"""How many bytes of a worker's standard error are read to find its last line."""


# --- the worker's end -----------------------------------------------------------------------------------------------


def main(source: BinaryIO, sink: BinaryIO) -> None:
    """Serve pages until the input ends."""
    first = read_frame(source)
    if first is None:
        return
    settings = ExtractSettings.model_validate_json(first)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    page_text("<p>warm up</p>", settings)
    write_frame(sink, b"")
    while (page := read_frame(source)) is not None:
        signal.alarm(math.ceil(settings.page_seconds) + 1)
        text = page_text(page.decode("utf-8", "replace"), settings)
        signal.alarm(0)
        write_frame(sink, text.encode("utf-8", "replace"))


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame's content, None at the end of the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    return stream.read(HEADER.unpack(header)[0])


def write_frame(stream: BinaryIO, content: bytes) -> None:
    """Send one frame."""
    stream.write(HEADER.pack(len(content)) + content)
    stream.flush()


# --- the parent's end -----------------------------------------------------------------------------------------------


class PageTimeoutError(TimeoutError):
    """The worker was not ready or did not reply in time, and was killed."""


class WorkerDiedError(RuntimeError):
    """The worker ended unexpectedly, for example because a page needed too much memory."""


class _LateError(Exception):
    """The deadline passed while waiting for a pipe."""


class WorkerProcess:
    """A child process that runs `main`.

    It is a plain child, not one of `multiprocessing`, which would import the main program in every worker: an
    evaluator's script without a main guard would start again, and every worker would load torch.
    """

    def __init__(self, settings: ExtractSettings) -> None:
        search_path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        with contextlib.ExitStack() as on_failure:
            # A file, not a pipe: nobody reads it while the worker lives, and a full pipe would block the worker.
            self._stderr = on_failure.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and a constant command
                [sys.executable, "-c", _COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env={**os.environ, "PYTHONPATH": search_path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                start_new_session=True,  # only the parent reacts to an interrupt from the keyboard
            )
            on_failure.pop_all()
        if self._process.stdin is None or self._process.stdout is None:
            raise WorkerDiedError("the extraction worker has no pipes")
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        self._settings_to_send: bytes | None = settings.model_dump_json().encode()

    def wait_ready(self, deadline: Deadline) -> None:
        """Return once the worker can take a page; raises as `extract` does."""
        if self._settings_to_send is not None:
            content, self._settings_to_send = self._settings_to_send, None
            self._exchange(content, deadline, late="the extraction worker was not ready in time")

    def extract(self, html: str, deadline: Deadline) -> str:
        """The text of one page.
        Raises PageTimeoutError: the deadline passed; the worker is killed. WorkerDiedError: the worker ended.
        """
        answer = self._exchange(html.encode("utf-8", "replace"), deadline, late="reading the page took too long")
        return answer.decode("utf-8", "replace")

    def close(self) -> None:
        """Kill the worker and wait for its end; safe to call twice."""
        self._process.kill()
        self._process.wait()
        for stream in (self._stdin, self._stdout, self._stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def _exchange(self, content: bytes, deadline: Deadline, *, late: str) -> bytes:
        """The reply to a frame; `late` is the message if it does not arrive in time."""
        try:
            self._send(HEADER.pack(len(content)) + content, deadline)
            (length,) = HEADER.unpack(b"".join(self._received(HEADER.size, deadline)))
            return b"".join(self._received(length, deadline))
        except _LateError:
            self.close()
            raise PageTimeoutError(late) from None
        except (BrokenPipeError, ConnectionError, EOFError) as error:
            self._process.kill()  # it has closed its pipes but may still run
            status, last_line = self._process.wait(), self._last_line()
            self.close()
            raise WorkerDiedError(f"the extraction worker ended with status {status}{last_line}") from error

    def _last_line(self) -> str:
        """The last line of the worker's standard error, as a suffix for a message; may be empty."""
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _LAST_BYTES))
        lines = self._stderr.read().decode("utf-8", "replace").split("\n")
        return next((f": {line.strip()}" for line in reversed(lines) if line.strip()), "")

    def _send(self, content: bytes, deadline: Deadline) -> None:
        remaining, descriptor = memoryview(content), self._stdin.fileno()
        while remaining:
            while not select.select([], [descriptor], [], deadline.remaining)[1]:
                _raise_if_late(deadline)
            remaining = remaining[os.write(descriptor, remaining[:_PIPE_BYTES]) :]

    def _received(self, count: int, deadline: Deadline) -> Iterator[bytes]:
        descriptor = self._stdout.fileno()
        while count:
            while not select.select([descriptor], [], [], deadline.remaining)[0]:
                _raise_if_late(deadline)
            part = os.read(descriptor, min(count, _PIPE_BYTES))
            if not part:
                raise EOFError
            count -= len(part)
            yield part


def _raise_if_late(deadline: Deadline) -> None:
    """A wait can end just before the deadline's own clock expires."""
    if deadline.expired:
        raise _LateError
