"""One clock per batch. Each stage gets its budget before it starts and asks the clock how much is left.

The clock cannot stop running code; `call_within` abandons it. A stage that calls into C must bound its own work: the
extractor has killable processes, the language model a stopping rule (docs/decisions.md).
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")

Clock = Callable[[], float]
"""Seconds on any monotonic scale."""


class Deadline:
    """A point in time. `seconds` counts from construction; tests can replace `clock`."""

    def __init__(self, seconds: float, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._ends = self._started + seconds

    @property
    def remaining(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self._ends - self._clock())

    @property
    def elapsed(self) -> float:
        """Seconds since this deadline was set."""
        return self._clock() - self._started

    @property
    def expired(self) -> bool:
        """True once no time is left."""
        return self.remaining <= 0.0

    def within(self, seconds: float) -> "Deadline":
        """A deadline in at most `seconds`, never later than this one."""
        return Deadline(min(seconds, self.remaining), self._clock)


class BatchClock:
    """The deadline of a batch, divided among named stages.

    Args:
        seconds: The time of the batch.
        reserve: Seconds of it that no stage gets.
        shares: Relative weights of the stages, in the order in which they run. A stage gets its weight's part of the
            time left when it starts. So all later stages share what an early stage saves or overruns.
        clock: Tests can replace it.

    Example:
        clock = BatchClock(30.0, reserve=2.0, shares={"web": 1.0, "generate": 3.0})
        with clock.stage("web") as deadline:
            read_pages(deadline)  # 7 seconds
        clock.seconds  # {"web": 4.2}
    """

    def __init__(
        self,
        seconds: float,
        reserve: float,
        shares: Mapping[str, float],
        clock: Clock = time.monotonic,
    ) -> None:
        self.whole = Deadline(max(0.0, seconds - reserve), clock)
        self.seconds: dict[str, float] = {}
        self._shares = dict(shares)
        self._clock = clock

    def span(self, first_stage: str, last_stage: str) -> Deadline:
        """The deadline of all stages from the first to the last one, counted from now."""
        order = list(self._shares)
        start = order.index(first_stage)
        end = order.index(last_stage) + 1

        # The stages before `first_stage` are over; those from `first_stage` on divide what is left.
        weights = list(self._shares.values())
        span_weight = sum(weights[start:end])
        remaining_weight = sum(weights[start:])
        return self.whole.within(self.whole.remaining * span_weight / remaining_weight)

    @contextmanager
    def stage(self, name: str) -> Iterator[Deadline]:
        """Give the stage its deadline and record its seconds. A stage without a share may use all the time left."""
        if name not in self._shares:
            yield self.whole
            return

        started = self._clock()
        try:
            yield self.span(name, name)
        finally:
            # A stage can run several times in a batch, once for each check that asks the model.
            self.seconds[name] = self.seconds.get(name, 0.0) + self._clock() - started


class StuckError(TimeoutError):
    """A call did not return in time. Its thread is abandoned and its result ignored."""


class CallCrashedError(RuntimeError):
    """A call raised something that is not an `Exception`, such as a panic in a Rust library."""


def start_in_thread(function: Callable[[], Result]) -> Future[Result]:
    """Run the function in a thread of its own, which does not keep the process from ending; its outcome, to wait for.

    A pool waits for its threads, also after Ctrl-C.
    """
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:  # noqa: BLE001 - re-raised in the thread that waits
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True, name="watched-call").start()
    return outcome


def call_within(seconds: float, function: Callable[[], Result]) -> Result:
    """Run the function in its own thread; give its result or raise its exception, StuckError or CallCrashedError.

    A function that holds the interpreter lock cannot be abandoned, because the waiting caller needs it too. So pages
    are parsed in processes, which can be killed. Torch, ONNX Runtime and sockets release the lock.
    """
    outcome = start_in_thread(function)
    wait([outcome], seconds)
    if not outcome.done():
        raise StuckError(f"no result after {seconds:.1f} s")

    failure = outcome.exception()
    # Those who isolate faults catch only `Exception`, and a panic must not pass them.
    if failure and not isinstance(failure, Exception):
        raise CallCrashedError(f"{type(failure).__name__}: {failure}") from failure
    return outcome.result()
