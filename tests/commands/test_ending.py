"""A process that is told to end does so once, in order, and its exit code says so."""

import signal
import subprocess
import sys

import pytest

from crag.commands.ending import EXIT_TERMINATED

STOPPED = """
import os, signal, sys
from crag.commands.ending import interrupt_code, stopped_in_order

def tell() -> None:
    os.kill(os.getpid(), signal.SIGTERM)

try:
    with stopped_in_order():
        try:
            {inside}
        finally:
            tell()
            print("cleaned up")
except KeyboardInterrupt as interrupt:
    tell()
    code = interrupt_code(interrupt)
tell()
sys.exit(code)
"""


# As the start of Ray does: the handler that was found is put back
WITH_RAY = """
            handler = signal.getsignal(signal.SIGTERM)
            try:
                tell()
            finally:
                signal.signal(signal.SIGTERM, handler)
"""


@pytest.mark.parametrize("inside", ["tell()", WITH_RAY.strip()])
def test_signals_after_the_first_change_neither_the_clean_up_nor_the_exit_code(inside: str) -> None:
    command = [sys.executable, "-c", STOPPED.format(inside=inside)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (EXIT_TERMINATED, "cleaned up\n", "")


def test_without_a_signal_the_earlier_handler_is_back() -> None:
    program = "from crag.commands.ending import stopped_in_order; import os, signal\n"
    program += "with stopped_in_order(): pass\n"
    program += "os.kill(os.getpid(), signal.SIGTERM)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGTERM
