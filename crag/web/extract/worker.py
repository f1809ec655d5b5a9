"""Reads many pages in parallel, in worker processes that are killed if a page takes too long.

The parent sends the settings as JSON; the ready worker replies with an empty message. Then each page gets its text. The
worker's alarm is a second safety net: it ends a page that is stuck in C code even if the parent is dead.
"""

import contextlib
import json
import math
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from crag.core.deadline import Deadline
from crag.core.files import UserError
from crag.core.places import REPOSITORY
from crag.web.extract.page_text import page_text

if TYPE_CHECKING:  # a worker starts in half the time without pydantic
    from crag.settings import ExtractSettings

START_SECONDS = 20.0
"""Time limit for a worker's start on a busy machine; it takes 0.1 s on a quiet one."""
TOO_LATE = "the time for reading pages was over"

MEMORY_BYTES = 3 * 1024**3
"""Memory limit of a worker; a page that exceeds it ends its worker, not the machine."""
COMMAND = "import sys; from crag.web.extract.worker import main; main(int(sys.argv[1]))"

_LOOK_SECONDS = 0.5
"""How often a waiting parent looks at the deadline, which may have a clock of its own."""


def main(descriptor: int) -> None:
    """Serve pages on a connection until its other end is closed."""
    connection = Connection(descriptor)
    with contextlib.suppress(EOFError):
        settings: Any = SimpleNamespace(**json.loads(connection.recv_bytes()))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        page_text("<p>warm up</p>", settings)
        connection.send_bytes(b"")
        while True:
            page = connection.recv_bytes().decode("utf-8", "replace")
            signal.alarm(math.ceil(settings.page_seconds) + 1)
            text = page_text(page, settings)
            signal.alarm(0)
            connection.send_bytes(text.encode("utf-8", "replace"))


class WorkerDiedError(RuntimeError):
    """The worker ended unexpectedly, for example because a page needed too much memory."""


class WorkerProcess:
    """A child process that runs `main`.

    It is a plain child, not one of `multiprocessing`, which would import the main program in every worker: an
    evaluator's script without a main guard would start again, and every worker would load torch.
    """

    def __init__(self, settings: "ExtractSettings") -> None:
        search_path = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
        with contextlib.ExitStack() as on_failure:
            # A file, not a pipe: nobody reads it while the worker lives, and a full pipe would block the worker.
            self._stderr = on_failure.enter_context(tempfile.TemporaryFile())
            self._connection, other_end = multiprocessing.Pipe()
            on_failure.enter_context(self._connection)
            with other_end:
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and a constant command
                    [sys.executable, "-c", COMMAND, str(other_end.fileno())],
                    pass_fds=[other_end.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._stderr,
                    env={**os.environ, "PYTHONPATH": search_path, "OMP_NUM_THREADS": "1"},
                    start_new_session=True,  # only the parent reacts to an interrupt from the keyboard
                )
            on_failure.pop_all()
        self._settings_to_send: bytes | None = settings.model_dump_json().encode()

    def wait_ready(self, deadline: Deadline) -> None:
        """Return once the worker can take a page; raises as `extract` does."""
        if self._settings_to_send is not None:
            content, self._settings_to_send = self._settings_to_send, None
            self._reply(content, deadline)

    def extract(self, html: str, deadline: Deadline) -> str:
        """The text of one page. Raises TimeoutError: the worker is killed. WorkerDiedError: it ended."""
        return self._reply(html.encode("utf-8", "replace"), deadline).decode("utf-8", "replace")

    def close(self) -> None:
        """Kill the worker and wait for its end; safe to call twice."""
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._stderr.close()

    def _reply(self, content: bytes, deadline: Deadline) -> bytes:
        """The reply to a message. An idle worker always reads."""
        try:
            self._connection.send_bytes(content)
            while not self._connection.poll(min(deadline.remaining, _LOOK_SECONDS)):
                if deadline.expired:
                    break
            else:
                return self._connection.recv_bytes()
        except (EOFError, OSError) as error:
            self._process.kill()  # it has closed its connection but may still run
            status = self._process.wait()
            self._stderr.seek(0)
            last_line = self._stderr.read().strip().rpartition(b"\n")[2].decode("utf-8", "replace").strip()
            self.close()
            ended = f"the extraction worker ended with status {status}"
            raise WorkerDiedError(f"{ended}: {last_line}" if last_line else ended) from error
        self.close()
        raise TimeoutError("the extraction worker was not ready in time")


