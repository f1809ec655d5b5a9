"""Runs programs with the agent's own executor against a server."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agents.common.deadline import Deadline
from agents.kg.trainable import (
    CallLimits,
    Domain,
    Executor,
    KgClient,
    Program,
    Result,
    Status,
    Task,
    Value,
    derived_answer,
    direct_answer,
)
from mock_api import serve

BATCH = 64
SECONDS_PER_BATCH = 120.0


@dataclass(frozen=True, slots=True)
class Executed:
    """The results of a program."""

    results: tuple[Result, ...]

    @property
    def found(self) -> bool:
        """Whether every statement found something and no result is partial."""
        return bool(self.results) and all(one.status is Status.OK and not one.partial for one in self.results)

    @property
    def is_down(self) -> bool:
        """Whether the server did not answer."""
        return any(result.status is Status.KG_DOWN for result in self.results)

    @property
    def values(self) -> tuple[Value, ...]:
        """The values of the statements, in their order."""
        return tuple(value for result in self.results for value in result.values)

    def answer(self, question: str, domain: Domain, program: Program, asked_at: datetime | None) -> str | None:
        """The answer that the agent's rules derive from the results, if any."""
        direct = direct_answer(question, domain, program, self.results)
        if direct is not None:
            return direct
        derived = derived_answer(question, domain, program, self.results, asked_at.date() if asked_at else None)
        return derived.text if derived else None


class Bench:
    """An executor of one graph."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def run(self, tasks: Sequence[Task], attempts: int = 3) -> list[Executed]:
        """Run each program, late ones up to `attempts` times: a server on a busy machine is sometimes late."""
        done: dict[int, Executed] = {}
        for _ in range(attempts):
            missing = [place for place in range(len(tasks)) if place not in done or done[place].is_down]
            for start in range(0, len(missing), BATCH):
                batch = missing[start : start + BATCH]
                outcomes = self._executor.run_batch([tasks[p] for p in batch], Deadline(SECONDS_PER_BATCH))
                done |= zip(batch, (Executed(outcome.results) for outcome in outcomes), strict=True)
        return [done[place] for place in range(len(tasks))]


@contextmanager
def bench_at(address: str) -> Iterator[Bench]:
    """Use the graph of the server at this address."""
    with KgClient(address, CallLimits(seconds=30.0)) as client:
        yield Bench(Executor(client))


@contextmanager
def bench_of(graph: Path) -> Iterator[Bench]:
    """Serve a folder's graph in this process."""
    with serve(graph) as address, bench_at(address) as bench:
        yield bench
