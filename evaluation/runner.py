"""Runs an evaluation: sends batches to the agent within the evaluator's limits, saves verdicts and results."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from agents.common.contracts import Lost
from evaluation.agent_host import AgentSpec, BatchResult
from evaluation.batches import WHOLE, Question, Shard, evaluator_batch, in_batches
from evaluation.datasets import DatasetError, Split, count_rows, dataset_files, read_rows
from evaluation.judge import Claim, Judge, Judgement, Verdict, judge_claims
from evaluation.progress import Progress
from evaluation.real_evaluator import SECONDS_PER_QUERY, STARTUP_SECONDS
from evaluation.results import COUNTS, Firing, judged_firings, summarise
from evaluation.store import RunStore, StoreError
from evaluation.trim import Trim
from evaluation.worker import InProcessWorker, ProcessWorker

COUNTED_SIZE = 1 << 30
"""Rows of larger files are not counted first (minutes of decompression), so the time left is unknown."""


class FailedBatchError(RuntimeError):
    """A batch failed and the run stopped there. Finished batches, with the failed one, are on disk."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to run and how; the defaults are the real evaluator's.

    A batch of n questions gets n times `seconds_per_query`. `batch_size` replaces the agent's. `startup_seconds` limits
    building the agent. `retry_failed` asks failed questions of a resumed run again. `in_process` runs the agent in this
    process, without limits. Only batches of `shard` are run. `origin` is that of `evaluation.origin`, for run.json.
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
    origin: Mapping[str, Any] = field(default_factory=dict)


