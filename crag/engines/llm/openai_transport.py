"""Connections to a server: which proxy is used, and how many bytes of a reply are read."""

import ipaddress
import os
import urllib.request
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import httpx2
import openai

from crag.core.text import without_credentials
from crag.engines.llm.base import EngineUnavailableError
from crag.engines.llm.openai_address import ServerAddress

LARGEST_REPLY = 4_000_000
"""Bytes of a body that are read; an answer with log-probabilities has some 200 a token, a streamed one 600."""
_PROXY_SCHEMES = frozenset({"http", "https", "socks5", "socks5h"})
_EITHER_HEADER = 32
"""Added to the window's size, zlib recognises the headers of gzip and of deflate."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy of the environment, and the variable that names it."""

    url: str
    variable: str

    def __str__(self) -> str:
        """For messages: without a password."""
        return f"the proxy {without_credentials(self.url)} of {self.variable}"


def is_silence(error: BaseException) -> bool:
    """Whether somebody accepted the connection and then sent no reply in time: a busy server, or no model server."""
    return isinstance(error, openai.APITimeoutError) and not isinstance(error.__cause__, httpx2.ConnectTimeout)


def is_broken_off(error: BaseException) -> bool:
    """Whether somebody accepted the connection and closed it before the reply was whole, or sent what is no HTTP."""
    return isinstance(error.__cause__, (httpx2.RemoteProtocolError, httpx2.ReadError))


def find_proxy(address: ServerAddress) -> Proxy | None:
    """The proxy that the environment names for this address. None for this machine, as for the graph's client.

    Raises EngineUnavailableError: a proxy that cannot be used here.
    """
    if address.is_on_this_machine or _is_exempt(address.url.host, address.url.port):
        return None

    proxies = urllib.request.getproxies()
    kind = next((kind for kind in (address.url.scheme, "all") if proxies.get(kind)), None)
    if kind is None:
        return None

    url = proxies[kind] if "://" in proxies[kind] else f"http://{proxies[kind]}"
    names = [f"{kind}_proxy", f"{kind}_proxy".upper()]
    proxy = Proxy(url, next((name for name in names if os.environ.get(name)), "the system's settings"))

    scheme = url.partition("://")[0].lower()
    around = f"NO_PROXY={address.url.host} goes around it"
    if scheme not in _PROXY_SCHEMES:
        raise EngineUnavailableError(f"{proxy} cannot be used: its kind {scheme!r} is not known; {around}")
    if scheme.startswith("socks") and find_spec("socksio") is None:
        raise EngineUnavailableError(f"{proxy} cannot be used: pip install socksio, or {around}")
    return proxy


def _is_exempt(host: str, port: int | None) -> bool:
    """Whether NO_PROXY covers the host: by name, by the end of its name, or by a range of addresses."""
    entries = [entry.strip() for entry in urllib.request.getproxies().get("no", "").split(",")]
    if "*" in entries or urllib.request.proxy_bypass(host if port is None else f"{host}:{port}"):
        return True

    try:
        number = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    for entry in entries:
        try:
            if number in ipaddress.ip_network(entry.strip("[]"), strict=False):
                return True
        except ValueError:  # a name
            continue
    return False


def open_connections(proxy: Proxy | None) -> httpx2.AsyncClient:
    """A client whose replies are bounded. The environment gives its certificates, and no proxy but this one."""
    transport = httpx2.AsyncHTTPTransport(
        limits=openai.DEFAULT_CONNECTION_LIMITS,
        proxy=proxy.url if proxy else None,
    )
    # A transport that is given keeps the library from reading the variables of proxies itself: it would fail for a
    # SOCKS proxy without `socksio` even where NO_PROXY covers the server.
    return openai.DefaultAsyncHttpxClient(transport=transport, event_hooks={"response": [_bound_body]})


class _BoundedStream(httpx2.AsyncByteStream):
    """The first `LARGEST_REPLY` bytes of a body, which may be endless or become so when unpacked."""

    def __init__(self, stream: Any, encoding: str) -> None:  # noqa: ANN401 - the declared type covers other clients
        self._stream = stream
        is_packed = encoding in {"gzip", "x-gzip", "deflate"}
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS + _EITHER_HEADER) if is_packed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = LARGEST_REPLY
        async for chunk in self._stream:
            part = self._unpack(chunk, remaining)
            yield part[:remaining]
            remaining -= len(part)
            if remaining <= 0:
                return

    def _unpack(self, chunk: bytes, max_bytes: int) -> bytes:
        if self._unpacker is None:
            return chunk
        try:
            return self._unpacker.decompress(chunk, max_bytes)
        except zlib.error:  # it was not packed after all
            self._unpacker = None
            return chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound_body(response: httpx2.Response) -> None:
    # Servers pack although "identity" was asked for. The library would unpack a whole chunk at once, however large.
    encoding = response.headers.pop("Content-Encoding", "")
    response.stream = _BoundedStream(response.stream, encoding.strip().lower())
