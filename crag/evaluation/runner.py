"""Runs an evaluation: sends batches to the agent within the evaluator's limits, saves verdicts and results."""

import os
import platform
import re
import shlex
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, NoReturn

from tqdm import tqdm

from crag.core.contracts import Lost
from crag.core.files import write_json
from crag.core.text import without_credentials
from crag.evaluation.batches import SECONDS_PER_QUERY, Question, gold_answers, in_batches
from crag.evaluation.datasets import DatasetError, Split, count_rows, dataset_files, read_rows
from crag.evaluation.judge import Claim, Judge, Judgement, Verdict, judge_claims
from crag.evaluation.metrics import VALUE
from crag.evaluation.results import COUNT_FIELDS, COUNTS, judged_firings, summarise
from crag.evaluation.store import RESULTS, RunStore
from crag.evaluation.worker import BatchResult, Worker

COUNTED_SIZE = 1 << 30
"""Rows of larger files are not counted first (minutes of decompression), so the time left is unknown."""
ORIGIN_SECONDS = 10.0
"""Time limit for git and nvidia-smi."""


@dataclass(kw_only=True)
class Evaluation:
    """A run over a question file into a store, whose questions are not asked again.

    A batch of n questions gets n times `seconds_per_query`. `batch_size` replaces the agent's. `trim` cuts answers as
    the evaluator does. `origin` is that of `describe_origin`, for run.json.
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
    show_progress: bool = True
    _began: float = field(default_factory=time.monotonic, init=False)
    _read: int = field(default=0, init=False)

    def run(self) -> dict[str, Any]:
        """Ask the unfinished questions, then write and return the results.
        Raises DatasetError: the file has no questions or an invalid row (what was finished before is kept), or the run
        to resume has another batch size or cannot continue to `limit`; AgentStartError: the agent cannot be built.
        """
        records = self.store.records
        try:
            if is_new := self.store.run.batch_size is None:
                self.worker.start()  # builds while the rows are counted
            total = expected_rows(self.dataset, self.limit, self.split)
            batches = self._unanswered(self.store.run.batch_size or self._wait_until_ready())
            first = next(batches, None)  # a file that cannot be read gets an error and no bar
            with tqdm(
                total=total, initial=len(records), unit="question", desc="questions", disable=not self.show_progress,
                dynamic_ncols=True,
            ) as bar:  # fmt: skip
                if first is not None:
                    if not is_new:
                        self._began = time.monotonic()
                        self._wait_until_ready()
                    for questions, result in self.worker.answers(chain([first], batches), self.seconds_per_query):
                        self._finish(questions, result)
                        bar.set_postfix_str(running_score(records.values()))
                        bar.update(len(questions))
            self.worker.stop(in_order=True)
        finally:
            self.worker.stop()
        self.store.finish(self._read)
        results = summarise(list(self.store.records.values()), self.store.run.measured, self.store.run.signature)
        write_json(self.store.folder / RESULTS, results, indent=2)
        return results

    def _seconds(self) -> float:
        """Since the run's start."""
        return round(time.monotonic() - self._began, 3)

    def _wait_until_ready(self) -> int:
        """Wait for the agent; returns the run's batch size."""
        own, before = self.worker.wait_until_ready(), self.store.run.batch_size
        size = self.batch_size or own
        if before not in (None, size):
            raise DatasetError(
                f"{self.store.folder}: the run to resume has batches of {before}, the agent asks for {size}; answers "
                "can depend on batch mates, so the two are not mixed"
            )
        peak = self.store.run.measured.get("peak_memory_mb", 0.0)
        measured = {**self.origin, "startup_seconds": self._seconds(), "peak_memory_mb": peak}
        self.store.update(batch_size=size, measured=measured)
        return size

    def _unanswered(self, size: int) -> Iterator[Sequence[Question]]:
        """The batches that the store does not have; part of one is refused: answers can depend on batch mates."""
        for batch in in_batches(read_rows(self.dataset, self.limit, self.split), size):
            self._read += len(batch)
            answered = sum(question.key in self.store.records for question in batch)
            if 0 < answered < len(batch):
                raise DatasetError(
                    f"{self.store.folder}: the run to resume ended within a batch (--limit "
                    f"{batch[0].batch * size + answered}, batches of {size}); answers can depend on batch mates, so "
                    "its rest is not asked alone: give the same --limit, or another folder"
                )
            if not answered:
                yield batch
        if self._read < len(self.store.records):
            raise DatasetError(
                f"{self.store.folder}: the run to resume has {len(self.store.records)} questions, more than --limit "
                f"{self.limit}: it cannot be cut"
            )

    def _finish(self, questions: Sequence[Question], result: BatchResult) -> None:
        """Judge one batch and save it."""
        measured = {"first_answer_seconds": self._seconds(), **self.store.run.measured}
        measured["peak_memory_mb"] = max(measured["peak_memory_mb"], round(result.peak_memory_mb, 1))
        if measured != self.store.run.measured:
            self.store.update(measured=measured)
        answers, traces = result.answers or [""] * len(questions), result.traces or [{}] * len(questions)
        if result.answers is None:
            why = "the batch timed out" if result.timed_out else "the agent failed in this batch"
            judgements = [Judgement(Verdict.MISSING, f"evaluator: no answer, {why}")] * len(questions)
        else:
            pairs = zip(questions, answers, strict=True)
            claims = [Claim(question.row["query"], gold_answers(question.row), answer) for question, answer in pairs]
            judgements = judge_claims(self.judge, claims, self.trim)
        firings = judged_firings(self.judge, self.trim, questions, traces)
        shared = {"seconds": round(result.seconds / len(questions), 3), "batch_size": len(questions)}
        places = [{**question.key._asdict(), "batch": question.batch} for question in questions]
        rows = [
            {**place, **_row(question, answer, judgement, result, trace), "gates": fired, **shared}
            for place, question, answer, judgement, trace, fired in zip(
                places, questions, answers, judgements, traces, firings, strict=True
            )
        ]
        self.store.append(rows, [{**trace, **place} for trace, place in zip(result.traces, places, strict=False)])


