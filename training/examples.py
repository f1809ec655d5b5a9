"""What training reads: examples of a language model (prompts with their completions), and configurations.

An example is a JSON object per line: ``messages`` (a chat) or ``prompt`` (a text to continue), ``completion``, and the
``groups`` that cross-validation keeps together; measuring needs ``query`` and ``answers``.
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from agents.common.files import write_rows
from agents.llm import GenerationRequest, Message
from agents.settings import SettingsError, StrictModel, read_settings
from evaluation.datasets import DatasetError, Record, Split, dataset_files, read_records

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One prompt and its completion; exactly one of `messages` and `prompt` is given.

    `groups` are the example's entities, most important first (see `training.folds`), `source` is its origin. `query`
    and `answers` (the best one first) are for a judge; the completion may be another text, such as "i don't know".
    `split` is the question's split in CRAG, None if it was made up. `place` is where it was read, for messages.
    """

    completion: str
    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    groups: tuple[str, ...] = ()
    source: str = ""
    query: str = ""
    answers: tuple[str, ...] = ()
    split: int | None = None
    place: str = field(default="an example", compare=False)

    @property
    def request(self) -> GenerationRequest:
        """The request that a model answers with the completion."""
        return GenerationRequest(messages=self.messages, prompt=self.prompt)

    def to_row(self) -> dict[str, Any]:
        """A line of the file."""
        row: dict[str, Any] = {"messages": [asdict(message) for message in self.messages]}
        if self.prompt is not None:
            row = {"prompt": self.prompt}
        row |= {name: getattr(self, name) for name in ("completion", "groups", "source", Split.FIELD)}
        return row | ({"query": self.query, "answers": self.answers} if self.answers else {})


def write_examples(path: Path, examples: Iterable[TrainingExample]) -> None:
    """Write the file."""
    write_rows(path, (example.to_row() for example in examples))


def read_examples(path: Path, split: Split | None = None) -> list[TrainingExample]:
    """Read the file, without rows of other splits; `DatasetError` with file, line and field where it is wrong."""
    examples = [row_of(record, TrainingExample, place=record.place) for record in read_records(path, split=split)]
    for example in examples:
        if (example.prompt is None) == (not example.messages):
            raise DatasetError(f'{example.place}: give either field "prompt" or field "messages"')
    if not examples:
        raise DatasetError(f"{path}: no examples")
    return examples


def row_of(record: Record, form: type[Row], **more: object) -> Row:
    """The fields of a line, and `more`, as a pydantic model or a dataclass; unknown fields are ignored.

    `DatasetError` if one is missing or of another type; the message names file, line and field.
    """
    key: Any = form  # mypy does not accept a generic type as hashable
    try:
        row: Row = _reader(key).validate_python({**record.data, **more})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        name = ".".join(map(str, fault["loc"]))
        raise DatasetError(f'{record.place}: field "{name}": {fault["msg"]}') from None
    return row


_reader = cache(TypeAdapter)


def check_data_file(path: Path, remedy: str) -> None:
    """Check that a file, or its parts, exists; if not, raise `DatasetError` with the remedy."""
    try:
        dataset_files(path)
    except DatasetError as error:
        raise DatasetError(f"{error}; {remedy}") from None


class Configuration(StrictModel):
    """Settings of a training run, from a TOML file of `FOLDER` or of the user."""

    FOLDER: ClassVar[Path]

    @classmethod
    def names(cls) -> list[str]:
        """Names of the shipped configurations."""
        return sorted(path.stem for path in cls.FOLDER.glob("*.toml"))

    @classmethod
    def load(cls, config: str, changes: Sequence[str] = ()) -> Self:
        """A shipped configuration by name, or a TOML file by path, with changes such as ``epochs=1``."""
        path = Path(config) if config.endswith(".toml") else cls.FOLDER / f"{config}.toml"
        if not path.is_file():
            raise SettingsError(f"no such file: {path}; shipped configurations: {', '.join(cls.names())}")
        return read_settings(cls, path, changes)

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser, change: str) -> None:
        """Add ``--config`` and ``--set`` for `load`, and ``--quiet``; `change` describes ``--set``."""
        parser.add_argument("--config", required=True, help=f"{', '.join(cls.names())}, or a TOML file")
        parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=change)
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
