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
from evaluation.batches import golds_of
from evaluation.datasets import LABEL_FIELDS
from evaluation.judge import Claim, Judge, Verdict, judge_claims
from mock_api import serve

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
        return bool(self.results) and all(each.status is Status.OK and not each.partial for each in self.results)

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
            late = [place for place in range(len(tasks)) if place not in done or done[place].is_down]
            outcomes = self._executor.run_batch([tasks[place] for place in late], Deadline(SECONDS_PER_BATCH))
            done |= zip(late, (Executed(outcome.results) for outcome in outcomes), strict=True)
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
        questions = [LabelledQuestion(row) for row in rows]
        for number in range(1, self.attempts + 1):
            if pending := [question for question in questions if question.kept is None]:
                self._attempt(pending, number)
        return questions

    def _attempt(self, pending: Sequence[LabelledQuestion], number: int) -> None:
        requests = [CallRequest(each.row["query"], _time(each.row), _domain(each.row)) for each in pending]
        deadline = Deadline(UNHURRIED_SECONDS * len(requests))
        proposals = []
        for question, answer in zip(
            pending, self.writer.write(requests, deadline, self.temperature if number > 1 else 0.0), strict=True
        ):
            if answer.program is not None and answer.program.statements:
                proposals.append((question, answer.domain, answer.program))
            else:
                failed = answer.generation.finish_reason in {"error", "deadline"}
                reason = "none" if answer.program is not None else "failed" if failed else "unreadable"
                question.outcomes[reason] += 1
        tasks = [Task(domain, program, parse_query_time(_time(each.row))) for each, domain, program in proposals]
        answered = []
        # Once: a proposal that asks for too much is a bad label.
        for (question, domain, program), executed in zip(proposals, self.bench.run(tasks, attempts=1), strict=True):
            if executed.found:
                calls = {"domain": str(domain), "calls": render(program).split("\n"), "kg_values": executed.values}
                answered.append((question, calls, _answer(question.row, domain, program, executed)))
            else:
                question.outcomes["no reply" if executed.is_down else "not found"] += 1
        claims = [Claim(question.row["query"], golds_of(question.row), text) for question, _, text in answered]
        for (question, calls, text), judgement in zip(answered, judge_claims(self.judge, claims, str), strict=True):
            if judgement.verdict is Verdict.CORRECT:
                label = {"attempt": number, "answer_of_values": text, "reason": judgement.reason}
                question.kept = {**calls, "label": label}
            question.outcomes["kept" if question.kept else "other answer"] += 1


def _domain(row: dict[str, Any]) -> Domain | None:
    return Domain(row["domain"]) if row.get("domain") in list(Domain) else None


def _time(row: dict[str, Any]) -> str:
    return str(row.get("query_time", ""))


def _answer(row: dict[str, Any], domain: Domain, program: Program, executed: Executed) -> str:
    """The answer by the agent's rules, else the values joined by commas."""
    direct = direct_answer(row["query"], domain, program, executed.results)
    if direct is not None:
        return direct
    asked_at = parse_query_time(_time(row))
    derived = derived_answer(row["query"], domain, program, executed.results, asked_at.date() if asked_at else None)
    if derived is not None:
        return derived.text
    return ", ".join(map(str, executed.values)) if len(executed.values) <= _MOST_VALUES else I_DONT_KNOW
