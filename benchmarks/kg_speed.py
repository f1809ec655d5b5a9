"""How long a batch of 16 questions is in the knowledge graph, against asking for the same one call after the other.

    python -m benchmarks.kg_speed [--questions FILE] [--data DIR] [--batches N] [--seed N] [--delay SECONDS]

The labelled calls of real questions, read beforehand as the agent's writer does it, go in random batches through the
executor to `python -m mock_api`, a process of its own. `--delay` lets that server wait before each answer, as one
further away would. The rivals get the same calls and no cache:

alone          the executor too, but question after question, each over one new connection and with one call at a time;
one by one     only the HTTP requests of the batch, one after the other, each over a new connection (`requests.post`),
               with nothing resolved, selected or put into sentences; those that our cache answered are sent too;
one session    the same over one kept connection.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any
from unittest import mock

import requests

from agents.deadline import Deadline
from agents.kg.client import KgBatch, KgClient
from agents.kg.endpoints import Request
from agents.kg.executor import Executor, ProgramResult, Task
from agents.kg.language import parse
from agents.kg.schema import Domain
from agents.queries import parse_query_time
from agents.settings import KgClientSettings, KgLimits
from benchmarks.kg_execution import BATCH, QUESTIONS, unpacked_graph
from evaluation.datasets import DatasetError, read_records
from evaluation.graph_server import GraphServerError, mock_graph

SECONDS = 480.0
"""The evaluator's limit for a batch of 16; nothing here comes near it."""


@dataclass(slots=True)
class BatchCost:
    """What one batch cost: seconds until all was done and until each question was, requests, and the rivals' seconds.

    `asked` are the requests that the questions made, `sent` is how many of them went to the server.
    """

    seconds: float
    latencies: list[float]
    sent: int
    asked: list[Request]
    rivals: dict[str, float] = field(default_factory=dict)


class _TimedExecutor(Executor):
    """Notes when each question was done."""

    def __init__(self, client: KgClient, limits: KgLimits) -> None:
        super().__init__(client, limits)
        self.done_at: list[float] = []

    def _run(self, task: Task, batch: KgBatch) -> ProgramResult:
        outcome = super()._run(task, batch)
        self.done_at.append(time.perf_counter())
        return outcome


@contextmanager
def recorded() -> Iterator[list[Request]]:
    """What is asked for while the context is open, whether it is sent or the cache has it."""
    asked: list[Request] = []
    start = KgBatch.start

    def note(batch: KgBatch, call: Request, *, may_send: bool) -> Any:  # noqa: ANN401 (passed on as it comes)
        started = start(batch, call, may_send=may_send)
        asked.append(call)
        return started

    with mock.patch.object(KgBatch, "start", note):
        yield asked


def run_batch(client: KgClient, tasks: Sequence[Task]) -> BatchCost:
    """Carry the tasks out as the agent does, with an empty cache."""
    executor = _TimedExecutor(client, KgLimits())
    started = time.perf_counter()
    outcomes = executor.run_batch(tasks, Deadline(SECONDS))
    seconds = time.perf_counter() - started
    with recorded() as asked:  # a second time: recording must not slow the runs above
        executor.run_batch(tasks, Deadline(SECONDS))
    latencies = [at - started for at in executor.done_at[: len(tasks)]]
    return BatchCost(seconds, latencies, sum(outcome.calls for outcome in outcomes), asked)


def replay(address: str, calls: Sequence[Request], post: Callable[..., requests.Response]) -> float:
    """Seconds that the requests take one after the other; replies are decoded, as whoever asks would do."""
    started = time.perf_counter()
    for call in calls:
        reply = post(address + call.endpoint, json=dict(call.payload) or None, timeout=SECONDS)
        if reply.ok:
            reply.json()
    return time.perf_counter() - started


def one_question_at_a_time(address: str, tasks: Sequence[Task]) -> float:
    """Seconds that the executor takes without concurrency, kept connections and a cache over the batch."""
    started = time.perf_counter()
    for task in tasks:
        with KgClient(address, KgClientSettings(concurrency=1)) as client:
            Executor(client, KgLimits()).run_batch([task], Deadline(SECONDS))
    return time.perf_counter() - started


def tasks_of(rows: Sequence[Mapping[str, Any]]) -> list[Task]:
    """The labelled calls of the questions that have some."""
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
    """The figures as lines; milliseconds."""
    shares = [1000 * cost.seconds / BATCH for cost in costs]
    latencies = [1000 * latency for cost in costs for latency in cost.latencies]
    questions = BATCH * len(costs)
    asked = sum(len(cost.asked) for cost in costs)
    lines = [
        f"{len(costs)} batches of {BATCH} questions",
        f"calls per question: asked for {asked / questions:.2f}, sent {sum(c.sent for c in costs) / questions:.2f}",
        f"batch ms / {BATCH}:          median {median(shares):7.1f}  p95 {_p95(shares):7.1f}",
        f"ms until a question is done: median {median(latencies):5.1f}  p95 {_p95(latencies):7.1f}",
    ]
    for name in costs[0].rivals:
        rival = [1000 * cost.rivals[name] / BATCH for cost in costs]
        ratios = [theirs / ours for theirs, ours in zip(rival, shares, strict=True)]
        lines.append(
            f"{name + ':':16}ms a question: median {median(rival):7.1f}  p95 {_p95(rival):7.1f}   "
            f"times ours: median {median(ratios):.2f}, all batches {fmean(rival) / fmean(shares):.2f}"
        )
    return "\n".join(lines) + "\n"


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print calls, times and ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kg_speed", description=__doc__.split("\n")[0])
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--data", type=Path, help="folder of graph tables (default: the packed real graph)")
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--seed", type=int, default=20240805)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that the server waits before each answer")
    options = parser.parse_args(arguments)
    try:
        with ExitStack() as beside:
            tasks = tasks_of([row for _, row in read_records(options.questions)])
            data = options.data or beside.enter_context(unpacked_graph())
            address = beside.enter_context(mock_graph(data, options.delay))
            costs = measure(address, tasks, options.batches, options.seed)
    except (DatasetError, GraphServerError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(report(costs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
