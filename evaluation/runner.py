"""Runs an evaluation: sends batches to the agent within the evaluator's limits, saves verdicts and results."""

import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from tqdm import tqdm

from agents.common.contracts import Lost
from evaluation.agent_host import AgentSpec, BatchResult
from evaluation.batches import SECONDS_PER_QUERY, Question, in_batches
from evaluation.datasets import DatasetError, Split, count_rows, dataset_files, read_rows
from evaluation.judge import Claim, Judge, Judgement, Verdict, judge_claims
from evaluation.ray_workers import RayWorkers
from evaluation.results import COUNTS, Firing, judged_firings, summarise
from evaluation.store import RunStore, StoreError
from evaluation.trim import Trim
from evaluation.worker import InProcessWorker, ProcessWorker

COUNTED_SIZE = 1 << 30
"""Rows of larger files are not counted first (minutes of decompression), so the time left is unknown."""
ORIGIN_SECONDS = 10.0
"""Time limit for git and nvidia-smi."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to run and how; the defaults are the real evaluator's.

    A batch of n questions gets n times `seconds_per_query`. `batch_size` replaces the agent's. `in_process` runs the
    agent in this process, without limits. `origin` is that of `origin_of`, for run.json.
    """

    dataset: Path
    limit: int | None = None
    split: Split = field(default_factory=lambda: Split(None))
    agent: AgentSpec = field(default_factory=AgentSpec)
    batch_size: int | None = None
    seconds_per_query: float = SECONDS_PER_QUERY
    in_process: bool = False
    origin: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Evaluation:
    """A run over a question file into a store, whose questions are not asked again.

    `trim` cuts answers as the evaluator does, `signature` goes into the results, `workers` are on a cluster, without
    them one agent runs on this machine; `show_progress` draws a bar on standard error.
    """

    options: RunOptions
    store: RunStore
    judge: Judge
    trim: Trim
    signature: dict[str, Any]
    workers: RayWorkers | None = None
    show_progress: bool = field(default=True, kw_only=True)
    _began: float | None = field(default=None, init=False)
    _measured: dict[str, Any] = field(default_factory=dict, init=False)
    _read: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        own = InProcessWorker if self.options.in_process else ProcessWorker
        self._workers: RayWorkers | InProcessWorker | ProcessWorker = self.workers or own(self.options.agent)

    def run(self) -> dict[str, Any]:
        """Ask the unfinished questions, then write and return the results.

        Raises:
            DatasetError: the file has no questions or an invalid row; what was finished before is kept.
            AgentStartError: the agent cannot be built.
            StoreError: the run to resume has another batch size, or cannot continue to `limit`.
        """
        try:
            if self.store.run.batch_size is None:
                self._start()  # builds while the rows are counted
            total = expected_rows(self.options.dataset, self.options.limit, self.options.split)
            size = self.store.run.batch_size or self._wait_until_ready()
            with progress_bar(total, list(self.store.records.values()), shown=self.show_progress) as add_to_progress:
                batches = self._unanswered(size)
                if (first := next(batches, None)) is not None:
                    if not self._measured:
                        self._wait_until_ready()
                    asked = chain([first], batches)
                    for questions, result in self._workers.answers(asked, self.options.seconds_per_query):
                        add_to_progress(self._finish(questions, result))
            self._workers.stop(in_order=True)
        finally:
            self._workers.stop()
        self.store.finish(self._read)
        results = summarise(list(self.store.records.values()), [self.store.run.measured], self.signature)
        self.store.write_results(results)
        return results

    def _start(self) -> None:
        self._began = time.monotonic()
        self._workers.start()

    def _wait_until_ready(self) -> int:
        """Wait for the agent; returns the run's batch size."""
        if self._began is None:
            self._start()
        own = self._workers.wait_until_ready()
        self._measured = dict(self.options.origin)
        self._measure("startup_seconds")
        size, before = self.options.batch_size or own, self.store.run.batch_size
        if before not in (None, size):
            raise StoreError(
                f"{self.store.folder}: the run to resume has batches of {before}, the agent asks for {size}; answers "
                "can depend on batch mates, so the two are not mixed"
            )
        self.store.update(batch_size=size)
        return size

    def _measure(self, name: str) -> None:
        """Record the seconds since the agent's start (only the first time) and its peak memory."""
        before = dict(self._measured)
        self._measured.setdefault(name, round(time.monotonic() - (self._began or 0.0), 3))
        earlier = self.store.run.measured.get("peak_memory_mb", 0.0)
        self._measured["peak_memory_mb"] = max(earlier, round(self._workers.peak_memory_mb, 1))
        if self._measured != before:
            self.store.update(measured=dict(self._measured))

    def _unanswered(self, size: int) -> Iterator[Sequence[Question]]:
        """The batches that the store does not have; part of one is refused: answers can depend on batch mates."""
        for batch in in_batches(read_rows(self.options.dataset, self.options.limit, self.options.split), size):
            self._read += len(batch)
            answered = sum(question.key in self.store.records for question in batch)
            if 0 < answered < len(batch):
                raise StoreError(
                    f"{self.store.folder}: the run to resume ended within a batch (--limit "
                    f"{batch[0].batch * size + answered}, batches of {size}); answers can depend on batch mates, so "
                    "its rest is not asked alone: give the same --limit, or another folder"
                )
            if not answered:
                yield batch
        if self._read < len(self.store.records):
            raise StoreError(
                f"{self.store.folder}: the run to resume has {len(self.store.records)} questions, more than --limit "
                f"{self.options.limit}: it cannot be cut"
            )

    def _finish(self, questions: Sequence[Question], result: BatchResult) -> list[dict[str, Any]]:
        """Judge one batch and save it; returns its rows."""
        self._measure("first_answer_seconds")
        judgements = self._judged(questions, result)
        firings = judged_firings(self.judge, self.trim.cut, questions, result.traces)
        places = [{**question.key._asdict(), "batch": question.batch} for question in questions]
        rows = [
            {**place, **_row(question, judgement, result, position, fired, len(questions))}
            for position, (place, question, judgement, fired) in enumerate(
                zip(places, questions, judgements, firings, strict=True)
            )
        ]
        self.store.append(rows, [{**trace, **place} for trace, place in zip(result.traces, places, strict=False)])
        return rows

    def _judged(self, questions: Sequence[Question], result: BatchResult) -> list[Judgement]:
        if result.answers is None:
            why = "the batch timed out" if result.timed_out else "the agent failed in this batch"
            return [Judgement(Verdict.MISSING, f"evaluator: no answer, {why}")] * len(questions)
        claims = [
            Claim(question.row["query"], question.golds, answer)
            for question, answer in zip(questions, result.answers, strict=True)
        ]
        return judge_claims(self.judge, claims, self.trim.cut)


