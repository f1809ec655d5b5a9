"""The HTTP server: its endpoints, and how to run it in this thread or in the background."""

import inspect
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import Body, FastAPI, Request
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from crag.mock_api.answers import build_answers
from crag.mock_api.tables import Tables, load_tables

LOOPBACK = "127.0.0.1"
STOP_LIMIT = 5
"""Whole seconds for pending answers when a server stops."""


def create_app(tables: Tables) -> FastAPI:
    """The application: the 38 endpoints of the official server over a graph."""
    # The official server also reads bodies that come without a content type as JSON.
    app = FastAPI(title="CRAG mock API", strict_content_type=False)
    app.add_exception_handler(RequestValidationError, _refuse)

    @app.get("/")
    async def root() -> dict[str, str]:
        return {"message": "The CRAG API service is running"}

    for path, answer in build_answers(tables).items():
        add_route = app.post(
            path,
            name=path.strip("/").replace("/", "_"),
            description=answer.__doc__ or "",
            response_class=Response,
        )
        add_route(_route(answer))

    return app


def _route(answer: Callable[..., Any]) -> Callable[..., Any]:
    """A route whose JSON body has a field for each parameter of the answer."""

    async def respond(**arguments: object) -> Response:
        try:
            # FastAPI's own JSON encoding walks through large answers twice.
            result = {"result": answer(**arguments)}
            content = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except ValueError:
            # The official server crashes here, too: NaN is not JSON, some strings are not years.
            return PlainTextResponse("Internal Server Error", status_code=500)
        return Response(content.encode(), media_type="application/json")

    # FastAPI reads the fields of the body from the signature.
    signature = inspect.signature(answer)
    fields = [_body_field(parameter) for parameter in signature.parameters.values()]
    respond.__signature__ = inspect.Signature(fields)  # type: ignore[attr-defined]
    return respond


def _body_field(parameter: inspect.Parameter) -> inspect.Parameter:
    """A field of the JSON body with the name, type and default of the parameter."""
    return parameter.replace(
        annotation=Annotated[parameter.annotation, Body(embed=True)],
        kind=inspect.Parameter.KEYWORD_ONLY,
    )


async def _refuse(request: Request, error: Exception) -> Response:
    """The answer 422 to arguments of a wrong type; without the value where JSON cannot hold it, such as NaN."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - FastAPI's signature has the wider type

    try:
        return await request_validation_exception_handler(request, error)
    except ValueError:
        details = [{name: fault[name] for name in ("type", "loc", "msg")} for fault in error.errors()]
        return JSONResponse({"detail": details}, 422)


def build_server(tables: Tables) -> uvicorn.Server:
    """A server; `run` answers on sockets until `should_exit` is set, or SIGINT or SIGTERM comes to the main thread."""
    config = uvicorn.Config(
        create_app(tables),
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="error",
        timeout_graceful_shutdown=STOP_LIMIT,
    )
    return uvicorn.Server(config)


def listen(host: str = LOOPBACK, port: int = 0) -> socket.socket:
    """A listening socket, whose clients wait for the server; port 0 takes a free port. Raises OSError."""
    listening = socket.create_server((host, port))
    # Accepted connections inherit TCP_NODELAY. asyncio sets it only on sockets that name their protocol; without it,
    # each answer after a connection's first is 40 ms late.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def socket_url(listening: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listening.getsockname()
    return f"http://{host}:{port}"


@contextmanager
def serve(data: Path | None = None) -> Iterator[str]:
    """Serve a graph from a thread of this process and yield the base URL, without a trailing slash.

    `data` is the folder of the graph (default: the shipped one). Raises GraphError for an unreadable graph.

    >>> import httpx2
    >>> with serve() as url:
    ...     reply = httpx2.post(f"{url}/movie/get_movie_info", json={"query": "jaws"})
    >>> [film["title"] for film in reply.json()["result"]]
    ['Jaws']
    """
    server = build_server(load_tables(data))

    with listen() as listening:
        thread = threading.Thread(target=server.run, args=([listening],), name="mock-api", daemon=True)
        thread.start()
        try:
            yield socket_url(listening)
        finally:
            server.should_exit = True
            thread.join()
