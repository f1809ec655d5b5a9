"""Calls that a model proposes for a question, executed with the agent's own executor, and judged."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION
from agents.common.deadline import Deadline
from agents.common.queries import parse_query_time
from agents.kg.trainable import (
    CallLimits,
    CallRequest,
    CallWriter,
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
    render,
)
from evaluation.datasets import LABEL_FIELDS
from evaluation.judge import Claim, Judge, Verdict, judge_claims
from mock_api import serve

BATCH = 64
SECONDS_PER_BATCH = 120.0
UNHURRIED_SECONDS = 600.0
"""Per question; ample on any machine."""
_MOST_VALUES = 8
"""A longer list of values does not answer a question."""


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
def bench_of(graph: Path) -> Iterator[Bench]:
    """Serve a folder's graph in this process."""
    with serve(graph) as address, KgClient(address, CallLimits(seconds=30.0)) as client:
        yield Bench(Executor(client))


@dataclass
class LabelledQuestion:
    """A question with the results of its attempts.

    `outcomes` counts its attempts: ``failed`` (the engine gave nothing), ``unreadable``, ``none`` (the model says that
    the graph has no answer), ``no reply`` (the graph took too long), ``not found``, ``other answer``, ``kept``. `kept`
    has the calls whose values gave the answer, as fields of an output row.
    """

    row: dict[str, Any]
    outcomes: Counter[str] = field(default_factory=Counter)
    kept: dict[str, Any] | None = None

    def to_entry(self) -> dict[str, Any]:
        """A line of the journal; `failed` if the engine gave nothing at all, `kept` the row of the output."""
        fields = ("interaction_id", "query", "query_time", "split", *LABEL_FIELDS, "answer", "alt_ans")
        asked = {name: self.row[name] for name in fields if name in self.row}
        return {
            "interaction_id": self.row.get("interaction_id"),
            "domain": self.row.get("domain", "unknown"),
            "outcomes": dict(self.outcomes),
            "failed": self.kept is None and self.outcomes.total() == self.outcomes["failed"],
            "kept": None if self.kept is None else asked | self.kept,
        }


def can_be_labelled(row: dict[str, Any]) -> bool:
    """Whether graph values can answer it; they cannot for a false premise or an unknown answer."""
    answer = str(row.get("answer") or "").strip().lower().rstrip(".")
    return bool(answer) and answer not in {I_DONT_KNOW, INVALID_QUESTION}


@dataclass(frozen=True)
class Labeller:
    """Proposes calls with `writer`; executes them on `bench`; judges what their values give.

    At most `attempts` for each question: the first is greedy, the others at `temperature`.
    """

    writer: CallWriter
    bench: Bench
    judge: Judge
    attempts: int
    temperature: float

    def label(self, rows: Sequence[dict[str, Any]]) -> list[LabelledQuestion]:
        """One result per question, in order; raises LanguageModelDiedError."""
        found = [LabelledQuestion(row) for row in rows]
        for number in range(1, self.attempts + 1):
            if pending := [one for one in found if one.kept is None]:
                self._judge(self._execute(self._propose(pending, number)), number)
        return found

    def _propose(
        self, pending: Sequence[LabelledQuestion], number: int
    ) -> list[tuple[LabelledQuestion, Domain, Program]]:
        questions = [_question(one.row) for one in pending]
        temperature = self.temperature if number > 1 else 0.0
        written = self.writer.write(questions, Deadline(UNHURRIED_SECONDS * len(questions)), temperature)
        proposed = []
        for one, answer in zip(pending, written, strict=True):
            if answer.program is not None and answer.program.statements:
                proposed.append((one, answer.domain, answer.program))
            else:
                failed = answer.generation.finish_reason in {"error", "deadline"}
                one.outcomes["none" if answer.program is not None else "failed" if failed else "unreadable"] += 1
        return proposed

    def _execute(
        self, proposed: Sequence[tuple[LabelledQuestion, Domain, Program]]
    ) -> Iterator[tuple[LabelledQuestion, dict[str, Any], str]]:
        """What would be kept of the programs that found something, and the answers of their values."""
        tasks = [Task(domain, program, parse_query_time(_time(one.row))) for one, domain, program in proposed]
        executed = self.bench.run(tasks, attempts=1)  # a proposal that asks for too much is a bad label
        for (one, domain, program), outcome in zip(proposed, executed, strict=True):
            if outcome.found:
                calls = {"domain": str(domain), "calls": render(program).split("\n"), "kg_values": list(outcome.values)}
                yield one, calls, _answer(one.row, domain, program, outcome)
            else:
                one.outcomes["no reply" if outcome.is_down else "not found"] += 1

    def _judge(self, executed: Iterator[tuple[LabelledQuestion, dict[str, Any], str]], number: int) -> None:
        found = list(executed)
        claims = [
            Claim(one.row["query"], (one.row["answer"], *one.row.get("alt_ans", ())), text) for one, _, text in found
        ]
        for (one, calls, text), judgement in zip(found, judge_claims(self.judge, claims, str), strict=True):
            if judgement.verdict is Verdict.CORRECT:
                label = {"attempt": number, "answer_of_values": text, "reason": judgement.reason}
                one.kept = {**calls, "label": label}
            one.outcomes["kept" if one.kept else "other answer"] += 1


def _question(row: dict[str, Any]) -> CallRequest:
    domain = Domain(row["domain"]) if row.get("domain") in list(Domain) else None
    return CallRequest(row["query"], _time(row), domain)


def _time(row: dict[str, Any]) -> str:
    return str(row.get("query_time", ""))


def _answer(row: dict[str, Any], domain: Domain, program: Program, outcome: Executed) -> str:
    """The answer by the agent's rules, else the values joined by commas."""
    direct = direct_answer(row["query"], domain, program, outcome.results)
    if direct is not None:
        return direct
    asked_at = parse_query_time(_time(row))
    derived = derived_answer(row["query"], domain, program, outcome.results, asked_at.date() if asked_at else None)
    if derived is not None:
        return derived.text
    values = [str(value) for value in outcome.values]
    return ", ".join(values) if len(values) <= _MOST_VALUES else I_DONT_KNOW
