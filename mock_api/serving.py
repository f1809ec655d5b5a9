"""Running the server: in this process's main thread, or behind a test or a benchmark in a thread of its own."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from mock_api.server import create_app
from mock_api.tables import load_tables

LOOPBACK = "127.0.0.1"
START_LIMIT = 10.0
STOP_LIMIT = 5
"""Seconds for a server thread to come up; whole seconds for answers under way when a server stops."""


class Server(uvicorn.Server):
    """A uvicorn server on a socket that is open already. `ready` is called once it answers."""

    def __init__(self, app: FastAPI, listening: socket.socket, ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="off",
                access_log=False,
                log_config=None,
                log_level="error",
                timeout_graceful_shutdown=STOP_LIMIT,
            )
        )
        self._listening = listening
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does it, then say so."""
        await super().startup(sockets)
        self._ready()

    def serve_until_stopped(self) -> None:
        """Answer until `should_exit` is set, or until SIGINT or SIGTERM in the main thread."""
        self.run(sockets=[self._listening])


def listen(host: str = LOOPBACK, port: int = 0) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises OSError where host or port cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family)
    # Connections inherit it. asyncio sets it only on sockets that name their protocol; without it each answer after the
    # first of a connection comes 40 ms late.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def url_of(listening: socket.socket) -> str:
    """Where the clients of a socket find it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def serve(data: Path | None = None, delay: float = 0.0) -> Iterator[str]:
    """Serve a graph from a thread of this process and yield the base URL, without a slash at its end.

    `data` is the directory of the graph (default: the one that ships with the project), `delay` the seconds before each
    answer. Raises GraphError for a graph that cannot be read.
    """
    app = create_app(load_tables(data), delay)
    started = threading.Event()
    with listen() as listening:
        server = Server(app, listening, started.set)
        thread = threading.Thread(target=server.serve_until_stopped, name="mock-api", daemon=True)
        thread.start()
        try:
            if not started.wait(START_LIMIT):
                raise RuntimeError(f"the mock API did not start within {START_LIMIT:.0f} s")
            yield url_of(listening)
        finally:
            server.should_exit = True
            thread.join()
