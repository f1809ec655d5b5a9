"""Runs a batch: its steps and turns, the settling of questions, the clock, and the audit of gates.

`crag.pipeline.agent` says which steps and turns run, in which order; `crag.pipeline.isolation` keeps their faults from
costing more than one answer.
"""

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
from crag.core.deadline import BatchClock, Deadline
from crag.engines.llm import Generation, GenerationRequest, LanguageModel
from crag.pipeline.case import Case
from crag.pipeline.isolation import FaultIsolation

Result = TypeVar("Result")
RequestBuilder = Callable[[Case], Mapping[str, GenerationRequest]]
"""What to ask the model about a question, by the names of the replies in its trace."""


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


@dataclass(frozen=True)
class Turn:
    """A source that answers questions, with the model that it asks and the checks of its drafts.

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

    def build_context(self, case: Case) -> str | Draft:
        """The context for the model, or a draft if no model is needed."""
        raise NotImplementedError

    def find_closed_gate(self, case: Case) -> GateFiring | None:
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
        run.run_step(Stage.ROUTE, RouteQuestions(router))
        run.run_turn(Stage.GENERATE, web_pages)
        answers, traces = run.finish()
    """

    def __init__(
        self, queries: Sequence[Query], clock: BatchClock, *, audit: bool = False, events: Sequence[str] = ()
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
    def run_beside(self, stage: Stage, step: Step[Result], *, wait: bool = False) -> Iterator[None]:
        """Run a step of the web path in a thread beside the block, and store its results after the block.

        With `wait` the step runs after the block, for the questions that the block left open. Either way it has the
        time of all stages of the web path.
        """
        if wait:
            yield
            results = self._isolate_step(stage, step, self._select_cases(step), self._start_web_deadline())
        else:
            cases = self._select_cases(step)
            deadline = self._start_web_deadline()
            with ThreadPoolExecutor(1, thread_name_prefix=stage) as thread:
                running = thread.submit(self._isolate_step, stage, step, cases, deadline)
                yield
                results = running.result()

        self._store(step, results)

    def run_turn(self, stage: Stage, turn: Turn) -> None:
        """Let a source answer the open questions that have this turn in their plan."""
        cases = [case for case in self.cases if case.answer is None and stage in case.plan.turns]

        drafts, contexts = self._prepare_turn(stage, turn, cases)
        drafts |= self._write_drafts(stage, turn, contexts)
        for check in turn.checks:
            drafts |= self._apply_check(turn, check, drafts)

        # A gate may have settled a question meanwhile.
        for case in cases:
            if case.answer is None:
                failed_draft = Draft(abstain(case.fault, turn.source))
                self._conclude(stage, turn, case, drafts.get(case, failed_draft))

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
            trace.lost = _find_loss(case) if answer.decision is Decision.ABSTAINED else None
        return answers, [case.trace for case in self.cases]

    # --- the parts of a step ------------------------------------------------------------------------------------------

    def _select_cases(self, step: Step[Result]) -> list[Case]:
        return [case for case in self.cases if step.applies(case)]

    def _start_web_deadline(self) -> Deadline:
        """The time of all stages of the web path, counted from now."""
        return self.clock.span(Stage.SELECT_PAGES, Stage.RERANK)

    def _isolate_step(
        self, stage: Stage, step: Step[Result], cases: Sequence[Case], deadline: Deadline
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

    # --- the parts of a turn: contexts, drafts, checks, conclusion ----------------------------------------------------

    def _prepare_turn(
        self, stage: Stage, turn: Turn, cases: Sequence[Case]
    ) -> tuple[dict[Case, Draft], dict[Case, str]]:
        """The drafts that need no model, and the contexts for the model. A gate that closes leaves no context."""

        def build_all(batch: Sequence[Case]) -> list[str | Draft]:
            return [turn.build_context(case) for case in batch]

        drafts: dict[Case, Draft] = {}
        contexts: dict[Case, str] = {}
        for case, material in self._isolation.run(stage, self.clock.whole, build_all, cases).items():
            if isinstance(material, Draft):
                drafts[case] = material
                continue

            firing = turn.find_closed_gate(case)
            if firing is not None:
                self._close(case, firing, turn.source)
            if firing is None or self._audit:
                contexts[case] = material
        return drafts, contexts

    def _write_drafts(self, stage: Stage, turn: Turn, contexts: Mapping[Case, str]) -> dict[Case, Draft]:
        """What the model makes of each context."""
        name = f"{turn.prefix}answer"

        def build_requests(case: Case) -> dict[str, GenerationRequest]:
            domain = route_label(case.trace.route, "domain")
            return {name: turn.answerer.request(case.query, contexts[case], domain)}

        replies = self._generate(stage, turn.answerer.model, contexts, build_requests)

        def read_all(batch: Sequence[Case]) -> list[Draft]:
            return [turn.answerer.read(replies[case][name], contexts[case], turn.source) for case in batch]

        return self._isolation.run(stage, self.clock.whole, read_all, list(replies))

    def _apply_check(self, turn: Turn, check: Check, drafts: Mapping[Case, Draft]) -> dict[Case, Draft]:
        """The drafts to which a check applies, after it. A check that fails withholds the answer."""
        unchecked = {case: draft for case, draft in drafts.items() if check.applies(draft)}
        if check.asks:
            unchecked |= self._ask_for_check(turn, check, unchecked)

        def check_all(batch: Sequence[Case]) -> list[tuple[Draft, GateFiring | None]]:
            outcomes = []
            for case in batch:
                draft = check.read(case, unchecked[case])
                outcomes.append((draft, check(case, draft)))
            return outcomes

        outcomes = self._isolation.run(check.name, self.clock.whole, check_all, list(unchecked))

        checked: dict[Case, Draft] = {}
        for case, unchecked_draft in unchecked.items():
            failed = (unchecked_draft, GateFiring(check.name, case.fault, I_DONT_KNOW))
            draft, firing = outcomes.get(case, failed)
            if firing is not None:
                case.trace.gates.append(replace(firing, withheld=draft.answer.text))
                draft = replace(draft, answer=gated_answer(firing, turn.source), withheld=True)
            checked[case] = draft
        return checked

    def _ask_for_check(self, turn: Turn, check: Check, drafts: Mapping[Case, Draft]) -> dict[Case, Draft]:
        """The drafts with what the model replied to the check's requests; without those of questions that failed."""

        def build_requests(case: Case) -> dict[str, GenerationRequest]:
            requests = check.requests(case, drafts[case])
            return {f"{turn.prefix}{name}": request for name, request in requests.items()}

        replies_by_case = self._generate(turn.review, turn.answerer.model, drafts, build_requests)

        answered: dict[Case, Draft] = {}
        for case, replies in replies_by_case.items():
            draft = drafts[case]
            # The check knows its replies without the turn's prefix.
            by_name = {name.removeprefix(turn.prefix): reply for name, reply in replies.items()}
            answered[case] = replace(draft, replies={**draft.replies, **by_name})
        return answered

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

    def _generate(
        self, stage: Stage, model: LanguageModel, cases: Collection[Case], build_requests: RequestBuilder
    ) -> dict[Case, dict[str, Generation]]:
        """The generations of each question by name, recorded in its trace. All questions share one call."""
        if not cases:
            return {}

        with self.clock.stage(stage) as deadline:
            ask = partial(_ask, model, build_requests, deadline)
            exchanges = self._isolation.run(stage, deadline, ask, list(cases))

        generations: dict[Case, dict[str, Generation]] = {}
        for case, by_name in exchanges.items():
            generations[case] = {}
            for name, exchange in by_name.items():
                case.trace.prompts[name] = prompt_for_trace(exchange.request)
                case.trace.generations[name] = exchange.generation
                generations[case][name] = exchange.generation
        return generations

    # --- gates and answers --------------------------------------------------------------------------------------------

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
            firing = replace(case.gate, withheld=answer.text)
            index = case.trace.gates.index(case.gate)
            case.trace.gates[index] = firing
            case.gate = firing
            answer = gated_answer(firing, answer.source)

        case.answer = answer
        case.trace.answer = answer
        return answer


def _ask(
    model: LanguageModel, build_requests: RequestBuilder, deadline: Deadline, cases: Sequence[Case]
) -> list[dict[str, Exchange]]:
    """The exchanges of each question by name, from one call of the model for all of them."""
    requests_by_case = [build_requests(case) for case in cases]

    # One flat list for the model. Questions may have several requests, or none.
    requests: list[GenerationRequest] = []
    for by_name in requests_by_case:
        requests.extend(by_name.values())
    generations = generate_all(model, requests, deadline)

    exchanges: list[dict[str, Exchange]] = []
    start = 0
    for by_name in requests_by_case:
        replies = generations[start : start + len(by_name)]
        start += len(by_name)

        exchanges_by_name = {}
        for (name, request), reply in zip(by_name.items(), replies, strict=True):
            exchanges_by_name[name] = Exchange(request, reply)
        exchanges.append(exchanges_by_name)
    return exchanges


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
