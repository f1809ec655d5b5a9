"""What every command line shares: its parser, the forms of its arguments, and how it ends.

A command is a module with `main(arguments) -> int`. A fault of its input is one line on standard error and exit code 2.
"""

import argparse
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar
from urllib.parse import urlsplit

from crag.commands.ending import EXIT_UNUSABLE
from crag.core.files import UserError
from crag.core.places import PACKAGE
from crag.core.queries import parse_query_time
from crag.core.text import without_credentials
from crag.evaluation.datasets import Split
from crag.evaluation.graph_server import graph_server_fault
from crag.settings import (
    DEFAULT_PRESET,
    OVERRIDES_VARIABLE,
    PRESET_VARIABLE,
    available_presets,
    parse_override,
    quoted_override,
    usual_preset,
)

P = ParamSpec("P")
T = TypeVar("T")
N = TypeVar("N", int, float)


def command(*more: type[Exception], code: int = EXIT_UNUSABLE) -> Callable[[Callable[P, int | None]], Callable[P, int]]:
    """Make a function a command, which returns an exit code. Errors that the user can fix (a `UserError`, an `OSError`,
    one of `more`) become one line on standard error and `code`.
    """
    faults: tuple[type[Exception], ...] = (UserError, OSError, *more)

    def decorated(main: Callable[P, int | None]) -> Callable[P, int]:
        @wraps(main)
        def reporting(*arguments: P.args, **named: P.kwargs) -> int:
            try:
                return main(*arguments, **named) or 0
            except ModuleNotFoundError as error:
                if error.name is None or error.name.partition(".")[0] == PACKAGE.name:
                    raise
                sys.stderr.write(f"error: {error.name} is not installed: a file in requirements/ lists it\n")
                return code
            except faults as error:
                if isinstance(error, BrokenPipeError):  # of `| head`: see `end_with`
                    raise
                text = str(error)
                if isinstance(error, OSError) and error.filename:
                    text = f"{error.filename}: {error.strerror}"
                sys.stderr.write("error: " + "; ".join([text, *getattr(error, "__notes__", ())]) + "\n")
                return code

        return reporting

    return decorated


def say(text: str) -> None:
    """Print a message on standard error."""
    sys.stderr.write(f"{text}\n")


def parser_of(command: str, description: str | None, epilog: str | None = None) -> argparse.ArgumentParser:
    """A command's parser; `description` is often the module's docstring and is shown verbatim."""
    layout = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(command, description=description, epilog=epilog, formatter_class=layout)


def add_preset_arguments(parser: argparse._ActionsContainer, default: str | None = None) -> None:
    """Add ``--preset`` (`default` or the usual one) and ``--set KEY=VALUE``, for `load_settings(preset, set)`."""
    usual = f"default: ${PRESET_VARIABLE}, else {default or DEFAULT_PRESET}"
    named = f"a preset ({', '.join(available_presets())}) or a TOML file; {usual}"
    parser.add_argument("--preset", metavar="P", default=default or usual_preset(), help=named)
    key = "change a key of the preset (answering.audit=true); a TOML value, none to remove the key; can be repeated"
    parser.add_argument("--set", metavar="KEY=VALUE", type=form(override), action="append", default=[], help=key)


def overrides_of(options: argparse.Namespace) -> list[str]:
    """Changes to the preset: from the environment, then from --set, which takes precedence."""
    inherited = (line.strip() for line in os.environ.get(OVERRIDES_VARIABLE, "").splitlines())
    return [*filter(None, inherited), *options.set]


def add_graph_arguments(parser: argparse._ActionsContainer) -> None:
    """Add ``--kg-url URL`` or ``--mock-kg [DIR]``; without DIR, `mock_kg` is empty: the shipped graph."""
    graph = parser.add_mutually_exclusive_group()
    graph.add_argument("--kg-url", metavar="URL", type=server, help="address of a knowledge graph server")
    ours = "start a knowledge graph server for this run, with the shipped graph or the tables in DIR"
    graph.add_argument("--mock-kg", metavar="DIR", nargs="?", const="", help=ours)


def add_split_argument(parser: argparse._ActionsContainer, default: str = "0") -> None:
    """Add ``--split``, by default 0: the public file also holds the public test set."""
    rows = "read only rows of this split: 0 training, 1 public test set, any: all rows (default: %(default)s)"
    parser.add_argument("--split", metavar="N|any", type=form(Split.parse), default=default, help=rows)


def form(parse: Callable[[str], T], name: str = "") -> Callable[[str], T]:
    """A parser as a type of arguments: argparse shows the message of its `ValueError`, or names the form `name`."""

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            message = f"must be {name}, found {text!r}" if name else str(error)
            raise argparse.ArgumentTypeError(message) from None

    return parsed


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A whole number within bounds."""
    name = f"a whole number of at least {least}" if most is None else f"a whole number, {least} to {most}"
    return form(lambda text: _within(int(text), least, most), name)


def number(least: float, most: float = sys.float_info.max) -> Callable[[str], float]:
    """A finite number within bounds."""
    name = f"a number of at least {least:g}" if most == sys.float_info.max else f"{least:g} to {most:g}"
    return form(lambda text: _within(float(text), least, most), name)


def _within(value: N, least: float, most: float | None) -> N:
    if not least <= value <= (value if most is None else most):
        raise ValueError(value)
    return value


def override(text: str) -> str:
    """``KEY=VALUE`` as a TOML line; a bare word needs no quotes."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (key and equals and value) or "\n" in text:
        raise ValueError(f"must be KEY=VALUE in one line, found {text!r}")
    parse_override(f"{key}={value}")
    return quoted_override(f"{key}={value}")


def moment(text: str) -> str:
    """A query time in CRAG's form."""
    if parse_query_time(text) is None:
        raise ValueError(f'{text!r} is not a time like "03/05/2024, 23:18:31 PT"')
    return text


def warn_of_silent_graph(address: str) -> None:
    """Warn that a graph gives no results, before models are loaded."""
    if why := graph_server_fault(address):
        where = without_credentials(address)
        say(f"warning: the knowledge graph at {where} gives no results ({why}): answers will be lost or worse")


def folder(text: str) -> Path:
    """The path of a folder; an empty one names none."""
    if not text.strip():
        raise argparse.ArgumentTypeError("a folder is required, found nothing")
    return Path(text)


def server(text: str) -> str:
    """The address of an HTTP server."""
    try:
        parts = urlsplit(text)
        good = text.startswith(("http://", "https://")) and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good:
        text = without_credentials(text)
        raise argparse.ArgumentTypeError(f"must be http://HOST:PORT or https://HOST, found {text!r}")
    return text
