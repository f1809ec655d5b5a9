"""Handles SIGTERM as an interruption, so that the agent and its servers stop too."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM (`kill`, a batch system, `docker stop`)."""


@contextmanager
def stopped_in_order() -> Iterator[None]:
    """Inside, SIGTERM raises `Terminated`, so that every `finally` runs; by default Python would exit at once.

    Only the first signal counts: a second would break the clean-up. Does nothing outside the main thread, which alone
    may handle signals.
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
