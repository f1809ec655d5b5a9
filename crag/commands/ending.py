"""How a command ends. It imports little: it is imported before the command is known."""

import codecs
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from crag.core.files import FAULTS_OF_DISKS

EXIT_UNUSABLE = 2
"""The input cannot be used."""
EXIT_INTERRUPTED = 130
"""As a shell reports SIGINT."""
EXIT_READER_GONE = 141
"""As a shell reports SIGPIPE."""
EXIT_TERMINATED = 143
"""As a shell reports SIGTERM."""


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM (`kill`, a batch system, `docker stop`)."""


@contextmanager
def stopped_in_order() -> Iterator[None]:
    """Inside, SIGTERM raises `Terminated`, so that every `finally` runs; by default Python would exit at once.

    Only the first signal counts: a second would break the clean-up. After one, all others are ignored until the process
    has ended, so that its exit code is `EXIT_TERMINATED`.
    """
    is_stopped = False

    def stop(*_: object) -> None:
        nonlocal is_stopped
        if not is_stopped:
            is_stopped = True
            raise Terminated

    previous_handler = signal.getsignal(signal.SIGTERM)
    try:
        signal.signal(signal.SIGTERM, stop)
        yield
    finally:
        # Python itself takes its functions from the signals, before the process has ended
        signal.signal(signal.SIGTERM, signal.SIG_IGN if is_stopped else previous_handler)


def interrupt_code(interrupt: KeyboardInterrupt) -> int:
    """The exit code after Ctrl-C or SIGTERM."""
    return EXIT_TERMINATED if isinstance(interrupt, Terminated) else EXIT_INTERRUPTED


def end_with(main: Callable[[], int]) -> NoReturn:
    """Run the command and end the process: quietly where its reader has gone, with one line after Ctrl-C or where its
    output cannot be written.
    """
    _open_closed_streams()
    _escape_foreign_characters()
    try:
        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted: the same command starts again, and continues where --help names --resume\n")
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # `| head` has read enough
        _discard_output()
        code = EXIT_READER_GONE
    except OSError as error:
        if not is_output_fault(error):
            raise
        sys.stderr.write(f"error: the output cannot be written: {error.strerror}\n")
        _discard_output()
        code = EXIT_UNUSABLE
    sys.exit(code)


def is_output_fault(error: BaseException) -> bool:
    """Whether standard output could not be written: its reader has gone, or the disk behind ``> FILE`` is full.

    Errors of other files name their file.
    """
    if isinstance(error, BrokenPipeError):
        return True
    return isinstance(error, OSError) and error.errno in FAULTS_OF_DISKS and error.filename is None


def _discard_output() -> None:
    """Let what is left of standard output go nowhere: Python would complain when it closes the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_closed_streams() -> None:
    """Connect standard streams that the caller has closed, as ``>&-`` and some schedulers do, to the null device.

    Python leaves None in their place, and the next file that is opened would get their number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8"))


def _escape_foreign_characters() -> None:
    """Let standard output write characters that its encoding lacks, as of a Latin-1 locale, as escapes of JSON.

    So no character ends a command, and JSON stays JSON.
    """
    codecs.register_error("json_escape", _json_escape)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="json_escape")


def _json_escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end]).strip('"'), error.end
