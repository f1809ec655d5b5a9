"""One run: questions in, batches to the agent under the evaluator's limits, verdicts and results on disk."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evaluation.agent_host import AgentSpec
from evaluation.batches import WHOLE, Question, Shard, evaluator_batch, in_batches
from evaluation.datasets import DatasetError, Split, count_rows, dataset_files, read_rows
from evaluation.gates import Firing, judged_firings
from evaluation.judge import Claim, Judge, Judgement, Verdict, judge_claims
from evaluation.progress import Progress
from evaluation.real_evaluator import SECONDS_PER_QUERY, STARTUP_SECONDS
from evaluation.results import OUT_OF_TIME, summarise
from evaluation.store import RunStore, StoreError
from evaluation.trim import Trim
from evaluation.worker import AgentWorker, InProcessWorker, Outcome, ProcessWorker

COUNTED_SIZE = 1 << 30
"""Larger files are not counted before the run (minutes of decompression), so that the time left stays unknown."""


class FailedBatchError(RuntimeError):
    """A batch failed and the run was to stop there. What was finished, the failed batch included, is on disk."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to run and how; the defaults are the real evaluator's.

    `seconds_per_query` times the questions in a batch is its limit. `batch_size` replaces the agent's own.
    `startup_seconds` limits how long the agent may take to build. `retry_failed` asks failed questions of a resumed run
    again. `in_process` runs the agent in this process, where no limit can be enforced. Only the batches of `shard` are
    asked.
    """

    dataset: Path
    limit: int | None = None
    split: Split = field(default_factory=lambda: Split(None))
    agent: AgentSpec = field(default_factory=AgentSpec)
    batch_size: int | None = None
    seconds_per_query: float = SECONDS_PER_QUERY
    startup_seconds: float = STARTUP_SECONDS
    in_process: bool = False
    fail_on_error: bool = False
    retry_failed: bool = False
    shard: Shard = WHOLE


class Evaluation:
    """A run over a question file into a store. Use it as a context manager: leaving it stops the agent.

    Args:
        options: What to run.
        store: Where finished batches go; what it holds already is not asked again.
        judge: Decides between correct and incorrect.
        trim: Cuts answers as the evaluator does.
        signature: Goes into the results.
        show_progress: Draw a progress bar on standard error.
    """

    def __init__(
        self,
        options: RunOptions,
        store: RunStore,
        judge: Judge,
        trim: Trim,
        signature: dict[str, Any],
        *,
        show_progress: bool = True,
    ) -> None:
        self._options = options
        self._store = store
        self._judge = judge
        self._trim = trim
        self._signature = signature
        self._show_progress = show_progress
        self._sitting = _Sitting(store)
        self._worker: AgentWorker = (
            InProcessWorker(options.agent)
            if options.in_process
            else ProcessWorker(options.agent, options.startup_seconds)
        )
        self._ready = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._worker.stop()

    def run(self) -> dict[str, Any]:
        """Ask what is not finished yet, then write and return the results.

        Raises:
            DatasetError: the file has no question, or a row that cannot be used; all batches before it are finished.
            AgentStartError: the agent cannot be built.
            StoreError: the run that is resumed has another batch size than the agent, or cannot go on to `limit`.
            FailedBatchError: `fail_on_error` is set and a batch failed.
        """
        if self._store.batch_size is None:
            self._sitting.begin()
            self._worker.start()  # builds while the rows are counted
        total = self._count_rows()
        size = self._store.batch_size or self._start()
        self._refuse_smaller_limit(size)
        mine = None if total is None else self._options.shard.questions(total, size)
        read = 0
        with Progress(mine, list(self._store.records.values()), shown=self._show_progress) as progress:
            for batch in in_batches(read_rows(self._options.dataset, self._options.limit, self._options.split), size):
                read += len(batch)
                self._refuse_rest(batch, size)
                pending = [question for question in batch if self._is_pending(question)]
                if pending:
                    records = self._finish(pending)
                    progress.add(records)
                    self._stop_on_error(records)
        self._worker.finish()
        self._store.set_questions(read)
        records = list(self._store.records.values())
        results = summarise(records, self._store.sittings, self._signature)
        self._store.write_results(results)
        return results

    def _count_rows(self) -> int | None:
        size = sum(part.stat().st_size for part in dataset_files(self._options.dataset))
        if size > COUNTED_SIZE or self._options.split.wanted is not None:
            return self._options.limit
        count = count_rows(self._options.dataset, self._options.limit)
        if not count and self._options.limit != 0:
            raise DatasetError(f"{self._options.dataset}: there is no question in it")
        return count

    def _start(self) -> int:
        """Wait for the agent; the batch size of the run."""
        if not self._sitting.begun:
            self._sitting.begin()
            self._worker.start()
        own = self._worker.wait_until_ready()
        self._sitting.started(self._worker.peak_memory_mb)
        self._ready = True
        size = self._options.batch_size or own
        if self._store.batch_size not in (None, size):
            raise StoreError(
                f"{self._store.folder}: the run to resume has batches of {self._store.batch_size}, the agent asks for "
                f"{size}; answers can depend on batch mates, so the two are not mixed"
            )
        self._store.set_batch_size(size)
        return size

    def _refuse_smaller_limit(self, size: int) -> None:
        """All that the folder holds is measured, so a resumed run cannot be cut."""
        limit = self._options.limit
        asked = max((row["batch"] * size + row["batch_size"] for row in self._store.records.values()), default=0)
        if limit is not None and limit < asked:
            raise StoreError(
                f"{self._store.folder}: the run to resume has asked {asked} questions, more than --limit {limit}"
            )

    def _refuse_rest(self, batch: Sequence[Question], size: int) -> None:
        """A larger limit can go on from whole batches only: answers can depend on batch mates."""
        asked = sum(question.key in self._store.records for question in batch)
        if 0 < asked < len(batch):
            raise StoreError(
                f"{self._store.folder}: the run to resume ended within a batch (--limit {batch[0].batch * size + asked}"
                f", batches of {size}); answers can depend on batch mates, so the rest of it is not asked alone: take "
                "the same --limit, or another folder"
            )

    def _is_pending(self, question: Question) -> bool:
        if not self._options.shard.holds(question.batch):
            return False
        record = self._store.records.get(question.key)
        return record is None or (self._options.retry_failed and _failed(record))

    def _finish(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """Ask one batch, judge it and put it on disk."""
        if not self._ready:
            self._start()
        limit = self._options.seconds_per_query * len(questions)
        outcome = self._worker.answer(evaluator_batch(questions), limit)
        self._sitting.answered(self._worker.peak_memory_mb)
        judgements = self._judged(questions, outcome)
        firings = judged_firings(self._judge, self._trim.cut, questions, outcome.traces)
        attempts = [self._attempt(question) for question in questions]
        records = [
            _record(question, judgement, outcome, position, attempts[position], len(questions), firings[position])
            for position, (question, judgement) in enumerate(zip(questions, judgements, strict=True))
        ]
        traces = [
            {**trace, **_place(question, attempt)}
            for trace, question, attempt in zip(outcome.traces, questions, attempts, strict=False)
        ]
        self._store.append(records, traces)
        return records

    def _attempt(self, question: Question) -> int:
        before = self._store.records.get(question.key)
        return 1 if before is None else int(before["attempt"]) + 1

    def _judged(self, questions: Sequence[Question], outcome: Outcome) -> list[Judgement]:
        if outcome.answers is None:
            why = "the batch ran over its time" if outcome.timed_out else "the agent failed in this batch"
            return [Judgement(Verdict.MISSING, f"evaluator: no answer, {why}")] * len(questions)
        claims = [
            Claim(question.row["query"], question.golds, answer)
            for question, answer in zip(questions, outcome.answers, strict=True)
        ]
        return judge_claims(self._judge, claims, self._trim.cut)

    def _stop_on_error(self, records: Sequence[dict[str, Any]]) -> None:
        if self._options.fail_on_error and _failed(records[0]):
            what = "ran over its time" if records[0]["timed_out"] else "failed"
            raise FailedBatchError(f"batch {records[0]['batch']} {what}:\n{records[0]['error'] or ''}".rstrip())


class _Sitting:
    """What is measured of one sitting, kept in the store as soon as it is known."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._number = len(store.sittings)
        self._began: float | None = None
        self._values: dict[str, Any] = {}

    @property
    def begun(self) -> bool:
        return self._began is not None

    def begin(self) -> None:
        self._began = time.monotonic()

    def started(self, peak_memory_mb: float) -> None:
        self._keep("startup_seconds", peak_memory_mb)

    def answered(self, peak_memory_mb: float) -> None:
        self._keep("first_answer_seconds", peak_memory_mb)

    def _keep(self, name: str, peak_memory_mb: float) -> None:
        before = dict(self._values)
        self._values.setdefault(name, round(time.monotonic() - (self._began or 0.0), 3))
        self._values["peak_memory_mb"] = max(self._values.get("peak_memory_mb", 0.0), round(peak_memory_mb, 1))
        if self._values != before:
            self._store.set_sitting(self._number, self._values)


