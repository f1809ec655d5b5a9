"""A call that does not come back cannot hold the caller."""

import threading

import pytest

from agents.common.deadline import StuckError, call_within


def test_result_and_exception_come_through() -> None:
    assert call_within(5, lambda: 42) == 42
    with pytest.raises(ZeroDivisionError):
        call_within(5, lambda: 1 // 0)


def test_none_is_a_result() -> None:
    assert call_within(5, lambda: None) is None


def test_a_stuck_call_is_left_behind() -> None:
    release = threading.Event()
    with pytest.raises(StuckError, match=r"no result after 0\.2 s"):
        call_within(0.2, release.wait)
    release.set()
