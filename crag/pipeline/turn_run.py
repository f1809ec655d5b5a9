"""One turn of a batch: contexts for the model, its drafts, and the checks that may withhold them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple, TypeVar

from crag.answering import Answerer, Check, Draft, gated_answer
from crag.core.contracts import I_DONT_KNOW, GateFiring, Stage, abstain
from crag.core.deadline import BatchClock, Deadline
from crag.engines.llm import Generation, GenerationRequest, LanguageModel
from crag.engines.llm.base import generate_all, prompt_for_trace
from crag.pipeline.case import Case
from crag.pipeline.isolation import BatchFunction, FaultIsolation
from crag.web import RetrievedPassages

Result = TypeVar("Result")
RequestBuilder = Callable[[Case], Mapping[str, GenerationRequest]]
"""What to ask the model about a question, by the names of the replies in its trace."""


class TurnContext(NamedTuple):
    """What the model reads about a question in a turn.

    Attributes:
        text: The context for the prompt; blank if there is nothing to read.
        has_graph_facts: Whether facts of the graph are in it, perhaps beside passages.
        retrieved: The passages in it, for the trace; None in a turn that reads no pages.
    """

    text: str
    has_graph_facts: bool
    retrieved: RetrievedPassages | None = None


@dataclass(frozen=True)
class Turn:
    """A source that answers questions, with the model that it asks and the checks of its drafts.

    `author` and `reads` name it in sentences: "the model, from the pages". `nothing_to_read` is the reason to abstain
    if its context is blank. `review` is the clock's stage for checks that ask the model. `prefix` precedes the names of
    this turn's generations in traces.
    """

    source: ClassVar[str]
    author: ClassVar[str]
    reads: ClassVar[str] = ""
    nothing_to_read: ClassVar[str] = ""
    review: ClassVar[Stage]
    prefix: ClassVar[str] = ""

    answerer: Answerer
    checks: Sequence[Check[Case]]

    def build_context(self, case: Case) -> TurnContext | Draft:
        """The context for the model, or a draft if no model is needed. Changes no case: it may run again."""
        raise NotImplementedError

    def find_closed_gate(self, case: Case, context: TurnContext) -> GateFiring | None:
        """The gate that closes before the model is asked, or None. Only the last turn of a plan may have one."""
        return None


class Exchange(NamedTuple):
    """A request to the model and its reply."""

    request: GenerationRequest
    generation: Generation


class TurnRun:
    """A turn at work on the open questions of a batch.

    It settles no question: `crag.pipeline.batch_run` does that with the drafts. A question whose work fails has no
    context or draft; one whose check fails has a draft that abstains.

    Example:
        turn_run = TurnRun(Stage.GENERATE, web_pages, clock, isolation)
        contexts = turn_run.build_contexts(cases)
        drafts = turn_run.write_drafts(contexts)
        for check in web_pages.checks:
            drafts |= turn_run.apply_check(check, drafts)
    """

    def __init__(self, stage: Stage, turn: Turn, clock: BatchClock, isolation: FaultIsolation) -> None:
        self._stage = stage
        self._turn = turn
        self._clock = clock
        self._isolation = isolation

    def build_contexts(self, cases: Sequence[Case]) -> dict[Case, TurnContext | Draft]:
        """The context of each question for the model, or a draft that needs no model.

        What is read of the pages goes into the traces here, where no fault or hang can leave a part of it.
        """

        def build_all(batch: Sequence[Case]) -> list[TurnContext | Draft]:
            return [self._turn.build_context(case) for case in batch]

        contexts = self._isolate(self._stage, build_all, cases)
        for case, context in contexts.items():
            if isinstance(context, Draft):
                continue
            _record_pages(case, context)
            if not context.text.strip():
                contexts[case] = Draft(abstain(self._turn.nothing_to_read, self._turn.source))
        return contexts

    def write_drafts(self, contexts: Mapping[Case, str]) -> dict[Case, Draft]:
        """What the model makes of each context."""
        turn = self._turn
        name = f"{turn.prefix}answer"

        def build_requests(case: Case) -> dict[str, GenerationRequest]:
            domain = case.trace.route.label("domain")
            request = turn.answerer.request(case.query, contexts[case], domain)
            return {name: request}

        replies = self._generate(self._stage, contexts, build_requests)

        def read_all(batch: Sequence[Case]) -> list[Draft]:
            return [turn.answerer.read(replies[case][name], contexts[case], turn.source) for case in batch]

        return self._isolate(self._stage, read_all, list(replies))

    def apply_check(self, check: Check[Case], drafts: Mapping[Case, Draft]) -> dict[Case, Draft]:
        """The drafts to which a check applies, after it. A check that fails withholds the answer."""
        unchecked = {case: draft for case, draft in drafts.items() if check.applies(draft)}
        if check.asks:
            unchecked |= self._ask_for_check(check, unchecked)

        def check_all(batch: Sequence[Case]) -> list[tuple[Draft, GateFiring | None]]:
            outcomes = []
            for case in batch:
                draft = check.read(case, unchecked[case])
                outcomes.append((draft, check(case, draft)))
            return outcomes

        outcomes = self._isolate(check.name, check_all, list(unchecked))

        checked: dict[Case, Draft] = {}
        for case, unchecked_draft in unchecked.items():
            # An answer that could not be checked is not trusted.
            failed = (unchecked_draft, GateFiring(check.name, case.fault, I_DONT_KNOW))
            draft, firing = outcomes.get(case, failed)
            if firing is not None:
                draft = self._withhold(case, draft, firing)
            checked[case] = draft
        return checked

    def _withhold(self, case: Case, draft: Draft, firing: GateFiring) -> Draft:
        """The draft with the check's answer instead of its own, which the trace keeps."""
        case.trace.gates.append(replace(firing, withheld=draft.answer.text))
        answer = gated_answer(firing, self._turn.source)
        return replace(draft, answer=answer, withheld=True)

    # --- work of the model --------------------------------------------------------------------------------------------

    def _ask_for_check(self, check: Check[Case], drafts: Mapping[Case, Draft]) -> dict[Case, Draft]:
        """The drafts with what the model replied to the check's requests; without those of questions that failed."""
        prefix = self._turn.prefix

        def build_requests(case: Case) -> dict[str, GenerationRequest]:
            requests = check.requests(case, drafts[case])
            # With the prefix, the trace tells replies about the graph from those about pages.
            return {f"{prefix}{name}": request for name, request in requests.items()}

        replies_by_case = self._generate(self._turn.review, drafts, build_requests)

        answered: dict[Case, Draft] = {}
        for case, replies in replies_by_case.items():
            draft = drafts[case]
            # The prefix is for the trace; a check knows its replies without it.
            by_name = {name.removeprefix(prefix): reply for name, reply in replies.items()}
            answered[case] = replace(draft, replies={**draft.replies, **by_name})
        return answered

    def _generate(
        self,
        stage: Stage,
        cases: Collection[Case],
        build_requests: RequestBuilder,
    ) -> dict[Case, dict[str, Generation]]:
        """The generations of each question by name, recorded in its trace. All questions share one call."""
        # A stage that asks nothing takes no time of the clock.
        if not cases:
            return {}

        with self._clock.stage(stage) as deadline:
            ask = partial(_ask, self._turn.answerer.model, build_requests, deadline)
            exchanges = self._isolation.run(stage, deadline, ask, list(cases))

        generations: dict[Case, dict[str, Generation]] = {}
        for case, by_name in exchanges.items():
            generations[case] = {}
            for name, exchange in by_name.items():
                case.trace.prompts[name] = prompt_for_trace(exchange.request)
                case.trace.generations[name] = exchange.generation
                generations[case][name] = exchange.generation
        return generations

    def _isolate(self, title: str, function: BatchFunction[Result], cases: Sequence[Case]) -> dict[Case, Result]:
        """The results of quick work, which may use all the time of the batch; `title` names it in faults."""
        return self._isolation.run(title, self._clock.whole, function, cases)


def _record_pages(case: Case, context: TurnContext) -> None:
    """Write into the question's trace what the model reads in a turn of pages."""
    retrieved = context.retrieved
    if retrieved is None:
        return

    trace = case.trace
    trace.pages_read = retrieved.pages_read
    trace.passages = list(retrieved.passages)
    trace.passages_left_out = list(retrieved.left_out)
    trace.context = context.text
    for event in retrieved.events:
        case.note(event)


def _ask(
    model: LanguageModel,
    build_requests: RequestBuilder,
    deadline: Deadline,
    cases: Sequence[Case],
) -> list[dict[str, Exchange]]:
    """The exchanges of each question by name, from one call of the model for all of them."""
    requests_by_case = [build_requests(case) for case in cases]

    # One flat list for the model. Questions may have several requests, or none.
    requests: list[GenerationRequest] = []
    for by_name in requests_by_case:
        requests.extend(by_name.values())
    generations = generate_all(model, requests, deadline)

    # Deal the replies out again, as many to each question as it had requests.
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
