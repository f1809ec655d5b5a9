"""Labels questions with calls: a model proposes them, and a graph and a judge check them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crag.core.contracts import I_DONT_KNOW
from crag.core.deadline import Deadline
from crag.core.queries import parse_query_time
from crag.evaluation.batches import gold_answers
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims
from crag.evaluation.question_fields import LABEL_FIELDS
from crag.graph.derive import CallResults, answer_from_values
from crag.graph.executor import Executor, ProgramResult, Task
from crag.graph.language import Program, parse, render
from crag.graph.results import Status
from crag.graph.schema import Domain
from crag.graph.writing import CallRequest, CallWriter, WrittenCalls
from crag.training.api_pairs.graph import execute, is_late, values_of

JOURNAL = "attempts.jsonl"
"""The results of all questions."""
REJECTED = "rejected.jsonl"
"""The questions without kept calls, for correction by hand."""
OUTCOMES = ("kept", "other answer", "not found", "no reply", "none", "unreadable", "failed")
UNHURRIED_SECONDS = 600.0
"""Per question; ample on any machine."""
_ASKED_FIELDS = ("interaction_id", "query", "query_time", "split", *LABEL_FIELDS, "answer", "alt_ans")
"""The fields of a question that the output keeps."""
_MOST_VALUES = 8
"""A longer list of values does not answer a question."""


@dataclass
class LabelledQuestion:
    """A question with the results of its attempts.

    `outcomes` counts its attempts: ``failed`` (the engine gave nothing), ``unreadable``, ``none`` (the model replies
    that the graph has no answer), ``no reply`` (the graph took too long), ``not found``, ``other answer``, ``kept``.
    `kept` has the calls whose values gave the answer, as fields of an output row; `tried` the others, with their
    outcome.
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

    @property
    def request(self) -> CallRequest:
        """The question for a writer."""
        return CallRequest(self.row["query"], self.time, self.domain)

    def note(self, outcome: str, calls: str) -> None:
        """Count an attempt with this outcome."""
        self.outcomes[outcome] += 1
        if outcome != "kept":
            self.tried.append({"calls": calls, "why": outcome})

    def to_entry(self) -> dict[str, Any]:
        """A line of the journal; `failed` if the engine gave nothing at all, `kept` what the output has besides."""
        # Also without any attempt: both are 0
        all_failed = self.outcomes.total() == self.outcomes["failed"]
        question_fields = {name: self.row[name] for name in _ASKED_FIELDS if name in self.row}
        return {
            "interaction_id": self.row.get("interaction_id"),
            "domain": self.row.get("domain", "unknown"),
            "outcomes": dict(self.outcomes),
            "failed": self.kept is None and all_failed,
            "kept": self.kept,
            "asked": question_fields,
            "tried": self.tried,
        }


class Proposal(NamedTuple):
    """Calls that may label a question."""

    question: LabelledQuestion
    domain: Domain
    program: Program


class ExecutedProposal(NamedTuple):
    """A proposal whose calls all have values."""

    question: LabelledQuestion
    domain: Domain
    program: Program
    result: ProgramResult


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
            # A person's calls come first, and the model is not asked if they can be kept
            calls = question.row.get("by_hand")
            if calls:
                self._correct(question, calls)

        for attempt, (writer, temperature) in enumerate(self.attempts, start=1):
            # Later attempts see only what the earlier ones have not solved
            pending = [question for question in questions if question.kept is None]
            if not pending:
                break
            requests = [question.request for question in pending]
            deadline = Deadline(UNHURRIED_SECONDS * len(requests))
            written = writer.write(requests, deadline, temperature)
            self._check(attempt, pending, written)
        return questions

    def _correct(self, question: LabelledQuestion, calls: Sequence[str]) -> None:
        """Keep a person's calls if the graph has values for all of them, or if they are none."""
        domain = question.domain or Domain.OPEN
        program = parse("\n".join(calls), domain)
        proposal = Proposal(question, domain, program)
        # No judge: a person has decided; the graph only has to know the names
        if not program.statements or self._execute([proposal]):
            question.kept = {
                "domain": str(domain),
                "calls": list(calls),
                "label": {"attempt": "by hand"},
            }

    def _check(
        self,
        attempt: int,
        pending: Sequence[LabelledQuestion],
        written: Sequence[WrittenCalls],
    ) -> None:
        """Keep the calls whose values give the right answer."""
        executed = self._execute(_readable_proposals(pending, written))
        claims: list[Claim] = []
        for proposal in executed:
            row = proposal.question.row
            claims.append(Claim(row["query"], gold_answers(row), _answer(proposal)))

        # `str` keeps the answer whole: the limit of 75 tokens is for texts of the agent
        judgements = judge_claims(self.judge, claims, str)
        for proposal, claim, judgement in zip(executed, claims, judgements, strict=True):
            question = proposal.question
            calls = render(proposal.program)

            if judgement.verdict is Verdict.CORRECT:
                question.kept = {
                    "domain": str(proposal.domain),
                    "calls": calls.split("\n"),
                    "kg_values": values_of(proposal.result),
                    "label": {
                        "attempt": attempt,
                        "answer_of_values": claim.prediction,
                        "reason": judgement.reason,
                    },
                }
            question.note("kept" if question.kept else "other answer", calls)

    def _execute(self, proposals: Sequence[Proposal]) -> list[ExecutedProposal]:
        """The proposals whose calls all have values; the outcome of the others is noted."""
        tasks: list[Task] = []
        for proposal in proposals:
            asked_at = parse_query_time(proposal.question.time)
            tasks.append(Task(proposal.domain, proposal.program, asked_at))

        # Once: a proposal that asks for too much is a bad label.
        results = execute(self.executor, tasks, attempts=1)
        executed: list[ExecutedProposal] = []
        for proposal, result in zip(proposals, results, strict=True):
            # One missing value makes the whole program a bad label
            if _is_complete(result):
                executed.append(ExecutedProposal(*proposal, result))
                continue
            outcome = "no reply" if is_late(result) else "not found"
            proposal.question.note(outcome, render(proposal.program))
        return executed


def _readable_proposals(pending: Sequence[LabelledQuestion], written: Sequence[WrittenCalls]) -> list[Proposal]:
    """The programs that the writer wrote; the outcome of the questions without one is noted."""
    proposals: list[Proposal] = []
    for question, answer in zip(pending, written, strict=True):
        if answer.program is None:
            failed = answer.generation.finish_reason in {"error", "deadline"}
            # An engine that gave nothing is asked again by --resume, an unreadable reply is not
            question.note("failed" if failed else "unreadable", answer.text)
        elif not answer.program.statements:
            question.note("none", answer.text)
        else:
            proposals.append(Proposal(question, answer.domain, answer.program))
    return proposals


def _is_complete(result: ProgramResult) -> bool:
    """Whether every statement has all of its values."""
    for statement in result.results:
        # `partial`: some records of the graph were unreadable
        if statement.status is not Status.OK or statement.partial:
            return False
    return bool(result.results)


def _answer(proposal: ExecutedProposal) -> str:
    """The answer by the agent's rules, else the values joined by commas."""
    question, domain, program, result = proposal
    query = question.row["query"]
    asked_at = parse_query_time(question.time)
    today = asked_at.date() if asked_at else None
    answer = answer_from_values(CallResults(query, domain, program, result.results, today))
    if answer is not None:
        return answer.text

    values = values_of(result)
    if len(values) > _MOST_VALUES:
        return I_DONT_KNOW
    return ", ".join(map(str, values))
