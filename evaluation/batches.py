"""Rows of a question file as the batches that an agent is given, and nothing that it must not see."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from agents.datasets import LABEL_FIELDS, PAGE_FIELDS


class RowKey(NamedTuple):
    """Names a row of a run: its interaction id, and how many rows before it had the same one."""

    interaction_id: str
    occurrence: int


@dataclass(frozen=True, slots=True)
class Question:
    """A row, its key, and the number of the batch that it belongs to, from 0."""

    key: RowKey
    batch: int
    row: Mapping[str, Any]

    @property
    def golds(self) -> tuple[str, ...]:
        """The official answer and its alternatives; empty where the file has no answer."""
        answer = self.row.get("answer")
        return () if answer is None else (answer, *self.row.get("alt_ans", ()))

    @property
    def labels(self) -> dict[str, str]:
        """The labels that the row carries."""
        return {name: self.row[name] for name in LABEL_FIELDS if name in self.row}


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