def expected_rows(dataset: Path, limit: int | None, split: Split) -> int | None:
    """The number of questions of a run; None where counting would take minutes.
    Raises DatasetError: the file has none.
    """
    size = sum(part.stat().st_size for part in dataset_files(dataset))
    if size > COUNTED_SIZE or split.wanted is not None:
        return limit
    count = count_rows(dataset, limit)
    if not count and limit != 0:
        raise DatasetError(f"{dataset}: it has no questions")
    return count


def _row(
    question: Question, answer: str, judgement: Judgement, result: BatchResult, trace: Mapping[str, Any]
) -> dict[str, Any]:
    """A row of predictions.jsonl without its place.

    `seconds` are the batch's divided by its questions; `batch_seconds` and the `COUNT_FIELDS` are of the whole batch.
    """
    row, split = question.row, question.row.get(Split.FIELD)
    return {
        "query": row["query"],
        "prediction": answer,
        "answer": row.get("answer"),
        "alt_ans": row.get("alt_ans", []),
        "verdict": judgement.verdict.value,
        "reason": judgement.reason,
        **question.labels,
        **({Split.FIELD: split} if isinstance(split, int) else {}),
        "batch_seconds": round(result.seconds, 3),
        "timed_out": result.timed_out,
        "error": result.error,
        "lost": _lost(result, trace),
        "evidence": evidence if isinstance(evidence := trace.get("evidence"), dict) else None,
        "tokens": _tokens(trace),
        **{field: _counts(result, name, COUNTS[name]) for name, field in COUNT_FIELDS.items()},
    }


def _lost(result: BatchResult, trace: Mapping[str, Any]) -> str | None:
    """What the answer was lost to: the batch's end by the evaluator, or what the agent's trace says."""
    if result.answers is None:
        return Lost.CLOCK if result.timed_out else Lost.FAULT
    cause = trace.get("lost")
    return cause if isinstance(cause, str) and cause in set(Lost) else None


def _tokens(trace: Mapping[str, Any]) -> dict[str, int]:
    """The tokens of the question's own generations."""
    own = trace.get("generations")
    texts = [one for one in own.values() if isinstance(one, Mapping)] if isinstance(own, Mapping) else []
    counts = {kind: [one.get(f"{kind}_tokens") for one in texts] for kind in COUNTS["tokens"]}
    return {kind: sum(count for count in found if type(count) is int) for kind, found in counts.items()}


def _counts(result: BatchResult, name: str, kinds: Sequence[str]) -> dict[str, int]:
    """The batch's counts from the agent's traces, which may have none or invalid ones."""
    counts = next((trace.get(name) for trace in result.traces), None)
    counts = counts if isinstance(counts, dict) else {}
    return {kind: counts[kind] for kind in kinds if type(counts.get(kind)) is int}


def running_score(rows: Iterable[Mapping[str, Any]]) -> str:
    """The score so far and the agent's seconds per question, for the progress bar."""
    points = [VALUE[row["verdict"]] for row in rows if row["verdict"] in VALUE]
    seconds = f"{fmean(row['seconds'] for row in rows):.2f} s/question"
    return f"score {fmean(points):+.3f}, {seconds}" if points else f"score -, {seconds}"


# --- where a run comes from -------------------------------------------------------------------------------------------


def describe_origin(arguments: Sequence[str], program: str = "crag evaluate") -> dict[str, str]:
    """``date``, ``machine``, ``command`` and, in a git repository, ``commit``, of a run with these arguments.

    The machine has no name, and addresses in the command no passwords: reports are passed on.
    """
    command = without_credentials(f"{program} {shlex.join(arguments)}")
    commit = _output("git", "rev-parse", "--short=12", "HEAD")
    changed = " with changes" if commit and _output("git", "status", "--porcelain", "--untracked-files=no") else ""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": describe_machine(),
        **({"commit": commit + changed} if commit else {}),
        "command": command,
    }


def describe_machine() -> str:
    """Cores, processor, memory and GPUs, for people."""
    cpuinfo = Path("/proc/cpuinfo")  # the only place where Linux names the processor
    text = cpuinfo.read_text(encoding="utf-8") if cpuinfo.is_file() else ""
    name = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    processor = name[1].strip() if name else platform.processor() or platform.machine()
    memory = f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    cards = Counter(_output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines())
    return ", ".join([f"{os.cpu_count()} cores", processor, memory, *(f"{n} x {card}" for card, n in cards.items())])


def _output(*command: str) -> str:
    """The output of a command; empty if it is not installed, fails or hangs."""
    try:
        return subprocess.run(  # noqa: S603 - a list of arguments, no shell
            command, capture_output=True, text=True, check=True, errors="replace", timeout=ORIGIN_SECONDS
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


# --- how a run is ended -----------------------------------------------------------------------------------------------


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM (`kill`, a batch system, `docker stop`)."""


@contextmanager
def stopped_in_order() -> Iterator[None]:
    """Inside, SIGTERM raises `Terminated`, so that every `finally` runs; by default Python would exit at once.

    Only the first signal counts: a second would break the clean-up.
    """

    def stop(*_: object) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
