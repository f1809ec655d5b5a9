"""The types of commands' arguments: each reads a word of the command line, or says what it must be."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from crag.core.queries import TIME_FORMS, normalise_query_time
from crag.core.text import is_server_address, without_credentials
from crag.settings import parse_override, quoted_override

T = TypeVar("T")

STANDARD_OUTPUT = Path("-")
"""The value of ``--out`` for standard output."""


def argument_type(parse: Callable[[str], T], expected: str = "") -> Callable[[str], T]:
    """A parser as the type of an argument.

    argparse prints "must be `expected`", or without `expected` the message of the parser's `ValueError`.
    """

    def parse_argument(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            message = f"must be {expected}, found {text!r}" if expected else str(error)
            # argparse hides the text of a ValueError, but prints that of its own error
            raise argparse.ArgumentTypeError(message) from None

    return parse_argument


def whole_number(minimum: int, maximum: int | None = None) -> Callable[[str], int]:
    """A whole number within bounds."""
    expected = f"a whole number of at least {minimum}"
    if maximum is not None:
        expected = f"a whole number, {minimum} to {maximum}"

    def parse(text: str) -> int:
        # A ValueError of `int` and one of the bounds give the same message
        value = int(text)
        if value < minimum or (maximum is not None and value > maximum):
            raise ValueError(text)
        return value

    return argument_type(parse, expected)


def number(minimum: float, maximum: float = sys.float_info.max) -> Callable[[str], float]:
    """A finite number within bounds."""
    expected = f"a number of at least {minimum:g}"
    if maximum < sys.float_info.max:
        expected = f"{minimum:g} to {maximum:g}"

    def parse(text: str) -> float:
        value = float(text)
        if not minimum <= value <= maximum:  # also refuses nan
            raise ValueError(text)
        return value

    return argument_type(parse, expected)


def override(text: str) -> str:
    """``KEY=VALUE`` as a TOML line; a bare word needs no quotes."""
    # Only the first "=" separates: a value such as "a=b" may have its own
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (key and equals and value) or "\n" in text:
        raise ValueError(f"must be KEY=VALUE in one line, found {text!r}")

    line = f"{key}={value}"
    parse_override(line)  # raises ValueError: not TOML
    # Quoted here, so that later readers need not know about bare words
    return quoted_override(line)


def moment(text: str) -> str:
    """A query time, in CRAG's form."""
    normalised = normalise_query_time(text)
    if normalised is None:
        raise ValueError(f"{text!r} is not a time such as {TIME_FORMS}")
    return normalised


def preset(text: str) -> str:
    """A preset's name or file; an empty text, as of a variable that is not set, names none."""
    if not text.strip():
        raise argparse.ArgumentTypeError("a preset is required, found nothing")
    return text


def folder(text: str) -> Path:
    """The path of a folder; an empty one names none."""
    if not text.strip():
        raise argparse.ArgumentTypeError("a folder is required, found nothing")
    return Path(text)


def server(text: str) -> str:
    """The address of an HTTP server."""
    if not is_server_address(text):
        # An address may hold a password, and error messages end up in logs
        address = without_credentials(text)
        raise argparse.ArgumentTypeError(f"must be http://HOST:PORT or https://HOST, found {address!r}")
    return text


def new_file(text: str) -> Path:
    """A file that a command writes, which has no other place for it; raises ValueError for ``-``."""
    if Path(text) == STANDARD_OUTPUT:
        raise ValueError("must be a file: this command does not write it to standard output")
    return Path(text)
