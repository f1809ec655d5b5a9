"""Ends a test whose work hangs. No test measures time: this limit is many times what the slowest machine needs."""

from collections.abc import Callable
from typing import TypeVar

from crag.core.deadline import call_within

Result = TypeVar("Result")

HANG_SECONDS = 300.0


def finish(work: Callable[[], Result]) -> Result:
    """The result of the work; raises `crag.core.deadline.StuckError` if it seems to run for ever.

    Example:
        answers = finish(lambda: agent.answer_batch(batch))
    """
    return call_within(HANG_SECONDS, work)
