"""A knowledge-graph server over a real socket that can be reported, while it runs, in which way to fail.

    with FaultyServer() as server:
        server.results["/finance/get_eps"] = 22.95
        server.fault = "drip_body"

Without a fault it answers `{"result": results[path]}`; a callable in `results` is given the payload.
"""

import json
import socket
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self, cast, get_args

Fault = Literal[
    "drop", "reset_in_body", "hang", "drip_headers", "drip_body", "truncated", "not_json", "no_result", "nan",
    "wrong_type", "huge", "endless", "deep", "redirect", "redirect_endless", "422", "500", "503",
]  # fmt: skip
FAULTS: tuple[Fault, ...] = get_args(Fault)
HUGE_BYTES = 10_000_000
_PLAIN_BODIES: dict[str, bytes] = {
    "truncated": b'{"result": [{"name": "Ad',
    "not_json": b"<html>Bad gateway</html>",
    "no_result": b'{"detail": "what?"}',
    "nan": b'{"result": {"high": NaN, "low": -Infinity, "open": Infinity, "close": 1.5}}',
    "wrong_type": b'{"result": {"0": true}}',
    "huge": b'{"result": "' + b"x" * HUGE_BYTES + b'"}',
    "deep": b'{"result": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}
_STATUS_BODIES: dict[str, bytes] = {
    "422": b'{"detail":[{"type":"missing","loc":["body","query"],"msg":"Field required"}]}',
    "500": b"Internal Server Error",
    "503": b"no server is available",
}


def unused_address() -> str:
    """The address of a port where nobody listens: connections are refused."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


class FaultyServer:
    """Listens on 127.0.0.1 while the context is open. All attributes may be changed at any time.

    `fault` applies to all requests or, where `faulty_requests` is set, to that many more. `seconds` is how long every
    reply takes. `requests` are the (path, payload) received; `most_at_once` and `connections` count what was seen.
    """

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.faulty_requests: int | None = None
        self.seconds = 0.0
        self.results: dict[str, Any | Callable[[Any], Any]] = {}
        self.requests: list[tuple[str, Any]] = []
        self.most_at_once = 0
        self.connections = 0
        self.stopped = threading.Event()
        self._at_once = 0
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def begin(self, path: str, payload: object) -> Fault | None:
        """Note a request, and say which fault it gets."""
        with self._lock:
            self.requests.append((path, payload))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            if self.fault is None or self.faulty_requests is None:
                return self.fault
            self.faulty_requests -= 1
            return self.fault if self.faulty_requests >= 0 else None

    def end(self) -> None:
        with self._lock:
            self._at_once -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: FaultyServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that give up are what this server is for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> FaultyServer:
        return cast("_Server", self.server).owner

    def setup(self) -> None:
        super().setup()
        self.owner.connections += 1

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (the base class's name)
        """Quiet."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        payload = json.loads(body) if body else None
        fault = self.owner.begin(self.path, payload)
        try:
            self.owner.stopped.wait(self.owner.seconds)
            self._reply(fault, payload)
        finally:
            self.owner.end()

    def do_GET(self) -> None:
        """Where the redirect leads; nobody should come."""
        self.owner.requests.append((self.path, "GET"))
        self._send(200, b'{"result": "redirected"}')

    def _reply(self, fault: Fault | None, payload: Any) -> None:
        if fault is None:
            result = self.owner.results.get(self.path)
            self._send(200, json.dumps({"result": result(payload) if callable(result) else result}).encode())
        elif fault in _PLAIN_BODIES:
            self._send(200, _PLAIN_BODIES[fault])
        elif fault in _STATUS_BODIES:
            self._send(int(fault), _STATUS_BODIES[fault])
        elif fault == "redirect":
            self._send(302, b"", "Location: /elsewhere\r\n")
        elif fault == "drip_headers":
            self._drip(b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 10_000)
        elif fault == "drip_body":
            self._drip(b'{"result": "' + b"x" * 10_000, b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n")
        elif fault == "endless":
            self._endless("200 OK")
        elif fault == "redirect_endless":
            self._endless("302 Found\r\nLocation: http://[")
        else:
            if fault == "hang":
                self.owner.stopped.wait(60)
            elif fault == "reset_in_body":
                self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n{"result": ')
            self._reset()

    def _send(self, status: int, body: bytes, more_headers: str = "") -> None:
        """In one piece: two writes would wait for each other's acknowledgement."""
        head = f"HTTP/1.1 {status} -\r\nContent-Length: {len(body)}\r\n{more_headers}\r\n"
        self.wfile.write(head.encode() + body)

    def _drip(self, body: bytes, head: bytes = b"") -> None:
        self.wfile.write(head)
        for byte in body:
            if self.owner.stopped.wait(0.1):
                break
            self.wfile.write(bytes([byte]))
        self._reset()

    def _endless(self, status: str) -> None:
        """A chunked body, which does not tell its length."""
        self.wfile.write(f"HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        while not self.owner.stopped.is_set():
            self.wfile.write(b"10000\r\n" + b"[" * 0x10000 + b"\r\n")

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
