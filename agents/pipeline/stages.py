"""The steps and turns of `CragAgent`: each asks one room and stores the result in the case."""

from collections.abc import Sequence

from agents.answering import (
    Answerer,
    Check,
    ConfidenceModel,
    Draft,
    class_gate,
    question_features,
    score_gate,
    trim_to_tokens,
)
from agents.common.contracts import (
    GRAPH,
    INVALID_QUESTION,
    WEB,
    Answer,
    Candidate,
    Decision,
    Fact,
    GateFiring,
    Query,
    Route,
    Stage,
    abstain,
    label,
)
from agents.common.deadline import BatchClock, Deadline
from agents.common.text import clean
from agents.kg import KnowledgeGraph, Lookup
from agents.pipeline.batch_run import Step, Turn
from agents.pipeline.case import Case, Plan, facts_text, plan_of
from agents.public_data import PublicData
from agents.questions import QuestionRouter
from agents.settings import ConfidenceSettings, GateSettings, KnowledgeGraphSettings
from agents.web import WebEvidence, WebPath

QUESTION = "question"
"""The source of an answer that follows from the question alone."""
BREAK_EVEN = 0.5
"""A probability at which answering and abstaining score the same."""
NO_EVIDENCE = WebEvidence(context="", passages=(), pages_read=0, events=(), top_probability=None)
ONLY_GRAPH = "only the graph may answer in this domain, and it has nothing"


