"""Labels questions with calls: a model proposes them, and a graph and a judge check them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from crag.core.contracts import I_DONT_KNOW
from crag.core.deadline import Deadline
from crag.core.queries import parse_query_time
from crag.evaluation.batches import gold_answers
from crag.evaluation.datasets import LABEL_FIELDS
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims
from crag.graph.derive import derived_answer, direct_answer
from crag.graph.executor import Executor, ProgramResult, Task
from crag.graph.language import Program, parse, render
from crag.graph.results import Status
from crag.graph.schema import Domain
from crag.graph.writing import CallRequest, CallWriter, Written
from crag.training.api_pairs import (
    execute,
    is_late,
    values_of,
)

JOURNAL, REJECTED = "attempts.jsonl", "rejected.jsonl"
OUTCOMES = ("kept", "other answer", "not found", "no reply", "none", "unreadable", "failed")
UNHURRIED_SECONDS = 600.0
"""Per question; ample on any machine."""
_MOST_VALUES = 8
"""A longer list of values does not answer a question."""


@dataclass
class LabelledQuestion:
    """A question with the results of its attempts.

    `outcomes` counts its attempts: ``failed`` (the engine gave nothing), ``unreadable``, ``none`` (the model says that
    the graph has no answer), ``no reply`` (the graph took too long), ``not found``, ``other answer``, ``kept``. `kept`
    has the calls whose values gave the answer, as fields of an output row; `tried` the others, with their outcome.
    """

    row: dict[str, Any]
    outcomes: Counter[str] = field(default_factory=Counter)
    tried: list[dict[str, str]] = field(default_factory=list)
    kept: dict[str, Any] | None = None

    @property
    def time(self) -> str:
        """The time of asking."""
        return str(self.row.get("query_time", ""))

    @property
    def domain(self) -> Domain | None:
        """The domain, if it is one of the graph's."""
        return Domain(self.row["domain"]) if self.row.get("domain") in list(Domain) else None

    def note(self, outcome: str, calls: str) -> None:
        """An attempt ended so."""
        self.outcomes[outcome] += 1
        if outcome != "kept":
            self.tried.append({"calls": calls, "why": outcome})

    def to_entry(self) -> dict[str, Any]:
        """A line of the journal; `failed` if the engine gave nothing at all, `kept` what the output has besides."""
        fields = ("interaction_id", "query", "query_time", "split", *LABEL_FIELDS, "answer", "alt_ans")
        return {
            "interaction_id": self.row.get("interaction_id"),
            "domain": self.row.get("domain", "unknown"),
            "outcomes": dict(self.outcomes),
            "failed": self.kept is None and self.outcomes.total() == self.outcomes["failed"],
            "kept": self.kept,
            "asked": {name: self.row[name] for name in fields if name in self.row},
            "tried": self.tried,
        }


Proposal = tuple[LabelledQuestion, Domain, Program]


@dataclass(frozen=True)
class Labeller:
    """Proposes calls; executes them with `executor`; judges what their values give.

    Each of the `attempts`, a writer with its temperature, is for the questions without kept calls.
    """

    attempts: Sequence[tuple[CallWriter, float]]
    executor: Executor
    judge: Judge

    def label(self, rows: Sequence[dict[str, Any]]) -> list[LabelledQuestion]:
        """One result per question, in order; raises LanguageModelDiedError."""
        questions = [LabelledQuestion(row) for row in rows]
        for question in questions:
            if calls := question.row.get("by_hand"):
                self._correct(question, calls)
        for attempt, (writer, temperature) in enumerate(self.attempts, start=1):
            pending = [question for question in questions if question.kept is None]
            requests = [CallRequest(each.row["query"], each.time, each.domain) for each in pending]
            deadline = Deadline(UNHURRIED_SECONDS * len(requests))
            self._check(attempt, pending, writer.write(requests, deadline, temperature) if pending else [])
        return questions

    def _correct(self, question: LabelledQuestion, calls: Sequence[str]) -> None:
        """Keep a person's calls if the graph has values for all of them, or if they are none."""
        domain = question.domain or Domain.OPEN
        program = parse("\n".join(calls), domain)
        answered = self._execute([(question, domain, program)] if program.statements else [])
        if answered or not program.statements:
            question.kept = {"domain": str(domain), "calls": list(calls), "label": {"attempt": "by hand"}}

    def _check(self, attempt: int, pending: Sequence[LabelledQuestion], written: Sequence[Written]) -> None:
        """Keep what gives the right answer."""
        proposals = []
        for question, answer in zip(pending, written, strict=True):
            if answer.program is not None and answer.program.statements:
                proposals.append((question, answer.domain, answer.program))
            else:
                failed = answer.generation.finish_reason in {"error", "deadline"}
                reason = "none" if answer.program is not None else "failed" if failed else "unreadable"
                question.note(reason, answer.text)
        answered = self._execute(proposals)
        claims = [Claim(each[0].row["query"], gold_answers(each[0].row), _answer(*each)) for each in answered]
        judged = zip(answered, claims, judge_claims(self.judge, claims, str), strict=True)
        for (question, domain, program, executed), claim, judgement in judged:
            calls = {"domain": str(domain), "calls": render(program).split("\n"), "kg_values": values_of(executed)}
            if judgement.verdict is Verdict.CORRECT:
                label = {"attempt": attempt, "answer_of_values": claim.prediction, "reason": judgement.reason}
                question.kept = {**calls, "label": label}
            question.note("kept" if question.kept else "other answer", render(program))

    def _execute(self, proposals: Sequence[Proposal]) -> list[tuple[LabelledQuestion, Domain, Program, ProgramResult]]:
        """The proposals whose calls all have values."""
        tasks = [Task(domain, program, parse_query_time(each.time)) for each, domain, program in proposals]
        answered = []
        # Once: a proposal that asks for too much is a bad label.
        for (question, domain, program), executed in zip(
            proposals, execute(self.executor, tasks, attempts=1), strict=True
        ):
            if executed.results and all(each.status is Status.OK and not each.partial for each in executed.results):
                answered.append((question, domain, program, executed))
            else:
                question.note("no reply" if is_late(executed) else "not found", render(program))
        return answered


def _answer(question: LabelledQuestion, domain: Domain, program: Program, executed: ProgramResult) -> str:
    """The answer by the agent's rules, else the values joined by commas."""
    query, asked_at = question.row["query"], parse_query_time(question.time)
    direct = direct_answer(query, domain, program, executed.results)
    if direct is not None:
        return direct
    derived = derived_answer(query, domain, program, executed.results, asked_at.date() if asked_at else None)
    if derived is not None:
        return derived.text
    values = values_of(executed)
    return ", ".join(map(str, values)) if len(values) <= _MOST_VALUES else I_DONT_KNOW
