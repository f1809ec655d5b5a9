"""Rows of a question file as the batches that an agent is given, and nothing that it must not see."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from evaluation.datasets import LABEL_FIELDS, PAGE_FIELDS

SLICE_FIELDS = (*LABEL_FIELDS, "popularity")
"""Labels by which results are divided. Public rows have no popularity (CRAG, section 4: head, torso or tail); rows of
one's own may."""


class RowKey(NamedTuple):
    """Names a row of a run: its interaction id, and how many rows before it had the same one."""

    interaction_id: str
    occurrence: int


def golds_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The official answer of a question's row and its alternatives; empty where the row has no answer."""
    answer = row.get("answer")
    return () if answer is None else (answer, *row.get("alt_ans", ()))


@dataclass(frozen=True, slots=True)
class Question:
    """A row, its key, and the number of the batch that it belongs to, from 0."""

    key: RowKey
    batch: int
    row: Mapping[str, Any]

    @property
    def golds(self) -> tuple[str, ...]:
        """The official answer and its alternatives; empty where the file has no answer."""
        return golds_of(self.row)

    @property
    def labels(self) -> dict[str, str]:
        """The labels that the row carries."""
        return {name: self.row[name] for name in SLICE_FIELDS if isinstance(self.row.get(name), str)}


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `shards` parts of a run that several machines share; `number` counts from 1.

    Whole batches are dealt out like cards: shard 1 of 4 has the batches 0, 4, 8 ... of the undivided run. So every
    question has the batch mates that it has there (answers can depend on them), the shards differ by one batch at most,
    and nobody has to count the questions of a large file first.
    """

    number: int
    shards: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.shards:
            raise ValueError(f"a shard is one of 1/n to n/n, found {self}")

    def __str__(self) -> str:
        return f"{self.number}/{self.shards}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """``2/4`` as a shard.

        Raises:
            ValueError: it is something else.
        """
        number, slash, shards = text.partition("/")
        if not (slash and number.isdecimal() and shards.isdecimal()):
            raise ValueError(f"a shard is written as 2/4, found {text!r}")
        return cls(int(number), int(shards))

    def holds(self, batch: int) -> bool:
        """Whether the batch of that number, from 0, belongs to it."""
        return batch % self.shards == self.number - 1

    def questions(self, total: int, batch_size: int) -> int:
        """How many of so many questions it has."""
        starts = range((self.number - 1) * batch_size, total, self.shards * batch_size)
        return sum(min(batch_size, total - first) for first in starts)


WHOLE = Shard(1, 1)
"""The undivided run."""


def in_batches(rows: Iterable[Mapping[str, Any]], size: int) -> Iterator[list[Question]]:
    """The rows in their order, `size` at a time, the last batch shorter."""
    seen: dict[str, int] = {}
    batch: list[Question] = []
    number = 0
    for row in rows:
        name = row["interaction_id"]
        key = RowKey(name, seen.get(name, 0))
        seen[name] = key.occurrence + 1
        batch.append(Question(key, number, row))
        if len(batch) == size:
            yield batch
            batch = []
            number += 1
    if batch:
        yield batch


def evaluator_batch(questions: Iterable[Question]) -> dict[str, list[Any]]:
    """What the evaluator passes to `batch_generate_answer`: four lists of equal length, no answer and no label.

    Search results have exactly the five official fields.
    """
    rows = [question.row for question in questions]
    return {
        "interaction_id": [row["interaction_id"] for row in rows],
        "query": [row["query"] for row in rows],
        "search_results": [
            [{name: result.get(name, "") for name in PAGE_FIELDS} for result in row.get("search_results", ())]
            for row in rows
        ],
        "query_time": [row.get("query_time", "") for row in rows],
    }
