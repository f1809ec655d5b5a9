"""What a client may cost the server: the size of a body, and the seconds until its request is complete."""

import asyncio
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_BODY = 1_000_000
"""Bytes; the arguments of a call are names and dates."""
REQUEST_SECONDS = 20.0
"""For the head of a request, and between the parts of its body."""


class BoundedBody:
    """Answers 413 to a body that is, or says it will be, larger than `LARGEST_BODY`; 408 to one that does not come."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        if any(not value.isdigit() or len(value) > 12 or int(value) > LARGEST_BODY for value in lengths):
            await _refusal(413, f"at most {LARGEST_BODY} bytes")(scope, receive, send)
            return
        parts: list[Message] = []
        size = 0
        while not parts or parts[-1].get("more_body"):
            try:
                parts.append(await asyncio.wait_for(receive(), REQUEST_SECONDS))
            except TimeoutError:
                await _refusal(408, "the body did not come")(scope, receive, send)
                return
            size += len(parts[-1].get("body", b""))
            if size > LARGEST_BODY:
                await _refusal(413, f"at most {LARGEST_BODY} bytes")(scope, receive, send)
                return
        left = iter(parts)

        async def again() -> Message:
            return next(left, None) or await receive()

        await self._app(scope, again, send)


def _refusal(status: int, why: str) -> Response:
    """Closes the connection, so that the rest of the body is not waited for."""
    return Response(why, status, headers={"connection": "close"})


class BoundedHead(HttpToolsProtocol):
    """Closes a connection whose next request has not begun in time; uvicorn does so only after an answer."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(REQUEST_SECONDS, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if (self.cycle is None or self.cycle.response_complete) and not self.transport.is_closing():
            self.transport.close()


async def refuse(request: Request, error: Exception) -> Response:
    """The answer 422 to arguments of a wrong type; without the value where JSON cannot hold it, such as NaN."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - FastAPI asks for the wider type
    try:
        return await request_validation_exception_handler(request, error)
    except ValueError:
        faults: list[dict[str, Any]] = [{key: fault[key] for key in ("type", "loc", "msg")} for fault in error.errors()]
        return JSONResponse({"detail": faults}, 422)


def bound(app: FastAPI) -> None:
    """Add the limits to an application."""
    app.add_middleware(BoundedBody)
    app.add_exception_handler(RequestValidationError, refuse)
