"""One clock per batch. Each stage gets its budget before it starts and asks the clock how much is left.

The clock cannot stop running code. A stage that calls into C must bound its own work: the extractor has killable
processes, the language model a stopping rule. `docs/decisions.md` lists what was measured to stop work.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

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

    `shares` are relative weights of the stages in the order in which they run. A stage gets its weight's part of the
    time left when it starts. So all later stages share what an early stage saves or overruns.
    """

    def __init__(
        self, seconds: float, reserve: float, shares: Mapping[str, float], clock: Clock = time.monotonic
    ) -> None:
        self.whole = Deadline(max(0.0, seconds - reserve), clock)
        self.seconds: dict[str, float] = {}
        self._shares = dict(shares)
        self._order: Sequence[str] = list(shares)
        self._clock = clock

    def span(self, first: str, last: str) -> Deadline:
        """The deadline of the stages `first` to `last`, counted from now."""
        start, end = self._order.index(first), self._order.index(last) + 1
        weights = [self._shares[stage] for stage in self._order[start:]]
        return self.whole.within(self.whole.remaining * sum(weights[: end - start]) / sum(weights))

    @contextmanager
    def stage(self, name: str) -> Iterator[Deadline]:
        """Give the stage its deadline and record its seconds. A stage without a share may use all the time left."""
        if name not in self._shares:
            yield self.whole
            return
        following = self._order[self._order.index(name) :]
        part = self._shares[name] / sum(self._shares[stage] for stage in following)
        started = self._clock()
        try:
            yield self.whole.within(self.whole.remaining * part)
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + self._clock() - started
