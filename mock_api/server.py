"""The HTTP server: its endpoints, and how to run it in this thread or in the background."""

import inspect
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from pydantic import BaseModel, create_model

from mock_api.answers import answers_of
from mock_api.tables import Tables, load_tables

LOOPBACK = "127.0.0.1"
START_LIMIT = 10.0
STOP_LIMIT = 5
"""Seconds for a server thread to start; whole seconds for pending answers when a server stops."""


class Endpoint(NamedTuple):
    """A POST endpoint: `answer` takes the fields of `body` as keyword arguments. No body: no arguments."""

    path: str
    body: type[BaseModel] | None
    answer: Callable[..., Any]


def endpoints(tables: Tables) -> list[Endpoint]:
    """The 38 endpoints of the official server over a graph."""
    return [Endpoint(path, _body(path, answer), answer) for path, answer in answers_of(tables).items()]


def _body(path: str, answer: Callable[..., Any]) -> type[BaseModel] | None:
    parameters = inspect.signature(answer).parameters.values()
    fields: Any = {one.name: (one.annotation, ... if one.default is one.empty else one.default) for one in parameters}
    return create_model(path.strip("/").replace("/", "_"), **fields) if fields else None


def create_app(tables: Tables) -> FastAPI:
    """The application."""
    # The official server also reads bodies that come without a content type as JSON.
    app = FastAPI(title="CRAG mock API", strict_content_type=False)
    app.add_exception_handler(RequestValidationError, _refuse)

    @app.get("/")
    async def root() -> dict[str, str]:
        return {"message": "The CRAG API service is running"}

    for endpoint in endpoints(tables):
        app.post(
            endpoint.path,
            name=endpoint.path.strip("/").replace("/", "_"),
            description=endpoint.answer.__doc__ or "",
            response_class=Response,
        )(_route(endpoint))
    return app


def _route(endpoint: Endpoint) -> Callable[..., Any]:
    def respond(arguments: dict[str, Any]) -> Response:
        try:
            answer = {"result": endpoint.answer(**arguments)}
            # FastAPI's own JSON encoding walks through large answers twice.
            content = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except ValueError:  # the official server crashes here, too: NaN is not JSON, some texts are not years
            return PlainTextResponse("Internal Server Error", status_code=500)
        return Response(content.encode(), media_type="application/json")

    async def without_body() -> Response:
        return respond({})

    async def with_body(body: BaseModel) -> Response:
        return respond(dict(body))

    if endpoint.body is None:
        return without_body
    # FastAPI reads the body's model here; it cannot be written above because each endpoint has its own.
    with_body.__annotations__["body"] = endpoint.body
    return with_body


async def _refuse(request: Request, error: Exception) -> Response:
    """The answer 422 to arguments of a wrong type; without the value where JSON cannot hold it, such as NaN."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - FastAPI asks for the wider type
    try:
        return await request_validation_exception_handler(request, error)
    except ValueError:
        faults = [{key: fault[key] for key in ("type", "loc", "msg")} for fault in error.errors()]
        return JSONResponse({"detail": faults}, 422)


class Server(uvicorn.Server):
    """A uvicorn server on an open socket. `ready` is called once it answers."""

    def __init__(self, app: FastAPI, listening: socket.socket, ready: Callable[[], None]) -> None:
        quiet: Any = {"lifespan": "off", "access_log": False, "log_config": None, "log_level": "error"}
        super().__init__(uvicorn.Config(app, **quiet, timeout_graceful_shutdown=STOP_LIMIT))
        self._listening = listening
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, then call `ready`."""
        await super().startup(sockets)
        self._ready()

    def serve_until_stopped(self) -> None:
        """Answer until `should_exit` is set, or until SIGINT or SIGTERM in the main thread."""
        self.run(sockets=[self._listening])


def listen(host: str = LOOPBACK, port: int = 0) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises OSError if host or port cannot be used."""
    listening = socket.create_server((host, port))
    # Connections inherit it. asyncio sets it only on sockets that name their protocol; without it each answer after a
    # connection's first is 40 ms late.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def url_of(listening: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listening.getsockname()
    return f"http://{host}:{port}"


@contextmanager
def serve(data: Path | None = None) -> Iterator[str]:
    """Serve a graph from a thread of this process and yield the base URL, without a trailing slash.

    `data` is the directory of the graph (default: the shipped one). Raises GraphError for an unreadable graph.
    """
    app = create_app(load_tables(data))
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
