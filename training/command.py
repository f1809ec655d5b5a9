"""Shared by the commands of this folder: arguments, configurations, file checks, one-line errors."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from agents.common.files import FolderInUseError, UserError
from agents.llm import EngineUnavailableError
from agents.settings import SettingsError, StrictModel, read_settings
from evaluation.datasets import DatasetError, Split, dataset_files
from evaluation.judge import JudgeUnavailableError
from evaluation.runner import Terminated
from mock_api import GraphError
from models.manifest import UnknownModelError, WeightsMissingError

EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143
Model = TypeVar("Model", bound=StrictModel)


class CommandError(UserError, RuntimeError):
    """A command cannot do its work; the message says what to do."""


FAULTS = (
    *(CommandError, DatasetError, EngineUnavailableError, FolderInUseError, GraphError, JudgeUnavailableError),
    *(OSError, SettingsError, UnknownModelError, WeightsMissingError),
)


def exit_code(work: Callable[[], int], goes_on: str = "--resume", fault: int = 1) -> int:
    """Run a command's work and return its exit code; after an error, print one line to standard error and return
    `fault`.

    `goes_on` says how to continue after an interrupt.
    """
    try:
        return work()
    except FAULTS as error:
        sys.stderr.write(f"error: {error}\n")
    except FloatingPointError as error:
        sys.stderr.write(f"error: training diverged: {error}\n")
    except KeyboardInterrupt as interrupt:
        sys.stderr.write(f"stopped; continue with {goes_on}\n")
        return EXIT_TERMINATED if isinstance(interrupt, Terminated) else EXIT_INTERRUPTED
    return fault


def config_names(folder: Path) -> list[str]:
    """Names of a command's shipped configurations."""
    return sorted(path.stem for path in (folder / "configs").glob("*.toml"))


def read_config(form: type[Model], folder: Path, config: str, changes: Sequence[str] = ()) -> Model:
    """Read a shipped configuration by name, or a TOML file by path, with changes such as ``epochs=1``.

    Raises:
        SettingsError: no such configuration, not TOML, an unknown key, a wrong type or a value out of range.
    """
    path = Path(config) if config.endswith(".toml") else folder / "configs" / f"{config}.toml"
    if not path.is_file():
        raise SettingsError(f"no such file: {path}; shipped configurations: {', '.join(config_names(folder))}")
    return read_settings(form, path, changes)


def parser_of(module: str, description: str | None) -> argparse.ArgumentParser:
    """A command's parser; its help is the module's docstring, verbatim."""
    return argparse.ArgumentParser(
        prog=f"python -m {module}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def add_split_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--split``, by default 0: the public file also holds the public test set."""
    parser.add_argument(
        "--split",
        type=_split,
        default="0",
        metavar="N|any",
        help="read only rows with this number in their field `split`: 0 is for training, 1 is the public test set; "
        "any: all rows, whatever the field says (default: %(default)s)",
    )


def _split(text: str) -> Split:
    try:
        return Split.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def positive(text: str) -> int:
    """Parse an argument: a whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1, found {text!r}")
    return int(text)


def check_data_file(path: Path, remedy: str) -> None:
    """Check that a file, or its parts, exists; if not, raise `DatasetError` with the remedy."""
    try:
        dataset_files(path)
    except DatasetError as error:
        raise DatasetError(f"{error}; {remedy}") from None


def count_table(rows: Mapping[str, Mapping[str, int | float | None]]) -> str:
    """A text table of rows with the same columns; None is a dash."""
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
