"""A run's folder: saved batch by batch, so that finished work survives; reading it changes nothing.

``run.json``          identity and signature of the run, its batch size, its sittings and, once it is complete, how many
                      questions the file has up to --limit
``predictions.jsonl`` one row per question, a batch at a time, on disk before the next batch begins
``traces.jsonl``      the agent's traces in the same order
``results.json``      the metrics, written when the run is complete
``report.html``       results and traces for people, written last (`evaluation.report`)
"""

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, PositiveInt, ValidationError

from agents.common.files import (
    DatasetError,
    FolderInUseError,
    GrowingRow,
    append_rows,
    lock_folder,
    read_growing,
    shown,
    write_json,
    write_rows,
)
from evaluation.batches import RowKey
from evaluation.judge import Verdict

PREDICTIONS = "predictions.jsonl"
TRACES = "traces.jsonl"
RESULTS = "results.json"
RUN = "run.json"
REPORT = "report.html"


class StoreError(DatasetError):
    """A run's folder is unusable; the message says why and what to do."""


class RunFile(BaseModel):
    """run.json. `identity` must be equal for all sittings of a run; `signature` also has the versions."""

    identity: dict[str, Any]
    signature: dict[str, Any]
    batch_size: int | None = None
    """None before the first sitting sets it."""
    questions: int | None = None
    """The number of questions of the whole run, over all shards; None until it is finished."""
    sittings: list[dict[str, Any]] = []
    """Origin, start-up seconds, peak memory and so on, one entry per sitting."""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the file of a folder.

        Raises:
            StoreError: the file is missing or unreadable.
        """
        try:
            return cls.model_validate_json((folder / RUN).read_bytes())
        except (OSError, ValidationError):
            raise StoreError(
                f"{folder / RUN}: missing or unreadable, so the run of the answers beside it is unknown"
            ) from None


class _Place(BaseModel, strict=True):
    interaction_id: str
    occurrence: int
    batch: int
    attempt: int


VerdictName = Annotated[Verdict, Field(strict=False)]


class _Firing(BaseModel, strict=True):
    name: str
    withheld_verdict: VerdictName | None = None


class _Prediction(_Place, strict=True):
    """The fields that readers of predictions.jsonl need; labels are optional."""

    query: str
    prediction: str
    verdict: VerdictName
    reason: str | None = None
    alt_ans: list[Any] = []
    gates: list[_Firing] = []
    domain: str | None = None
    question_type: str | None = None
    static_or_dynamic: str | None = None
    popularity: str | None = None
    split: int | None = None
    seconds: float
    batch_seconds: float
    batch_size: PositiveInt
    timed_out: bool
    error: str | None
    out_of_time: dict[str, int] = {}
    tokens: dict[str, int] = {}
    lost: str | None = None


def _check(model: type[BaseModel], place: str, row: Mapping[str, Any]) -> None:
    try:
        model.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise StoreError(f'{place}, field "{field}": {first["msg"]}, found {shown(first["input"])}') from None


def check_place(place: str, row: Mapping[str, Any]) -> None:
    """Check that a row names its question and attempt.

    Raises:
        StoreError: a field is missing or has the wrong type.
    """
    _check(_Place, place, row)


def row_key(record: Mapping[str, Any]) -> RowKey:
    """The key of a row's question."""
    return RowKey(record["interaction_id"], record["occurrence"])


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The names with different values in two identities or signatures."""
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def _whole_batches(path: Path) -> list[GrowingRow]:
    """The rows of all complete batches in a file of predictions.

    A torn batch does not count: answers can depend on batch mates, so its rest must not become a batch.
    """
    rows = []
    for row in _rows(path):
        _check(_Prediction, row.place, row.data)
        rows.append(row)
    whole = 0
    while whole < len(rows) and whole + rows[whole].data["batch_size"] <= len(rows):
        whole += rows[whole].data["batch_size"]
    return rows[:whole]


def _traces(path: Path) -> Iterator[GrowingRow]:
    for row in _rows(path):
        check_place(row.place, row.data)
        yield row


def _rows(path: Path) -> Iterator[GrowingRow]:
    try:
        yield from read_growing(path)
    except DatasetError as error:
        raise error if isinstance(error, StoreError) else StoreError(str(error)) from None


class RunStore:
    """The open folder of one run. `records` are the finished questions in the order asked.

    Args:
        folder: Created if absent.
        identity: Must be equal for all sittings of a run.
        signature: The full signature.
        resume: Continue the run in the folder.
        overwrite: Delete the run in the folder.

    Raises:
        StoreError: The folder has answers and neither `resume` nor `overwrite` is given, or they are of another run, or
            another evaluator is writing there.
    """

    def __init__(
        self,
        folder: Path,
        identity: Mapping[str, Any],
        signature: Mapping[str, Any],
        *,
        resume: bool = False,
        overwrite: bool = False,
    ) -> None:
        self.folder = folder
        self._is_new = not folder.exists()
        self.records: dict[RowKey, dict[str, Any]] = {}
        self._lock = locked(folder)
        try:
            self._run = self._take_over(
                RunFile(identity=dict(identity), signature=dict(signature)), resume=resume, overwrite=overwrite
            )
            self._write_run()
        except BaseException:
            self.close()
            raise

    @property
    def batch_size(self) -> int | None:
        """The batch size of the run, or None before its first sitting sets it."""
        return self._run.batch_size

    @property
    def sittings(self) -> list[dict[str, Any]]:
        """The measurements of each sitting."""
        return list(self._run.sittings)

    def set_batch_size(self, size: int) -> None:
        """Save the batch size, so that a resumed run has the same batches."""
        self._run.batch_size = size
        self._write_run()

    def set_questions(self, number: int) -> None:
        """Save the number of questions of the whole run, over all shards: only a complete run knows it."""
        self._run.questions = number
        self._write_run()

    def set_sitting(self, number: int, sitting: Mapping[str, Any]) -> None:
        """Save a sitting; `number` is its position in `sittings`, or the next one."""
        self._run.sittings[number : number + 1] = [dict(sitting)]
        self._write_run()

    def append(self, records: Sequence[dict[str, Any]], traces: Sequence[dict[str, Any]]) -> None:
        """Save a finished batch. Traces go first: a question counts as finished by its prediction alone."""
        append_rows(self.folder / TRACES, traces)
        append_rows(self.folder / PREDICTIONS, records)
        self.records.update((row_key(record), record) for record in records)

    def write_results(self, results: Mapping[str, Any]) -> None:
        """Write results.json atomically."""
        write_json(self.folder / RESULTS, results, indent=2)

    def discard_if_new(self) -> None:
        """Remove the folder if it was made for this run and has no answers: the run could not start."""
        if self._is_new and not self.records:
            (self.folder / RUN).unlink(missing_ok=True)
            with suppress(OSError):
                self.folder.rmdir()

    def close(self) -> None:
        """Release the folder for other evaluators."""
        self._lock.close()

    def _take_over(self, fresh: RunFile, *, resume: bool, overwrite: bool) -> RunFile:
        predictions, traces = self.folder / PREDICTIONS, self.folder / TRACES
        if overwrite or not predictions.is_file() or not predictions.stat().st_size:
            delete_run(self.folder)
            return fresh
        if not resume:
            raise StoreError(
                f"{self.folder} already holds answers: --resume continues the run, --overwrite deletes them, "
                "--output names another folder"
            )
        run = RunFile.read(self.folder)
        if names := differing(run.identity, fresh.identity):
            listed = "; ".join(f"{name} was {run.identity.get(name)}, now {fresh.identity.get(name)}" for name in names)
            raise StoreError(f"{self.folder} holds another run and cannot be resumed with this one: {listed}")
        rows = _whole_batches(predictions)
        os.truncate(predictions, rows[-1].end if rows else 0)
        self.records = {row_key(row.data): row.data for row in rows}
        if traces.is_file():
            write_rows(traces, (row.data for row in _traces(traces) if self._is_finished(row.data)))
        for name in (REPORT, RESULTS):
            (self.folder / name).unlink(missing_ok=True)
        return run.model_copy(update={"signature": fresh.signature, "questions": None})

    def _is_finished(self, trace: Mapping[str, Any]) -> bool:
        record = self.records.get(row_key(trace))
        return record is not None and bool(trace["attempt"] <= record["attempt"])

    def _write_run(self) -> None:
        write_json(self.folder / RUN, self._run.model_dump(), indent=2)


def delete_run(folder: Path) -> None:
    """Delete the files of a run, and nothing else."""
    for name in (REPORT, RESULTS, PREDICTIONS, TRACES, RUN):
        (folder / name).unlink(missing_ok=True)


def locked(folder: Path) -> ExitStack:
    """Create and lock the folder until the stack is closed.

    Raises:
        StoreError: it cannot be written, or another process has the lock.
    """
    lock = ExitStack()
    try:
        lock.enter_context(lock_folder(folder))
        if not os.access(folder, os.W_OK):
            lock.close()
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from None
    except FolderInUseError:
        raise StoreError(f"{folder}: another evaluator is writing there") from None
    return lock


@dataclass(frozen=True)
class SavedRun:
    """A folder of local_evaluation.py; reading changes nothing in it.

    `rows` are those of predictions.jsonl in order, all attempts, without torn batches.
    """

    folder: Path
    run: RunFile
    rows: tuple[dict[str, Any], ...]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a folder.

        Raises:
            StoreError: the folder is not of a run, or one of its files is unusable.
        """
        if not folder.is_dir():
            raise StoreError(f"{folder}: there is no such folder; expected one written by local_evaluation.py")
        return cls(folder, RunFile.read(folder), tuple(row.data for row in _whole_batches(folder / PREDICTIONS)))

    @property
    def origin(self) -> dict[str, Any]:
        """That of the last sitting: see `evaluation.origin`."""
        return self.run.sittings[-1] if self.run.sittings else {}

    @cached_property
    def records(self) -> dict[RowKey, dict[str, Any]]:
        """Each question's last attempt."""
        return {row_key(row): row for row in self.rows}

    @cached_property
    def traces(self) -> dict[RowKey, dict[str, Any]]:
        """The trace of each question's last attempt, if any.

        Raises:
            StoreError: a line of traces.jsonl is not a trace.
        """
        attempts = {key: record["attempt"] for key, record in self.records.items()}
        rows = (row.data for row in self.trace_rows())
        return {row_key(row): row for row in rows if attempts.get(row_key(row)) == row["attempt"]}

    def trace_rows(self) -> Iterator[GrowingRow]:
        """The rows of traces.jsonl with their places, all attempts, one at a time, without a torn last line.

        Raises:
            StoreError: a line is not a trace.
        """
        return _traces(self.folder / TRACES)
