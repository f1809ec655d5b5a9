"""Warnings and messages for people: one line each, without tracebacks."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def one_line(text: object, length: int = 200) -> str:
    r"""A message, such as that of a library's exception, as one line of at most `length` characters.

    >>> one_line(ValueError("no server at\n  127.0.0.1"), length=20)
    'no server at 127....'
    """
    joined = " ".join(str(text).split())
    return joined if len(joined) <= length else f"{joined[: length - 3]}..."


class OneLineFormatter(logging.Formatter):
    """The message, and after it what an exception says, in one line.

    >>> error = (ValueError, ValueError("no server"), None)
    >>> record = logging.makeLogRecord({"msg": "the model died", "exc_info": error})
    >>> OneLineFormatter().format(record)
    'the model died: ValueError: no server'
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            text = f"{text}: {type(error).__name__}: {error}"
        return " ".join(text.split())


class _LineHandler(logging.Handler):
    """Writes to whatever standard error is at that moment; a line that repeats the one before is left out."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(OneLineFormatter())
        self._last_line = ""

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if line != self._last_line:
            self._last_line = line
            sys.stderr.write(f"{line}\n")


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Inside, warnings are lines. A program that has set up its logging keeps it."""
    root = logging.getLogger()
    if root.handlers:
        yield
        return

    handler = _LineHandler()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
