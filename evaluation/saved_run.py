"""A run's folder, read and left as it is: what others do with finished runs (compare them, merge shards)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from evaluation.batches import RowKey
from evaluation.row_faults import fault_of_place, fault_of_prediction
from evaluation.store import PREDICTIONS, RESULTS, TRACES, StoreError, read_run_file, row_key, whole_batches


class PlacedTrace(NamedTuple):
    """A row of traces.jsonl and the byte at which its line begins."""

    offset: int
    row: Mapping[str, Any]


@dataclass(frozen=True)
class SavedRun:
    """What a folder of local_evaluation.py holds.

    `rows` are those of predictions.jsonl in their order, all attempts, torn batches left out. `run` is run.json.
    """

    folder: Path
    run: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(cls, folder: Path) -> "SavedRun":
        """Read a folder.

        Raises:
            StoreError: it is no folder of a run, or one of its files cannot be used.
        """
        if not folder.is_dir():
            raise StoreError(f"{folder}: there is no such folder; one that local_evaluation.py wrote is expected")
        run = read_run_file(folder)
        predictions = folder / PREDICTIONS
        rows = tuple(whole_batches(predictions).rows) if predictions.is_file() else ()
        for number, row in enumerate(rows, start=1):
            if fault := fault_of_prediction(row):
                raise StoreError(f"{predictions}, line {number}: {fault}")
        return cls(folder, run, rows)

    @property
    def identity(self) -> Mapping[str, Any]:
        """What two sittings of one run have in common."""
        identity: Mapping[str, Any] = self.run["identity"]
        return identity

    @property
    def signature(self) -> Mapping[str, Any]:
        """What its numbers depend on; the identity where an older version kept nothing else."""
        signature: Mapping[str, Any] = self.run.get("signature") or self.identity
        return signature

    @property
    def questions(self) -> int | None:
        """How many questions the whole run has, all its shards together; None while it is not finished."""
        number = self.run.get("questions")
        return number if isinstance(number, int) else None

    @property
    def is_finished(self) -> bool:
        """Whether it came to its end; an older version told that by results.json alone."""
        return self.questions is not None or (self.folder / RESULTS).is_file()

    @property
    def batch_size(self) -> int | None:
        """Questions of a batch; None where no sitting came to know it."""
        size = self.run.get("batch_size")
        return size if isinstance(size, int) else None

    @cached_property
    def records(self) -> dict[RowKey, Mapping[str, Any]]:
        """Each question's last attempt."""
        return {row_key(row): row for row in self.rows}

    @cached_property
    def traces(self) -> dict[RowKey, Mapping[str, Any]]:
        """The trace of each question's last attempt, where that attempt left one.

        Raises:
            StoreError: a line of traces.jsonl that is not the last is no trace.
        """
        rows = (row for _, row in self.placed_traces())
        attempts = {key: record["attempt"] for key, record in self.records.items()}
        return {row_key(row): row for row in rows if attempts.get(row_key(row)) == row["attempt"]}

    def placed_traces(self) -> Iterator[PlacedTrace]:
        """The rows of traces.jsonl, of all attempts, one at a time; a torn last line is passed over.

        Raises:
            StoreError: a line that is not the last is no trace.
        """
        path, offset = self.folder / TRACES, 0
        if not path.is_file():
            return
        with path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                row = parsed_trace(line)
                if row is not None:
                    yield PlacedTrace(offset, row)
                elif stream.read(1):
                    raise StoreError(f"{path}, line {number}: no trace of this evaluator, and others follow it")
                offset += len(line)


def parsed_trace(line: bytes) -> Mapping[str, Any] | None:
    """A line of traces.jsonl, or None where it is torn or something else; a number that JSON does not have is None."""
    if not line.endswith(b"\n"):
        return None
    try:
        row = json.loads(line, parse_constant=lambda _: None)
    except ValueError:
        return None
    return row if isinstance(row, dict) and not fault_of_place(row) else None