class Extraction(NamedTuple):
    """Texts by page, and the reasons for dropped pages. A page is named by its HTML."""

    texts: Mapping[str, str]
    dropped: Mapping[str, str]


class ExtractionPool:
    """Workers that stay from batch to batch. With `workers = 0` pages are read in this process, one by one.

    Each distinct page of a call is read once. A page that takes longer than `page_seconds` is dropped; its worker is
    replaced. At the deadline the remaining pages are dropped.
    """

    def __init__(self, settings: "ExtractSettings") -> None:
        self._settings = settings
        self._idle: list[WorkerProcess] = []
        self._threads: ThreadPoolExecutor | None = None

    def start(self) -> None:
        """Start one worker; the others start when pages wait for them. Raises UserError: the system refuses."""
        if self._settings.workers and self._threads is None and not self._idle:
            with self._explained():
                self._idle.append(WorkerProcess(self._settings))

    def warm_up(self) -> None:
        """Wait until a worker is ready. Raises UserError: it failed or was not ready in time."""
        if self._settings.workers:
            self._started()

    def close(self) -> None:
        """Stop the workers; safe to call twice."""
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._threads = None
        while self._idle:
            self._idle.pop().close()

    def extract(self, pages: Sequence[str], deadline: Deadline) -> Extraction:
        """Texts of the pages; the first pages are read first."""
        distinct = list(dict.fromkeys(pages))
        texts: dict[str, str] = {}
        dropped: dict[str, str] = {}

        def read(page: str) -> None:  # ends by the deadline, if necessary by killing the page's worker
            try:
                texts[page] = self._read(page, deadline)
            except TimeoutError:
                slow = f"it took longer than {self._settings.page_seconds:g} s to read"
                dropped[page] = TOO_LATE if deadline.expired else slow
            except WorkerDiedError as error:
                dropped[page] = str(error)
            except OSError as error:
                dropped[page] = f"no extraction worker could be started: {error}"

        list(self._started().map(read, distinct) if self._settings.workers else map(read, distinct))
        return Extraction(texts, dropped)

    def _started(self) -> ThreadPoolExecutor:
        """The threads that wait for workers, the first of which is ready."""
        if self._threads is None:
            self.start()
            with self._explained():
                self._idle[0].wait_ready(Deadline(START_SECONDS))
            self._threads = ThreadPoolExecutor(self._settings.workers, thread_name_prefix="extract")
        return self._threads

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, WorkerDiedError) as error:  # a worker that is not ready in time is an OSError too
            from crag.settings import OVERRIDES_VARIABLE

            self.close()
            raise UserError(
                f"the processes that read pages cannot start ({error}): web.extract.workers=0 (with --set, or in "
                f"{OVERRIDES_VARIABLE}) reads pages without them, but cannot stop a page that hangs"
            ) from error

    def _read(self, page: str, deadline: Deadline) -> str:
        """The text of a page. Runs in a thread that waits for one worker."""
        if deadline.expired:
            raise TimeoutError(TOO_LATE)
        if not self._settings.workers:
            return page_text(page, self._settings)
        try:
            worker = self._idle.pop()
        except IndexError:  # fewer than `workers` have started
            worker = WorkerProcess(self._settings)
        try:
            worker.wait_ready(deadline)
            text = worker.extract(page, deadline.within(self._settings.page_seconds))
        except (TimeoutError, WorkerDiedError):
            self._idle.insert(0, WorkerProcess(self._settings))  # starts while other pages are read
            raise
        self._idle.append(worker)
        return text
