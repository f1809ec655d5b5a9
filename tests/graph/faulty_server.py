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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self, cast, get_args

Fault = Literal[
    "drop", "reset_in_body", "hang", "drip_headers", "drip_body", "truncated", "not_json", "no_result", "nan",
    "wrong_type", "huge", "endless", "deep", "redirect", "redirect_endless", "422", "500", "503",
]  # fmt: skip
FAULTS: tuple[Fault, ...] = get_args(Fault)
_BODIES: dict[str, bytes] = {
    "truncated": b'{"result": [{"name": "Ad',
    "not_json": b"<html>Bad gateway</html>",
    "no_result": b'{"detail": "what?"}',
    "nan": b'{"result": {"high": NaN, "low": -Infinity, "open": Infinity, "close": 1.5}}',
    "wrong_type": b'{"result": {"0": true}}',
    "huge": b'{"result": "' + b"x" * 10_000_000 + b'"}',
    "deep": b'{"result": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
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
    """Listens on 127.0.0.1 while the context is open. All attributes may be changed at any time."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.faulty_requests: int | None = None
        """To so many more requests `fault` applies; None: to all."""
        self.seconds = 0.0
        """How long every reply takes."""
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

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @contextmanager
    def request(self, path: str, payload: object) -> Iterator[Fault | None]:
        """Note a request while it lasts; gives the fault that it gets."""
        with self._lock:
            self.requests.append((path, payload))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            if self.faulty_requests is not None:
                self.faulty_requests -= 1
            fault = self.fault if self.faulty_requests is None or self.faulty_requests >= 0 else None
        try:
            yield fault
        finally:
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
        with self.owner.request(self.path, payload) as fault:
            self.owner.stopped.wait(self.owner.seconds)
            self._reply(fault, payload)

    def do_GET(self) -> None:
        """Where the redirect leads; nobody should come."""
        self.owner.requests.append((self.path, "GET"))
        self._send(200, b'{"result": "redirected"}')

    def _reply(self, fault: Fault | None, payload: Any) -> None:
        if fault is None:
            result = self.owner.results.get(self.path)
            self._send(200, json.dumps({"result": result(payload) if callable(result) else result}).encode())
        elif fault in _BODIES:
            self._send(int(fault) if fault.isdigit() else 200, _BODIES[fault])
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
