"""Client of the mock knowledge graph: limits time, bytes, requests and concurrency, with one cache per batch.

Three objects, from long-lived to short-lived:

* `KgClient` lives as long as the agent. It keeps the connections, which belong to an event loop in a separate thread.
* `KgBatch` lives as long as a batch. Questions about the same entity share a request, even at the same moment.
* `KgSession` serves one question, from the question's thread.

A request is one HTTP call. "Call" alone is a line of the call language, for which tables send any number of requests.
"""

import asyncio
import json
import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Self, TypeAlias

import httpx2

from crag.core.deadline import Deadline
from crag.core.text import clean, encodable_json, without_credentials
from crag.graph.endpoints import ENDPOINTS, Json, Request, check_shape
from crag.graph.results import KgBusyError, KgError, KgReplyError, KgRequestError, KgTimeoutError, KgUnreachableError

RequestResult: TypeAlias = Json | KgError
"""The value of a reply's `result`, or why there is none."""

FAILURES_THAT_BREAK = 3
"""After this many failed requests in a row the server counts as dead for the rest of the batch."""

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
"""No compression: the server is near, and a small body cannot expand into a large one."""
_RETRY_PAUSE_SECONDS = 0.05
"""Before a request is sent once more: after a lost connection or a 502, 503, 504, since requests only read."""

_GRACE_SECONDS = 0.1
"""After the deadline, for requests to end by themselves: those that have results keep them."""

_ERROR_BODY_BYTES = 16_384
_MOST_DIGITS = 100
_STATUS_ERRORS = dict.fromkeys((404, 405, 422), KgRequestError) | dict.fromkeys((502, 503, 504), KgBusyError)
"""The errors of HTTP status codes; other codes than these and 200 are a `KgReplyError`."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits on the requests of a client; the stage's deadline may be shorter."""

    concurrency: int = 16
    """Requests in flight, over the whole batch; the official server has a few workers."""
    seconds: float = 7.0
    """For a whole exchange; a large reply of a busy server takes a few."""
    reply_bytes: int = 8_000_000
    """The longest real reply, all games of a year, has a few million."""


