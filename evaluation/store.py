"""A run's folder: what is finished stays finished, whatever happens to the evaluator.

``run.json``          identity and signature of the run, its batch size, its sittings and, once it is complete, how many
                      questions the file has up to --limit
``predictions.jsonl`` one row per question, a batch at a time, on disk before the next batch begins
``traces.jsonl``      the agent's traces in the same order
``results.json``      the metrics, written when the run is complete
``report.html``       results and traces for people, written last (`evaluation.report`)
"""

import errno
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from agents.files import FolderInUseError, append_rows, lock_folder, whole_file, write_json
from evaluation.batches import RowKey

PREDICTIONS = "predictions.jsonl"
TRACES = "traces.jsonl"
RESULTS = "results.json"
RUN = "run.json"
REPORT = "report.html"
_KEYS = {"interaction_id", "occurrence", "batch", "attempt"}


class StoreError(RuntimeError):
    """The folder cannot take this run; the message says why and what to do."""


class RunStore:
    """The open folder of one run. `records` are the finished questions in the order in which they were asked.

    Args:
        folder: Made if absent.
        identity: What must be equal for two sittings to belong to one run.
        signature: The full signature, kept for the reader.
        resume: Go on with what the folder holds.
        overwrite: Throw away what the folder holds.

    Raises:
        StoreError: The folder holds answers and neither `resume` nor `overwrite` is given, or they are of another
            run, or another evaluator is writing there.
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
        self.records: dict[RowKey, dict[str, Any]] = {}
        self._lock = _locked(folder)
        try:
            self._run = self._take_over(identity, signature, resume=resume, overwrite=overwrite)
            self._write_run()
        except BaseException:
            self.close()
            raise

    @property
    def batch_size(self) -> int | None:
        """The batch size of the run, or None before its first sitting knows it."""
        size = self._run.get("batch_size")
        return size if isinstance(size, int) else None

    @property
    def sittings(self) -> list[dict[str, Any]]:
        """Start-up seconds, peak memory and so on, one entry for each time that the evaluator ran."""
        return list(self._run["sittings"])

    def set_batch_size(self, size: int) -> None:
        """Keep the batch size, so that a resumed run has the same batches."""
        self._run["batch_size"] = size
        self._write_run()

    def set_questions(self, number: int) -> None:
        """Keep how many questions the whole run has, all shards together: only a complete run knows."""
        self._run["questions"] = number
        self._write_run()

    def set_sitting(self, number: int, sitting: Mapping[str, Any]) -> None:
        """Keep what is known of this sitting; `number` is its place in `sittings`, or the place after the last."""
        self._run["sittings"][number : number + 1] = [dict(sitting)]
        self._write_run()

    def append(self, records: Sequence[dict[str, Any]], traces: Sequence[dict[str, Any]]) -> None:
        """Put a finished batch on disk. Traces go first: a question counts as finished by its prediction alone."""
        append_rows(self.folder / TRACES, traces)
        append_rows(self.folder / PREDICTIONS, records)
        self.records.update((row_key(record), record) for record in records)

    def write_results(self, results: Mapping[str, Any]) -> None:
        """Write results.json, whole or not at all."""
        write_json(self.folder / RESULTS, results, indent=2)

    def close(self) -> None:
        """Let another evaluator write here."""
        self._lock.close()

    def _take_over(
        self, identity: Mapping[str, Any], signature: Mapping[str, Any], *, resume: bool, overwrite: bool
    ) -> dict[str, Any]:
        fresh: dict[str, Any] = {
            "identity": dict(identity),
            "signature": dict(signature),
            "batch_size": None,
            "questions": None,
            "sittings": [],
        }
        predictions = self.folder / PREDICTIONS
        if overwrite or not predictions.is_file() or not predictions.stat().st_size:
            for name in (REPORT, RESULTS, PREDICTIONS, TRACES, RUN):
                (self.folder / name).unlink(missing_ok=True)
            return fresh
        if not resume:
            raise StoreError(
                f"{self.folder} already holds answers: --resume goes on with them, --overwrite throws them away, "
                "--output names another folder"
            )
        run = read_run_file(self.folder)
        _refuse_other_run(self.folder, run["identity"], identity)
        self.records = _recover_predictions(predictions)
        _recover_traces(self.folder / TRACES, self.records)
        for name in (REPORT, RESULTS):
            (self.folder / name).unlink(missing_ok=True)
        return {**run, "signature": dict(signature), "questions": None}

    def _write_run(self) -> None:
        write_json(self.folder / RUN, self._run, indent=2)


def row_key(record: Mapping[str, Any]) -> RowKey:
    """Which question a row of a run is about."""
    return RowKey(record["interaction_id"], record["occurrence"])


def _locked(folder: Path) -> ExitStack:
    """Holds the folder until it is closed."""
    lock = ExitStack()
    try:
        lock.enter_context(lock_folder(folder))
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from None
    except FolderInUseError:
        raise StoreError(f"{folder}: another evaluator is writing there") from None
    if not os.access(folder, os.W_OK):
        lock.close()
        raise StoreError(f"{folder}: cannot be written: {os.strerror(errno.EACCES)}")
    return lock


def read_run_file(folder: Path) -> dict[str, Any]:
    """What run.json of a folder holds; it has at least an identity and sittings.

    Raises:
        StoreError: It is missing or unreadable.
    """
    path = folder / RUN
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(run, dict) and _is_run(run):
            return run
    except (OSError, ValueError, KeyError):
        pass
    raise StoreError(f"{path}: missing or unreadable, so nobody can tell what the answers beside it belong to")


def _is_run(run: Mapping[str, Any]) -> bool:
    return (
        isinstance(run["identity"], dict)
        and isinstance(run.get("signature", {}), dict)
        and isinstance(run["sittings"], list)
        and all(isinstance(sitting, dict) for sitting in run["sittings"])
    )


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The names under which two identities or signatures hold different things."""
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]


