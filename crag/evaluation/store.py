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
from crag.core.validation import first_fault
from crag.evaluation.batches import RowKey
from crag.evaluation.judge import Verdict
from crag.evaluation.signature import MODEL, run_identity

PREDICTIONS = "predictions.jsonl"
TRACES = "traces.jsonl"
RESULTS = "results.json"
RUN = "run.json"
REPORT = "report.html"
_OTHER_FOLDER = "--output names another folder, --overwrite replaces the run"


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
        if not (folder / RUN).exists() and not (folder / PREDICTIONS).exists():
            raise DatasetError(f"{folder}: no run is stored here; expected a folder that `crag evaluate` wrote")
        try:
            return cls.model_validate_json((folder / RUN).read_bytes())
        except (OSError, ValidationError):
            raise DatasetError(
                f"{folder / RUN}: missing or unreadable, so the run of the answers beside it is unknown"
            ) from None


def row_key(record: Mapping[str, Any]) -> RowKey:
    """The key of a row's question."""
    return RowKey(record["interaction_id"], record["occurrence"])


def differing_names(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """The names with different values in two identities or signatures."""
    names = {**first, **second}
    return [name for name in names if first.get(name) != second.get(name)]


def _read_valid_rows(path: Path, model: type[_TraceRow]) -> Iterator[dict[str, Any]]:
    """The rows of a file; raises DatasetError for one that lacks a field of the model."""
    for record in read_growing(path):
        try:
            model.model_validate(record.data)
        except ValidationError as error:
            fault = first_fault(error)
            raise record.fault(fault.field, fault.message) from None
        yield record.data


def _read_whole_batches(path: Path) -> list[dict[str, Any]]:
    """The rows of all complete batches in a file of predictions.

    A torn batch does not count: answers can depend on batch mates, so its rest must not become a batch.
    """
    rows = list(_read_valid_rows(path, _PredictionRow))
    end = 0
    # Each row has the size of its batch, so the file can be walked batch by batch
    while end < len(rows):
        batch_end = end + rows[end]["batch_size"]
        if batch_end > len(rows):
            break
        end = batch_end
    return rows[:end]


class RunStore:
    """The open folder of one run. `records` are the finished questions, `run` is the contents of run.json.

    The folder is created if absent. The signature without the versions must be equal whenever the run is resumed.
    `resume` continues the run in the folder: its results and report stay until there is another answer. `overwrite`
    deletes it once this run has answers. So a run that cannot start costs no other, and none its results.
    Raises DatasetError: the folder has answers and neither `resume` nor `overwrite` is given, or they are of another
    run, or it cannot be written; UserError: another evaluator is writing there.
    """

    def __init__(
        self,
        folder: Path,
        signature: Mapping[str, Any],
        *,
        resume: bool = False,
        overwrite: bool = False,
    ) -> None:
        self.folder = folder
        self.records: dict[RowKey, dict[str, Any]] = {}
        # Whether the file still holds earlier rows of questions that were asked again
        self._has_replaced = False
        # Whether the folder holds another run, which stays until this one has answers
        self._has_other_run = False
        # Whether the folder is still as the run to resume left it, perhaps with its results
        self._is_untouched = False
        # Asked before the lock, which creates the folder
        self._is_new = not folder.exists()

        self._lock = ExitStack()
        try:
            self._lock.enter_context(lock_folder(folder))
        except OSError as error:
            raise DatasetError(f"{folder}: cannot be written: {error.strerror}") from None

        try:
            # Under the lock: from here on nobody else writes to the folder
            new_run = RunFile(identity=run_identity(signature), signature=dict(signature))
            self.run = self._prepare(new_run, resume=resume, overwrite=overwrite)
            self.update()
        except BaseException:
            self.close()
            raise

    def update(self, **changes: object) -> None:
        """Change fields of run.json, such as the batch size, so that a resumed run has the same batches."""
        self.run = self.run.model_copy(update=changes)
        if not (self._has_other_run or self._is_untouched):
            write_json(self.folder / RUN, self.run.model_dump(), indent=2)

    def append(self, records: Sequence[dict[str, Any]], traces: Sequence[dict[str, Any]]) -> None:
        """Save a finished batch. Traces go first: a question counts as finished by its prediction alone."""
        self._drop_outdated()
        # If the run dies between the two, the trace is orphaned and the batch asked again
        append_rows(self.folder / TRACES, traces)
        append_rows(self.folder / PREDICTIONS, records)
        self.records.update((row_key(record), record) for record in records)

    def _drop_outdated(self) -> None:
        """Delete what the next answer makes untrue: another run, or the results of fewer answers."""
        if self._has_other_run:
            delete_run(self.folder)
        elif self._is_untouched:
            delete_run(self.folder, (REPORT, RESULTS))
        else:
            return
        self._has_other_run = False
        self._is_untouched = False
        self.update()

    def replace(self, records: Sequence[dict[str, Any]], traces: Sequence[dict[str, Any]]) -> None:
        """Save the rows of questions that were asked again; all of them are of one batch."""
        new_rows = {row_key(row): row for row in records}
        number = records[0]["batch"]
        # With its batch mates: only whole batches are read, and of two rows of a question the later one counts
        batch = [new_rows.get(key, row) for key, row in self.records.items() if row["batch"] == number]
        self._has_replaced = True
        self.append(batch, traces)

    def identify_model(self, model: str | None) -> None:
        """Add the model that a server serves to the run's identity: it is known only once the server replies.

        Raises DatasetError: the run's answers are of another model.
        """
        known_model = self.run.identity.get(MODEL)
        if model is None or model == known_model:
            return
        if known_model is not None:
            raise _other_run(self.folder, [f"{MODEL} was {known_model}, now {model}"])

        self.update(
            identity={**self.run.identity, MODEL: model},
            signature={**self.run.signature, MODEL: model},
        )

    def finish(self, questions: int) -> None:
        """Mark the run as finished, with the number of `questions` of its file, and sort the predictions as there.

        Several workers finish batches in any order.
        """
        # In the order of the file, which is that of finishing
        rows = list(self.records.values())
        ordered = sorted(rows, key=itemgetter("batch"))
        if ordered != rows or self._has_replaced:
            write_rows(self.folder / PREDICTIONS, ordered)
            self.records = {row_key(row): row for row in ordered}
        if self._has_replaced:
            self._drop_earlier_traces()
            self._has_replaced = False
        # Where no question was left to ask, the results are written again
        self._is_untouched = False
        self.update(questions=questions)

    def _drop_earlier_traces(self) -> None:
        """Keep one trace a question, in the order of the questions: that of the answer that counts."""
        traces = SavedRun.read(self.folder).traces
        if traces:
            write_rows(self.folder / TRACES, [traces[key] for key in self.records if key in traces])

    def discard_if_new(self) -> None:
        """Remove the folder if it was made for this run and has no answers: the run could not start."""
        if self._is_new and not self.records:
            # Only what this run wrote; a folder with other files stays
            (self.folder / RUN).unlink(missing_ok=True)
            with suppress(OSError):
                self.folder.rmdir()

    def describe_kept(self) -> str:
        """What the folder holds if the run ends now, for messages."""
        if self._has_other_run:
            return f"{self.folder} still holds the run of before, as this one has no answers yet"
        return f"finished batches are kept in {self.folder}. Continue with --resume and the same arguments"

    def close(self) -> None:
        """Release the folder for other evaluators."""
        self._lock.close()

    def _prepare(
        self,
        new_run: RunFile,
        *,
        resume: bool,
        overwrite: bool,
    ) -> RunFile:
        """Take over the answers of the folder, or empty it if it has none; returns the run.json to begin with."""
        if not self._has_answers():
            delete_run(self.folder)
            return new_run
        if overwrite:
            self._has_other_run = True
            return new_run
        if not resume:
            raise DatasetError(
                f"{self.folder} already holds answers: --resume continues the run, --overwrite deletes them, "
                "--output names another folder"
            )
        return self._resume(new_run)

    def _has_answers(self) -> bool:
        predictions = self.folder / PREDICTIONS
        return predictions.is_file() and predictions.stat().st_size > 0

    def _resume(self, new_run: RunFile) -> RunFile:
        """Take over the finished batches of the folder; raises DatasetError: they are of another run."""
        try:
            saved = SavedRun.read(self.folder)
        except DatasetError as error:
            error.add_note(_OTHER_FOLDER)
            raise
        identity = new_run.identity
        signature = new_run.signature
        # What a server serves is not known yet: see `identify_model`
        if identity.get(MODEL) is None:
            known_model = {MODEL: saved.run.identity.get(MODEL)}
            identity = {**identity, **known_model}
            signature = {**signature, **known_model}

        before = saved.run.identity
        differing = differing_names(before, identity)
        changes = [f"{name} was {before.get(name)}, now {identity.get(name)}" for name in differing]
        if changes:
            raise _other_run(self.folder, changes)

        # Both files lose what a torn batch left there.
        traces = self.folder / TRACES
        if traces.is_file():
            write_rows(traces, saved.traces.values())
        write_rows(self.folder / PREDICTIONS, saved.records.values())
        self.records = dict(saved.records)

        self._is_untouched = True
        return saved.run.model_copy(update={"signature": signature, "questions": None})


def _other_run(folder: Path, changes: Sequence[str]) -> DatasetError:
    return DatasetError(
        f"{folder} holds another run and cannot be resumed with this one: {'; '.join(changes)}; {_OTHER_FOLDER}"
    )


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
        records = {row_key(row): row for row in _read_whole_batches(folder / PREDICTIONS)}
        return cls(folder, RunFile.read(folder), records)

    @cached_property
    def traces(self) -> dict[RowKey, dict[str, Any]]:
        """The trace of each question, if any; of two the later, as the earlier was cut off from its prediction.
        Raises DatasetError: a line of traces.jsonl is not a trace.
        """
        traces: dict[RowKey, dict[str, Any]] = {}
        # A later row of the same question replaces the earlier one
        for row in _read_valid_rows(self.folder / TRACES, _TraceRow):
            traces[row_key(row)] = row
        return {key: trace for key, trace in traces.items() if key in self.records}
