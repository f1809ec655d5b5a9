"""What a language model is tuned on: prompts with the one text that should follow each of them.

One JSON object a line: ``messages`` (a chat) or ``prompt`` (a text to be continued), ``completion``, the ``groups``
that cross-validation keeps together, for learning from preferences ``rejected``, a worse completion, and for measuring
``query`` and ``answers``: the question alone and its right answers, the best one first.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from agents.files import write_rows
from agents.llm import GenerationRequest, Message
from evaluation.datasets import DatasetError, Record, Split, read_records


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """One prompt and what should follow it; exactly one of `messages` and `prompt` is given.

    `groups` are what the example is about, most important first (see `training.folds`), `source` says where it came
    from, for counts and cards. `rejected` is a completion that is worse than `completion`. `query` and `answers` are
    what a judge needs; the completion may be another text, such as "i don't know" where the prompt does not tell.
    `split` is that of the question in CRAG, None where it was made up. `place` is where it was read, for messages.
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
        """What an engine is asked: training and use share its way from prompt to tokens."""
        return GenerationRequest(messages=self.messages, prompt=self.prompt)

    def to_row(self) -> dict[str, Any]:
        """The example as a line of the file."""
        asked: dict[str, Any] = (
            {"prompt": self.prompt}
            if self.prompt is not None
            else {"messages": [{"role": message.role, "content": message.content} for message in self.messages]}
        )
        row = asked | {"completion": self.completion, "groups": list(self.groups), "source": self.source}
        row |= {Split.FIELD: self.split}
        row |= {"query": self.query, "answers": list(self.answers)} if self.answers else {}
        return row | ({"rejected": self.rejected} if self.rejected is not None else {})


def write_examples(path: Path, examples: Iterable[TrainingExample]) -> None:
    """Write the file."""
    write_rows(path, (example.to_row() for example in examples))


def read_examples(path: Path, limit: int | None = None, split: Split | None = None) -> list[TrainingExample]:
    """Read the file, without what is of another split.

    Raises:
        DatasetError: a line cannot be read, or a field is missing or of a wrong type; the message names file, line and
            field.
    """
    examples = [_example(record) for record in read_records(path, limit, split)]
    if not examples:
        raise DatasetError(f"{path}: there are no examples in it")
    return examples


class _MessageRow(BaseModel):
    role: Literal["system", "user", "assistant"]
    content: str


class _ExampleRow(BaseModel):
    completion: str
    prompt: str | None = None
    messages: Annotated[list[_MessageRow], Field(min_length=1)] | None = None
    groups: list[str] = []
    source: str = ""
    rejected: str | None = None
    query: str = ""
    answers: list[str] = []
    split: int | None = None


def _example(record: Record) -> TrainingExample:
    row = row_of(record, _ExampleRow)
    if (row.prompt is None) == (row.messages is None):
        raise DatasetError(f'{record.place}: give either field "prompt" or field "messages"')
    return TrainingExample(
        completion=row.completion,
        messages=tuple(Message(message.role, message.content) for message in row.messages or ()),
        prompt=row.prompt,
        groups=tuple(row.groups),
        source=row.source,
        rejected=row.rejected,
        query=row.query,
        answers=tuple(row.answers),
        split=row.split,
        place=record.place,
    )


Row = TypeVar("Row", bound=BaseModel)


def row_of(record: Record, form: type[Row]) -> Row:
    """The fields of a line.

    Raises:
        DatasetError: one is missing or of another type; the message names file, line and field.
    """
    try:
        return form.model_validate(record.data)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        name = ".".join(map(str, fault["loc"]))
        raise DatasetError(f'{record.place}: field "{name}": {fault["msg"]}') from None
