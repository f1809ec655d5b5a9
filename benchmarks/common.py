"""Shared by the benchmarks: the command line, presets, asking in batches, saved rows, tables, paired differences."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from tqdm import tqdm

from agents.common.files import read_growing
from agents.llm import LanguageModelDiedError
from agents.llm.trainable import adapter_folder
from agents.settings import LanguageModelSettings
from evaluation.cli import main as evaluate
from evaluation.datasets import DatasetError
from evaluation.graph_server import GraphServerError
from training.calibrate.expected_score import difference
from training.command import FAULTS
from training.folds import Fold, held_out_fold, parse_fold
from training.run_card import CARD_FILE

SHARED = Path(__file__).parents[2] / "shared/data"
"""Real data outside the repository."""
NOT_SHIPPED = '. It does not ship: docs/results.md, "Data that does not ship", says what it holds and how to name yours'
UNUSABLE = 2
"""The exit code if a file, preset, model or server cannot be used."""
UNHURRIED_SECONDS = 600
"""Per question: the answers are measured, not the speed."""

Row = dict[str, Any]
T = TypeVar("T")


# --- the command line -------------------------------------------------------------------------------------------------


def exit_code(work: Callable[[], int | None]) -> int:
    """Run a command's work; an error is one line on standard error, and `UNUSABLE`."""
    try:
        return work() or 0
    except (*FAULTS, GraphServerError, LanguageModelDiedError) as error:
        absent = str(SHARED) in str(error) and not SHARED.is_dir()
        print(f"error: {error}{NOT_SHIPPED if absent else ''}", file=sys.stderr)
        return UNUSABLE


def add_preset_arguments(parser: argparse.ArgumentParser, default: str = "cpu") -> None:
    """Add ``--preset`` and ``--set``, for `crag.command.chosen_settings`."""
    parser.add_argument("--preset", default=default, metavar="P", help="name, or a TOML file; default: %(default)s")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change to the preset")


def add_fold_argument(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--fold``: a `Fold`, or None for all."""
    parser.add_argument(
        "--fold", type=lambda text: None if text == "all" else parse_fold(text), metavar="K/N|all", help=what
    )


def check_held_out(engine: LanguageModelSettings, adapter: str | None, fold: Fold | None) -> None:
    """Refuse to test a fold unless the adapter's run card (`training.lora`) says that it was held out.

    Args:
        engine: The engine with its adapters.
        adapter: Name of the adapter in use; None: the base model.
        fold: None: all questions are asked, and some may have been seen.

    Raises:
        DatasetError: another fold was held out, or none, or there is no card.
        WeightsMissingError: there is no such adapter.
    """
    if fold is None or adapter is None:
        return
    card = adapter_folder(engine.adapters[adapter]) / CARD_FILE
    if not card.is_file():
        raise DatasetError(f"{card} is missing: it would say whether the adapter has seen fold {fold}")
    held_out = held_out_fold(json.loads(card.read_text(encoding="utf-8"))["settings"])
    if held_out != fold:
        found = f"fold {held_out}" if held_out else "nothing"
        raise DatasetError(f"{card}: the training held out {found}; the adapter may have learned from fold {fold}")


# --- asking -----------------------------------------------------------------------------------------------------------


def in_batches(questions: Sequence[T], size: int, done: int = 0) -> Iterator[Sequence[T]]:
    """The questions after the first `done`, in batches, with a progress bar of all."""
    with tqdm(total=len(questions), initial=done, unit="question", disable=None) as progress:
        for start in range(done, len(questions), size):
            batch = questions[start : start + size]
            yield batch
            progress.update(len(batch))


def resumed_rows(path: Path, expected: Sequence[Row], *, resume: bool) -> list[Row]:
    """The rows that an interrupted run appended to a file, without a truncated last line.

    Args:
        path: May be missing.
        expected: For each question the fields that identify its prompt and run.
        resume: Whether the file may exist.

    Raises:
        DatasetError: the file must not exist, or is of another run.
    """
    if path.exists() and not resume:
        raise DatasetError(f"{path} exists already: pass --resume, or remove it")
    rows = [row.data for row in read_growing(path)]
    if len(rows) > len(expected) or any(row | own != row for own, row in zip(expected, rows, strict=False)):
        raise DatasetError(
            f"{path}: holds other questions, or answers of another preset or adapter; pass another --save"
        )
    return rows


def evaluate_preset(
    preset: str, dataset: Path, output: Path, changes: Sequence[str], limit: int | None, *more: str
) -> int:
    """Run local_evaluation.py, or continue an interrupted run; return its exit code."""
    arguments = ["--preset", preset, "--dataset", str(dataset), "--output", str(output), "--resume"]
    arguments += ["--seconds-per-query", str(UNHURRIED_SECONDS), *more]
    for change in (*changes, f"deadline.seconds_per_query={UNHURRIED_SECONDS}"):
        arguments += ["--set", change]
    return evaluate([*arguments, *(["--limit", str(limit)] if limit is not None else [])])


# --- showing ----------------------------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, aligned for terminals. Numbers with a fraction get three digits."""
    texts = [[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *texts, strict=True)]
    lines = [header, ["-" * width for width in widths], *texts]
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)


def by_label(rows: Sequence[T], label: Callable[[T], str]) -> dict[str, list[T]]:
    """The rows of each label, and last all rows under "all"."""
    labels = sorted({label(row) for row in rows})
    return {name: [row for row in rows if label(row) == name] for name in labels} | {"all": list(rows)}


def with_interval(value: float, interval: Sequence[float]) -> str:
    """``+0.058 [-0.010, +0.126]``."""
    return f"{value:+.3f} [{interval[0]:+.3f}, {interval[1]:+.3f}]"


def shown_difference(found: Mapping[str, Any]) -> str:
    """The result of `training.calibrate.expected_score.difference` as text."""
    return with_interval(found["difference"], found["ci"])


def paired(now: Sequence[float], before: Sequence[float], groups: Sequence[str]) -> str:
    """The mean difference with its 95 % interval, resampled by group."""
    return shown_difference(difference(np.array(now, np.float64), np.array(before, np.float64), groups))