def _refuse_other_run(folder: Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    if names := differing(theirs, ours):
        listed = "; ".join(f"{name} was {theirs.get(name)}, now {ours.get(name)}" for name in names)
        raise StoreError(f"{folder} holds another run and cannot be resumed with this one: {listed}")


def _recover_predictions(path: Path) -> dict[RowKey, dict[str, Any]]:
    """The finished questions. A torn last line, and the rows of the batch that it tore, are cut off the file."""
    rows, size = whole_batches(path)
    os.truncate(path, size)
    return {row_key(row): row for row in rows}


class WholeBatches(NamedTuple):
    """The rows of all batches that a file of predictions holds whole, in its order, and how many bytes they take."""

    rows: list[dict[str, Any]]
    size: int


def whole_batches(path: Path) -> WholeBatches:
    """What counts of a file of predictions, whose end may be torn; the file stays as it is.

    A batch counts whole or not at all: answers can depend on batch mates, so a rest must not become a batch of its own.

    Raises:
        StoreError: A line that is not the last is no row of a run.
    """
    rows: list[dict[str, Any]] = []
    ends = [0]
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            row = _parsed(line)
            if row is None and stream.read(1):
                raise StoreError(f"{path}, line {number}: not a row of this evaluator, and rows follow it")
            if row is None:
                break
            size = row.get("batch_size")
            if not isinstance(size, int) or size < 1:
                raise StoreError(
                    f'{path}, line {number}: field "batch_size": a positive number is expected, found {size!r}'
                )
            rows.append(row)
            ends.append(ends[-1] + len(line))
    whole = 0
    while whole < len(rows) and whole + rows[whole]["batch_size"] <= len(rows):
        whole += rows[whole]["batch_size"]
    return WholeBatches(rows[:whole], ends[whole])


def _recover_traces(path: Path, records: Mapping[RowKey, Mapping[str, Any]]) -> None:
    """Keep the traces of finished questions only, in a file written whole."""
    if not path.is_file():
        return
    with path.open("rb") as source, whole_file(path) as unfinished, unfinished.open("wb") as target:
        for line in source:
            row = _parsed(line)
            if row is not None and row_key(row) in records and row["attempt"] <= records[row_key(row)]["attempt"]:
                target.write(line)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """The row, or None where the line is torn."""
    if not line.endswith(b"\n"):
        return None
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and row.keys() >= _KEYS else None


def prepare_file(path: Path) -> None:
    """Make the folders of a file, before the work that it is to hold.

    Raises:
        StoreError: it cannot be written: its place is taken by a folder, or a folder cannot be made.
    """
    try:
        if path.is_dir():
            raise StoreError(f"{path}: cannot be written: it is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
