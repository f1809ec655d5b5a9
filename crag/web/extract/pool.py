"""Reads many pages in parallel, in worker processes that stay from batch to batch."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crag.core.cores import usable_cores
from crag.core.deadline import Deadline
from crag.core.files import UserError
from crag.web.extract.page_text import page_text
from crag.web.extract.worker import WorkerDiedError, WorkerProcess

if TYPE_CHECKING:
    from crag.settings import ExtractSettings

START_SECONDS = 20.0
"""Time limit for a worker's start on a busy machine; it takes 0.1 s on a quiet one."""
FEWEST_WORKERS = 2
"""Of a pool that may have several: while a page hangs in one worker, another one reads on."""
TOO_LATE = "the time for reading pages was over"


class Extraction(NamedTuple):
    """Texts by page, and the reasons for dropped pages. The key of a page is its HTML."""

    texts: Mapping[str, str]
    dropped: Mapping[str, str]


class ExtractionPool:
    """Workers that stay from batch to batch. With `workers = 0` pages are read in this process, one by one.

    Each distinct page of a call is read once. A page that takes longer than `page_seconds` is dropped; its worker is
    replaced. At the deadline the remaining pages are dropped.

    Example:
        pool = ExtractionPool(settings.web.extract)
        texts, dropped = pool.extract([html], Deadline(10))
        pool.close()
    """

    def __init__(self, settings: "ExtractSettings") -> None:
        self._settings = settings
        self._idle_workers: list[WorkerProcess] = []
        self._threads: ThreadPoolExecutor | None = None

    def start(self) -> None:
        """Start one worker; the others start when pages wait for them. Raises UserError: the system refuses."""
        is_started = self._threads is not None or bool(self._idle_workers)
        if not self._settings.workers or is_started:
            return

        with self._explain_failure():
            self._idle_workers.append(WorkerProcess(self._settings))

    def warm_up(self) -> None:
        """Wait until a worker is ready. Raises UserError: it failed or was not ready in time."""
        if self._settings.workers:
            self._get_threads()

    def close(self) -> None:
        """Stop the workers; safe to call twice."""
        if self._threads is not None:
            # Threads first: afterwards none of them holds a worker.
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._threads = None
        while self._idle_workers:
            self._idle_workers.pop().close()

    def extract(self, pages: Sequence[str], deadline: Deadline) -> Extraction:
        """Texts of the pages; the first pages are read first."""
        distinct_pages = list(dict.fromkeys(pages))
        read = partial(self._read_or_drop, deadline=deadline)
        if not self._settings.workers:
            return _collect(distinct_pages, map(read, distinct_pages))

        # Each call ends by the deadline, if necessary by killing the page's worker.
        threads = self._get_threads()
        return _collect(distinct_pages, threads.map(read, distinct_pages))

    def _get_threads(self) -> ThreadPoolExecutor:
        """The threads that wait for workers, one for each. The first call waits until the first worker is ready."""
        if self._threads is None:
            self.start()
            with self._explain_failure():
                self._idle_workers[0].wait_ready(Deadline(START_SECONDS))
            # More workers than cores would make every page slower, until pages run out of their time
            workers = min(self._settings.workers, max(FEWEST_WORKERS, usable_cores()))
            self._threads = ThreadPoolExecutor(workers, thread_name_prefix="extract")
        return self._threads

    @contextlib.contextmanager
    def _explain_failure(self) -> Iterator[None]:
        """Close the pool and raise UserError, with the way out, if a worker cannot start."""
        try:
            yield
        except (OSError, WorkerDiedError) as error:  # a worker that is not ready in time is an OSError too
            from crag.settings import OVERRIDES_VARIABLE

            self.close()
            raise UserError(
                f"the processes that read pages cannot start ({error}): web.extract.workers=0 (with --set, or in "
                f"{OVERRIDES_VARIABLE}) reads pages without them, but cannot stop a page that hangs"
            ) from error

    def _read_or_drop(self, page: str, deadline: Deadline) -> "str | _Dropped":
        """The text of a page, or the reason why it could not be read."""
        try:
            return self._read(page, deadline)
        except TimeoutError:
            if deadline.expired:
                return _Dropped(TOO_LATE)
            return _Dropped(f"it took longer than {self._settings.page_seconds:g} s to read")
        except WorkerDiedError as error:
            return _Dropped(str(error))
        except OSError as error:
            return _Dropped(f"no extraction worker could be started: {error}")

    def _read(self, page: str, deadline: Deadline) -> str:
        """The text of a page, in this process or, from a thread that waits for it, in a worker."""
        if deadline.expired:
            raise TimeoutError(TOO_LATE)
        if not self._settings.workers:
            return page_text(page, self._settings)

        worker = self._take_worker()
        try:
            # The start of a worker does not count as time of the page.
            worker.wait_ready(deadline)
            text = worker.extract(page, deadline.within(self._settings.page_seconds))
        except (TimeoutError, WorkerDiedError):
            # The worker is gone. Its successor starts while other pages are read, so it is taken last.
            self._idle_workers.insert(0, WorkerProcess(self._settings))
            raise
        self._idle_workers.append(worker)
        return text

    def _take_worker(self) -> WorkerProcess:
        """An idle worker, or a new one if fewer than `workers` have started."""
        try:
            # No look at the length first: another thread could take the last worker in between.
            return self._idle_workers.pop()
        except IndexError:
            return WorkerProcess(self._settings)


class _Dropped(NamedTuple):
    """The result of a page that could not be read."""

    reason: str


def _collect(pages: Sequence[str], results: Iterable[str | _Dropped]) -> Extraction:
    """The results of the pages, in order, as an `Extraction`."""
    texts: dict[str, str] = {}
    dropped: dict[str, str] = {}
    for page, result in zip(pages, results, strict=True):
        if isinstance(result, _Dropped):
            dropped[page] = result.reason
        else:
            texts[page] = result
    return Extraction(texts, dropped)
