"""Asks the mock knowledge graph: bounded in time, calls and concurrency, with one cache per batch of questions.

`KgClient` lives as long as the agent and keeps the connections. `KgBatch` lives as long as a batch: two questions about
one entity cost one call, even when they ask at the same moment. `KgSession` is the view of one question.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self, TypeAlias

from agents.deadline import Deadline
from agents.kg.endpoints import Json, Request, check_request, check_shape, request
from agents.kg.errors import (
    KgBusyError,
    KgCallLimitError,
    KgError,
    KgReplyError,
    KgRequestError,
    KgUnavailableError,
    KgUnreachableError,
)
from agents.kg.transport import Transport
from agents.settings import KgClientSettings

__all__ = [
    "Json",
    "KgBatch",
    "KgCallLimitError",
    "KgClient",
    "KgError",
    "KgReplyError",
    "KgRequestError",
    "KgSession",
    "KgUnavailableError",
    "Request",
    "Statistics",
    "request",
]

FAILURES_THAT_BREAK = 3
"""After so many calls in a row without a reply the server counts as dead for the rest of the batch."""

_Outcome: TypeAlias = Json | KgError


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a batch cost so far. `seconds` and `bytes` are summed over the calls that were sent."""

    sent: int = 0
    cached: int = 0
    """Asked and answered by a call of this batch that was sent for somebody else or earlier."""
    failed: int = 0
    """Sent without getting a result."""
    bytes: int = 0
    seconds: float = 0.0