def _failed(record: dict[str, Any]) -> bool:
    return bool(record["timed_out"] or record["error"])


def _place(question: Question, attempt: int) -> dict[str, Any]:
    return {**question.key._asdict(), "batch": question.batch, "attempt": attempt}


def _record(
    question: Question,
    judgement: Judgement,
    outcome: Outcome,
    position: int,
    attempt: int,
    batch_size: int,
    firings: Sequence[Firing],
) -> dict[str, Any]:
    """A row of predictions.jsonl.

    `seconds` are those of the whole batch, divided evenly; `batch_seconds` and `out_of_time` are those of the
    batch, undivided.
    """
    return {
        **_place(question, attempt),
        "query": question.row["query"],
        "prediction": "" if outcome.answers is None else outcome.answers[position],
        "answer": question.row.get("answer"),
        "alt_ans": question.row.get("alt_ans", []),
        "verdict": judgement.verdict.value,
        "reason": judgement.reason,
        "gates": list(firings),
        **question.labels,
        **({Split.FIELD: split} if isinstance(split := question.row.get(Split.FIELD), int) else {}),
        "seconds": round(outcome.seconds / batch_size, 3),
        "batch_seconds": round(outcome.seconds, 3),
        "batch_size": batch_size,
        "timed_out": outcome.timed_out,
        "error": outcome.error,
        "out_of_time": _out_of_time(outcome),
    }


def _out_of_time(outcome: Outcome) -> dict[str, int]:
    """What the agent's traces say about the whole batch; an agent of somebody else may say nothing, or nonsense."""
    found = next((trace.get("out_of_time") for trace in outcome.traces), None)
    counts = found if isinstance(found, dict) else {}
    return {name: counts[name] for name in OUT_OF_TIME if type(counts.get(name)) is int}
