"""Client of the mock knowledge graph: limits time, calls and concurrency, with one cache per batch.

`KgClient` lives as long as the agent and keeps the connections. `KgBatch` lives as long as a batch: questions about the
same entity share a call, even at the same moment. `KgSession` serves one question.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeAlias

from agents.common.deadline import Deadline
from agents.kg.endpoints import Json, Request, check_shape
from agents.kg.results import KgBusyError, KgError, KgUnreachableError
from agents.kg.transport import Transport
from agents.settings import KgClientSettings

FAILURES_THAT_BREAK = 3
"""After this many failed calls in a row the server counts as dead for the rest of the batch."""

_CallResult: TypeAlias = Json | KgError


class KgClient:
    """The agent's client; thread-safe. At most `settings.concurrency` calls are in flight.

    `base_url`: ``http://host:port``; anything other than http or https is a ValueError.
    """

    def __init__(self, base_url: str, settings: KgClientSettings) -> None:
        self._transport = Transport(base_url, settings)
        self._window = settings.concurrency
        self._pool = self._new_pool()
        self._last_batch: KgBatch | None = None

    def _new_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._window, thread_name_prefix="knowledge-graph")

    def batch(self, deadline: Deadline) -> "KgBatch":
        """A context manager for the questions of one batch; after `deadline` no call is sent or waited for.

        If the last batch ended with a dead server, one failure marks it dead again. Threads of hanging calls are
        abandoned.
        """
        last = self._last_batch
        if last is not None and last.in_flight:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = self._new_pool()
        doubtful = last is not None and last.broken
        self._last_batch = KgBatch(self._transport, self._pool, deadline, self._window, doubtful=doubtful)
        return self._last_batch

    def close(self) -> None:
        """Close the connections. Waiting calls fail; calls in flight end by their deadline."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class KgBatch:
    """The calls of one batch: one cache, one deadline, one verdict on whether the server is alive.

    The cache keeps results, and errors that a retry would repeat (422, 500, an unusable body).
    """

    def __init__(
        self, transport: Transport, pool: ThreadPoolExecutor, deadline: Deadline, window: int, *, doubtful: bool
    ) -> None:
        self.deadline = deadline
        self.window = window
        self.in_flight = 0
        self._transport = transport
        self._pool = pool
        self._lock = threading.Lock()
        self._calls: dict[Request, Future[_CallResult]] = {}
        self._closed = False
        self._failures_in_a_row = FAILURES_THAT_BREAK - 1 if doubtful else 0
        self._last_reply = float("-inf")

    def question(self, max_calls: int) -> "KgSession":
        """A session for one question, which may send at most `max_calls` calls; cached calls are free."""
        return KgSession(self, max_calls)

    @property
    def broken(self) -> bool:
        """Whether the server counts as dead. Calls then fail at once instead of timing out one by one."""
        return self._failures_in_a_row >= FAILURES_THAT_BREAK

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            self._closed = True
            self._calls.clear()

    def start(self, call: Request, *, may_send: bool) -> tuple[Future[_CallResult], bool]:
        """The future result of a call, and whether this sends it (False: already sent).

        Raises:
            KgError: the call is not cached and may not or cannot be sent.
        """
        with self._lock:
            known = self._calls.get(call)
            if known is not None:
                return known, False
            if not may_send:
                raise KgError(f"{call.endpoint}: the question has used up its calls")
            self._refuse_if_over(call)
            try:
                future = self._pool.submit(self._send, call)
            except RuntimeError as error:  # the pool is shut down
                raise KgUnreachableError(f"{call.endpoint}: the client is closed") from error
            self._calls[call] = future
            return future, True

    def _refuse_if_over(self, call: Request) -> None:
        if self._closed or self.deadline.expired:
            raise KgUnreachableError(f"{call.endpoint}: not asked, the time for the knowledge graph is over")
        if self.broken:
            raise KgUnreachableError(f"{call.endpoint}: not asked, the server has stopped answering")

    def _send(self, call: Request) -> _CallResult:
        """Runs in the pool. Errors are results too: several threads may be waiting for this one."""
        result: _CallResult
        try:
            self._refuse_if_over(call)
        except KgError as error:
            with self._lock:
                self._calls.pop(call, None)
            return error
        started = time.monotonic()
        with self._lock:
            self.in_flight += 1
        try:
            result = self._transport.ask(call.endpoint, dict(call.payload), self.deadline)
            check_shape(call.endpoint, result)
        except KgError as error:
            result = error
        finally:
            with self._lock:
                self.in_flight -= 1
        with self._lock:
            self._judge_server(result, started)
            if isinstance(result, KgUnreachableError | KgBusyError):
                self._calls.pop(call, None)
        return result

    def _judge_server(self, result: _CallResult, started: float) -> None:
        """Count a failure only if the server has sent nothing since that call began: behind one slow worker, many
        concurrent calls time out together.
        """
        if not isinstance(result, KgUnreachableError):
            self._last_reply, self._failures_in_a_row = time.monotonic(), 0
        elif started >= self._last_reply and not self.deadline.expired:
            self._failures_in_a_row += 1


class KgSession:
    """The calls of one question; `calls` counts those that were sent for it.

    Questions of a batch share results without copies: **callers must not change them**.
    """

    def __init__(self, batch: KgBatch, max_calls: int) -> None:
        self.calls = 0
        self._batch = batch
        self._max_calls = max_calls
        self._lock = threading.Lock()

    def get(self, call: Request) -> Json:
        """The value of `result`.

        Raises:
            KgError: no usable reply in time, or no calls left for the question.
        """
        result = self._wait(call, self._start(call))
        if isinstance(result, KgError):  # a new one each time: an exception collects the frames of each raise
            raise type(result)(*result.args) from result
        return result

    def get_all(self, calls: Sequence[Request]) -> list[Json | KgError]:
        """The result of each call, in order, asked concurrently. A failed call gives its error.

        A question has at most as many waiting calls as the client may send at once, so a long list does not block other
        questions.
        """
        started: list[Future[_CallResult] | KgError] = []
        for position, call in enumerate(calls):
            if position >= self._batch.window:
                self._wait(call, started[position - self._batch.window])
            started.append(self._start(call))
        return [self._wait(call, future) for call, future in zip(calls, started, strict=True)]

    def _start(self, call: Request) -> Future[_CallResult] | KgError:
        with self._lock:
            try:
                future, sent = self._batch.start(call, may_send=self.calls < self._max_calls)
            except KgError as error:
                return error
            self.calls += sent
            return future

    def _wait(self, call: Request, future: Future[_CallResult] | KgError) -> _CallResult:
        if isinstance(future, KgError):
            return future
        try:
            return future.result(timeout=self._batch.deadline.remaining)
        except TimeoutError:
            return KgUnreachableError(f"{call.endpoint}: no reply before the time for the knowledge graph was over")
        except CancelledError:
            return KgUnreachableError(f"{call.endpoint}: the client was closed while the call was waiting")
