"""The lock of models that may hang. No test waits: patience is zero, or ends with an event."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crag.core.deadline import Deadline
from crag.core.locks import PatientLock

HANG_GUARD = 60.0
"""Seconds after which a stuck test fails instead of waiting for ever."""


@contextmanager
def call_in_another_thread(lock: PatientLock) -> Iterator[threading.Event]:
    """A call that holds the lock until the event is set or the block ends."""
    holds = threading.Event()
    may_end = threading.Event()

    def call() -> None:
        with lock.acquire(None, HANG_GUARD) as acquired:
            assert acquired
            holds.set()
            may_end.wait(HANG_GUARD)

    thread = threading.Thread(target=call)
    thread.start()
    assert holds.wait(HANG_GUARD)
    try:
        yield may_end
    finally:
        may_end.set()
        thread.join(HANG_GUARD)


def test_a_free_lock_is_held_for_the_block_only() -> None:
    lock = PatientLock()
    with lock.acquire(Deadline(HANG_GUARD), HANG_GUARD) as acquired:
        assert acquired
        assert lock.is_held
    assert not lock.is_held


def test_a_failed_call_gives_the_lock_back() -> None:
    lock = PatientLock()
    with pytest.raises(RuntimeError), lock.acquire(None, HANG_GUARD):
        raise RuntimeError("the call failed")
    with lock.acquire(None, 0.0) as acquired:
        assert acquired


def test_whoever_cannot_wait_goes_without_and_leaves_the_call_alone() -> None:
    lock = PatientLock()
    with call_in_another_thread(lock):
        with lock.acquire(Deadline(0.0), HANG_GUARD) as acquired:
            assert not acquired
        assert lock.is_held


def test_a_caller_waits_for_a_call_that_ends() -> None:
    lock = PatientLock()
    with call_in_another_thread(lock) as may_end:
        may_end.set()
        with lock.acquire(None, HANG_GUARD) as acquired:
            assert acquired


def test_after_one_vain_wait_nobody_waits_until_the_call_ends() -> None:
    """With a patience of zero the first caller has waited all of it; the second would wait for a minute."""
    lock = PatientLock()
    with call_in_another_thread(lock):
        with lock.acquire(None, 0.0) as acquired:
            assert not acquired

        begun = threading.Event()
        outcomes: list[bool] = []

        def call_with_patience() -> None:
            begun.set()
            with lock.acquire(None, 10 * HANG_GUARD) as acquired:
                outcomes.append(acquired)

        impatient = threading.Thread(target=call_with_patience)
        impatient.start()
        assert begun.wait(HANG_GUARD)
        impatient.join(HANG_GUARD)
        assert outcomes == [False]

    # The call has ended: the lock is free, and patience is back.
    with lock.acquire(None, 0.0) as acquired:
        assert acquired
    with call_in_another_thread(lock) as may_end:
        may_end.set()
        with lock.acquire(None, HANG_GUARD) as acquired:
            assert acquired
