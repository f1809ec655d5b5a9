"""What a language model is tuned on: prompts with the one text that should follow each of them.

One JSON object a line: ``messages`` (a chat) or ``prompt`` (a text to be continued), ``completion``, the ``groups``
that cross-validation keeps together, for learning from preferences ``rejected``, a worse completion, and for measuring
``query`` and ``answers``: the question alone and its right answers, the best one first.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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


def _example(record: Record) -> TrainingExample:
    row = record.data
    for name in ("completion", "prompt", "source", "rejected", "query"):
        needed = name == "completion"
        if not isinstance(row.get(name, None if needed else ""), str):
            raise DatasetError(f'{record.place}: field "{name}" must be a text, found {row.get(name)!r}')
    if ("prompt" in row) == ("messages" in row):
        raise DatasetError(f'{record.place}: give either field "prompt" or field "messages"')
    return TrainingExample(
        completion=row["completion"],
        messages=_messages(record) if "messages" in row else (),
        prompt=row.get("prompt"),
        groups=_texts(record, "groups"),
        source=row.get("source", ""),
        rejected=row.get("rejected"),
        query=row.get("query", ""),
        answers=_texts(record, "answers"),
        split=found if isinstance(found := row.get(Split.FIELD), int) else None,
        place=record.place,
    )


def _texts(record: Record, name: str) -> tuple[str, ...]:
    found = record.data.get(name, [])
    if not (isinstance(found, list) and all(isinstance(text, str) for text in found)):
        raise DatasetError(f'{record.place}: field "{name}" must be a list of texts, found {found!r}')
    return tuple(found)


def _messages(record: Record) -> tuple[Message, ...]:
    found = record.data["messages"]
    if not (isinstance(found, list) and found and all(_is_message(message) for message in found)):
        raise DatasetError(
            f'{record.place}: field "messages" must be a list of {{"role": "system|user|assistant", "content": text}}'
        )
    return tuple(Message(message["role"], message["content"]) for message in found)


def _is_message(message: object) -> bool:
    return (
        isinstance(message, dict)
        and message.get("role") in {"system", "user", "assistant"}
        and isinstance(message.get("content"), str)
    )
