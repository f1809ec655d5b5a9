"""Shared by the commands of this folder: arguments, configurations, the check for a file, one line for each fault."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from agents.files import FolderInUseError
from agents.llm import EngineUnavailableError
from agents.settings import SettingsError, StrictModel, read_settings
from evaluation.datasets import DatasetError, Split, dataset_files
from evaluation.judge import JudgeUnavailableError
from evaluation.termination import Terminated
from mock_api import GraphError
from models.manifest import UnknownModelError, WeightsMissingError

EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143
Model = TypeVar("Model", bound=StrictModel)


class CommandError(RuntimeError):
    """A command cannot do what it was asked for; the message says what to do."""


FAULTS = (
    *(CommandError, DatasetError, EngineUnavailableError, FolderInUseError, GraphError, JudgeUnavailableError),
    *(OSError, SettingsError, UnknownModelError, WeightsMissingError),
)


def exit_code(work: Callable[[], int], goes_on: str = "--resume", fault: int = 1) -> int:
    """Do the work of a command, which gives the exit code; a fault is one line on standard error, and `fault`.

    `goes_on` is what continues the work after an interrupt.
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
    return fault


def config_names(folder: Path) -> list[str]:
    """Names of a command's shipped configurations."""
    return sorted(path.stem for path in (folder / "configs").glob("*.toml"))


def read_config(form: type[Model], folder: Path, config: str, changes: Sequence[str] = ()) -> Model:
    """A command's shipped configuration of that name, or the TOML file at that path, with changes such as ``epochs=1``.

    Raises:
        SettingsError: no such configuration, not TOML, an unknown key, a wrong type or a value out of range.
    """
    path = Path(config) if config.endswith(".toml") else folder / "configs" / f"{config}.toml"
    if not path.is_file():
        raise SettingsError(f"there is no {path}; shipped configurations: {', '.join(config_names(folder))}")
    return read_settings(form, path, changes)


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
    """Parse a whole number from 1, as the type of an argument."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1, found {text!r}")
    return int(text)


def check_data_file(path: Path, remedy: str) -> None:
    """Check that a file, or its parts, is there; `DatasetError` if not, with the remedy: which option names another."""
    try:
        dataset_files(path)
    except DatasetError as error:
        raise DatasetError(f"{error}; {remedy}") from None


def count_table(rows: Mapping[str, Mapping[str, int | float | None]]) -> str:
    """Columns that are named alike in all rows, for a person; None is a dash."""
    columns = list(next(iter(rows.values())))
    lines = [["", *columns]]
    for name, counts in rows.items():
        cells = (counts[column] for column in columns)
        lines.append([name, *("-" if cell is None else f"{cell:,}" for cell in cells)])
    widths = [2 + max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return "\n".join(
        name.ljust(widths[0]) + "".join(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        for name, *cells in lines
    )