class KgClient:
    """The one client of an agent; thread-safe. At most `settings.concurrency` calls are in flight at any time.

    `base_url`: ``http://host:port``; anything else than http or https is a ValueError.
    """

    def __init__(self, base_url: str, settings: KgClientSettings) -> None:
        self._transport = Transport(base_url, settings)
        self._window = settings.concurrency
        self._pool = self._new_pool()
        self._last_batch: KgBatch | None = None

    def _new_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._window, thread_name_prefix="knowledge-graph")

    def batch(self, deadline: Deadline) -> "KgBatch":
        """A context manager for the questions of one batch; once `deadline` is over, nothing is asked or waited for.

        Where the batch before left the server for dead, one failure is enough to do so again. Threads in which its
        calls still hang are left behind.
        """
        if self._last_batch is not None and self._last_batch.in_flight:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = self._new_pool()
        doubtful = self._last_batch is not None and self._last_batch.broken
        self._last_batch = KgBatch(self._transport, self._pool, deadline, self._window, doubtful=doubtful)
        return self._last_batch

    def close(self) -> None:
        """Close the connections. Calls still waiting fail; those in flight end by their deadline."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class KgBatch:
    """The calls of one batch of questions: one cache, one deadline, one judgement whether the server lives.

    Results are remembered, and so are faults that asking again would only repeat (422, 500, an unusable body). A lost
    connection, a timeout and 502 to 504 are not: the next who asks sends again.
    """

    def __init__(
        self, transport: Transport, pool: ThreadPoolExecutor, deadline: Deadline, window: int, *, doubtful: bool
    ) -> None:
        self.deadline = deadline
        self.window = window
        self._transport = transport
        self._pool = pool
        self._lock = threading.Lock()
        self._calls: dict[Request, Future[_Outcome]] = {}
        self._closed = False
        self._in_flight = 0
        self._failures_in_a_row = FAILURES_THAT_BREAK - 1 if doubtful else 0
        self._last_reply = float("-inf")
        self._statistics = Statistics()

    def question(self, max_calls: int) -> "KgSession":
        """The view of one question, which may send at most `max_calls` calls; what the cache answers is free."""
        return KgSession(self, max_calls)

    @property
    def statistics(self) -> Statistics:
        """What the batch cost so far."""
        return self._statistics

    @property
    def in_flight(self) -> int:
        """Calls that have been sent and have not come back."""
        return self._in_flight

    @property
    def broken(self) -> bool:
        """True while the server counts as dead: calls fail at once instead of waiting for a timeout each."""
        return self._failures_in_a_row >= FAILURES_THAT_BREAK

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            self._closed = True
            self._calls.clear()

    def start(self, call: Request, *, may_send: bool) -> tuple[Future[_Outcome], bool]:
        """The call's outcome to come, and whether this sends it rather than joining one that was sent already.

        Raises:
            KgError: it would have to be sent, and that is wrong or not possible any more.
        """
        with self._lock:
            known = self._calls.get(call)
            if known is not None:
                self._count(cached=1)
                return known, False
            if not may_send:
                raise KgCallLimitError(f"{call.endpoint}: the question has used up its calls")
            check_request(call)
            self._refuse_if_over(call)
            try:
                future = self._pool.submit(self._send, call)
            except RuntimeError as error:  # the pool's word for "shut down"
                raise KgUnreachableError(f"{call.endpoint}: the client is closed") from error
            self._calls[call] = future
            return future, True

    def _refuse_if_over(self, call: Request) -> None:
        if self._closed or self.deadline.expired:
            raise KgUnreachableError(f"{call.endpoint}: not asked, the time for the knowledge graph is over")
        if self.broken:
            raise KgUnreachableError(f"{call.endpoint}: not asked, the server has stopped answering")

    def _send(self, call: Request) -> _Outcome:
        """Runs in the pool. Errors are outcomes like any other: several threads may be waiting for this one."""
        outcome: _Outcome
        try:
            self._refuse_if_over(call)
        except KgError as error:
            with self._lock:
                self._calls.pop(call, None)
            return error
        started = time.monotonic()
        size = 0
        with self._lock:
            self._in_flight += 1
        try:
            reply = self._transport.ask(call.endpoint, dict(call.payload), self.deadline)
            size = reply.size
            check_shape(call.endpoint, reply.result)
            outcome = reply.result
        except KgError as error:
            outcome = error
        finally:
            with self._lock:
                self._in_flight -= 1
        with self._lock:
            self._judge(outcome, started)
            if isinstance(outcome, KgUnreachableError | KgBusyError):
                self._calls.pop(call, None)
            failed = int(isinstance(outcome, KgError))
            self._count(sent=1, failed=failed, size=size, seconds=time.monotonic() - started)
        return outcome

    def _judge(self, outcome: _Outcome, started: float) -> None:
        """A failure is evidence against the server only if nothing was heard from it since that call began: behind
        one slow worker many calls that were sent together run out of time together.
        """
        if not isinstance(outcome, KgUnreachableError):
            self._last_reply, self._failures_in_a_row = time.monotonic(), 0
        elif started >= self._last_reply and not self.deadline.expired:
            self._failures_in_a_row += 1

    def _count(self, *, sent: int = 0, cached: int = 0, failed: int = 0, size: int = 0, seconds: float = 0.0) -> None:
        now = self._statistics
        self._statistics = replace(
            now,
            sent=now.sent + sent,
            cached=now.cached + cached,
            failed=now.failed + failed,
            bytes=now.bytes + size,
            seconds=now.seconds + seconds,
        )


class KgSession:
    """What one question may ask. `calls` were sent for it, `cached` were answered by calls sent before.

    Results are shared between all who ask the same in a batch and are not copied: **callers must not change them**.
    """

    def __init__(self, batch: KgBatch, max_calls: int) -> None:
        self.calls = 0
        self.cached = 0
        self._batch = batch
        self._max_calls = max_calls
        self._lock = threading.Lock()

    def get(self, call: Request) -> Json:
        """The value of `result`, which may be a miss (`agents.kg.endpoints.is_miss`).

        Raises:
            KgUnavailableError: the server did not answer, not in time, or not sensibly.
            KgRequestError: the request is wrong.
            KgCallLimitError: this would be one call too many.
        """
        outcome = self._wait(call, self._start(call))
        if isinstance(outcome, KgError):  # a new one each time: an exception collects the frames of whoever raises it
            raise type(outcome)(*outcome.args) from outcome
        return outcome

    def get_all(self, calls: Sequence[Request]) -> list[Json | KgError]:
        """The result of each call, in order, asked concurrently; in place of a failed one its error.

        One question never has more than the client's concurrency waiting, so that a long list does not shut the
        questions beside it out.
        """
        started: list[Future[_Outcome] | KgError] = []
        for position, call in enumerate(calls):
            if position >= self._batch.window:
                self._wait(call, started[position - self._batch.window])
            started.append(self._start(call))
        return [self._wait(call, future) for call, future in zip(calls, started, strict=True)]

    def _start(self, call: Request) -> Future[_Outcome] | KgError:
        with self._lock:
            try:
                future, sent = self._batch.start(call, may_send=self.calls < self._max_calls)
            except KgError as error:
                return error
            self.calls += sent
            self.cached += not sent
            return future

    def _wait(self, call: Request, future: Future[_Outcome] | KgError) -> _Outcome:
        if isinstance(future, KgError):
            return future
        try:
            return future.result(timeout=self._batch.deadline.remaining)
        except TimeoutError:
            return KgUnreachableError(f"{call.endpoint}: no reply before the time for the knowledge graph was over")
        except CancelledError:
            return KgUnreachableError(f"{call.endpoint}: the client was closed while the call was waiting")