def expected_rows(dataset: Path, limit: int | None, split: Split) -> int | None:
    """The number of questions of a run; None where counting would take minutes.

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


def _row(
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
    told = result.traces[position].get("lost") if position < len(result.traces) else None
    return told if isinstance(told, str) and told in set(Lost) else None


def _counts(result: BatchResult, name: str, kinds: Sequence[str]) -> dict[str, int]:
    """The batch's counts from the agent's traces, which may have none or invalid ones."""
    counts = next((trace.get(name) for trace in result.traces), None)
    counts = counts if isinstance(counts, dict) else {}
    return {kind: counts[kind] for kind in kinds if type(counts.get(kind)) is int}


@contextmanager
def progress_bar(
    total: int | None, done: Sequence[Mapping[str, Any]], *, shown: bool = True
) -> Iterator[Callable[[Sequence[Mapping[str, Any]]], None]]:
    """A bar with the running score and the agent's seconds per question; gives a function that adds a batch's rows.

    `total` is None if unknown; `done` are rows of before, whose seconds do not count.
    """
    verdicts = Counter(row["verdict"] for row in done)
    seconds: list[float] = []
    with tqdm(
        total=total, initial=len(done), unit="question", desc="questions", disable=not shown, dynamic_ncols=True
    ) as bar:

        def add(rows: Sequence[Mapping[str, Any]]) -> None:
            verdicts.update(row["verdict"] for row in rows)
            seconds.extend(row["seconds"] for row in rows)
            scored = verdicts.total() - verdicts[Verdict.UNSCORED]
            points = verdicts[Verdict.CORRECT] - verdicts[Verdict.INCORRECT]
            text = f"score {points / scored:+.3f}" if scored else "score -"
            bar.set_postfix_str(f"{text}, {sum(seconds) / len(seconds):.2f} s/question" if seconds else text)
            bar.update(len(rows))

        add(())
        yield add


# --- where a run comes from -------------------------------------------------------------------------------------------


def origin_of(arguments: Sequence[str]) -> dict[str, str]:
    """``date``, ``machine``, ``command`` and, in a git repository, ``commit``, of a run with these arguments.

    The machine has no name, and addresses in the command no passwords: reports are passed on.
    """
    command = re.sub(r"//[^/@\s]+@", "//", shlex.join(["python", "local_evaluation.py", *arguments]))
    commit = _output("git", "rev-parse", "--short=12", "HEAD")
    changed = " with changes" if commit and _output("git", "status", "--porcelain", "--untracked-files=no") else ""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": _machine(),
        **({"commit": commit + changed} if commit else {}),
        "command": command,
    }


def _machine() -> str:
    known = None
    if (told := Path("/proc/cpuinfo")).is_file():  # Linux tells the processor's name there only
        known = re.search(r"^model name\s*:\s*(.+)$", told.read_text(encoding="utf-8"), re.MULTILINE)
    processor = known[1].strip() if known else platform.processor() or platform.machine()
    memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    cards = Counter(_output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines())
    return ", ".join([f"{os.cpu_count()} cores", processor, memory, *(f"{n} x {card}" for card, n in cards.items())])


def _output(*command: str) -> str:
    """The output of a command; empty if it is not installed, fails or hangs."""
    if shutil.which(command[0]) is None:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
            command, capture_output=True, text=True, check=False, errors="replace", timeout=ORIGIN_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


# --- how a run is ended -----------------------------------------------------------------------------------------------


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM (`kill`, a batch system, `docker stop`)."""


@contextmanager
def stopped_in_order() -> Iterator[None]:
    """Inside, SIGTERM raises `Terminated`, so that every `finally` runs; by default Python would exit at once.

    Only the first signal counts: a second would break the clean-up. Does nothing outside the main thread, which alone
    may handle signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise_once)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise_once(_number: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Terminated
