"""The clock of a batch, with a clock that only the test moves."""

import threading

import pytest

from crag.core.deadline import BatchClock, StuckError, call_within


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_saved_time_goes_to_later_stages_and_overruns_are_shared() -> None:
    hands = Hands()
    clock = BatchClock(30, 0, {"extract": 1, "rerank": 2, "generate": 3}, hands)
    with clock.stage("extract"):
        hands.now += 0
    with clock.stage("rerank") as budget:
        assert budget.remaining == pytest.approx(12)
        hands.now += 20
    with clock.stage("generate") as budget:
        assert budget.remaining == pytest.approx(10)
    assert clock.seconds == {"extract": 0, "rerank": 20, "generate": 0}


def test_a_stuck_call_is_left_behind() -> None:
    release = threading.Event()
    with pytest.raises(StuckError, match=r"no result after 0\.2 s"):
        call_within(0.2, release.wait)
    release.set()