class KgClient:
    """The agent's client; thread-safe. A `base_url` other than ``http(s)://host:port`` is a ValueError.

    Ignores proxies and netrc (an internet proxy would hide the evaluator's server), cookies and redirects.
    """

    def __init__(self, base_url: str, limits: RequestLimits | None = None) -> None:
        self.limits = limits or RequestLimits()
        address = _parse_address(base_url)
        self._urls = {path: httpx2.URL(f"{address}{path}") for path in ENDPOINTS}

        # The limit on requests in flight is `request_slots`: the pool itself never makes a request wait.
        connections = httpx2.Limits(max_connections=None, max_keepalive_connections=self.limits.concurrency)
        self._http = httpx2.AsyncHTTPTransport(limits=connections, trust_env=False)
        self.request_slots = asyncio.Semaphore(self.limits.concurrency)

        self._previous_batch: KgBatch | None = None

        # One loop for all batches, because connections cannot move from one loop to another
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="knowledge-graph", daemon=True)
        """Started by the first batch."""

    def _run_loop(self) -> None:
        self.loop.run_forever()
        # `close` has stopped the loop; what is still in flight ends here, in the loop's own thread
        self.loop.run_until_complete(self._end())
        self.loop.close()  # waits for no thread, so that a hanging name lookup does not matter

    async def _end(self) -> None:
        """Cancel all requests and close the connections."""
        # All but this task, which must not cancel itself
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        # Their ends are awaited, so that no request still uses a connection when the transport closes
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._http.aclose()

    def batch(self, deadline: Deadline) -> "KgBatch":
        """The requests of one batch; after `deadline` none is sent or waited for.

        If the previous batch ended with a dead server, one failure marks it dead again.
        """
        with suppress(RuntimeError):  # the client is closed
            # Threads that hang in a name lookup, which nothing can stop, are left to the batch that started them.
            name_lookups = ThreadPoolExecutor(self.limits.concurrency, "knowledge-graph-names")
            self.loop.call_soon_threadsafe(self.loop.set_default_executor, name_lookups)
            if self._thread.ident is None:
                self._thread.start()

        was_broken = self._previous_batch is not None and self._previous_batch.broken
        self._previous_batch = KgBatch(self, deadline, doubtful=was_broken)
        return self._previous_batch

    def close(self) -> None:
        """Close the connections; requests that wait or are in flight fail."""
        if self._thread.ident is None:
            # No thread was started that would close it
            self.loop.close()
        with suppress(RuntimeError):  # closed already
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def ask(self, request: Request, deadline: Deadline) -> Json:
        """The result of a request. One that had no reply, or a 502, 503 or 504, is sent once more; not after a timeout.

        Raises KgError: there is no usable reply.
        """
        try:
            return await self._exchange(request, deadline)
        except KgTimeoutError:
            raise
        except (KgUnreachableError, KgBusyError):
            if deadline.remaining <= _RETRY_PAUSE_SECONDS:
                raise

        await asyncio.sleep(_RETRY_PAUSE_SECONDS)
        return await self._exchange(request, deadline)

    async def _exchange(self, request: Request, deadline: Deadline) -> Json:
        """Send a request once."""
        path = request.endpoint
        content = json.dumps(dict(request.payload)).encode() if request.payload else b""
        http_request = httpx2.Request(
            "POST",
            self._urls[path],
            headers=_HEADERS,
            content=content,
        )

        # Whichever is shorter: the rest of the stage's time or the limit of one exchange
        exchange_deadline = deadline.within(self.limits.seconds)
        try:
            async with asyncio.timeout(exchange_deadline.remaining):
                response = await self._http.handle_async_request(http_request)
                # Frees the connection, even if the body is not read to its end
                async with aclosing(response):
                    body = await self._read_body(path, response)
        except TimeoutError:
            raise KgTimeoutError(f"{path}: no whole reply after {exchange_deadline.elapsed:.2f} s") from None
        except (httpx2.TransportError, OSError) as error:
            raise KgUnreachableError(f"{path}: the connection failed: {error or type(error).__name__}") from error

        status = response.status_code
        if status == httpx2.codes.OK:
            return read_result(path, body)
        error_type = _STATUS_ERRORS.get(status, KgReplyError)
        raise error_type(f"{path}: status {status}: {clean(body[:120].decode('utf-8', 'replace'))!r}")

    async def _read_body(self, path: str, response: httpx2.Response) -> bytes:
        """The body; of an error only the beginning, so that an endless one does no harm."""
        is_error = response.status_code != httpx2.codes.OK
        body = bytearray()
        # Measured while it arrives: a body that is too large is never held whole
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self.limits.reply_bytes:
                raise KgReplyError(f"{path}: the reply has more than {self.limits.reply_bytes} bytes")
            if is_error and len(body) > _ERROR_BODY_BYTES:
                break
        return bytes(body)


def _parse_address(base_url: str) -> httpx2.URL:
    """The server's address without a slash at the end; ValueError: it is none."""
    try:
        address = httpx2.URL(base_url.rstrip("/"))
    except httpx2.InvalidURL:
        address = httpx2.URL()

    if address.scheme not in {"http", "https"} or not address.host:
        raise ValueError(f"{without_credentials(base_url)!r} is not an address such as http://127.0.0.1:8000")
    return address


def _parse_integer(digits: str) -> int:
    """An integer that a float can hold too, as arithmetic needs; any other is a ValueError."""
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def read_result(path: str, body: bytes) -> Json:
    """The value of `result` in the endpoint's shape, or `KgReplyError`; NaN and Infinity become null."""
    beginning = f"its {len(body)} bytes begin {body[:80]!r}"
    try:
        reply = encodable_json(json.loads(body.decode(), parse_int=_parse_integer))
    except RecursionError as error:
        raise KgReplyError(f"{path}: the reply is nested too deep; {beginning}") from error
    except ValueError as error:  # no JSON, no UTF-8, or an integer without bounds
        problem = f"is not JSON ({error})"[:120]
        raise KgReplyError(f"{path}: the reply {problem}; {beginning}") from error

    if not isinstance(reply, dict) or "result" not in reply:
        raise KgReplyError(f"{path}: the reply has no 'result'; {beginning}")
    result: Json = reply["result"]
    check_shape(path, result)
    return result