class Evaluation:
    """A run over a question file into a store. A context manager: leaving it stops the agent.

    Args:
        options: What to run.
        store: The store of finished batches; its questions are not asked again.
        judge: Decides between correct and incorrect.
        trim: Cuts answers as the evaluator does.
        signature: Goes into the results.
        show_progress: Draws a progress bar on standard error.
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
        self._worker = (
            InProcessWorker(options.agent)
            if options.in_process
            else ProcessWorker(options.agent, options.startup_seconds)
        )
        self._began: float | None = None
        self._is_ready = False
        self._sitting: dict[str, Any] = dict(options.origin)
        self._sitting_number = len(store.sittings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._worker.stop()

    def run(self) -> dict[str, Any]:
        """Ask the unfinished questions, then write and return the results.

        Raises:
            DatasetError: the file has no questions or an invalid row; all batches before it are finished.
            AgentStartError: the agent cannot be built.
            StoreError: the run to resume has another batch size, or cannot continue to `limit`.
            FailedBatchError: `fail_on_error` is set and a batch failed.
        """
        if self._store.batch_size is None:
            self._start()  # builds while the rows are counted
        total = expected_rows(self._options.dataset, self._options.limit, self._options.split)
        size = self._store.batch_size or self._wait_until_ready()
        self._refuse_smaller_limit(size)
        mine = None if total is None else self._options.shard.questions(total, size)
        read = 0
        with Progress(mine, list(self._store.records.values()), shown=self._show_progress) as progress:
            for batch in in_batches(read_rows(self._options.dataset, self._options.limit, self._options.split), size):
                read += len(batch)
                self._refuse_rest(batch, size)
                if pending := [question for question in batch if self._is_pending(question)]:
                    records = self._finish(pending)
                    progress.add(records)
                    self._stop_on_error(records[0])
        self._worker.finish()
        self._store.set_questions(read)
        results = summarise(list(self._store.records.values()), self._store.sittings, self._signature)
        self._store.write_results(results)
        return results

    def _start(self) -> None:
        self._began = time.monotonic()
        self._worker.start()

    def _wait_until_ready(self) -> int:
        """Wait for the agent; returns the run's batch size."""
        if self._began is None:
            self._start()
        own = self._worker.wait_until_ready()
        self._is_ready = True
        self._measure("startup_seconds")
        size = self._options.batch_size or own
        if self._store.batch_size not in (None, size):
            raise StoreError(
                f"{self._store.folder}: the run to resume has batches of {self._store.batch_size}, the agent asks for "
                f"{size}; answers can depend on batch mates, so the two are not mixed"
            )
        self._store.set_batch_size(size)
        return size

    def _measure(self, name: str) -> None:
        """Record the seconds since the agent's start (only the first time) and its peak memory."""
        before = dict(self._sitting)
        self._sitting.setdefault(name, round(time.monotonic() - (self._began or 0.0), 3))
        self._sitting["peak_memory_mb"] = round(self._worker.peak_memory_mb, 1)
        if self._sitting != before:
            self._store.set_sitting(self._sitting_number, self._sitting)

    def _refuse_smaller_limit(self, size: int) -> None:
        """Refuse a smaller limit: a resumed run cannot be cut."""
        limit = self._options.limit
        asked = max((row["batch"] * size + row["batch_size"] for row in self._store.records.values()), default=0)
        if limit is not None and limit < asked:
            raise StoreError(
                f"{self._store.folder}: the run to resume has {asked} questions, more than --limit {limit}"
            )

    def _refuse_rest(self, batch: Sequence[Question], size: int) -> None:
        """Refuse to complete a batch: answers can depend on batch mates."""
        asked = sum(question.key in self._store.records for question in batch)
        if 0 < asked < len(batch):
            raise StoreError(
                f"{self._store.folder}: the run to resume ended within a batch (--limit {batch[0].batch * size + asked}"
                f", batches of {size}); answers can depend on batch mates, so its rest is not asked alone: give "
                "the same --limit, or another folder"
            )

    def _is_pending(self, question: Question) -> bool:
        if not self._options.shard.holds(question.batch):
            return False
        record = self._store.records.get(question.key)
        return record is None or (self._options.retry_failed and bool(record["timed_out"] or record["error"]))

    def _finish(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """Ask one batch, judge it and save it."""
        if not self._is_ready:
            self._wait_until_ready()
        limit = self._options.seconds_per_query * len(questions)
        result = self._worker.answer(evaluator_batch(questions), limit)
        self._measure("first_answer_seconds")
        judgements = self._judged(questions, result)
        firings = judged_firings(self._judge, self._trim.cut, questions, result.traces)
        places = [self._place(question) for question in questions]
        records = [
            {**place, **_record(question, judgement, result, position, fired, len(questions))}
            for position, (place, question, judgement, fired) in enumerate(
                zip(places, questions, judgements, firings, strict=True)
            )
        ]
        traces = [{**trace, **place} for trace, place in zip(result.traces, places, strict=False)]
        self._store.append(records, traces)
        return records

    def _place(self, question: Question) -> dict[str, Any]:
        before = self._store.records.get(question.key)
        attempt = before["attempt"] + 1 if before else 1
        return {**question.key._asdict(), "batch": question.batch, "attempt": attempt}

    def _judged(self, questions: Sequence[Question], result: BatchResult) -> list[Judgement]:
        if result.answers is None:
            why = "the batch timed out" if result.timed_out else "the agent failed in this batch"
            return [Judgement(Verdict.MISSING, f"evaluator: no answer, {why}")] * len(questions)
        claims = [
            Claim(question.row["query"], question.golds, answer)
            for question, answer in zip(questions, result.answers, strict=True)
        ]
        return judge_claims(self._judge, claims, self._trim.cut)

    def _stop_on_error(self, record: Mapping[str, Any]) -> None:
        if self._options.fail_on_error and (record["timed_out"] or record["error"]):
            what = "timed out" if record["timed_out"] else "failed"
            raise FailedBatchError(f"batch {record['batch']} {what}:\n{record['error'] or ''}".rstrip())


def expected_rows(dataset: Path, limit: int | None, split: Split) -> int | None:
    """The number of questions of a run over all shards; None where counting would take minutes.

    Raises:
        DatasetError: the file has none.
    """
    size = sum(part.stat().st_size for part in dataset_files(dataset))
    if size > COUNTED_SIZE or split.wanted is not None:
        return limit
    count = count_rows(dataset, limit)
    if not count and limit != 0:
        raise DatasetError(f"{dataset}: it has no questions")
    return count


def _record(
    question: Question,
    judgement: Judgement,
    result: BatchResult,
    position: int,
    firings: Sequence[Firing],
    batch_size: int,
) -> dict[str, Any]:
    """A row of predictions.jsonl without its place.

    `seconds` are the batch's divided by its questions; `batch_seconds` and the `COUNTS` are of the whole batch.
    """
    split = question.row.get(Split.FIELD)
    return {
        "query": question.row["query"],
        "prediction": "" if result.answers is None else result.answers[position],
        "answer": question.row.get("answer"),
        "alt_ans": question.row.get("alt_ans", []),
        "verdict": judgement.verdict.value,
        "reason": judgement.reason,
        "gates": list(firings),
        **question.labels,
        **({Split.FIELD: split} if isinstance(split, int) else {}),
        "seconds": round(result.seconds / batch_size, 3),
        "batch_seconds": round(result.seconds, 3),
        "batch_size": batch_size,
        "timed_out": result.timed_out,
        "error": result.error,
        "lost": _lost(result, position),
        **{name: _counts(result, name, kinds) for name, kinds in COUNTS.items()},
    }


def _lost(result: BatchResult, position: int) -> str | None:
    """What the answer was lost to: the batch's end by the evaluator, or what the agent's trace says."""
    if result.answers is None:
        return Lost.CLOCK if result.timed_out else Lost.FAULT
    found = result.traces[position].get("lost") if position < len(result.traces) else None
    return found if isinstance(found, str) and found in set(Lost) else None


def _counts(result: BatchResult, name: str, kinds: Sequence[str]) -> dict[str, int]:
    """The batch's counts from the agent's traces, which may have none or invalid ones."""
    found = next((trace.get(name) for trace in result.traces), None)
    counts = found if isinstance(found, dict) else {}
    return {kind: counts[kind] for kind in kinds if type(counts.get(kind)) is int}
