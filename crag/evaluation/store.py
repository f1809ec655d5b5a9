"""A run's folder: saved batch by batch, so that finished work survives; reading it changes nothing.

``run.json``          identity and signature of the run, its batch size, what was measured since its last start and,
                      once it is complete, how many questions the file has up to --limit
``predictions.jsonl`` one row per question, a batch at a time, on disk before the next batch begins
``traces.jsonl``      the agent's traces, in the order in which batches were finished
``results.json``      the metrics, written when the run is complete
``report.html``       results and traces for people, written last (`crag.evaluation.report`)
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, PositiveInt, ValidationError

from crag.core.files import DatasetError, append_rows, lock_folder, read_growing, write_json, write_rows
from crag.evaluation.batches import RowKey
from crag.evaluation.judge import Verdict
from crag.evaluation.signature import identity_of

PREDICTIONS = "predictions.jsonl"
TRACES = "traces.jsonl"
RESULTS = "results.json"
RUN = "run.json"
REPORT = "report.html"


class _TraceRow(BaseModel):
    """The fields without which a row of traces.jsonl cannot be read."""

    interaction_id: str
    occurrence: int
    batch: int


class _PredictionRow(_TraceRow):
    query: str
    prediction: str
    verdict: Verdict
    batch_size: PositiveInt


class RunFile(BaseModel):
    """run.json. `identity` must be equal whenever a run is resumed; `signature` also has the versions."""

    identity: dict[str, Any]
    signature: dict[str, Any]
    batch_size: int | None = None
    """None before the agent's first start."""
    questions: int | None = None
    """The number of questions of the whole run; None until it is finished."""
    measured: dict[str, Any] = {}
    """Origin, start-up seconds and peak memory of the last start of the agent."""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the file of a folder; raises DatasetError: the file is missing or unreadable."""
        try:
            return cls.model_validate_json((folder / RUN).read_bytes())
        except (OSError, ValidationError):
            raise DatasetError(
                f"{folder / RUN}: missing or unreadable, so the run of the answers beside it is unknown"
            ) from None


def row_key(record: Mapping[str, Any]) -> RowKey:
    """The key of a row's question."""
    return RowKey(record["interaction_id"], record["occurrence"])


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The names with different values in two identities or signatures."""
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def _rows(path: Path, kind: type[_TraceRow]) -> Iterator[dict[str, Any]]:
    """The rows of a file; raises DatasetError for one that is not of this kind."""
    try:
        for row in read_growing(path):
            kind.model_validate(row.data)
            yield row.data
    except ValidationError as error:
        fault = error.errors()[0]
        raise DatasetError(f'{row.place}, field "{fault["loc"][0]}": {fault["msg"]}') from None


def _whole_batches(path: Path) -> list[dict[str, Any]]:
    """The rows of all complete batches in a file of predictions.

    A torn batch does not count: answers can depend on batch mates, so its rest must not become a batch.
    """
    rows = list(_rows(path, _PredictionRow))
    whole = 0
    while whole < len(rows) and whole + rows[whole]["batch_size"] <= len(rows):
        whole += rows[whole]["batch_size"]
    return rows[:whole]


class RunStore:
    """The open folder of one run. `records` are the finished questions, `run` is the contents of run.json.

    The folder is created if absent. The signature without the versions must be equal whenever the run is resumed.
    `resume` continues the run in the folder, `overwrite` deletes it.
    Raises DatasetError: the folder has answers and neither `resume` nor `overwrite` is given, or they are of another
    run, or it cannot be written; UserError: another evaluator is writing there.
    """

    def __init__(
        self, folder: Path, signature: Mapping[str, Any], *, resume: bool = False, overwrite: bool = False
    ) -> None:
        self.folder = folder
        self._is_new = not folder.exists()
        self.records: dict[RowKey, dict[str, Any]] = {}
        self._lock = ExitStack()
        try:
            self._lock.enter_context(lock_folder(folder))
        except OSError as error:
            raise DatasetError(f"{folder}: cannot be written: {error.strerror}") from None
        try:
            fresh = RunFile(identity=identity_of(signature), signature=dict(signature))
            self.run = self._take_over(fresh, resume=resume, overwrite=overwrite)
            self.update()
        except BaseException:
            self.close()
            raise

    def update(self, **changes: object) -> None:
        """Change fields of run.json, such as the batch size, so that a resumed run has the same batches."""
        self.run = self.run.model_copy(update=changes)
        write_json(self.folder / RUN, self.run.model_dump(), indent=2)

    def append(self, records: Sequence[dict[str, Any]], traces: Sequence[dict[str, Any]]) -> None:
        """Save a finished batch. Traces go first: a question counts as finished by its prediction alone."""
        append_rows(self.folder / TRACES, traces)
        append_rows(self.folder / PREDICTIONS, records)
        self.records.update((row_key(record), record) for record in records)

    def finish(self, questions: int) -> None:
        """Put the predictions into the order of the question file, which has so many: several workers mix it up."""
        rows = list(self.records.values())
        if (ordered := sorted(rows, key=itemgetter("batch"))) != rows:
            write_rows(self.folder / PREDICTIONS, ordered)
            self.records = {row_key(row): row for row in ordered}
        self.update(questions=questions)

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
            raise DatasetError(
                f"{self.folder} already holds answers: --resume continues the run, --overwrite deletes them, "
                "--output names another folder"
            )
        saved = SavedRun.read(self.folder)
        was, now = saved.run.identity, fresh.identity
        if names := differing(was, now):
            listed = "; ".join(f"{name} was {was.get(name)}, now {now.get(name)}" for name in names)
            raise DatasetError(f"{self.folder} holds another run and cannot be resumed with this one: {listed}")
        if traces.is_file():
            write_rows(traces, saved.traces.values())
        write_rows(predictions, saved.records.values())
        self.records = dict(saved.records)
        delete_run(self.folder, (REPORT, RESULTS))
        return saved.run.model_copy(update={"signature": fresh.signature, "questions": None})


def delete_run(folder: Path, names: Sequence[str] = (REPORT, RESULTS, PREDICTIONS, TRACES, RUN)) -> None:
    """Delete the files of a run, and nothing else."""
    for name in names:
        (folder / name).unlink(missing_ok=True)


@dataclass(frozen=True)
class SavedRun:
    """A folder of local_evaluation.py; reading changes nothing in it.

    `records` are the rows of predictions.jsonl by question, without torn batches.
    """

    folder: Path
    run: RunFile
    records: Mapping[RowKey, dict[str, Any]]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a folder; raises DatasetError: the folder is not of a run, or one of its files is unusable."""
        if not folder.is_dir():
            raise DatasetError(f"{folder}: there is no such folder; expected one written by local_evaluation.py")
        records = {row_key(row): row for row in _whole_batches(folder / PREDICTIONS)}
        return cls(folder, RunFile.read(folder), records)

    @cached_property
    def traces(self) -> dict[RowKey, dict[str, Any]]:
        """The trace of each question, if any; of two the last, as the first was cut off from its prediction.
        Raises DatasetError: a line of traces.jsonl is not a trace.
        """
        rows = {row_key(row): row for row in _rows(self.folder / TRACES, _TraceRow)}
        return {key: row for key, row in rows.items() if key in self.records}
