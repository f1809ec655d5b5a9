"""Wait for a function with a time limit, even where the function itself cannot be stopped."""

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class StuckError(TimeoutError):
    """A call did not return in time. Its thread is abandoned and its later result ignored."""

    def __init__(self, message: str, thread: threading.Thread) -> None:
        super().__init__(message)
        self.thread = thread
        """Alive for as long as the call is still running."""


class CallCrashedError(RuntimeError):
    """A call raised something that is not an `Exception`, such as a panic in a Rust library."""


def call_within(seconds: float, function: Callable[[], Result]) -> Result:
    """Run the function in a thread of its own and return its result or raise its exception.

    Code that holds the interpreter lock cannot be abandoned this way (a regex in C held `join(1.0)` for more than 25
    s), so pages are parsed in killable processes. Torch, ONNX Runtime and sockets release the lock.

    Raises:
        StuckError: no result after so many seconds.
        CallCrashedError: the call raised something that is not an `Exception`.
    """
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function())
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
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