class KgBatch:
    """The requests of one batch: one cache, one deadline, one verdict on whether the server is alive.

    The cache keeps results, and errors that a retry would repeat (422, 500, an unusable body). What it holds is touched
    in the client's loop only, so it needs no locks.
    """

    def __init__(self, client: KgClient, deadline: Deadline, *, doubtful: bool) -> None:
        self.client = client
        self.deadline = deadline
        self._tasks: dict[Request, asyncio.Task[RequestResult]] = {}
        self._failures_in_a_row = FAILURES_THAT_BREAK - 1 if doubtful else 0
        self._time_of_last_reply = float("-inf")

    @property
    def broken(self) -> bool:
        """Whether the server counts as dead. Requests then fail at once instead of timing out one by one."""
        return self._failures_in_a_row >= FAILURES_THAT_BREAK

    async def results(self, session: "KgSession", requests: Sequence[Request]) -> list[RequestResult]:
        """The result of each request, in order; errors are results too, since several questions may wait for one.

        No more requests wait than the client may send at once, so a long list does not block other questions.
        """
        window = asyncio.Semaphore(self.client.limits.concurrency)
        return await asyncio.gather(*(self._result(session, request, window) for request in requests))

    async def _result(
        self,
        session: "KgSession",
        request: Request,
        window: asyncio.Semaphore,
    ) -> RequestResult:
        """The result of one request: from the cache, from the same request in flight, or from a new one."""
        async with window:
            # Finished or still in flight: both are tasks, and several questions can await the same one
            task = self._tasks.get(request)
            if task is None:
                if session.sent_count >= session.max_requests:
                    return KgError(f"{request.endpoint}: the question has used up its requests")
                refusal = self._refusal(request)
                if refusal is not None:
                    return refusal

                # Nothing was awaited since the look-up, so no other question can have sent this request meanwhile
                session.sent_count += 1
                task = asyncio.create_task(self._send(request))
                self._tasks[request] = task
            return await task

    def _refusal(self, request: Request) -> KgUnreachableError | None:
        """Why a request is not sent, or None if it may be."""
        if self.deadline.expired:
            return KgUnreachableError(f"{request.endpoint}: not asked, the time for the knowledge graph is over")
        if self.broken:
            return KgUnreachableError(f"{request.endpoint}: not asked, the server has stopped answering")
        return None

    async def _send(self, request: Request) -> RequestResult:
        """Send a request when a slot is free, and judge from its result whether the server is alive."""
        result: RequestResult
        async with self.client.request_slots:
            # The time may have run out, or the server died, while this request waited for its slot
            refusal = self._refusal(request)
            if refusal is not None:
                del self._tasks[request]
                return refusal

            # From here on: waiting for a slot says nothing about the server
            started = time.monotonic()
            try:
                result = await self.client.ask(request, self.deadline)
            except KgError as error:
                result = error

        # A failure counts only if the server has sent nothing since that request began: behind one slow worker, many
        # concurrent requests time out together.
        if not isinstance(result, KgUnreachableError):
            self._time_of_last_reply = time.monotonic()
            self._failures_in_a_row = 0
        elif started >= self._time_of_last_reply and not self.deadline.expired:
            self._failures_in_a_row += 1

        # An error that a retry may avoid is not cached.
        if isinstance(result, KgUnreachableError | KgBusyError):
            del self._tasks[request]
        return result


@dataclass(slots=True)
class KgSession:
    """The requests of one question: it may send `max_requests`, `sent_count` were sent for it; cached ones are free.

    Questions of a batch share results without copies: **callers must not change them**.

    Example::

        session = KgSession(client.batch(Deadline(5.0)), max_requests=10)
        films = session.get(build_request("/movie/get_movie_info", query="jaws"))
    """

    batch: KgBatch
    max_requests: int
    sent_count: int = 0

    def get(self, request: Request) -> Json:
        """The value of `result`. Raises KgError: no usable reply in time, or no requests left for the question."""
        (result,) = self.get_all([request])
        if isinstance(result, KgError):
            # A new one each time: an exception collects the frames of each raise.
            raise type(result)(*result.args) from result
        return result

    def get_all(self, requests: Sequence[Request]) -> list[RequestResult]:
        """The result of each request, in order, asked concurrently; of a failed request its error."""
        coroutine = self.batch.results(self, requests)
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self.batch.client.loop)
        except RuntimeError:  # the loop is closed
            # Python would warn that it was not awaited
            coroutine.close()
            return _unreachable(requests, "the client is closed")

        try:
            return future.result(self.batch.deadline.remaining + _GRACE_SECONDS)
        except TimeoutError:
            return _unreachable(requests, "no reply before the time for the knowledge graph was over")
        except CancelledError:
            return _unreachable(requests, "the client is closed")


def _unreachable(requests: Sequence[Request], reason: str) -> list[RequestResult]:
    """The same error for each request."""
    return [KgUnreachableError(f"{request.endpoint}: {reason}") for request in requests]
