"""Runs a batch: settles questions, isolates faults, keeps the clock and audits gates.

A fault or a hang costs one answer, never the batch.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Generic, NamedTuple, TypeVar

from crag.answering import Answerer, Check, Draft, find_evidence, gated_answer, generate_all, prompt_for_trace
from crag.core.contracts import (
    I_DONT_KNOW,
    Answer,
    Decision,
    GateFiring,
    Lost,
    Query,
    Stage,
    Trace,
    abstain,
    route_label,
)
from crag.core.deadline import BatchClock, Deadline, StuckError, call_within
from crag.engines.llm import Generation, GenerationRequest, LanguageModel
from crag.pipeline.case import Case

Result = TypeVar("Result")
log = logging.getLogger(__name__)

GRACE_SECONDS = 2.0
"""Grace for a late stage to return its results; taken from the preset's reserve, once a batch."""


class Step(ABC, Generic[Result]):
    """One stage of a batch. A question whose work fails continues without a result."""

    def wants(self, case: Case) -> bool:
        """Whether the step runs for this question: by default if it has no answer yet."""
        return case.answer is None

    @abstractmethod
    def run(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[Result]:
        """One result per question, in order. Changes no case: it may run again for a single question."""

    @abstractmethod
    def store(self, case: Case, result: Result) -> Answer | GateFiring | None:
        """Store a result in its case. An answer settles the question, a firing of a gate closes it."""


@dataclass(frozen=True)
class Turn:
    """A source that answers questions.

    `author` and `reads` name it in sentences: "the model, from the pages". `review` is the clock's stage for checks
    that ask the model. `prefix` precedes the names of this turn's generations in traces.
    """

    source: ClassVar[str]
    author: ClassVar[str]
    reads: ClassVar[str] = ""
    review: ClassVar[Stage]
    prefix: ClassVar[str] = ""

    answerer: Answerer
    checks: Sequence[Check]

    def material(self, case: Case) -> str | Draft:
        """The context for the model, or a draft if no model is needed."""
        raise NotImplementedError

    def gate(self, case: Case) -> GateFiring | None:
        """The gate that closes before the model is asked, or None. Only the last turn of a plan may have one."""
        return None


class Exchange(NamedTuple):
    """A request to the model and its reply."""

    request: GenerationRequest
    generation: Generation


class BatchRun:
    """A batch from its first stage to its answers.

    Args:
        queries: The questions, in the order of the answers.
        clock: The time of each stage.
        audit: Questions continue after a gate closed, to learn what it withholds.
        events: Sentences for all traces.

    Example:
        run = BatchRun(queries, clock)
        run.stage(Stage.ROUTE, RouteQuestions(router))
        run.turn(Stage.GENERATE, web_pages)
        answers, traces = run.finish()
    """

    def __init__(
        self, queries: Sequence[Query], clock: BatchClock, *, audit: bool = False, events: Sequence[str] = ()
    ) -> None:
        self.clock = clock
        self._audit = audit
        self._end = Deadline(clock.whole.remaining + GRACE_SECONDS)
        self.cases: list[Case] = []

        for query in queries:
            trace = Trace(query.interaction_id, query.text, query.query_time, batch_size=len(queries))
            trace.events.extend((*query.notes, *events))
            case = Case(query, trace)
            self.cases.append(case)
            if query.fault:
                case.lost = Lost.FAULT
                self._settle(case, abstain(f"the row is malformed: {query.fault}"))

    def stage(self, stage: Stage, step: Step[Result]) -> None:
        """Run a step for all questions that need it."""
        cases = [case for case in self.cases if step.wants(case)]
        with self.clock.stage(stage) as deadline:
            results = self._isolated(stage, deadline, partial(step.run, deadline=deadline), cases)
        self._store(step, results)

    @contextmanager
    def beside(self, stage: Stage, step: Step[Result], *, wait: bool = False) -> Iterator[None]:
        """Run a step in a thread beside the block and store its results after it; with `wait`, run it afterwards."""
        with ThreadPoolExecutor(1, thread_name_prefix=stage) as thread:
            if wait:
                yield
                results = self._in_web_time(stage, step)()
            else:
                running = thread.submit(self._in_web_time(stage, step))
                yield
                results = running.result()
            self._store(step, results)

    def _in_web_time(self, stage: Stage, step: Step[Result]) -> Callable[[], dict[Case, Result]]:
        """The step for the questions that need it now, within the time of all stages of the web path."""
        cases = [case for case in self.cases if step.wants(case)]
        deadline = self.clock.span(Stage.SELECT_PAGES, Stage.RERANK)
        return partial(self._isolated, stage, deadline, partial(step.run, deadline=deadline), cases)

    def turn(self, stage: Stage, turn: Turn) -> None:
        """Let a source answer the open questions that have this turn in their plan."""
        cases = [case for case in self.cases if case.answer is None and stage in case.plan.turns]

        drafts, contexts = self._materials(stage, turn, cases)
        drafts |= self._answers(stage, turn, contexts)
        for check in turn.checks:
            to_check = {case: draft for case, draft in drafts.items() if check.applies(draft)}
            drafts |= self._check(turn, check, to_check)

        for case in cases:
            if case.answer is None:
                failed = Draft(abstain(case.fault, turn.source))
                self._conclude(stage, turn, case, drafts.get(case, failed))

    def finish(
        self, out_of_time: Mapping[str, int] | None = None, tokens: Mapping[str, int] | None = None
    ) -> tuple[list[Answer], list[Trace]]:
        """Settle the open questions; return answers and traces in the order of the questions."""
        answers = []
        for case in self.cases:
            answer = case.answer or self._settle(case, abstain("no stage answered the question"))
            answers.append(answer)

            trace = case.trace
            trace.seconds = dict(self.clock.seconds)
            trace.out_of_time = dict(out_of_time or {})
            trace.tokens = dict(tokens or {})
            trace.evidence = find_evidence(trace)
            trace.lost = _lost(case) if answer.decision is Decision.ABSTAINED else None
        return answers, [case.trace for case in self.cases]

    # --- the steps of a turn: materials, answers, checks, conclusion --------------------------------------------------

    def _materials(self, stage: Stage, turn: Turn, cases: Sequence[Case]) -> tuple[dict[Case, Draft], dict[Case, str]]:
        """The drafts that need no model, and the contexts for the model. A gate that closes leaves no context."""

        def collect(batch: Sequence[Case]) -> list[str | Draft]:
            return [turn.material(case) for case in batch]

        drafts: dict[Case, Draft] = {}
        contexts: dict[Case, str] = {}
        for case, material in self._isolated(stage, self.clock.whole, collect, cases).items():
            if isinstance(material, Draft):
                drafts[case] = material
                continue
            firing = turn.gate(case)
            if firing is not None:
                self._close(case, firing, turn.source)
            if firing is None or self._audit:
                contexts[case] = material
        return drafts, contexts

    def _answers(self, stage: Stage, turn: Turn, contexts: Mapping[Case, str]) -> dict[Case, Draft]:
        """What the model makes of each context."""
        key = f"{turn.prefix}answer"

        def request(case: Case) -> dict[str, GenerationRequest]:
            domain = route_label(case.trace.route, "domain")
            return {key: turn.answerer.request(case.query, contexts[case], domain)}

        replies = self._generate(stage, turn.answerer.model, contexts, request)

        def read(batch: Sequence[Case]) -> list[Draft]:
            return [turn.answerer.read(replies[case][key], contexts[case], turn.source) for case in batch]

        return self._isolated(stage, self.clock.whole, read, list(replies))

    def _check(self, turn: Turn, check: Check, drafts: dict[Case, Draft]) -> dict[Case, Draft]:
        """The drafts after a check. A check that fails withholds the answer."""
        if check.asks:
            drafts |= self._with_replies(turn, check, drafts)

        def apply(batch: Sequence[Case]) -> list[tuple[Draft, GateFiring | None]]:
            outcomes = []
            read = [check.read(case, drafts[case]) for case in batch]
            for case, draft in zip(batch, read, strict=True):
                outcomes.append((draft, check(case, draft)))
            return outcomes

        outcomes = self._isolated(check.name, self.clock.whole, apply, list(drafts))
        for case, unchecked in drafts.items():
            failed = (unchecked, GateFiring(check.name, case.fault, I_DONT_KNOW))
            draft, firing = outcomes.get(case, failed)
            if firing is not None:
                case.trace.gates.append(replace(firing, withheld=draft.answer.text))
                draft = replace(draft, answer=gated_answer(firing, turn.source), withheld=True)
            drafts[case] = draft
        return drafts

    def _with_replies(self, turn: Turn, check: Check, drafts: Mapping[Case, Draft]) -> dict[Case, Draft]:
        """The drafts with what the model replied to the check's requests."""

        def prefixed(case: Case) -> dict[str, GenerationRequest]:
            requests = check.requests(case, drafts[case])
            return {f"{turn.prefix}{key}": request for key, request in requests.items()}

        asked: dict[Case, Draft] = {}
        for case, replies in self._generate(turn.review, turn.answerer.model, drafts, prefixed).items():
            by_key = {key.removeprefix(turn.prefix): reply for key, reply in replies.items()}
            draft = drafts[case]
            asked[case] = replace(draft, replies={**draft.replies, **by_key})
        return asked

    def _conclude(self, stage: Stage, turn: Turn, case: Case, draft: Draft) -> None:
        """Settle a question with the draft, unless it abstains and another turn follows."""
        if draft.candidate is not None:
            case.trace.candidates.append(draft.candidate)

        another_turn_follows = case.plan.turns[-1] is not stage
        if draft.abstains and another_turn_follows:
            who = f"{turn.author}, from {turn.reads}," if turn.reads else turn.author
            case.note(f"{who} did not answer: {draft.answer.reason}")
        else:
            self._settle(case, draft.answer)

    # --- results, gates and answers -----------------------------------------------------------------------------------

    def _store(self, step: Step[Result], results: Mapping[Case, Result]) -> None:
        for case, result in results.items():
            outcome = step.store(case, result)
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
            firing = replace(case.gate, withheld=answer.text)
            position = case.trace.gates.index(case.gate)
            case.trace.gates[position] = firing
            case.gate = firing
            answer = gated_answer(firing, answer.source)

        case.answer = answer
        case.trace.answer = answer
        return answer

    # --- work that may fail -------------------------------------------------------------------------------------------

    def _generate(
        self,
        stage: Stage,
        model: LanguageModel,
        cases: Collection[Case],
        requests_of: Callable[[Case], Mapping[str, GenerationRequest]],
    ) -> dict[Case, dict[str, Generation]]:
        """The generations of each question by name, recorded in its trace. All questions share one call."""
        if not cases:
            return {}

        with self.clock.stage(stage) as deadline:
            ask = partial(_ask, model, requests_of, deadline)
            exchanges = self._isolated(stage, deadline, ask, list(cases))

        generations: dict[Case, dict[str, Generation]] = {}
        for case, by_name in exchanges.items():
            generations[case] = {}
            for name, exchange in by_name.items():
                case.trace.prompts[name] = prompt_for_trace(exchange.request)
                case.trace.generations[name] = exchange.generation
                generations[case][name] = exchange.generation
        return generations

    def _isolated(
        self,
        stage: str,
        deadline: Deadline,
        work: Callable[[Sequence[Case]], Sequence[Result]],
        cases: Sequence[Case],
    ) -> dict[Case, Result]:
        """Run the work for all questions; if that fails, for each question. One that fails again has no result."""
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
            why = f"{type(fault).__name__}: {fault}"
            for case in cases:
                case.note(f"{stage.replace('_', ' ')} failed for the whole batch ({why}) and was run alone")
        return self._one_by_one(stage, patience, work, cases)

    def _one_by_one(
        self,
        stage: str,
        patience: Deadline,
        work: Callable[[Sequence[Case]], Sequence[Result]],
        cases: Sequence[Case],
    ) -> dict[Case, Result]:
        """Run the work for each question on its own, all within the same time."""
        results: dict[Case, Result] = {}
        for number, case in enumerate(cases):
            try:
                results[case] = call_within(patience.remaining, partial(work, [case]))[0]
            except StuckError as fault:  # the time is over
                _fail(stage, cases[number:], fault)
                break
            except Exception as fault:
                log.exception("stage %s failed for question %s", stage, case.query.interaction_id)
                _fail(stage, [case], fault)
        return results


def _ask(
    model: LanguageModel,
    requests_of: Callable[[Case], Mapping[str, GenerationRequest]],
    deadline: Deadline,
    cases: Sequence[Case],
) -> list[dict[str, Exchange]]:
    """The exchanges of each question by name, from one call of the model for all of them."""
    requests = [requests_of(case) for case in cases]
    flat = [request for by_name in requests for request in by_name.values()]
    generations = generate_all(model, flat, deadline)

    exchanges: list[dict[str, Exchange]] = []
    position = 0
    for by_name in requests:
        replies = generations[position : position + len(by_name)]
        position += len(by_name)
        pairs = zip(by_name.items(), replies, strict=True)
        exchanges.append({name: Exchange(request, reply) for (name, request), reply in pairs})
    return exchanges


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
