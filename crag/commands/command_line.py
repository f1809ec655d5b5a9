"""What every command shares: its parser, shared options, and how errors are reported.

A command is a module with `main(arguments) -> int`. An error that the user can fix is one line on standard error and
exit code 2.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from crag.commands.argument_types import STANDARD_OUTPUT, argument_type, override, preset, server
from crag.commands.command_parser import CommandParser
from crag.commands.ending import EXIT_UNUSABLE, is_output_fault
from crag.core.files import UserError, json_line, write_rows
from crag.core.packages import describe_missing
from crag.core.places import PACKAGE
from crag.core.progress import ProgressMode
from crag.core.text import without_credentials
from crag.evaluation.graph_server import graph_server_fault
from crag.evaluation.split import Split
from crag.settings import (
    DEFAULT_PRESET,
    OVERRIDES_VARIABLE,
    PRESET_VARIABLE,
    available_presets,
    inherited_changes,
    load_settings,
    usual_preset,
)
from crag.weights.preset_files import read_preset

P = ParamSpec("P")


def command(
    *more_errors: type[Exception],
    code: int = EXIT_UNUSABLE,
) -> Callable[[Callable[P, int | None]], Callable[P, int]]:
    """Make a function a command, which returns an exit code.

    Errors that the user can fix (a `UserError`, an `OSError`, one of `more_errors`) become one line on standard error,
    and the command returns `code`.

    Example:
        @command(GraphError)
        def main(arguments: Sequence[str] | None = None) -> None: ...
    """
    user_errors: tuple[type[Exception], ...] = (UserError, OSError, *more_errors)

    def decorate(main: Callable[P, int | None]) -> Callable[P, int]:
        @wraps(main)
        def run(*args: P.args, **kwargs: P.kwargs) -> int:
            try:
                return main(*args, **kwargs) or 0

            except ModuleNotFoundError as error:
                if error.name is None or error.name.partition(".")[0] == PACKAGE.name:
                    raise  # a module of ours: a bug, not a missing package
                sys.stderr.write(f"error: {describe_missing(error.name)}\n")
                return code

            except user_errors as error:
                if is_output_fault(error):  # `end_with` reports it
                    raise
                sys.stderr.write(f"error: {_message(error)}\n")
                return code

        return run

    return decorate


def _message(error: Exception) -> str:
    """The text of an error with its notes; of the operating system's, the file and the reason without the number."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    notes: Sequence[str] = getattr(error, "__notes__", ())
    return "; ".join([text, *notes])


def say(text: str) -> None:
    """Print a message on standard error."""
    sys.stderr.write(f"{text}\n")


def parser_of(
    command: str,
    description: str | None,
    epilog: str | None = None,
    more_words: str = "",
) -> argparse.ArgumentParser:
    """A command's parser; `description` is often the module's docstring and is printed with its line breaks.

    `more_words` is the advice for words that no argument takes.
    """
    return CommandParser(
        command,
        description=description,
        epilog=epilog,
        more_words=more_words,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def write_or_print(target: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write rows as JSON lines to a file, or to standard output if the target is ``-``; returns their number."""
    if target != STANDARD_OUTPUT:
        return write_rows(target, rows)
    count = 0
    for row in rows:
        sys.stdout.write(json_line(row).decode())
        count += 1
    return count


# --- options that several commands have -------------------------------------------------------------------------------


def add_preset_arguments(parser: argparse._ActionsContainer, default: str | None = None) -> None:
    """Add ``--preset`` and ``--set KEY=VALUE``, for `load_settings(preset, set)`.

    A command with a `default` of its own does not read the environment variable of the usual preset. `set` begins with
    the changes of the environment, over which those of the command line take precedence.
    """
    presets = ", ".join(available_presets())
    fallback = default or f"${PRESET_VARIABLE}, else {DEFAULT_PRESET}"
    parser.add_argument(
        "--preset",
        metavar="P",
        type=preset,
        default=default or usual_preset(),
        help=f"a preset ({presets}) or a TOML file; default: {fallback}",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        type=argument_type(override),
        action="append",
        default=inherited_changes(),
        help="change a key of the preset (answering.audit=true); a TOML value, none to remove the key; a path begins "
        f"at the current folder; can be repeated, after the lines of ${OVERRIDES_VARIABLE}",
    )


def read_changed_preset(name: str) -> Mapping[str, Any] | None:
    """A preset's settings with the changes of the environment, whose models `crag evaluate` will want; None: no preset.

    Raises SettingsError: a change does not fit the preset; ValueError: the preset is not TOML.
    """
    tables = read_preset(name)
    changes = inherited_changes()
    # Without changes the tables do: weights can be fetched for settings that are not valid yet
    return load_settings(name, changes).model_dump() if tables and changes else tables


def add_graph_arguments(parser: argparse._ActionsContainer) -> None:
    """Add ``--kg-url URL`` or ``--mock-kg [DIR]``; without DIR, `mock_kg` is empty: the shipped graph."""
    graph = parser.add_mutually_exclusive_group()
    graph.add_argument(
        "--kg-url",
        metavar="URL",
        type=server,
        help="address of a knowledge graph server",
    )
    graph.add_argument(
        "--mock-kg",
        metavar="DIR",
        nargs="?",
        const="",
        help="start a knowledge graph server for this run, with the shipped graph or the tables in DIR",
    )


def add_split_argument(parser: argparse._ActionsContainer, default: str = "0") -> None:
    """Add ``--split``, by default 0: the public file also holds the public test set."""
    parser.add_argument(
        "--split",
        metavar="N|any",
        type=argument_type(Split.parse),
        default=default,
        help="read only rows of this split: 0 training, 1 public test set, any: all rows (default: %(default)s)",
    )


def add_progress_argument(parser: argparse._ActionsContainer) -> None:
    """Add ``--progress bar|log|none``, by default a bar on a terminal and lines of a log elsewhere."""
    parser.add_argument(
        "--progress",
        choices=list(ProgressMode),
        type=argument_type(ProgressMode, f"one of {', '.join(ProgressMode)}"),
        help="a bar, a line every 30 s, or nothing (default: a bar on a terminal, else lines)",
    )


def warn_of_silent_graph(address: str) -> None:
    """Warn that a graph gives no results, before models are loaded."""
    reason = graph_server_fault(address)
    if reason:
        where = without_credentials(address)
        say(f"warning: the knowledge graph at {where} gives no results ({reason}): answers will be lost or worse")
