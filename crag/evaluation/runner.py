"""Runs an evaluation: sends batches to the agent within the evaluator's limits, saves verdicts and results."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

from crag.core.files import DatasetError, write_json
from crag.core.progress import Progress, ProgressMode
from crag.core.text import counted
from crag.evaluation.batches import SECONDS_PER_QUERY, Question, RowKey, gold_answers, in_batches
from crag.evaluation.cut_files import dataset_files
from crag.evaluation.datasets import count_rows, read_rows
from crag.evaluation.gates import judged_firings
from crag.evaluation.judge import Claim, Judge, Judgement, Verdict, judge_claims
from crag.evaluation.lost import AskingOrder, RetryPolicy, is_lost
from crag.evaluation.metrics import VALUE
from crag.evaluation.prediction_rows import attempt_fields, key_fields, prediction_row
from crag.evaluation.results import summarise
from crag.evaluation.split import Split
from crag.evaluation.store import RESULTS, RunStore
from crag.evaluation.worker import BatchResult, Worker

COUNTED_SIZE = 1 << 30
"""Rows of larger files are not read first (minutes of decompression): a fault in one is found when it is reached, and
the time left is unknown.
"""


def _print_nothing(_: str) -> None:
    """For runs that nobody watches."""


@dataclass(kw_only=True)
class Evaluation:
    """A run over a question file into a store. What the store already has is not asked again, unless it was lost.

    A batch of n questions gets n times `seconds_per_query`. `batch_size` replaces the agent's. `trim` cuts answers as
    the evaluator does. `origin` is what `describe_origin` returns; it goes into run.json. `identify_model` asks a
    server which model it serves (None: it does not reply yet, or there is no server). `policy` is about lost answers.
    """

    dataset: Path
    store: RunStore
    worker: Worker
    judge: Judge
    trim: Callable[[str], str]
    limit: int | None = None
    split: Split = field(default_factory=lambda: Split(None))
    batch_size: int | None = None
    seconds_per_query: float = SECONDS_PER_QUERY
    origin: Mapping[str, Any] = field(default_factory=dict)
    progress: ProgressMode | None = None
    identify_model: Callable[[], str | None] = lambda: None
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    say: Callable[[str], object] = _print_nothing
    sleep: Callable[[float], object] = time.sleep
    """Waits before lost questions are asked again."""
    _start_time: float = field(default_factory=time.monotonic, init=False)
    _rows_read: int = field(default=0, init=False)

    def run(self) -> dict[str, Any]:
        """Ask the unfinished questions, then write and return the results.
        Raises DatasetError: the file has no questions or an invalid row (in a large file what was finished before it is
        kept), or the run to resume has another batch size or model or cannot continue to `limit`; AgentStartError: the
        agent cannot be built; DeadServerError: batch after batch was lost (what was finished before is kept).
        """
        try:
            self._ask_unanswered()
            # Only after the last batch may the agent close itself; after a failure it is killed
            self.worker.stop(in_order=True)
        finally:
            self.worker.stop()

        self.store.finish(self._rows_read)
        run = self.store.run
        results = summarise(list(self.store.records.values()), run.measured, run.signature)
        write_json(self.store.folder / RESULTS, results, indent=2)
        return results

    def _ask_unanswered(self) -> None:
        saved_size = self.store.run.batch_size
        is_new = saved_size is None
        if is_new:
            self.worker.start()  # builds the agent while the rows are counted

        total = expected_rows(self.dataset, self.limit, self.split)
        size = saved_size if saved_size else self._wait_until_ready()
        # A generator: no row is read before it is asked for
        batches = self._unanswered(size)

        # Read one batch before the bar is drawn: a file that cannot be read gets an error and no bar.
        first_batch = next(batches, None)
        # A resumed run starts its agent only now: there is a question to ask.
        if first_batch is not None and not is_new:
            self._start_time = time.monotonic()
            # Asked before the models are loaded, so that another model is refused at once
            self.store.identify_model(self.identify_model())
            self._wait_until_ready()

        with Progress(total, len(self._answered_keys()), mode=self.progress) as progress:
            if first_batch is not None:
                self._ask(chain([first_batch], batches), progress)

    def _ask(self, batches: Iterator[Sequence[Question]], progress: Progress) -> None:
        """Ask the batches, and lost questions again as the policy says."""
        order = AskingOrder(batches, self.policy, self.say, self._sleep_before_retry)
        records = self.store.records
        counted = set(self._answered_keys())
        is_first_round = True
        # Of several workers the last may lose answers when no batch is left to give out
        while is_first_round or order.has_waiting:
            is_first_round = False
            for batch in self.worker.answers(order, self.seconds_per_query):
                self._finish_batch(batch.questions, batch.result)

                keys = [question.key for question in batch.questions]
                new_keys = set(keys) - counted
                counted |= new_keys
                progress.update(len(new_keys), running_score(records.values()))
                order.report(batch.questions, [records[key] for key in keys])

    def _sleep_before_retry(self, seconds: float) -> None:
        self.sleep(seconds)
        # A server that was started again may serve another model
        self.store.identify_model(self.identify_model())

    def _answered_keys(self) -> list[RowKey]:
        """The saved questions with an answer that is not lost."""
        return [key for key, row in self.store.records.items() if not is_lost(row)]

    def _seconds_since_start(self) -> float:
        return round(time.monotonic() - self._start_time, 3)

    def _wait_until_ready(self) -> int:
        """Wait for the agent; returns the run's batch size."""
        agent_size = self.worker.wait_until_ready()
        saved_size = self.store.run.batch_size
        size = self.batch_size or agent_size
        if saved_size is not None and saved_size != size:
            raise DatasetError(
                f"{self.store.folder}: the run to resume has batches of {saved_size}, the agent asks for {size}; "
                "answers can depend on batch mates, so the two are not mixed"
            )

        measured = {
            **self.origin,
            "startup_seconds": self._seconds_since_start(),
            "peak_memory_mb": self.store.run.measured.get("peak_memory_mb", 0.0),
        }
        self.store.update(batch_size=size, measured=measured)
        # Now the agent has waited for its server
        self.store.identify_model(self.identify_model())
        return size

    def _unanswered(self, size: int) -> Iterator[Sequence[Question]]:
        """The batches that the store does not have, and of those that it has the lost questions.
        Raises DatasetError: the store has a part of a batch, as answers can depend on batch mates, or more questions
        than there are now.
        """
        rows = read_rows(self.dataset, self.limit, self.split)
        for batch in in_batches(rows, size):
            self._rows_read += len(batch)
            answered = sum(question.key in self.store.records for question in batch)

            # The saved rows end within this batch, as --limit was no multiple of its size
            if 0 < answered < len(batch):
                previous_limit = batch[0].batch * size + answered
                raise DatasetError(
                    f"{self.store.folder}: the run to resume ended within a batch (--limit {previous_limit}, "
                    f"batches of {size}); answers can depend on batch mates, so its rest is not asked alone: "
                    "give the same --limit, or another folder"
                )
            if not answered:
                yield batch
                continue

            lost = [question for question in batch if is_lost(self.store.records[question.key])]
            if lost:
                yield lost

        saved = len(self.store.records)
        # Only now is the number of rows known
        if self._rows_read < saved:
            raise DatasetError(
                f"{self.store.folder}: the run to resume has {counted(saved, 'question')}, more than --limit "
                f"{self.limit}: it cannot be cut"
            )

    def _finish_batch(self, questions: Sequence[Question], result: BatchResult) -> None:
        """Judge one batch and save it."""
        self._update_measured(result)

        # A failed batch has no answers, and another agent may have no traces.
        size = len(questions)
        answers = [""] * size if result.answers is None else result.answers
        traces = result.traces or [{}] * size
        judgements = self._judge_batch(questions, result)
        firings = judged_firings(self.judge, self.trim, questions, traces)

        rows: list[dict[str, Any]] = []
        columns = zip(questions, answers, judgements, traces, firings, strict=True)
        for question, answer, judgement, trace, question_firings in columns:
            row = prediction_row(question, answer, judgement, trace, question_firings, result)
            rows.append(row | attempt_fields(self.store.records.get(question.key), result, size))

        # An agent without traces leaves no rows in traces.jsonl, not empty ones.
        trace_rows: list[dict[str, Any]] = []
        for question, trace in zip(questions, result.traces, strict=False):
            trace_rows.append({**trace, **key_fields(question)})

        is_again = questions[0].key in self.store.records
        save = self.store.replace if is_again else self.store.append
        save(rows, trace_rows)

    def _update_measured(self, result: BatchResult) -> None:
        """Save the time of the first answer and the agent's peak memory, where either is new."""
        saved = self.store.run.measured
        # The saved value wins: only the first answer counts
        measured = {"first_answer_seconds": self._seconds_since_start(), **saved}
        measured["peak_memory_mb"] = max(measured["peak_memory_mb"], round(result.peak_memory_mb, 1))
        if measured != saved:
            self.store.update(measured=measured)

    def _judge_batch(self, questions: Sequence[Question], result: BatchResult) -> list[Judgement]:
        if result.answers is None:
            # A lost batch counts as unanswered, not as wrong
            cause = "the batch timed out" if result.timed_out else "the agent failed in this batch"
            return [Judgement(Verdict.MISSING, f"evaluator: no answer, {cause}")] * len(questions)

        claims: list[Claim] = []
        for question, answer in zip(questions, result.answers, strict=True):
            claims.append(Claim(question.row["query"], gold_answers(question.row), answer))
        return judge_claims(self.judge, claims, self.trim)


def expected_rows(dataset: Path, limit: int | None, split: Split) -> int | None:
    """The number of questions of a run; of a file over `COUNTED_SIZE` only the limit, if there is one.

    All rows up to the limit are checked: a question is answered only if all can be asked, because a run of a file that
    was corrected later cannot be resumed. Raises DatasetError: a row is invalid, or there is none.
    """
    # Also checks that the file exists
    size = sum(part.stat().st_size for part in dataset_files(dataset))
    # A split of its own, as that of the run counts the rows that are left out
    return limit if size > COUNTED_SIZE else count_rows(dataset, limit, Split(split.number))


def running_score(rows: Iterable[Mapping[str, Any]]) -> str:
    """The score so far and the agent's seconds per question, for the progress bar."""
    # Unscored answers took time, too, but have no points
    points: list[float] = []
    seconds: list[float] = []
    for row in rows:
        seconds.append(row["seconds"])
        if row["verdict"] in VALUE:
            points.append(VALUE[row["verdict"]])

    score = f"{fmean(points):+.3f}" if points else "-"
    return f"score {score}, {fmean(seconds):.2f} s/question"
