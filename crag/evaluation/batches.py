"""The real evaluator's limits, and how it groups rows of a question file into batches, without answers and labels."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from crag.core.queries import format_query_time
from crag.evaluation.question_fields import LABEL_FIELDS, PAGE_FIELDS

SECONDS_PER_QUERY = 30.0
"""The evaluator's limit since 2024-04-24; a batch of n gets n times that."""
STARTUP_SECONDS = 600.0
"""Time limit for importing and building an agent: the 2025 evaluator's. The 2024 one documents none."""
MAX_BATCH_SIZE = 16
"""The evaluator accepts batch sizes from 1 to 16 (starter kit, docs/batch-prediction-interface.md)."""
GPU_MEMORY_GIB = 15.0
"""Usable memory of one of its T4, of 16 GB."""

SLICE_FIELDS = (*LABEL_FIELDS, "popularity")
"""Labels that define slices. Public rows have no popularity (CRAG, section 4: head, torso or tail); other files may."""


class RowKey(NamedTuple):
    """Identifies a row of a run: its interaction id, and how many earlier rows had the same one."""

    interaction_id: str
    occurrence: int


def gold_answers(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The official answer of a row and its alternatives, without blank ones: empty if none is known."""
    alternatives = row.get("alt_ans") or ()
    answers = (row.get("answer"), *alternatives)
    return tuple(answer for answer in answers if answer is not None and str(answer).strip())


@dataclass(frozen=True, slots=True)
class Question:
    """A row, its key, and the number of its batch, from 0."""

    key: RowKey
    batch: int
    row: Mapping[str, Any]

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the row."""
        labels: dict[str, str] = {}
        for name in SLICE_FIELDS:
            label = self.row.get(name)
            if isinstance(label, str):
                labels[name] = label
        return labels


def in_batches(rows: Iterable[Mapping[str, Any]], size: int) -> Iterator[list[Question]]:
    """The rows in order, `size` at a time; the last batch may be shorter."""
    # A file may have an id twice; the count tells the rows apart
    occurrences: Counter[str] = Counter()
    batch: list[Question] = []
    for row_number, row in enumerate(rows):
        interaction_id = row["interaction_id"]
        key = RowKey(interaction_id, occurrences[interaction_id])
        occurrences[interaction_id] += 1

        batch.append(Question(key, row_number // size, row))
        if len(batch) == size:
            yield batch
            batch = []

    if batch:
        yield batch


def evaluator_batch(questions: Iterable[Question]) -> dict[str, list[Any]]:
    """The evaluator's argument of `batch_generate_answer`: four lists of equal length, without answers and labels.

    A row without a time is asked now.
    """
    batch: dict[str, list[Any]] = {
        "interaction_id": [],
        "query": [],
        "search_results": [],
        "query_time": [],
    }
    for question in questions:
        row = question.row
        results = row.get("search_results", ())
        batch["interaction_id"].append(row["interaction_id"])
        batch["query"].append(row["query"])
        batch["search_results"].append([_official_fields(result) for result in results])
        batch["query_time"].append(row.get("query_time") or format_query_time())
    return batch


def _official_fields(result: Mapping[str, Any]) -> dict[str, Any]:
    """A search result with only the five fields of the real evaluator."""
    return {name: result.get(name, "") for name in PAGE_FIELDS}
