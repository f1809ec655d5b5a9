"""Extracts many pages in parallel, in processes that are killed if a page takes too long."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from agents.common.deadline import Deadline
from agents.common.files import UserError
from agents.settings import OVERRIDES_VARIABLE, ExtractSettings
from agents.web.extract.page_text import page_text
from agents.web.extract.worker import PageTimeoutError, WorkerDiedError, WorkerProcess

START_SECONDS = 20.0
"""Time limit for a worker's start on a busy machine; it takes about half a second on a quiet one."""


class ExtractionUnavailableError(UserError, RuntimeError):
    """The extraction workers cannot start; the message says how to run without them."""


@dataclass(frozen=True)
class Extraction:
    """Texts by page, and the reasons for dropped pages. A page is named by its HTML."""

    texts: Mapping[str, str]
    dropped: Mapping[str, str]


class _DroppedError(Exception):
    """A page has no text; the message says why."""


TOO_LATE = "the time for reading pages was over"


class ExtractionPool:
    """Workers that stay from batch to batch. With `workers = 0` pages are read in this process, one by one.

    Each distinct page of a call is read once. A page that takes longer than `page_seconds` is dropped; its worker is
    replaced. At the deadline the remaining pages are dropped.
    """

    def __init__(self, settings: ExtractSettings) -> None:
        self._settings = settings
        self._idle: list[WorkerProcess] = []
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def warm_up(self) -> None:
        """Start the workers and wait until they are ready.
        Raises ExtractionUnavailableError: a worker failed or was not ready in time; all others are stopped.
        """
        if self._settings.workers:
            self._started()

    def close(self) -> None:
        """Stop the workers; safe to call twice."""
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._threads = None
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()

    def extract(self, pages: Sequence[str], deadline: Deadline) -> Extraction:
        """Texts of the pages; the first pages are read first."""
        distinct = list(dict.fromkeys(pages))
        texts: dict[str, str] = {}
        dropped: dict[str, str] = {}

        def read(page: str) -> None:  # ends by the deadline, if necessary by killing the page's worker
            try:
                texts[page] = self._read(page, deadline)
            except _DroppedError as reason:
                dropped[page] = str(reason)

        list(self._started().map(read, distinct) if self._settings.workers else map(read, distinct))
        return Extraction(
            {page: texts[page] for page in distinct if page in texts},
            {page: dropped[page] for page in distinct if page in dropped},
        )

    def _started(self) -> ThreadPoolExecutor:
        """The threads that wait for workers; if one worker fails at its start, the others are stopped."""
        if self._threads is None:
            try:
                while len(self._idle) < self._settings.workers:
                    self._idle.append(WorkerProcess(self._settings))
                for worker in self._idle:
                    worker.wait_ready(Deadline(START_SECONDS))
            except (OSError, WorkerDiedError) as error:  # a worker that is not ready in time is an OSError too
                self.close()
                raise ExtractionUnavailableError(
                    f"the processes that read pages cannot start ({error}): web.extract.workers=0 (with --set, or in "
                    f"{OVERRIDES_VARIABLE}) reads pages without them, but cannot stop a page that hangs"
                ) from error
            self._threads = ThreadPoolExecutor(self._settings.workers, thread_name_prefix="extract")
        return self._threads

    def _read(self, page: str, deadline: Deadline) -> str:
        """The text of a page. Runs in a thread that waits for one worker."""
        if deadline.expired:
            raise _DroppedError(TOO_LATE)
        if not self._settings.workers:
            return page_text(page, self._settings)
        try:
            return self._read_by_worker(page, deadline)
        except PageTimeoutError:
            slow = f"it took longer than {self._settings.page_seconds:g} s to read"
            raise _DroppedError(TOO_LATE if deadline.expired else slow) from None
        except WorkerDiedError as error:
            raise _DroppedError(str(error)) from error
        except OSError as error:
            raise _DroppedError(f"no extraction worker could be started: {error}") from error

    def _read_by_worker(self, page: str, deadline: Deadline) -> str:
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        worker = worker or WorkerProcess(self._settings)
        try:
            worker.wait_ready(deadline)
            text = worker.extract(page, deadline.within(self._settings.page_seconds))
        except (PageTimeoutError, WorkerDiedError):
            replacement = WorkerProcess(self._settings)  # starts while other pages are read
            with self._lock:
                self._idle.insert(0, replacement)
            raise
        with self._lock:
            self._idle.append(worker)
        return text
