"""SIGTERM as an interruption, so that whoever stops the evaluator stops its agent and its servers too."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """Somebody asked this process to end (SIGTERM: `kill`, a batch system, `docker stop`)."""


@contextmanager
def stopped_in_order() -> Iterator[None]:
    """Within it SIGTERM raises `Terminated`, so that every `finally` runs; without this, Python would end at once.

    Only the first one counts: a second would tear the clean-up. In another thread than the main one nothing changes,
    as only that may handle signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise_once(_number: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated
