"""Calls that a model proposes for a question, executed and judged."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION
from agents.common.deadline import Deadline
from agents.common.queries import parse_query_time
from agents.kg.trainable import CallRequest, CallWriter, Domain, Program, Task, render
from evaluation.datasets import LABEL_FIELDS
from evaluation.judge import Claim, Judge, Verdict, judge_claims
from training.api_pairs.execution import Bench, Executed

UNHURRIED_SECONDS = 600.0
"""Per question; ample on any machine."""
_SMALL = (Domain.FINANCE, 'get_stock_info("aapl")["sector"]')
"""A program of two requests."""
_MOST_VALUES = 8
"""A longer list of values does not answer a question."""


class GraphDownError(RuntimeError):
    """The graph's server does not answer."""


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

    @property
    def golds(self) -> tuple[str, ...]:
        """All right answers, the official one first."""
        return (self.row["answer"], *self.row.get("alt_ans", ()))

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
        """One result per question, in order.

        Raises:
            LanguageModelDiedError: the engine died.
            GraphDownError: the graph's server does not answer.
        """
        found = [LabelledQuestion(row) for row in rows]
        for attempt in range(self.attempts):
            pending = [one for one in found if one.kept is None]
            if not pending:
                break
            self._attempt(pending, attempt + 1)
        return found

    def _attempt(self, pending: Sequence[LabelledQuestion], number: int) -> None:
        questions = [_question(one.row) for one in pending]
        temperature = self.temperature if number > 1 else 0.0
        written = self.writer.write(questions, Deadline(UNHURRIED_SECONDS * len(questions)), temperature)
        proposed: list[tuple[LabelledQuestion, Domain, Program]] = []
        for one, answer in zip(pending, written, strict=True):
            if answer.program is not None and answer.program.statements:
                proposed.append((one, answer.domain, answer.program))
            else:
                failed = answer.generation.finish_reason in {"error", "deadline"}
                one.outcomes["none" if answer.program is not None else "failed" if failed else "unreadable"] += 1
        tasks = [Task(domain, program, _asked_at(one)) for one, domain, program in proposed]
        executed = self.bench.run(tasks, attempts=1)  # a proposal that asks for too much is a bad label
        if any(outcome.is_down for outcome in executed):
            self._check_graph()
        found = []
        for (one, domain, program), outcome in zip(proposed, executed, strict=True):
            if outcome.found:
                found.append((one, domain, program, outcome))
            else:
                one.outcomes["no reply" if outcome.is_down else "not found"] += 1
        self._judge(found, number)

    def _check_graph(self) -> None:
        """Run a small program: the server is down if that gets no answer either."""
        if self.bench.run([Task(*_SMALL, None)])[0].is_down:
            raise GraphDownError("the graph's server does not answer")

    def _judge(self, found: Sequence[tuple[LabelledQuestion, Domain, Program, Executed]], number: int) -> None:
        texts = [_answer(*each) for each in found]
        claims = [Claim(one.row["query"], one.golds, text) for (one, *_), text in zip(found, texts, strict=True)]
        judged = judge_claims(self.judge, claims, str)
        for (one, domain, program, outcome), text, judgement in zip(found, texts, judged, strict=True):
            right = judgement.verdict is Verdict.CORRECT
            one.outcomes["kept" if right else "other answer"] += 1
            if right:
                one.kept = {
                    "domain": str(domain),
                    "calls": render(program).split("\n"),
                    "kg_values": list(outcome.values),
                    "label": {"attempt": number, "answer_of_values": text, "reason": judgement.reason},
                }


def _question(row: dict[str, Any]) -> CallRequest:
    domain = Domain(row["domain"]) if row.get("domain") in list(Domain) else None
    return CallRequest(row["query"], row.get("query_time", ""), domain)


def _asked_at(one: LabelledQuestion) -> Any:  # noqa: ANN401 - a moment or None
    return parse_query_time(one.row.get("query_time", ""))


def _answer(one: LabelledQuestion, domain: Domain, program: Program, outcome: Executed) -> str:
    """The answer by the agent's rules, else the values joined by commas."""
    by_rules = outcome.answer(one.row["query"], domain, program, _asked_at(one))
    if by_rules is not None:
        return by_rules
    values = [str(value) for value in outcome.values]
    return ", ".join(values) if len(values) <= _MOST_VALUES else I_DONT_KNOW
