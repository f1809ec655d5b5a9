"""Connections to a server: which proxy is used, and how many bytes of a reply are read."""

import ipaddress
import json
import os
import re
import ssl
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
from crag.engines.llm.openai_body import is_whole_reply

LARGEST_REPLY = 4_000_000
"""Bytes of a body that are read; an answer with log-probabilities has some 200 a token, a streamed one 600."""
_PROXY_SCHEMES = frozenset({"http", "https", "socks5", "socks5h"})
_EITHER_HEADER = 32
"""Added to the window's size, zlib recognises the headers of gzip and of deflate."""
_GZIP_MARK = b"\x1f\x8b"
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_NOT_READ = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz"})
"""Encodings that are not read here."""
_STREAM_END = re.compile(r"(?:\A|[\r\n])data: {0,3}\[DONE\]")
_LONGEST_END = 20
_MOST_TRIALS = 200
"""To read a reply before its end: a server that sends single bytes would cost as many times the whole reply."""
_STAYS_A_POST = {301: 308, 302: 307}
"""Redirects after which a client would ask with GET, without the question -> those that keep the method."""
_OWN_KEY_HEADER = "api-key"
_CERTIFICATES = "SSL_CERT_FILE"


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
    try:
        httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise EngineUnavailableError(f"{proxy} cannot be used: it is not an address ({error})") from None
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


def read_certificates(address: ServerAddress) -> ssl.SSLContext:
    """The certificates to trust: those that the environment names, else the usual ones.

    Raises EngineUnavailableError: those of the environment cannot be read, and the address needs some.
    """
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        # Variables that an environment has left behind are no concern of a server that does not encrypt.
        if address.url.scheme == "http":
            return httpx2.create_ssl_context(trust_env=False)
        file = os.environ.get(_CERTIFICATES, "")
        raise EngineUnavailableError(
            f"{_CERTIFICATES}={file}: the certificates to trust cannot be read: {error.strerror or error}"
        ) from None


def open_connections(proxy: Proxy | None, certificates: ssl.SSLContext) -> httpx2.AsyncClient:
    """A client whose replies are bounded. The environment names no other proxy to it."""
    transport = httpx2.AsyncHTTPTransport(
        verify=certificates,
        # One connection a request: a server with one thread would wait for the next request of the first connection
        # while others wait for the server.
        limits=httpx2.Limits(max_keepalive_connections=0),
        proxy=proxy.url if proxy else None,
    )
    # A transport that is given keeps the library from reading the variables of proxies itself: it would fail for a
    # SOCKS proxy without `socksio` even where NO_PROXY covers the server.
    return openai.DefaultAsyncHttpxClient(transport=transport, event_hooks={"response": [_follow_as_post, _bound_body]})


class _Unpacker:
    """Unpacks gzip, in one member or several, and deflate, with or without zlib's header; passes on what is neither."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS + _EITHER_HEADER)
        self._is_first = True
        self._is_plain = False

    def unpack(self, chunk: bytes, max_bytes: int) -> bytes:
        """The next bytes, at most `max_bytes` of them."""
        if self._is_plain:
            return chunk
        try:
            unpacked = self._unpack_member(chunk, max_bytes)
        except zlib.error:  # it was not packed after all
            self._is_plain = True
            return chunk
        while self._zlib.eof and self._zlib.unused_data.startswith(_GZIP_MARK) and len(unpacked) < max_bytes:
            rest = self._zlib.unused_data
            self._zlib = zlib.decompressobj(zlib.MAX_WBITS + _EITHER_HEADER)
            unpacked += self._unpack_member(rest, max_bytes - len(unpacked))
        return unpacked

    def _unpack_member(self, chunk: bytes, max_bytes: int) -> bytes:
        is_first = self._is_first
        self._is_first = False
        try:
            return self._zlib.decompress(chunk, max_bytes)
        except zlib.error:
            if not is_first:
                raise
            self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._zlib.decompress(chunk, max_bytes)


class _BoundedStream(httpx2.AsyncByteStream):
    """The first `LARGEST_REPLY` bytes of a body, which may be endless or become so when unpacked.

    An event stream ends with its last event, and a JSON value where it is whole, though the server keeps the connection
    open. A connection that breaks off behind a whole JSON value is no fault.
    """

    def __init__(self, stream: Any, packings: int) -> None:  # noqa: ANN401 - the declared type covers other clients
        self._stream = stream
        self._unpackers = [_Unpacker() for _ in range(packings)]
        self._received = bytearray()
        self._trials = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                remaining = LARGEST_REPLY - len(self._received)
                part = self._unpack(chunk, remaining)[:remaining]
                self._received += part
                yield part
                if len(part) >= remaining or self._has_last_event(len(part)) or self._has_ended():
                    return
        except (httpx2.RemoteProtocolError, httpx2.ReadError):
            # Of a stream without the marks of one the first chunk may be all that has come
            is_chunk = b'"delta"' in self._received and not is_whole_reply(bytes(self._received))
            if is_chunk or not _is_json(bytes(self._received)):
                raise

    def _unpack(self, chunk: bytes, max_bytes: int) -> bytes:
        # Some servers pack without saying so.
        if not self._received and not self._unpackers and chunk.startswith(_GZIP_MARK):
            self._unpackers.append(_Unpacker())
        for unpacker in self._unpackers:
            chunk = unpacker.unpack(chunk, max_bytes)
        return chunk

    def _has_last_event(self, length: int) -> bool:
        start = max(0, len(self._received) - length - _LONGEST_END)
        return _STREAM_END.search(self._received[start:].decode("latin-1")) is not None

    def _has_ended(self) -> bool:
        """Whether a whole reply has come: looked at where it may have ended, but not after each of many bytes."""
        if self._trials == _MOST_TRIALS or not self._received[-100:].rstrip().endswith((b"}", b"]")):
            return False
        self._trials += 1
        return is_whole_reply(bytes(self._received))

    async def aclose(self) -> None:
        await self._stream.aclose()


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


class _SaidInstead(httpx2.AsyncByteStream):
    """An error in place of a body that cannot be read."""

    def __init__(self, stream: Any, message: str) -> None:  # noqa: ANN401 - as above
        self._stream = stream
        self._body = json.dumps({"error": {"message": message}}).encode()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound_body(response: httpx2.Response) -> None:
    # Servers pack although "identity" was asked for. The library would unpack a whole chunk at once, however large.
    encodings = [name.strip().lower() for name in response.headers.pop("Content-Encoding", "").split(",")]
    unread = next((name for name in encodings if name in _NOT_READ), None)
    if unread:
        message = (
            f"its reply is packed as {unread!r}, although a plain one was asked for: switch that off at the server"
        )
        response.stream = _SaidInstead(response.stream, message)
    else:
        response.stream = _BoundedStream(response.stream, sum(name in _PACKED for name in encodings))


async def _follow_as_post(response: httpx2.Response) -> None:
    """Keep the question when an address has moved, and the key from other servers."""
    if not response.has_redirect_location:
        return
    response.status_code = _STAYS_A_POST.get(response.status_code, response.status_code)
    # The library drops the other header with a key itself.
    source = response.request.url
    target = source.join(response.headers["Location"])
    is_upgrade = target.host == source.host and target.scheme == "https"
    if target.origin != source.origin and not is_upgrade:
        response.request.headers.pop(_OWN_KEY_HEADER, None)
