"""Time a batch of 16 questions in the knowledge graph against the same calls one after the other.

    python -m benchmarks.kg_speed [--questions FILE] [--data DIR] [--batches N] [--seed N] [--delay SECONDS]

The labelled calls of real questions, parsed beforehand, go in random batches through the executor to
`python -m mock_api`, a separate process. `--delay` makes that server wait before each answer, like a remote one. The
rivals get the same calls and no cache:

alone          the executor too, but question after question, each over one new connection and with one call at a time;
one by one     only the HTTP requests of the batch, one after the other, each over a new connection (`requests.post`),
               without resolving, selecting or wording; those that our cache answered are sent too;
one session    the same over one kept connection.
"""

import argparse
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any
from unittest import mock

import requests

from agents.common.console import end_with
from agents.common.deadline import Deadline
from agents.common.queries import parse_query_time
from agents.kg.client import KgBatch, KgClient
from agents.kg.endpoints import Request
from agents.kg.executor import Executor, ProgramResult, Task
from agents.kg.language import parse
from agents.kg.schema import Domain
from agents.settings import KgClientSettings, KgLimits
from benchmarks.common import exit_code, table
from benchmarks.kg_execution import BATCH, QUESTIONS, unpacked_graph
from evaluation.datasets import read_records
from evaluation.graph_server import mock_graph
from training.command import parser_of

SECONDS = 480.0
"""The evaluator's limit for a batch of 16; nothing here comes near it."""


@dataclass(slots=True)
class BatchCost:
    """The cost of one batch: seconds for the batch and for each question, requests, and the rivals' seconds.

    `asked` are the requests of the questions, `sent` is the number of them that went to the server.
    """

    seconds: float
    latencies: list[float]
    sent: int
    asked: list[Request]
    rivals: dict[str, float] = field(default_factory=dict)


class _NotingExecutor(Executor):
    """Records when each question was done."""

    def __init__(self, client: KgClient) -> None:
        super().__init__(client, KgLimits())
        self.done_at: list[float] = []

    def _run(self, task: Task, batch: KgBatch) -> ProgramResult:
        outcome = super()._run(task, batch)
        self.done_at.append(time.perf_counter())
        return outcome


def recorded(executor: Executor, tasks: Sequence[Task]) -> list[Request]:
    """The requests of the tasks, sent or answered by the cache."""
    asked: list[Request] = []
    start = KgBatch.start

    def note(batch: KgBatch, call: Request, *, may_send: bool) -> Any:  # noqa: ANN401 (passed on as it comes)
        asked.append(call)
        return start(batch, call, may_send=may_send)

    with mock.patch.object(KgBatch, "start", note):
        executor.run_batch(tasks, Deadline(SECONDS))
    return asked


def run_batch(client: KgClient, tasks: Sequence[Task]) -> BatchCost:
    """Run the tasks as the agent does, with an empty cache."""
    executor = _NotingExecutor(client)
    started = time.perf_counter()
    outcomes = executor.run_batch(tasks, Deadline(SECONDS))
    seconds = time.perf_counter() - started
    latencies = [at - started for at in executor.done_at]
    sent = sum(outcome.calls for outcome in outcomes)
    # Recorded in a second run, so that the timed run is not slowed.
    return BatchCost(seconds, latencies, sent, recorded(executor, tasks))


def replay(address: str, calls: Sequence[Request], post: Callable[..., requests.Response]) -> float:
    """Seconds for the requests one after the other, including the decoding of replies."""
    started = time.perf_counter()
    for call in calls:
        reply = post(address + call.endpoint, json=dict(call.payload) or None, timeout=SECONDS)
        if reply.ok:
            reply.json()
    return time.perf_counter() - started


def one_question_at_a_time(address: str, tasks: Sequence[Task]) -> float:
    """Seconds for the executor without concurrency, kept connections and a cache over the batch."""
    started = time.perf_counter()
    for task in tasks:
        with KgClient(address, KgClientSettings(concurrency=1)) as client:
            Executor(client, KgLimits()).run_batch([task], Deadline(SECONDS))
    return time.perf_counter() - started


def tasks_of(rows: Sequence[Mapping[str, Any]]) -> list[Task]:
    """The tasks of questions with labelled calls."""
    return [
        Task(Domain(row["domain"]), parse("\n".join(row["calls"]), row["domain"]), parse_query_time(row["query_time"]))
        for row in rows
        if row["answerable"] and row["calls"]
    ]


def measure(address: str, tasks: Sequence[Task], batches: int, seed: int) -> list[BatchCost]:
    """Random batches of 16 and, right after each, the rivals with the same requests."""
    chance = random.Random(seed)  # noqa: S311 - the same batches in every run
    costs: list[BatchCost] = []
    with KgClient(address, KgClientSettings()) as client, requests.Session() as session:
        run_batch(client, tasks)  # every table is read and every connection open, as after an agent's first batch
        for _ in range(batches):
            batch = chance.sample(tasks, BATCH)
            cost = run_batch(client, batch)
            cost.rivals["alone"] = one_question_at_a_time(address, batch)
            cost.rivals["one by one"] = replay(address, cost.asked, requests.post)
            cost.rivals["one session"] = replay(address, cost.asked, session.post)
            costs.append(cost)
    return costs


def report(costs: Sequence[BatchCost]) -> str:
    """The figures as text; milliseconds."""
    ours = [1000 * cost.seconds / BATCH for cost in costs]
    latencies = [1000 * latency for cost in costs for latency in cost.latencies]
    questions = BATCH * len(costs)
    asked, sent = (sum(counts) / questions for counts in ([len(c.asked) for c in costs], [c.sent for c in costs]))
    rows = [
        ["until a question is done", *_milliseconds(latencies), "", ""],
        ["a question", *_milliseconds(ours), "", ""],
    ]
    for name in costs[0].rivals:
        rival = [1000 * cost.rivals[name] / BATCH for cost in costs]
        ratios = [theirs / own for theirs, own in zip(rival, ours, strict=True)]
        rows.append([name, *_milliseconds(rival), f"{median(ratios):.2f}", f"{fmean(rival) / fmean(ours):.2f}"])
    return (
        f"{len(costs)} batches of {BATCH} questions; calls per question: asked for {asked:.2f}, sent {sent:.2f}\n\n"
        + table(["ms", "median", "p95", "times ours: median", "all batches"], rows)
    )


def _milliseconds(values: Sequence[float]) -> list[str]:
    high = quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
    return [f"{median(values):.1f}", f"{high:.1f}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print calls, times and ratios. Exit code: 0 done, 2 a file cannot be used."""
    parser = parser_of("benchmarks.kg_speed", __doc__)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--data", type=Path, help="folder of graph tables (default: the packed real graph)")
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--seed", type=int, default=20240805)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that the server waits before each answer")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    with ExitStack() as beside:
        tasks = tasks_of([row for _, row in read_records(options.questions)])
        data = options.data or beside.enter_context(unpacked_graph())
        address = beside.enter_context(mock_graph(data, options.delay))
        print(report(measure(address, tasks, options.batches, options.seed)))


if __name__ == "__main__":
    end_with(main)
