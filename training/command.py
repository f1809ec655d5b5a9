"""What the commands of this folder share: arguments, the check that a file is there, one line for each fault."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from agents.files import FolderInUseError
from agents.llm import EngineUnavailableError
from agents.settings import SettingsError
from evaluation.datasets import DatasetError, Split, dataset_files
from evaluation.judge import JudgeUnavailableError
from evaluation.termination import Terminated
from mock_api import GraphError
from models.manifest import UnknownModelError, WeightsMissingError

EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143


class CommandError(RuntimeError):
    """A command cannot do what it was asked for; the message says what to do."""


FAULTS = (
    *(CommandError, DatasetError, EngineUnavailableError, FolderInUseError, GraphError, JudgeUnavailableError),
    *(OSError, SettingsError, UnknownModelError, WeightsMissingError),
)


def exit_code(work: Callable[[], int], goes_on: str = "--resume") -> int:
    """Do the work of a command; a fault is one line on standard error, and 1.

    Args:
        work: Gives the exit code.
        goes_on: What continues the work after an interrupt.
    """
    try:
        return work()
    except FAULTS as error:
        sys.stderr.write(f"error: {error}\n")
    except FloatingPointError as error:
        sys.stderr.write(f"error: training diverged: {error}\n")
    except KeyboardInterrupt as interrupt:
        sys.stderr.write(f"stopped; {goes_on} goes on\n")
        return EXIT_TERMINATED if isinstance(interrupt, Terminated) else EXIT_INTERRUPTED
    return 1


def parser_of(module: str, description: str | None) -> argparse.ArgumentParser:
    """The parser of a command whose help is the docstring of its module, as it stands."""
    return argparse.ArgumentParser(
        prog=f"python -m {module}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def add_split_argument(parser: argparse.ArgumentParser) -> None:
    """``--split``; its value is a `Split`, 0 by default: the public file holds the public test set as well."""
    parser.add_argument(
        "--split",
        type=_split,
        default="0",
        metavar="N|any",
        help="read only rows with this number in their field `split`: 0 is there to learn from, 1 is the public test "
        "set; any: all rows, without a look at the field (default: %(default)s)",
    )


def _split(text: str) -> Split:
    try:
        return Split.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def positive(text: str) -> int:
    """The type of an argument: a whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1, found {text!r}")
    return int(text)


def check_data_file(path: Path, remedy: str) -> None:
    """Make sure that a file, or its parts, is there before anything long begins.

    Args:
        path: The file.
        remedy: Which option names another, for the message.

    Raises:
        DatasetError: it is not there.
    """
    try:
        dataset_files(path)
    except DatasetError as error:
        raise DatasetError(f"{error}; {remedy}") from None
