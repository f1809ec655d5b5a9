"""Waits for a function with a time limit, even if the function cannot be stopped."""

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class StuckError(TimeoutError):
    """A call did not return in time. Its thread is abandoned and its result ignored."""

    def __init__(self, message: str, thread: threading.Thread) -> None:
        super().__init__(message)
        self.thread = thread
        """Alive while the call is still running."""


class CallCrashedError(RuntimeError):
    """A call raised something that is not an `Exception`, such as a panic in a Rust library."""


def call_within(seconds: float, function: Callable[[], Result]) -> Result:
    """Run the function in its own thread and return its result or raise its exception.

    Code that holds the interpreter lock cannot be abandoned (a regex in C blocked `join(1.0)` for more than 25 s), so
    pages are parsed in killable processes. Torch, ONNX Runtime and sockets release the lock.

    Raises:
        StuckError: no result in time.
        CallCrashedError: the call raised something that is not an `Exception`.
    """
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function())
        except BaseException as error:  # noqa: BLE001 - re-raised in the caller's thread
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True, name="watched-call")
    thread.start()
    thread.join(seconds)
    if failure and isinstance(failure[0], Exception):
        raise failure[0]
    if failure:
        raise CallCrashedError(f"{type(failure[0]).__name__}: {failure[0]}") from failure[0]
    if not outcome:
        raise StuckError(f"no result after {seconds:.1f} s", thread)
    return outcome[0]
