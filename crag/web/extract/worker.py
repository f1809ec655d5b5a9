"""A process that reads pages and is killed if a page takes too long.

The parent sends the settings as JSON; the ready worker replies with an empty message. Then each page gets its text. The
worker's alarm is a second safety net: it ends a page that is stuck in C code even if the parent is dead.
"""

import contextlib
import json
import math
import os
import resource
import signal
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from crag.core.child_process import start_piped
from crag.core.deadline import Deadline
from crag.web.extract.page_text import page_text

if TYPE_CHECKING:  # a worker starts in half the time without pydantic
    from crag.settings import ExtractSettings

MEMORY_BYTES = 3 * 1024**3
"""Memory limit of a worker; a page that exceeds it ends its worker, not the machine."""
COMMAND = "import sys; from crag.web.extract.worker import main; main(int(sys.argv[1]))"

_POLL_SECONDS = 0.5
"""How often a waiting parent looks at the deadline, which may have a clock of its own."""


# --- in the worker ----------------------------------------------------------------------------------------------------


def main(descriptor: int) -> None:
    """Serve pages on a connection until its other end is closed."""
    connection = Connection(descriptor)
    with contextlib.suppress(EOFError):
        settings: Any = SimpleNamespace(**json.loads(connection.recv_bytes()))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        # The first call loads the parsers; the time of a real page should not go into that.
        page_text("<p>warm up</p>", settings)
        connection.send_bytes(b"")

        while True:
            page = connection.recv_bytes().decode("utf-8", "replace")
            # A second after the parent's own limit, which should act first.
            signal.alarm(math.ceil(settings.page_seconds) + 1)
            text = page_text(page, settings)
            signal.alarm(0)
            connection.send_bytes(text.encode("utf-8", "replace"))


# --- in the parent ----------------------------------------------------------------------------------------------------


class WorkerDiedError(RuntimeError):
    """The worker ended unexpectedly, for example because a page needed too much memory."""


class WorkerProcess:
    """A child process that runs `main`.

    It is a plain child, not one of `multiprocessing`, which would import the main program in every worker: an
    evaluator's script without a main guard would start again, and every worker would load torch.

    Example:
        worker = WorkerProcess(settings)
        worker.wait_ready(Deadline(20))
        text = worker.extract(html, Deadline(2))
        worker.close()
    """

    def __init__(self, settings: "ExtractSettings") -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # the workers share the cores
        self._process, self._connection, self._stderr = start_piped(COMMAND, environment, logs_output=False)

        self._settings_message = settings.model_dump_json().encode()
        self._settings_sent = False

    def wait_ready(self, deadline: Deadline) -> None:
        """Return once the worker can take a page; raises as `extract` does."""
        if not self._settings_sent:
            self._settings_sent = True
            self._request(self._settings_message, deadline)

    def extract(self, html: str, deadline: Deadline) -> str:
        """The text of one page. Raises TimeoutError: the worker is killed. WorkerDiedError: it ended."""
        # Pages can hold lone surrogates, which UTF-8 cannot encode.
        message = html.encode("utf-8", "replace")
        reply = self._request(message, deadline)
        return reply.decode("utf-8", "replace")

    def close(self) -> None:
        """Kill the worker and wait for its end; safe to call twice."""
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._stderr.close()

    def _request(self, message: bytes, deadline: Deadline) -> bytes:
        """The reply to a message. An idle worker always reads."""
        try:
            self._connection.send_bytes(message)
            while True:
                if self._connection.poll(min(deadline.remaining, _POLL_SECONDS)):
                    return self._connection.recv_bytes()
                if deadline.expired:
                    break
        except (EOFError, OSError) as error:
            raise WorkerDiedError(self._bury()) from error

        # The worker is killed: its late reply would be taken for that of the next page.
        self.close()
        raise TimeoutError("the extraction worker was not ready in time")

    def _bury(self) -> str:
        """Close a worker that has closed its connection; the cause of its end as a sentence."""
        self._process.kill()  # it may still run
        status = self._process.wait()
        self._stderr.seek(0)
        error_output = self._stderr.read().decode("utf-8", "replace")
        self.close()

        # The last line of a traceback is the exception.
        cause = f"the extraction worker ended with status {status}"
        last_line = error_output.strip().rsplit("\n", maxsplit=1)[-1].strip()
        return f"{cause}: {last_line}" if last_line else cause
