"""SIGTERM runs every `finally`."""

import os
import signal
import threading

import pytest

from evaluation.runner import Terminated, stopped_in_order


def test_the_first_signal_interrupts_and_the_second_is_ignored() -> None:
    cleaned = []

    def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            cleaned.append(True)

    with pytest.raises(Terminated), stopped_in_order():
        work()
    assert cleaned == [True]


def test_a_thread_that_may_not_handle_signals_goes_without() -> None:
    outcome: list[object] = []

    def work() -> None:
        before = signal.getsignal(signal.SIGTERM)
        with stopped_in_order():
            outcome.append(signal.getsignal(signal.SIGTERM) is before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert outcome == [True]
