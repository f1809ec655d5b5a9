"""Files of training: examples of a language model, configurations of a run, and the run card beside an output.

An example is a JSON object per line: ``messages`` (a chat) or ``prompt`` (a text to continue), ``completion``, and the
``groups`` that cross-validation keeps together; measuring needs ``query`` and ``answers``.
"""

import argparse
import hashlib
import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from crag.core.files import DatasetError, Record, check_output, shorten_repr, write_json
from crag.core.validation import first_fault
from crag.engines.llm import GenerationRequest, Message
from crag.evaluation.cut_files import dataset_files, joined_files
from crag.evaluation.datasets import read_records
from crag.evaluation.origin import describe_machine
from crag.evaluation.split import Split
from crag.evaluation.store import PREDICTIONS, TRACES
from crag.settings import SettingsError, StrictModel, read_settings

RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One prompt and its completion; exactly one of `messages` and `prompt` is given.

    `exact_turns` is as in `GenerationRequest`. `groups` are the example's entities, most important first (see
    `crag.training.folds`), `source` is its origin. `query` and `answers` (the best one first) are for a judge: the
    completion may be another text, such as "i don't know". `split` is the question's split in CRAG, None if it was made
    up. `place` is where it was read, for messages.
    """

    completion: str
    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    exact_turns: bool = False
    groups: tuple[str, ...] = ()
    source: str = ""
    query: str = ""
    answers: tuple[str, ...] = ()
    split: int | None = None
    place: str = field(default="an example", compare=False)

    @property
    def request(self) -> GenerationRequest:
        """The request that a model answers with the completion."""
        return GenerationRequest(messages=self.messages, prompt=self.prompt, exact_turns=self.exact_turns)

    def to_row(self) -> dict[str, Any]:
        """A line of the file."""
        row: dict[str, Any] = {}
        if self.prompt is not None:
            row["prompt"] = self.prompt
        else:
            row["messages"] = [asdict(message) for message in self.messages]
            if self.exact_turns:
                row["exact_turns"] = True

        row |= {
            "completion": self.completion,
            "groups": self.groups,
            "source": self.source,
            Split.FIELD: self.split,
        }
        if self.answers:
            row |= {"query": self.query, "answers": self.answers}
        return row


ExampleT = TypeVar("ExampleT", bound=TrainingExample)


def read_examples(path: Path, split: Split | None = None) -> list[TrainingExample]:
    """Read the file, without rows of other splits; `DatasetError` with file, line and field where it is wrong."""
    return read_examples_of_kind(TrainingExample, path, split)


def read_examples_of_kind(kind: type[ExampleT], path: Path, split: Split | None = None) -> list[ExampleT]:
    """Read a file of a kind of examples that has more fields, as `read_examples` does. Raises DatasetError."""
    examples: list[ExampleT] = []
    for record in read_records(path, split=split):
        example = row_of(record, kind, place=record.place)
        has_prompt = example.prompt is not None
        has_messages = bool(example.messages)

        # Both or neither
        if has_prompt == has_messages:
            raise DatasetError(f'{example.place}: give either field "prompt" or field "messages"')
        examples.append(example)

    if not examples:
        raise DatasetError(f"{path}: no examples")
    return examples


def row_of(record: Record, form: type[RowT], **changes: object) -> RowT:
    """The fields of a line, replaced by `changes`, as a pydantic model or a dataclass; unknown fields are ignored.

    `DatasetError` if one is missing or of another type; the message names file, line and field.
    """
    key: Any = form  # mypy does not accept a generic type as hashable
    try:
        row: RowT = _reader(key).validate_python({**record.data, **changes})
    except ValidationError as error:
        fault = first_fault(error)
        # JSON has no tuples
        message = fault.message.replace("valid tuple", f"list, found {shorten_repr(fault.found)}")
        raise record.fault(fault.field, message) from None
    return row


_reader = cache(TypeAdapter)


def check_data_file(path: Path, remedy: str) -> None:
    """Check that a file, or its parts, exists; if not, raise `DatasetError` with the remedy."""
    try:
        dataset_files(path)
    except DatasetError as error:
        raise DatasetError(f"{error}; {remedy}") from None


def make_output_folder(out: Path) -> None:
    """Make the folder that a training writes, before its hours of work. Raises DatasetError: it cannot be written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise DatasetError(f"--out {out}: is a file, and a folder is written: choose another name") from None
    except OSError as error:
        raise DatasetError(f"--out {out}: cannot be made: {error.strerror}") from None
    if not os.access(out, os.W_OK):
        raise DatasetError(f"--out {out}: cannot be written")


