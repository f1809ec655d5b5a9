"""Runs a batch: its steps and turns, the settling of questions, the clock, and the audit of gates.

`crag.pipeline.agent` says which steps and turns run, in which order; `crag.pipeline.isolation` keeps their faults from
costing more than one answer.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar

from crag.answering import Draft, find_evidence, gated_answer
from crag.core.contracts import Answer, Decision, GateFiring, Lost, Query, Stage, Trace, abstain
from crag.core.deadline import BatchClock, Deadline
from crag.pipeline.case import Case
from crag.pipeline.isolation import FaultIsolation
from crag.pipeline.model_health import NOTHING_COUNTED, ModelCounts
from crag.pipeline.turn_run import Turn, TurnContext, TurnRun

Result = TypeVar("Result")


class Step(ABC, Generic[Result]):
    """One stage of a batch. A question whose work fails continues without a result.

    Example:
        class CountPages(Step[int]):
            def run(self, cases, deadline):
                return [len(case.query.pages) for case in cases]

            def store(self, case, result):
                return None if result else abstain("the search found no page")
    """

    def applies(self, case: Case) -> bool:
        """Whether the step runs for this question: by default if it has no answer yet."""
        return case.answer is None

    @abstractmethod
    def run(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[Result]:
        """One result per question, in order. Changes no case: it may run again for a single question."""

    @abstractmethod
    def store(self, case: Case, result: Result) -> Answer | GateFiring | None:
        """Store a result in its case. An answer settles the question, a firing of a gate closes it."""


class BatchRun:
    """A batch from its first stage to its answers.

    Args:
        queries: The questions, in the order of the answers.
        clock: The time of each stage.
        audit: Questions continue after a gate closed, to learn what it withholds.
        events: Sentences for all traces.

    Example:
        run = BatchRun(queries, clock)
        run.run_step(Stage.ROUTE, RouteQuestions(router))
        run.run_turn(Stage.GENERATE, web_pages)
        answers, traces = run.finish()
    """

    def __init__(
        self,
        queries: Sequence[Query],
        clock: BatchClock,
        *,
        audit: bool = False,
        events: Sequence[str] = (),
    ) -> None:
        self.clock = clock
        self._audit = audit
        self._isolation = FaultIsolation(clock.whole)
        self.cases: list[Case] = []

        for query in queries:
            trace = Trace(query.interaction_id, query.text, query.query_time, batch_size=len(queries))
            trace.events.extend(query.notes)
            trace.events.extend(events)
            case = Case(query, trace)
            self.cases.append(case)

            # A malformed row is settled at once; the other rows of the batch go on.
            if query.fault:
                case.lost = Lost.FAULT
                self._settle(case, abstain(f"the row is malformed: {query.fault}"))

    def run_step(self, stage: Stage, step: Step[Result]) -> None:
        """Run a step for all questions to which it applies."""
        cases = self._select_cases(step)
        with self.clock.stage(stage) as deadline:
            results = self._isolate_step(stage, step, cases, deadline)
        self._store(step, results)

    @contextmanager
    def run_beside(self, stage: Stage, step: Step[Result], *, wait: bool) -> Iterator[None]:
        """Run a step of the web path in a thread beside the block, and store its results after the block.

        With `wait` the step runs after the block, for the questions that the block left open. Either way it has the
        time of all stages of the web path.
        """
        if wait:
            yield
            results = self._isolate_step(stage, step, self._select_cases(step), self._start_web_deadline())
        else:
            cases = self._select_cases(step)
            # Its time starts with the block, and so does the thread.
            deadline = self._start_web_deadline()
            with ThreadPoolExecutor(1, thread_name_prefix=stage) as thread:
                running = thread.submit(self._isolate_step, stage, step, cases, deadline)
                yield
                results = running.result()

        self._store(step, results)

    def run_turn(self, stage: Stage, turn: Turn) -> None:
        """Let a source answer the open questions that have this turn in their plan."""
        cases = [case for case in self.cases if case.answer is None and stage in case.plan.turns]
        turn_run = TurnRun(stage, turn, self.clock, self._isolation)

        # A question may need no model, or a gate may close before the model is asked.
        drafts: dict[Case, Draft] = {}
        contexts: dict[Case, str] = {}
        for case, context in turn_run.build_contexts(cases).items():
            if isinstance(context, Draft):
                drafts[case] = context
            elif self._passes_gates(turn, case, context):
                contexts[case] = context.text

        drafts |= turn_run.write_drafts(contexts)
        # In order: each check sees the drafts as the one before left them, and may skip withheld ones.
        for check in turn.checks:
            drafts |= turn_run.apply_check(check, drafts)

        for case in cases:
            # Questions that a gate closed are settled already; those whose work failed have no draft.
            if case.answer is None:
                draft = drafts.get(case) or Draft(abstain(case.fault, turn.source))
                self._conclude(stage, turn, case, draft)

    def finish(self, counts: ModelCounts = NOTHING_COUNTED) -> tuple[list[Answer], list[Trace]]:
        """Settle the open questions; return answers and traces in the order of the questions.

        `counts` are those of the whole batch, for every trace.
        """
        answers: list[Answer] = []
        for case in self.cases:
            answer = case.answer or self._settle(case, abstain("no stage answered the question"))

            trace = case.trace
            trace.lost = _find_loss(case) if answer.decision is Decision.ABSTAINED else None
            if trace.lost is not None:
                answer = replace(answer, reason=_name_loss(case, trace.lost, answer.reason))
            trace.answer = answer
            answers.append(answer)

            trace.evidence = find_evidence(trace)
            trace.seconds = dict(self.clock.seconds)
            trace.out_of_time = dict(counts.out_of_time)
            trace.tokens = dict(counts.tokens)
        return answers, [case.trace for case in self.cases]

    # --- the parts of a step ------------------------------------------------------------------------------------------

    def _select_cases(self, step: Step[Result]) -> list[Case]:
        return [case for case in self.cases if step.applies(case)]

    def _start_web_deadline(self) -> Deadline:
        """The time of all stages of the web path, counted from now."""
        return self.clock.span(Stage.SELECT_PAGES, Stage.RERANK)

    def _isolate_step(
        self,
        stage: Stage,
        step: Step[Result],
        cases: Sequence[Case],
        deadline: Deadline,
    ) -> dict[Case, Result]:
        """The results of a step by question, without those of questions that failed."""
        return self._isolation.run(stage, deadline, partial(step.run, deadline=deadline), cases)

    def _store(self, step: Step[Result], results: Mapping[Case, Result]) -> None:
        for case, result in results.items():
            outcome = step.store(case, result)
            if isinstance(outcome, Answer):
                self._settle(case, outcome)
            elif outcome is not None:
                self._close(case, outcome, "none")

    # --- gates and answers --------------------------------------------------------------------------------------------

    def _passes_gates(self, turn: Turn, case: Case, context: TurnContext) -> bool:
        """Whether the model is asked: no gate of the turn closes, or an audit asks all the same."""
        firing = turn.find_closed_gate(case, context)
        if firing is None:
            return True

        self._close(case, firing, turn.source)
        return self._audit

    def _conclude(self, stage: Stage, turn: Turn, case: Case, draft: Draft) -> None:
        """Settle a question with the draft, unless it abstains and another turn follows."""
        if draft.candidate is not None:
            case.trace.candidates.append(draft.candidate)

        another_turn_follows = case.plan.turns[-1] is not stage
        if draft.abstains and another_turn_follows:
            author = f"{turn.author}, from {turn.reads}," if turn.reads else turn.author
            case.note(f"{author} did not answer: {draft.answer.reason}")
        else:
            self._settle(case, draft.answer)

    def _close(self, case: Case, firing: GateFiring, source: str) -> None:
        """Settle a question with the answer of the first gate that closed; an audit does so at the end."""
        if case.gate is not None:
            return

        case.gate = firing
        case.trace.gates.append(firing)
        if not self._audit:
            self._settle(case, gated_answer(firing, source))

    def _settle(self, case: Case, answer: Answer) -> Answer:
        """Settle a question. After a gate, give the gate's answer and record the withheld one."""
        if case.gate is not None and self._audit:
            # The firing is immutable, so a copy with the withheld answer takes its place in the trace.
            firing = replace(case.gate, withheld=answer.text)
            index = case.trace.gates.index(case.gate)
            case.trace.gates[index] = firing
            case.gate = firing
            answer = gated_answer(firing, answer.source)

        case.answer = answer
        case.trace.answer = answer
        return answer


def _find_loss(case: Case) -> Lost | None:
    """What the question lost on its way: time, a part that failed, or the graph."""
    endings = {generation.finish_reason for generation in case.trace.generations.values()}
    if "deadline" in endings:
        return Lost.CLOCK
    if case.lost is not None:
        return case.lost
    if "error" in endings:
        return Lost.FAULT
    return Lost.GRAPH if case.lookup.down else None


def _name_loss(case: Case, lost: Lost, reason: str) -> str:
    """The reason of a lost answer, which begins with what failed: "does not know" alone would hide it."""
    cause = "the knowledge graph did not reply" if lost is Lost.GRAPH else case.fault
    return reason if cause in reason else f"{cause}; {reason}"
