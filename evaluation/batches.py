"""Groups rows of a question file into the agent's batches, without answers and labels."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from evaluation.datasets import LABEL_FIELDS, PAGE_FIELDS

SLICE_FIELDS = (*LABEL_FIELDS, "popularity")
"""Labels that define slices. Public rows have no popularity (CRAG, section 4: head, torso or tail); other files may."""


class RowKey(NamedTuple):
    """Identifies a row of a run: its interaction id, and how many earlier rows had the same one."""

    interaction_id: str
    occurrence: int


def golds_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The official answer of a row and its alternatives; empty without an answer."""
    answer = row.get("answer")
    return () if answer is None else (answer, *row.get("alt_ans", ()))


@dataclass(frozen=True, slots=True)
class Question:
    """A row, its key, and the number of its batch, from 0."""

    key: RowKey
    batch: int
    row: Mapping[str, Any]

    @property
    def golds(self) -> tuple[str, ...]:
        """The official answer and its alternatives; empty without an answer."""
        return golds_of(self.row)

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the row."""
        return {name: self.row[name] for name in SLICE_FIELDS if isinstance(self.row.get(name), str)}


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `shards` parts of a run on several machines; `number` counts from 1.

    Whole batches are dealt out in turn: shard 1 of 4 has batches 0, 4, 8 ... of the undivided run. So every question
    keeps its batch mates (answers can depend on them), shards differ by at most one batch, and a large file need not be
    counted first.
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
        """Parse a shard such as ``2/4``.

        Raises:
            ValueError: the text has another form.
        """
        number, slash, shards = text.partition("/")
        if not (slash and number.isdecimal() and shards.isdecimal()):
            raise ValueError(f"a shard is written as 2/4, found {text!r}")
        return cls(int(number), int(shards))

    def holds(self, batch: int) -> bool:
        """Whether the batch of that number, from 0, belongs to the shard."""
        return batch % self.shards == self.number - 1

    def questions(self, total: int, batch_size: int) -> int:
        """How many of `total` questions the shard has."""
        starts = range((self.number - 1) * batch_size, total, self.shards * batch_size)
        return sum(min(batch_size, total - first) for first in starts)


WHOLE = Shard(1, 1)
"""The undivided run."""


def in_batches(rows: Iterable[Mapping[str, Any]], size: int) -> Iterator[list[Question]]:
    """The rows in order, `size` at a time; the last batch may be shorter."""
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
    """The evaluator's argument of `batch_generate_answer`: four lists of equal length, without answers and labels.

    Search results have only the five official fields.
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
