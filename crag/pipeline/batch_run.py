"""Runs a batch: settles questions, isolates faults, keeps the clock and audits gates."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Generic, TypeVar

from crag.answering import Answerer, Check, Draft, evidence_of, gated_answer, generate_all, shown
from crag.core.contracts import I_DONT_KNOW, Answer, Decision, GateFiring, Lost, Query, Stage, Trace, abstain, label
from crag.core.deadline import BatchClock, Deadline, StuckError, call_within
from crag.engines.llm import Generation, GenerationRequest, LanguageModel
from crag.pipeline.case import Case

Result = TypeVar("Result")
log = logging.getLogger(__name__)

GRACE_SECONDS = 2.0
"""Grace for a late stage to return its results; taken from the preset's reserve, once a batch."""


@dataclass(frozen=True)
class Step(Generic[Result]):
    """One stage: `work` computes one result per question, in order; a question whose work fails continues without one.

    `keep` stores a result in its case: an answer settles the question, a gate closes it. `wants` chooses the questions.
    """

    work: Callable[[Sequence[Case], Deadline], Sequence[Result]]
    keep: Callable[[Case, Result], Answer | GateFiring | None]
    wants: Callable[[Case], bool] = lambda case: case.answer is None


@dataclass(frozen=True)
class Turn:
    """A source that answers questions. `material` is the model's context, or a draft if no model is needed.

    `review`: the clock's stage for checks that ask the model; `prefix` stands before this turn's generations in traces.
    """

    source: ClassVar[str]
    name: ClassVar[str]
    review: ClassVar[Stage]
    prefix: ClassVar[str] = ""
    answerer: Answerer
    checks: Sequence[Check]

    def material(self, case: Case) -> str | Draft:
        """The source's context or draft for this question."""
        raise NotImplementedError

    def gate(self, case: Case) -> GateFiring | None:
        """The gate that closes before the model is asked, or None. Only the last turn of a plan may have one."""
        return None


