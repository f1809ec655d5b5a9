"""Training examples of a language model: prompts with their completions.

One JSON object per line: ``messages`` (a chat) or ``prompt`` (a text to continue), ``completion``, and the ``groups``
that cross-validation keeps together. Learning from preferences needs ``rejected``, a worse completion. Measuring needs
``query`` and ``answers``: the question alone and its right answers, the best one first.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from agents.common.files import write_rows
from agents.llm import GenerationRequest, Message
from evaluation.datasets import DatasetError, Record, Split, read_records

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One prompt and its completion; exactly one of `messages` and `prompt` is given.

    `groups` are the example's entities, most important first (see `training.folds`), `source` is its origin, for counts
    and cards. `rejected` is a worse completion. `query` and `answers` are for a judge; the completion may be another
    text, such as "i don't know" if the prompt has no answer. `split` is the question's split in CRAG, None if it was
    made up. `place` is where it was read, for messages.
    """

    completion: str
    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    groups: tuple[str, ...] = ()
    source: str = ""
    rejected: str | None = None
    query: str = ""
    answers: tuple[str, ...] = ()
    split: int | None = None
    place: str = field(default="an example", compare=False)

    @property
    def request(self) -> GenerationRequest:
        """The request to an engine: training and use turn prompts into tokens in the same way."""
        return GenerationRequest(messages=self.messages, prompt=self.prompt)

    def to_row(self) -> dict[str, Any]:
        """The example as a line of the file."""
        row: dict[str, Any] = {"messages": [asdict(message) for message in self.messages]}
        if self.prompt is not None:
            row = {"prompt": self.prompt}
        row |= {name: getattr(self, name) for name in ("completion", "groups", "source", Split.FIELD)}
        row |= {"query": self.query, "answers": self.answers} if self.answers else {}
        return row | ({"rejected": self.rejected} if self.rejected is not None else {})


def write_examples(path: Path, examples: Iterable[TrainingExample]) -> None:
    """Write the file."""
    write_rows(path, (example.to_row() for example in examples))


def read_examples(path: Path, limit: int | None = None, split: Split | None = None) -> list[TrainingExample]:
    """Read the file, without rows of other splits.

    Raises:
        DatasetError: a line cannot be read, or a field is missing or of a wrong type; the message names file, line and
            field.
    """
    examples = [row_of(record, TrainingExample, place=record.place) for record in read_records(path, limit, split)]
    for example in examples:
        if (example.prompt is None) == (not example.messages):
            raise DatasetError(f'{example.place}: give either field "prompt" or field "messages"')
    if not examples:
        raise DatasetError(f"{path}: no examples")
    return examples


def row_of(record: Record, form: type[Row], **more: object) -> Row:
    """The fields of a line, and `more`, as a pydantic model or a dataclass; unknown fields are ignored.

    Raises:
        DatasetError: one is missing or of another type; the message names file, line and field.
    """
    key: Any = form  # mypy does not accept a generic type as hashable
    try:
        row: Row = _reader(key).validate_python({**record.data, **more})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        name = ".".join(map(str, fault["loc"]))
        raise DatasetError(f'{record.place}: field "{name}": {fault["msg"]}') from None
    return row


@cache
def _reader(form: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(form)
