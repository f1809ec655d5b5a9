"""Time limits that end when something has happened, so that no test depends on the speed of the machine."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from crag.core.deadline import StuckError
from crag.pipeline import isolation

Result = TypeVar("Result")

_hanging: set[threading.Thread] = set()


def hang(release: threading.Event | None = None) -> None:
    """Wait for the event, or for ever. `give_up_what_hangs` gives up a call whose thread is here."""
    _hanging.add(threading.current_thread())
    (release or threading.Event()).wait()


def give_up_what_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages of a batch are given up when they `hang`, and never because of the time that they take."""
    monkeypatch.setattr(isolation, "call_within", _call_until_it_hangs)


def _call_until_it_hangs(seconds: float, function: Callable[[], Result]) -> Result:
    """Like `crag.core.deadline.call_within`, without its clock."""
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(function())
        except Exception as error:  # noqa: BLE001 - re-raised in the caller's thread
            outcome.set_exception(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while not outcome.done() and thread not in _hanging:
        thread.join(0.01)
    if not outcome.done():
        raise StuckError(f"no result after {seconds:.1f} s")
    return outcome.result()


def end_timeouts_when(monkeypatch: pytest.MonkeyPatch, holds: Callable[[], object]) -> None:
    """All time limits of `asyncio` end when the condition holds, whatever their seconds are."""
    real_timeout = asyncio.timeout

    async def expire(limit: asyncio.Timeout) -> None:
        while not holds():
            await asyncio.sleep(0.01)
        limit.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def timeout(_seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
        async with real_timeout(None) as limit:
            watch = asyncio.create_task(expire(limit))
            try:
                yield limit
            finally:
                watch.cancel()

    monkeypatch.setattr(asyncio, "timeout", timeout)