class BatchRun:
    """A batch from its first stage to its answers; a fault costs one answer, not the batch. All traces get `events`."""

    def __init__(
        self, queries: Sequence[Query], clock: BatchClock, *, audit: bool = False, events: Sequence[str] = ()
    ) -> None:
        self.clock = clock
        self._audit = audit
        self._end = Deadline(clock.whole.remaining + GRACE_SECONDS)
        traces = (Trace(q.interaction_id, q.text, q.query_time, batch_size=len(queries)) for q in queries)
        self.cases = [Case(query, trace) for query, trace in zip(queries, traces, strict=True)]
        for case in self.cases:
            case.trace.events.extend((*case.query.notes, *events))
            if case.query.fault:
                case.lost = Lost.FAULT
                self._settle(case, abstain(f"the row is malformed: {case.query.fault}"))

    def stage(self, stage: Stage, step: Step[Result]) -> None:
        """Run a step for all questions that need it."""
        cases = [case for case in self.cases if step.wants(case)]
        with self.clock.stage(stage) as deadline:
            results = self._isolated(stage, deadline, lambda some: step.work(some, deadline), cases)
        self._keep(step, results)

    @contextmanager
    def beside(self, stage: Stage, step: Step[Result], *, wait: bool = False) -> Iterator[None]:
        """Run a step in a thread beside the block and keep its results after it; with `wait`, run it afterwards."""

        def ready() -> Callable[[], dict[Case, Result]]:
            cases = [case for case in self.cases if step.wants(case)]
            deadline = self.clock.span(Stage.SELECT_PAGES, Stage.RERANK)
            return lambda: self._isolated(stage, deadline, lambda some: step.work(some, deadline), cases)

        with ThreadPoolExecutor(1, thread_name_prefix=stage) as thread:
            beside = None if wait else thread.submit(ready())
            yield
            self._keep(step, beside.result() if beside else ready()())

    def turn(self, stage: Stage, turn: Turn) -> None:
        """Let a source answer the open questions that have this turn in their plan."""
        cases = [case for case in self.cases if case.answer is None and stage in case.plan.turns]
        drafts, contexts = self._materials(stage, turn, cases)
        drafts |= self._answers(stage, turn, contexts)
        for check in turn.checks:
            drafts |= self._check(turn, check, {case: drafts[case] for case in drafts if check.applies(drafts[case])})
        for case in cases:
            if case.answer is None:
                self._conclude(stage, turn, case, drafts.get(case) or Draft(abstain(case.fault, turn.source)))

    def finish(
        self, out_of_time: Mapping[str, int] | None = None, tokens: Mapping[str, int] | None = None
    ) -> tuple[list[Answer], list[Trace]]:
        """Settle the open questions; return answers and traces in the order of the questions."""
        answers = []
        for case in self.cases:
            answer = case.answer or self._settle(case, abstain("no stage answered the question"))
            case.trace.seconds = dict(self.clock.seconds)
            case.trace.out_of_time, case.trace.tokens = dict(out_of_time or {}), dict(tokens or {})
            case.trace.evidence = evidence_of(case.trace)
            case.trace.lost = _lost(case) if answer.decision is Decision.ABSTAINED else None
            answers.append(answer)
        return answers, [case.trace for case in self.cases]

    # --- the steps of a turn: materials, answers, checks, conclusion --------------------------------------------------

    def _materials(self, stage: Stage, turn: Turn, cases: Sequence[Case]) -> tuple[dict[Case, Draft], dict[Case, str]]:
        """The drafts that need no model, and the contexts for the model. A gate that closes leaves no context."""
        found = self._isolated(stage, self.clock.whole, lambda some: [turn.material(case) for case in some], cases)
        drafts = {case: material for case, material in found.items() if isinstance(material, Draft)}
        contexts = {case: material for case, material in found.items() if isinstance(material, str)}
        for case in list(contexts):
            if (firing := turn.gate(case)) is not None:
                self._close(case, firing, turn.source)
                if not self._audit:
                    del contexts[case]
        return drafts, contexts

    def _answers(self, stage: Stage, turn: Turn, contexts: Mapping[Case, str]) -> dict[Case, Draft]:
        """What the model makes of each context."""
        key, answerer = f"{turn.prefix}answer", turn.answerer
        replies = self._generate(
            stage,
            answerer.model,
            contexts,
            lambda case: {key: answerer.request(case.query, contexts[case], label(case.trace.route, "domain"))},
        )

        def read(cases: Sequence[Case]) -> list[Draft]:
            return [answerer.read(replies[case][key], contexts[case], turn.source) for case in cases]

        return self._isolated(stage, self.clock.whole, read, list(replies))

    def _check(self, turn: Turn, check: Check, drafts: dict[Case, Draft]) -> dict[Case, Draft]:
        """The drafts after a check. A check that fails withholds the answer."""
        if check.asks:
            replies = self._generate(
                turn.review,
                turn.answerer.model,
                drafts,
                lambda case: {f"{turn.prefix}{key}": one for key, one in check.requests(case, drafts[case]).items()},
            )
            for case, own in replies.items():
                named = {key.removeprefix(turn.prefix): reply for key, reply in own.items()}
                drafts[case] = replace(drafts[case], replies={**drafts[case].replies, **named})

        def work(cases: Sequence[Case]) -> list[tuple[Draft, GateFiring | None]]:
            read = [check.read(case, drafts[case]) for case in cases]
            return [(draft, check(case, draft)) for case, draft in zip(cases, read, strict=True)]

        outcomes = self._isolated(check.name, self.clock.whole, work, list(drafts))
        for case, before in drafts.items():
            draft, firing = outcomes.get(case) or (before, GateFiring(check.name, case.fault, I_DONT_KNOW))
            if firing is not None:
                case.trace.gates.append(replace(firing, withheld=draft.answer.text))
                draft = replace(draft, answer=gated_answer(firing, turn.source), withheld=True)
            drafts[case] = draft
        return drafts

    def _conclude(self, stage: Stage, turn: Turn, case: Case, draft: Draft) -> None:
        """Settle a question with the draft, unless it abstains and another turn follows."""
        if draft.candidate is not None:
            case.trace.candidates.append(draft.candidate)
        if draft.abstains and case.plan.turns[-1] is not stage:
            case.note(f"{turn.name} did not answer: {draft.answer.reason}")
        else:
            self._settle(case, draft.answer)

    # --- results, gates and answers -----------------------------------------------------------------------------------

    def _keep(self, step: Step[Result], results: Mapping[Case, Result]) -> None:
        for case, result in results.items():
            outcome = step.keep(case, result)
            if isinstance(outcome, Answer):
                self._settle(case, outcome)
            elif outcome is not None:
                self._close(case, outcome, "none")

    def _close(self, case: Case, firing: GateFiring, source: str) -> None:
        """Settle a question with the answer of the first gate that closed; an audit does so at the end."""
        if case.gate is None:
            case.gate = firing
            case.trace.gates.append(firing)
            if not self._audit:
                self._settle(case, gated_answer(firing, source))

    def _settle(self, case: Case, answer: Answer) -> Answer:
        """Settle a question. After a gate, give the gate's answer and record the withheld one."""
        if case.gate is not None and self._audit:
            gates, firing = case.trace.gates, replace(case.gate, withheld=answer.text)
            gates[gates.index(case.gate)] = case.gate = firing
            answer = gated_answer(firing, answer.source)
        case.answer = case.trace.answer = answer
        return answer

    # --- work that may fail -------------------------------------------------------------------------------------------

    def _generate(
        self,
        stage: Stage,
        model: LanguageModel,
        cases: Collection[Case],
        requests: Callable[[Case], Mapping[str, GenerationRequest]],
    ) -> dict[Case, dict[str, Generation]]:
        """The generations of each question by name, recorded in its trace."""
        if not cases:
            return {}

        def work(some: Sequence[Case]) -> list[dict[str, tuple[GenerationRequest, Generation]]]:
            asked = [requests(case) for case in some]
            replies = iter(generate_all(model, [one for own in asked for one in own.values()], deadline))
            return [{key: (one, next(replies)) for key, one in own.items()} for own in asked]

        with self.clock.stage(stage) as deadline:
            results = self._isolated(stage, deadline, work, list(cases))
        for case, own in results.items():
            for key, (asked, generation) in own.items():
                case.trace.prompts[key], case.trace.generations[key] = shown(asked), generation
        return {case: {key: generation for key, (_, generation) in own.items()} for case, own in results.items()}

    def _isolated(
        self,
        stage: str,
        deadline: Deadline,
        work: Callable[[Sequence[Case]], Sequence[Result]],
        cases: Sequence[Case],
    ) -> dict[Case, Result]:
        """Run the work for all questions; if that fails, for each alone. One that fails alone has no result."""
        patience = self._end.within(deadline.remaining + GRACE_SECONDS)
        try:
            results = call_within(patience.remaining, lambda: work(cases)) if cases else []
            return dict(zip(cases, results, strict=True))
        except StuckError as fault:
            _fail(stage, cases, fault)
            return {}
        except Exception as fault:
            # The boundary of the batch: no exception of a stage may cost the other questions their answers.
            log.exception("stage %s failed for the batch; trying each question alone", stage)
            for case in cases:
                why = f"{type(fault).__name__}: {fault}"
                case.note(f"{stage.replace('_', ' ')} failed for the whole batch ({why}) and was run alone")
        alone: dict[Case, Result] = {}
        for number, case in enumerate(cases):
            try:
                alone[case] = call_within(patience.remaining, partial(work, [case]))[0]
            except StuckError as fault:  # the time is over
                _fail(stage, cases[number:], fault)
                break
            except Exception as fault:
                log.exception("stage %s failed for question %s", stage, case.query.interaction_id)
                _fail(stage, [case], fault)
        return alone


def _fail(stage: str, cases: Sequence[Case], fault: BaseException) -> None:
    for case in cases:
        case.fault = f"{stage.replace('_', ' ')} failed: {type(fault).__name__}: {fault}"
        case.lost = Lost.CLOCK if isinstance(fault, StuckError) else Lost.FAULT
        case.note(case.fault)


def _lost(case: Case) -> Lost | None:
    """What the question lost on its way: time, a part that failed, or the graph."""
    endings = {generation.finish_reason for generation in case.trace.generations.values()}
    if "deadline" in endings:
        return Lost.CLOCK
    if case.lost is not None or "error" in endings:
        return case.lost or Lost.FAULT
    return Lost.GRAPH if case.lookup.down else None
