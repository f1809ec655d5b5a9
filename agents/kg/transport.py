"""One HTTP exchange with the knowledge graph's server, bounded in time and size."""

import json
import random
import socket
import threading
import time
from collections.abc import Mapping
from http.client import HTTPException
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError

from agents.common.deadline import Deadline
from agents.common.text import clean, encodable_json
from agents.kg.endpoints import ENDPOINTS, Argument, Json
from agents.kg.results import KgBusyError, KgError, KgReplyError, KgRequestError, KgTimeoutError, KgUnreachableError
from agents.settings import KgClientSettings

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
"""No compression: the server is near, and a small body cannot expand into a large one."""
_FIRST_PAUSE_SECONDS = 0.05
_CHUNK_BYTES = 262_144
_ERROR_BODY_BYTES = 16_384
_WRONG_REQUEST = frozenset({404, 405, 422})
_BUSY = frozenset({502, 503, 504})


class Transport:
    """POSTs to one server over keep-alive connections; thread-safe.

    Ignores proxies and netrc (`trust_env=False`: an internet proxy would hide the evaluator's server), cookies and
    redirects.
    """

    def __init__(self, base_url: str, settings: KgClientSettings) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(f"the knowledge graph's address must begin with http:// or https://, not {base_url!r}")
        self._settings = settings
        address = base_url.rstrip("/")
        self._prepared = {
            path: requests.Request("POST", address + path, headers=_HEADERS).prepare() for path in ENDPOINTS
        }
        self._http = _DirectSession()
        self._http.trust_env = False
        self._http.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        adapter = _DeadlineAdapter(pool_connections=1, pool_maxsize=settings.concurrency)
        self._http.mount("http://", adapter)
        self._http.mount("https://", adapter)

    def close(self) -> None:
        """Close the kept connections."""
        self._http.close()

    def ask(self, path: str, payload: Mapping[str, Argument], deadline: Deadline) -> Json:
        """POST the payload and read the result. Retries if no reply came and the deadline allows.

        No retry library: the pause must fit the deadline, and a timeout must not be retried (the time is spent).

        Raises:
            KgError: no usable reply.
        """
        prepared = self._prepared[path].copy()
        prepared.prepare_body(json.dumps(payload) if payload else None, None)
        pause = _FIRST_PAUSE_SECONDS * random.uniform(0.5, 1.5)  # noqa: S311 (spreads retries, guards no secret)
        for _ in range(self._settings.max_attempts - 1):
            try:
                return self._exchange(path, prepared, deadline)
            except (KgUnreachableError, KgBusyError) as error:
                if isinstance(error, KgTimeoutError) or deadline.remaining <= pause:
                    raise
            time.sleep(pause)
            pause *= 2
        return self._exchange(path, prepared, deadline)

    def _exchange(self, path: str, prepared: requests.PreparedRequest, deadline: Deadline) -> Json:
        limits = self._settings
        whole = deadline.within(limits.connect_seconds + limits.read_seconds)
        left = max(whole.remaining, 0.001)
        timeout = (min(limits.connect_seconds, left), min(limits.read_seconds, left))
        _current.deadline = whole
        try:
            with self._http.send(prepared, stream=True, timeout=timeout, allow_redirects=False) as response:
                good = response.status_code == requests.codes.ok
                body = _read(path, response, limits.max_response_bytes) if good else _beginning(response)
        except (requests.RequestException, HTTPError, HTTPException, OSError) as error:
            raise _as_kg_error(path, error, whole) from error
        finally:
            _current.deadline = None
        if not good:
            raise _status_error(path, response, body)
        return read_result(path, body)


def read_result(path: str, body: bytes) -> Json:
    """The value of `result`. NaN and Infinity become null: Python's servers may write them, JSON has no such numbers.

    Raises:
        KgReplyError: the body is not JSON, or not an object with `result`.
    """
    try:
        whole = encodable_json(json.loads(body.decode()))
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, no UTF-8, or a number of 5,000 digits
        what = "is nested too deep" if isinstance(error, RecursionError) else f"is not JSON ({error})"
        raise KgReplyError(f"{path}: the reply {what[:120]}; its {len(body)} bytes begin {body[:80]!r}") from error
    if not isinstance(whole, dict) or "result" not in whole:
        raise KgReplyError(f"{path}: the reply has no 'result'; its {len(body)} bytes begin {body[:80]!r}")
    result: Json = whole["result"]
    return result


def _read(path: str, response: requests.Response, most: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    for chunk in response.raw.stream(_CHUNK_BYTES, decode_content=False):
        chunks.append(chunk)
        size += len(chunk)
        if size > most:
            raise KgReplyError(f"{path}: the reply has more than {most} bytes")
    return b"".join(chunks)


def _beginning(response: requests.Response) -> bytes:
    """The whole body of a usual error, to keep the connection; only a part of an endless one."""
    return next(response.raw.stream(_ERROR_BODY_BYTES, decode_content=False), b"")


def _status_error(path: str, response: requests.Response, body: bytes) -> KgError:
    what = f"{path}: status {response.status_code}: {clean(body[:120].decode('utf-8', 'replace'))!r}"
    if response.status_code in _WRONG_REQUEST:
        return KgRequestError(what)
    return KgBusyError(what) if response.status_code in _BUSY else KgReplyError(what)


def _as_kg_error(path: str, error: BaseException, limit: Deadline) -> KgUnreachableError:
    """Unwrap the library's exception, nested three deep."""
    while error.__context__ is not None:
        error = error.__context__
    if isinstance(error, TimeoutError):
        return KgTimeoutError(f"{path}: no whole reply after {limit.elapsed:.2f} s")
    return KgUnreachableError(f"{path}: the connection failed: {error}")


class _DirectSession(requests.Session):
    """Even with redirects off, requests reads a redirect's whole body and fails on an invalid target."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """A redirect is an error status like any other."""


# --- timeouts that bound the whole exchange --------------------------------------------------------------------------


class _Current(threading.local):
    deadline: Deadline | None = None


_current = _Current()
"""When this thread's exchange must be over."""


class _DeadlineSocket(socket.socket):
    """Bounds the exchange, not the single read: a server that sends a byte a second, in headers or body, meets any read
    timeout and would block a pool thread forever.
    """

    def recv_into(self, *arguments: Any) -> int:  # noqa: ANN401 (passed on as they come)
        if _current.deadline is not None:
            left = _current.deadline.remaining
            if left <= 0:
                raise TimeoutError("the time of this call is over")
            self.settimeout(min(left, self.gettimeout() or left))
        return super().recv_into(*arguments)


class _DeadlineConnection(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        plain = super()._new_conn()
        timeout = plain.gettimeout()
        guarded = _DeadlineSocket(plain.family, plain.type, plain.proto, fileno=plain.detach())
        guarded.settimeout(timeout)
        return guarded


class _DeadlinePool(HTTPConnectionPool):
    ConnectionCls = _DeadlineConnection


class _DeadlineAdapter(HTTPAdapter):
    """Over https only single reads are bounded, since TLS has its own socket; the caller's wait is always bounded."""

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 (passed on as they come)
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": _DeadlinePool, "https": HTTPSConnectionPool}
