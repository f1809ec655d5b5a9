"""The clock of a batch, with a clock that only the test moves."""

import threading

import pytest

from agents.common.deadline import BatchClock, Deadline, StuckError, call_within


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_remaining_falls_to_zero_and_not_below() -> None:
    hands = Hands()
    deadline = Deadline(5, hands)
    hands.now += 3
    assert (deadline.remaining, deadline.elapsed, deadline.expired) == (2, 3, False)
    hands.now += 3
    assert (deadline.remaining, deadline.expired) == (0, True)


def test_a_nested_deadline_never_outlasts_the_outer_one() -> None:
    hands = Hands()
    outer = Deadline(5, hands)
    assert outer.within(2).remaining == 2
    assert outer.within(60).remaining == 5


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


def test_a_stage_that_fails_is_timed_too() -> None:
    hands = Hands()
    clock = BatchClock(30, 0, {"extract": 1}, hands)

    def fail_after_two_seconds() -> None:
        with clock.stage("extract"):
            hands.now += 2
            raise RuntimeError("broken page")

    with pytest.raises(RuntimeError, match="broken page"):
        fail_after_two_seconds()
    assert clock.seconds == {"extract": 2}


def test_a_span_covers_the_stages_from_its_first_to_its_last() -> None:
    clock = BatchClock(60, 0, {"route": 6, "extract": 1, "rerank": 2, "generate": 3}, Hands())
    assert clock.span("route", "rerank").remaining == pytest.approx(45)
    assert clock.span("extract", "rerank").remaining == pytest.approx(30)


def test_a_stage_without_a_share_may_use_all_that_is_left_and_is_not_noted() -> None:
    clock = BatchClock(60, 0, {"extract": 1}, Hands())
    with clock.stage("plan") as budget:
        assert budget.remaining == 60
    assert clock.seconds == {}


def test_result_and_exception_come_through() -> None:
    assert call_within(5, lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        call_within(5, lambda: 1 // 0)


def test_a_stuck_call_is_left_behind() -> None:
    release = threading.Event()
    with pytest.raises(StuckError, match=r"no result after 0\.2 s"):
        call_within(0.2, release.wait)
    release.set()