class RouteQuestions(Step[Route]):
    """Classify the questions: domain, question type, dynamism."""

    def __init__(self, router: QuestionRouter) -> None:
        self._router = router

    def work(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[Route]:
        return self._router.route(_queries(cases), deadline)

    def keep(self, case: Case, result: Route) -> None:
        case.trace.route = result or None


class CloseClassGates(Step[GateFiring | None]):
    """Exclude questions of classes that the preset does not answer (NEC 2.1, step 1)."""

    def __init__(self, gates: Sequence[GateSettings]) -> None:
        self._gates = gates

    def work(self, cases: Sequence[Case], deadline: Deadline) -> list[GateFiring | None]:
        return [class_gate(self._gates, case.trace.route, "any") for case in cases]

    def keep(self, case: Case, result: GateFiring | None) -> GateFiring | None:
        return result


class AskGraph(Step[Lookup]):
    """Write calls and run them (db3 3.2). A question about a game that does not exist is invalid."""

    def __init__(self, graph: KnowledgeGraph, *, invalid_without_game: bool) -> None:
        self._graph = graph
        self._invalid_without_game = invalid_without_game

    def work(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[Lookup]:
        return self._graph.look_up(_queries(cases), _domains(cases), deadline)

    def keep(self, case: Case, result: Lookup) -> Answer | None:
        case.lookup, trace = result, case.trace
        trace.calls.extend(result.calls)
        trace.facts.extend(result.facts)
        trace.events.extend(result.events)
        trace.graph_state = result.state
        trace.example_similarity = result.example_similarity
        if result.direct_answer is not None:
            case.note(f"the graph's values give {result.direct_answer!r}: {result.direct_reason}")
        if result.generation is not None:
            trace.note_generation("calls", result.prompt, result.generation)
        if not (result.empty_calendar and self._invalid_without_game):
            return None
        reason = f"no such game: {' '.join(fact.text for fact in result.facts)}"
        return Answer(INVALID_QUESTION, Decision.INVALID_QUESTION, GRAPH, reason)


class ReadPages(Step[WebEvidence]):
    """Select, extract and rank pages on the CPU."""

    def __init__(self, web: WebPath, clock: BatchClock) -> None:
        self._web = web
        self._clock = clock

    def work(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[WebEvidence]:
        return self._web.prepare(_queries(cases), self._clock)

    def keep(self, case: Case, result: WebEvidence) -> None:
        case.evidence = result


class PlanTurns(Step[Plan]):
    """Decide which sources may answer, and in which order."""

    def __init__(self, settings: KnowledgeGraphSettings) -> None:
        self._settings = settings

    def work(self, cases: Sequence[Case], deadline: Deadline) -> list[Plan]:
        return [plan_of(self._settings, case.trace.route, case.lookup) for case in cases]

    def keep(self, case: Case, result: Plan) -> Answer | None:
        case.plan = result
        return None if result.turns else abstain(ONLY_GRAPH, GRAPH)


class AddFacts(Step[Sequence[Fact]]):
    """Add facts that the submission ships; they precede the pages in the context."""

    def __init__(self, source: PublicData) -> None:
        self._source = source

    def work(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[Sequence[Fact]]:
        return self._source.facts(_queries(cases), _domains(cases), deadline)

    def keep(self, case: Case, result: Sequence[Fact]) -> None:
        case.trace.facts.extend(result)


class FalsePremise(Step[Candidate]):
    """Call a question invalid if a false premise is likelier than a right answer."""

    def __init__(self, model: ConfidenceModel | None, settings: ConfidenceSettings | None) -> None:
        self._invalid = model.invalid if model else None
        self._threshold = max(settings.threshold if settings else 0.0, BREAK_EVEN)
        self._needs_graph = settings is not None and settings.invalid_needs_graph

    def wants(self, case: Case) -> bool:
        said = case.answer.text if case.answer else None
        if self._needs_graph and case.trace.graph_state in {None, "down"}:
            return False
        return bool(self._invalid and case.trace.route) and case.gate is None and said != INVALID_QUESTION

    def work(self, cases: Sequence[Case], deadline: Deadline) -> list[Candidate]:
        features = [question_features(case.trace) for case in cases]
        return [
            Candidate(INVALID_QUESTION, QUESTION, own, self._invalid.probability(own))
            for own in features
            if self._invalid
        ]

    def keep(self, case: Case, result: Candidate) -> Answer | None:
        given, trace, likely = case.answer, case.trace, result.probability or 0.0
        answered = given is not None and given.decision is Decision.ANSWERED
        rivals = [one.probability or 0.0 for one in trace.candidates if given and answered and one.text == given.text]
        rival = max([self._threshold, *rivals])
        trace.candidates.append(result)
        if likely <= rival:
            return None
        reason = f"P(false premise) is {likely:.2f}, above {rival:.2f}"
        if given is not None and answered:
            trace.gates.append(GateFiring("false premise", reason, INVALID_QUESTION, given.text))
        return Answer(INVALID_QUESTION, Decision.INVALID_QUESTION, QUESTION, reason)


class GraphValue(Turn):
    """The graph's value, or one that rules compute from its values, is the answer; no model is asked."""

    source, name, review = GRAPH, "the graph's value", Stage.REVIEW_FACTS

    def material(self, case: Case) -> Draft:
        text = trim_to_tokens(" ".join(clean(case.lookup.direct_answer or "").split()))
        return Draft(Answer(text, Decision.ANSWERED, GRAPH, case.lookup.direct_reason))


class GraphFacts(Turn):
    """The model answers from the graph's facts (db3 3.1, 3.3)."""

    source, name, review, prefix = GRAPH, "the model, from the graph's facts,", Stage.REVIEW_FACTS, "graph_"

    def __init__(self, answerer: Answerer, checks: Sequence[Check], max_tokens: int) -> None:
        super().__init__(answerer, checks)
        self._max_tokens = max_tokens

    def material(self, case: Case) -> str | Draft:
        text = facts_text(case.lookup.facts, self.answerer.model, self._max_tokens)
        return text or Draft(abstain("no fact of the graph fits into max_fact_tokens", GRAPH))


class WebPages(Turn):
    """The model answers from the pages, and from facts in the same token budget."""

    source, name, review = WEB, "the model, from the pages,", Stage.REVIEW

    def __init__(
        self,
        answerer: Answerer,
        checks: Sequence[Check],
        web: WebPath,
        gates: Sequence[GateSettings],
        max_tokens: int,
    ) -> None:
        super().__init__(answerer, checks)
        self._web = web
        self._gates = gates
        self._max_tokens = max_tokens

    def material(self, case: Case) -> str | Draft:
        trace, lookup, evidence = case.trace, case.lookup, case.evidence or NO_EVIDENCE
        facts = [fact for fact in trace.facts if case.plan.joint or fact not in lookup.facts]
        if case.plan.joint and lookup.direct_answer is not None:
            facts.insert(0, Fact(f"{lookup.direct_answer} ({lookup.direct_reason})", "knowledge graph: computed"))
        text = facts_text(facts, self.answerer.model, self._max_tokens)
        if text:
            evidence = self._web.trimmed(evidence, self.answerer.model.count_tokens(text))
        elif case.evidence is None:
            return Draft(abstain(case.fault or "the web path gave nothing", WEB))
        trace.pages_read, trace.passages = evidence.pages_read, list(evidence.passages)
        for event in evidence.events:
            case.note(event)
        pages_first = f"{evidence.context}\n{text}".strip("\n")
        trace.context = pages_first if case.plan.pages_lead else text + evidence.context
        return trace.context if trace.context.strip() else Draft(abstain("neither a passage nor a fact", WEB))

    def gate(self, case: Case) -> GateFiring | None:
        """Gates on the question's class that apply to the web only; without facts also on the best passage (NEC 2.1,
        step 5).
        """
        closed = class_gate(self._gates, case.trace.route, "web")
        if closed or case.evidence is None or case.trace.context != case.evidence.context:
            return closed
        return score_gate(self._gates, case.evidence.top_probability)


def _queries(cases: Sequence[Case]) -> list[Query]:
    return [case.query for case in cases]


def _domains(cases: Sequence[Case]) -> list[str | None]:
    """Predicted domains."""
    return [label(case.trace.route, "domain") for case in cases]
