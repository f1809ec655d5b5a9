"""Client of the mock knowledge graph: limits time, bytes, calls and concurrency, with one cache per batch.

`KgClient` lives as long as the agent and keeps the connections; they belong to an event loop in a thread of its own.
`KgBatch` lives as long as a batch: questions about the same entity share a call, even at the same moment. `KgSession`
serves one question, from the question's thread.
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

_CallResult: TypeAlias = Json | KgError
FAILURES_THAT_BREAK = 3
"""After this many failed calls in a row the server counts as dead for the rest of the batch."""
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
"""No compression: the server is near, and a small body cannot expand into a large one."""
_PAUSE_SECONDS = 0.05
"""Before a call is sent once more: after a lost connection or a 502, 503, 504, since calls only read."""
_GRACE_SECONDS = 0.1
"""After the deadline, for calls to end by themselves: those that have results keep them."""
_ERROR_BODY_BYTES = 16_384
_STATUS_ERRORS = dict.fromkeys((404, 405, 422), KgRequestError) | dict.fromkeys((502, 503, 504), KgBusyError)


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Limits on the calls of a client; the stage's deadline may be shorter."""

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

    def __init__(self, base_url: str, limits: CallLimits | None = None) -> None:
        self.limits = limits or CallLimits()
        try:
            address = httpx2.URL(base_url.rstrip("/"))
        except httpx2.InvalidURL:
            address = httpx2.URL()
        if address.scheme not in {"http", "https"} or not address.host:
            raise ValueError(f"{without_credentials(base_url)!r} is no address such as http://127.0.0.1:8000")
        self._urls = {path: httpx2.URL(f"{address}{path}") for path in ENDPOINTS}
        connections = httpx2.Limits(max_connections=None, max_keepalive_connections=self.limits.concurrency)
        self._http = httpx2.AsyncHTTPTransport(limits=connections, trust_env=False)
        self.free = asyncio.Semaphore(self.limits.concurrency)
        self._last_batch: KgBatch | None = None
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="knowledge-graph", daemon=True)
        """Started by the first batch."""

    def _serve(self) -> None:
        self.loop.run_forever()
        self.loop.run_until_complete(self._end())
        self.loop.close()  # waits for no thread, so that a hanging name lookup does not matter

    async def _end(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._http.aclose()

    def batch(self, deadline: Deadline) -> "KgBatch":
        """The calls of one batch; after `deadline` no call is sent or waited for.

        If the last batch ended with a dead server, one failure marks it dead again.
        """
        with suppress(RuntimeError):  # the client is closed
            # Threads that hang in a name lookup, which nothing can stop, are left to the batch that started them.
            names = ThreadPoolExecutor(self.limits.concurrency, "knowledge-graph-names")
            self.loop.call_soon_threadsafe(self.loop.set_default_executor, names)
            if self._thread.ident is None:
                self._thread.start()
        doubtful = self._last_batch is not None and self._last_batch.broken
        self._last_batch = KgBatch(self, deadline, doubtful=doubtful)
        return self._last_batch

    def close(self) -> None:
        """Close the connections; calls that wait or are in flight fail."""
        if self._thread.ident is None:
            self.loop.close()
        with suppress(RuntimeError):  # closed already
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def ask(self, call: Request, deadline: Deadline) -> Json:
        """POST a call and read its result, or raise `KgError`; once more if no reply came (except for a timeout)."""
        try:
            return await self._exchange(call, deadline)
        except (KgUnreachableError, KgBusyError) as error:
            if isinstance(error, KgTimeoutError) or deadline.remaining <= _PAUSE_SECONDS:
                raise
        await asyncio.sleep(_PAUSE_SECONDS)
        return await self._exchange(call, deadline)

    async def _exchange(self, call: Request, deadline: Deadline) -> Json:
        path, whole = call.endpoint, deadline.within(self.limits.seconds)
        content = json.dumps(dict(call.payload)).encode() if call.payload else b""
        request = httpx2.Request("POST", self._urls[path], headers=_HEADERS, content=content)
        try:
            async with asyncio.timeout(whole.remaining):
                response = await self._http.handle_async_request(request)
                async with aclosing(response):
                    status, body = response.status_code, await self._body(path, response)
        except TimeoutError:
            raise KgTimeoutError(f"{path}: no whole reply after {whole.elapsed:.2f} s") from None
        except (httpx2.TransportError, OSError) as error:
            raise KgUnreachableError(f"{path}: the connection failed: {error or type(error).__name__}") from error
        if status == httpx2.codes.OK:
            return read_result(path, body)
        kind = _STATUS_ERRORS.get(status, KgReplyError)
        raise kind(f"{path}: status {status}: {clean(body[:120].decode('utf-8', 'replace'))!r}")

    async def _body(self, path: str, response: httpx2.Response) -> bytes:
        """The body; of an error only the beginning, so that an endless one does no harm."""
        body, good = bytearray(), response.status_code == httpx2.codes.OK
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self.limits.reply_bytes:
                raise KgReplyError(f"{path}: the reply has more than {self.limits.reply_bytes} bytes")
            if not good and len(body) > _ERROR_BODY_BYTES:
                break
        return bytes(body)


def read_result(path: str, body: bytes) -> Json:
    """The value of `result` in the endpoint's shape, or `KgReplyError`; NaN and Infinity become null."""
    begins = f"its {len(body)} bytes begin {body[:80]!r}"
    try:
        whole = encodable_json(json.loads(body.decode()))
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, no UTF-8, or a number of 5,000 digits
        what = "is nested too deep" if isinstance(error, RecursionError) else f"is not JSON ({error})"
        raise KgReplyError(f"{path}: the reply {what[:120]}; {begins}") from error
    if not isinstance(whole, dict) or "result" not in whole:
        raise KgReplyError(f"{path}: the reply has no 'result'; {begins}")
    result: Json = whole["result"]
    check_shape(path, result)
    return result


class KgBatch:
    """The calls of one batch: one cache, one deadline, one verdict on whether the server is alive.

    The cache keeps results, and errors that a retry would repeat (422, 500, an unusable body). What it holds is touched
    in the client's loop only, so it needs no locks.
    """

    def __init__(self, client: KgClient, deadline: Deadline, *, doubtful: bool) -> None:
        self.client = client
        self.deadline = deadline
        self._calls: dict[Request, asyncio.Task[_CallResult]] = {}
        self._failures_in_a_row = FAILURES_THAT_BREAK - 1 if doubtful else 0
        self._last_reply = float("-inf")

    @property
    def broken(self) -> bool:
        """Whether the server counts as dead. Calls then fail at once instead of timing out one by one."""
        return self._failures_in_a_row >= FAILURES_THAT_BREAK

    async def results(self, session: "KgSession", calls: Sequence[Request]) -> list[_CallResult]:
        """The result of each call, in order; errors are results too, since several questions may wait for one.

        No more calls wait than the client may send at once, so a long list does not block other questions.
        """
        window = asyncio.Semaphore(self.client.limits.concurrency)

        async def result(call: Request) -> _CallResult:
            async with window:
                known = self._calls.get(call)
                if known is None:
                    if session.calls >= session.max_calls:
                        return KgError(f"{call.endpoint}: the question has used up its calls")
                    if over := self._over(call):
                        return over
                    session.calls += 1
                    known = self._calls[call] = asyncio.create_task(self._send(call))
                return await known

        return await asyncio.gather(*map(result, calls))

    def _over(self, call: Request) -> KgUnreachableError | None:
        if self.deadline.expired:
            return KgUnreachableError(f"{call.endpoint}: not asked, the time for the knowledge graph is over")
        dead = KgUnreachableError(f"{call.endpoint}: not asked, the server has stopped answering")
        return dead if self.broken else None

    async def _send(self, call: Request) -> _CallResult:
        result: _CallResult
        async with self.client.free:
            if over := self._over(call):
                del self._calls[call]
                return over
            started = time.monotonic()
            try:
                result = await self.client.ask(call, self.deadline)
            except KgError as error:
                result = error
        # A failure counts only if the server has sent nothing since that call began: behind one slow worker, many
        # concurrent calls time out together.
        if not isinstance(result, KgUnreachableError):
            self._last_reply, self._failures_in_a_row = time.monotonic(), 0
        elif started >= self._last_reply and not self.deadline.expired:
            self._failures_in_a_row += 1
        if isinstance(result, KgUnreachableError | KgBusyError):
            del self._calls[call]
        return result


@dataclass(slots=True)
class KgSession:
    """The calls of one question: it may send `max_calls`, `calls` were sent for it; cached calls are free.

    Questions of a batch share results without copies: **callers must not change them**.
    """

    batch: KgBatch
    max_calls: int
    calls: int = 0

    def get(self, call: Request) -> Json:
        """The value of `result`; `KgError`: no usable reply in time, or no calls left for the question."""
        (result,) = self.get_all([call])
        if isinstance(result, KgError):  # a new one each time: an exception collects the frames of each raise
            raise type(result)(*result.args) from result
        return result

    def get_all(self, calls: Sequence[Request]) -> list[Json | KgError]:
        """The result of each call, in order, asked concurrently; of a failed call its error."""
        work = self.batch.results(self, calls)
        try:
            future = asyncio.run_coroutine_threadsafe(work, self.batch.client.loop)
            return future.result(self.batch.deadline.remaining + _GRACE_SECONDS)
        except TimeoutError:
            reason = "no reply before the time for the knowledge graph was over"
        except (CancelledError, RuntimeError):
            work.close()
            reason = "the client is closed"
        return [KgUnreachableError(f"{call.endpoint}: {reason}") for call in calls]