class Configuration(StrictModel):
    """Settings of a training run, from a TOML file of `FOLDER` or of the user."""

    FOLDER: ClassVar[Path]

    @classmethod
    def names(cls) -> list[str]:
        """Names of the shipped configurations."""
        return sorted(path.stem for path in cls.FOLDER.glob("*.toml"))

    @classmethod
    def load(cls, config: str, changes: Sequence[str] = ()) -> Self:
        """A shipped configuration by name, or a TOML file by path, with changes such as ``epochs=1``.

        Raises SettingsError: there is no such file, or a setting is wrong.
        """
        # A name has no suffix, a file must have it
        path = Path(config) if config.endswith(".toml") else cls.FOLDER / f"{config}.toml"
        if not path.is_file():
            raise SettingsError(f"no such file: {path}; shipped configurations: {', '.join(cls.names())}")
        return read_settings(cls, path, changes)

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser, change: str) -> None:
        """Add ``--config`` and ``--set`` for `load`, and ``--quiet``; `change` describes ``--set``."""
        parser.add_argument(
            "--config",
            required=True,
            help=f"{', '.join(cls.names())}, or a TOML file",
        )
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help=change,
        )
        parser.add_argument("--quiet", action="store_true", help="no progress bar")


CARD_FILE = "run_card.json"


def file_hash(path: Path) -> str:
    """sha256 of a file, or of its joined parts."""
    with joined_files(path, dataset_files(path)) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class RunCard:
    """The card of a run that starts now, in a folder that is made if needed."""

    folder: Path
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def beside(cls, out: Path, *inputs: Path) -> Self:
        """The card of a file that is made from `inputs`: ``pairs/`` for ``pairs.jsonl``.

        Raises DatasetError: the folder cannot be made, or the file is one of the inputs.
        """
        check_output(out, *inputs)
        folder = out.with_suffix("")
        # The folder needs another name than the file.
        is_taken = folder.exists() and not folder.is_dir()
        if out.is_dir() or folder == out or is_taken:
            raise DatasetError(
                f"--out {out}: use a new name such as {out}.jsonl, because a folder like {out}/ gets the run card"
            )
        return cls(folder)

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self.started

    def write(
        self,
        data: Mapping[str, Path],
        settings: Mapping[str, Any],
        metrics: Mapping[str, Any],
        packages: Sequence[str] = ("numpy",),
    ) -> Path:
        """Write everything that the run depended on, the reproducible parts first; return the card's path.

        `data` maps roles to files; the card has their names, sizes and sha256, never their paths. `packages` are listed
        with their versions.
        """
        versions = {"python": platform.python_version()}
        for name in packages:
            # A package that is not installed was not used either
            with suppress(metadata.PackageNotFoundError):
                versions[name] = metadata.version(name)

        content = {
            "data": {role: _describe_file(path) for role, path in data.items()},
            "settings": settings,
            "metrics": metrics,
            "versions": versions,
            "hardware": describe_machine(),
            "seconds": round(self.seconds, 1),
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        write_json(self.folder / CARD_FILE, content)
        return self.folder / CARD_FILE


def files_of_runs(runs: Sequence[Path]) -> dict[str, Path]:
    """Answers and traces of finished runs, by their roles on a run card."""
    files: dict[str, Path] = {}
    for run, name in product(runs, (PREDICTIONS, TRACES)):
        files[f"{run.name} {name}"] = run / name
    return files


def _describe_file(path: Path) -> dict[str, Any]:
    """Name, size and hash of a file, or of its joined parts; and what it was made from, if its card is there."""
    size = sum(part.stat().st_size for part in dataset_files(path))
    description = {"name": path.name, "bytes": size, "sha256": file_hash(path)}

    card_path = path.with_suffix("") / CARD_FILE
    if card_path.is_file():
        card = json.loads(card_path.read_text(encoding="utf-8"))
        # Otherwise the file was changed after its card was written
        if card["metrics"].get("sha256") == description["sha256"]:
            description["made_from"] = {"data": card["data"], "settings": card["settings"]}
    return description


def count_table(rows: Mapping[str, Mapping[str, int | float | None]]) -> str:
    """A table of rows with the same columns, for a terminal; None is a dash."""
    first_row = next(iter(rows.values()))
    lines = [["", *first_row]]
    for name, counts in rows.items():
        cells = ["-" if count is None else f"{count:,}" for count in counts.values()]
        lines.append([name, *cells])

    # Names are aligned to the left, numbers to the right.
    columns = zip(*lines, strict=True)
    # Two blanks between columns
    name_width, *widths = [2 + max(map(len, column)) for column in columns]
    aligned: list[str] = []
    for name, *cells in lines:
        numbers = map(str.rjust, cells, widths)
        aligned.append(name.ljust(name_width) + "".join(numbers))
    return "\n".join(aligned)
