"""The steps and turns of `CragAgent`: each calls one package and stores the result in the case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from crag.answering import (
    Answerer,
    CaseView,
    Check,
    ConfidenceModel,
    Draft,
    answer_features,
    class_gate,
    score_gate,
    trim_to_tokens,
)
from crag.core.contracts import (
    ANSWERABLE_FROM,
    GRAPH,
    INVALID_QUESTION,
    TABLES,
    WEB,
    Answer,
    Decision,
    Fact,
    GateFiring,
    Query,
    Route,
    Stage,
    abstain,
    label,
    probability,
)
from crag.core.deadline import BatchClock, Deadline
from crag.core.text import clean
from crag.engines.llm import GenerationRequest
from crag.facts import PublicData
from crag.graph import UNASKED, KnowledgeGraph, Lookup, NoKnowledgeGraph
from crag.pipeline.batch_run import Step, Turn
from crag.pipeline.case import Case, Plan, facts_text, plan_of
from crag.router import QuestionRouter
from crag.settings import AloneSettings, GateSettings, KnowledgeGraphSettings
from crag.web import WebEvidence, WebPath

NO_EVIDENCE = WebEvidence(context="", passages=(), pages_read=0, events=(), top_probability=None)
ONLY_GRAPH = "only the graph may answer in this domain, and it has nothing"


def route_questions(router: QuestionRouter) -> Step[Route]:
    """Classify the questions: domain, question type, dynamism."""

    def keep(case: Case, route: Route) -> None:
        case.trace.route = route or None

    return Step(lambda cases, deadline: router.route(_queries(cases), deadline), keep)


def close_class_gates(gates: Sequence[GateSettings]) -> Step[GateFiring | None]:
    """Exclude questions of classes that the preset does not answer (NEC 2.1, step 1)."""
    return Step(
        lambda cases, _: [class_gate(gates, case.trace.route, "any") for case in cases], lambda _, firing: firing
    )


def ask_graph(graph: KnowledgeGraph, settings: KnowledgeGraphSettings) -> Step[Lookup]:
    """Write calls and run them (db3 3.2) where a table may answer. A question about no existing game is invalid."""

    def work(cases: Sequence[Case], deadline: Deadline) -> list[Lookup]:
        above = None if isinstance(graph, NoKnowledgeGraph) else settings.ask_above
        shares = {case: probability(case.trace.route, ANSWERABLE_FROM, (TABLES,)) for case in cases}
        asked = [case for case, share in shares.items() if above is None or share is None or share > above]
        lookups = dict(zip(asked, graph.look_up(_queries(asked), _domains(asked), deadline), strict=True))
        return [lookups.get(case, UNASKED) for case in cases]

    def keep(case: Case, lookup: Lookup) -> Answer | None:
        case.lookup, trace = lookup, case.trace
        trace.calls.extend(lookup.calls)
        trace.facts.extend(lookup.facts)
        trace.events.extend(lookup.events)
        trace.graph_state = lookup.state
        trace.example_similarity = lookup.example_similarity
        if lookup.direct_answer is not None:
            case.note(f"the graph's values give {lookup.direct_answer!r}: {lookup.direct_reason}")
        if lookup.generation is not None:
            trace.prompts["calls"], trace.generations["calls"] = lookup.prompt, lookup.generation
        if not (lookup.empty_calendar and settings.invalid_without_game):
            return None
        reason = f"no such game: {' '.join(fact.text for fact in lookup.facts)}"
        return Answer(INVALID_QUESTION, Decision.INVALID_QUESTION, GRAPH, reason)

    return Step(work, keep)


def read_pages(web: WebPath, clock: BatchClock) -> Step[WebEvidence]:
    """Select, extract and rank pages on the CPU."""

    def keep(case: Case, evidence: WebEvidence) -> None:
        case.evidence = evidence

    return Step(lambda cases, _: web.prepare(_queries(cases), clock), keep)


def plan_turns(settings: KnowledgeGraphSettings) -> Step[Plan]:
    """Decide which sources may answer, and in which order."""

    def keep(case: Case, plan: Plan) -> Answer | None:
        case.plan = plan
        return None if plan.turns else abstain(ONLY_GRAPH, GRAPH)

    return Step(lambda cases, _: [plan_of(settings, case.trace.route, case.lookup) for case in cases], keep)


def add_facts(source: PublicData) -> Step[Sequence[Fact]]:
    """Add facts that the submission ships; they precede the pages in the context."""
    return Step(
        lambda cases, deadline: source.facts(_queries(cases), _domains(cases), deadline),
        lambda case, facts: case.trace.facts.extend(facts),
    )


class GraphValue(Turn):
    """The graph's value, or one that rules compute from its values, is the answer; no model is asked."""

    source, name, review = GRAPH, "the graph's value", Stage.REVIEW_FACTS

    def material(self, case: Case) -> Draft:
        text = trim_to_tokens(" ".join(clean(case.lookup.direct_answer or "").split()))
        return Draft(Answer(text, Decision.ANSWERED, GRAPH, case.lookup.direct_reason))


@dataclass(frozen=True)
class GraphFacts(Turn):
    """The model answers from the graph's facts (db3 3.1, 3.3)."""

    source, name, review, prefix = GRAPH, "the model, from the graph's facts,", Stage.REVIEW_FACTS, "graph_"

    max_tokens: int

    def material(self, case: Case) -> str | Draft:
        text = facts_text(case.lookup.facts, self.answerer.model, self.max_tokens)
        return text or Draft(abstain("no fact of the graph fits into max_fact_tokens", GRAPH))


@dataclass(frozen=True)
class WebPages(Turn):
    """The model answers from the pages, and from facts in the same token budget."""

    source, name, review = WEB, "the model, from the pages,", Stage.REVIEW

    web: WebPath
    gates: Sequence[GateSettings]
    max_tokens: int

    def material(self, case: Case) -> str | Draft:
        trace, lookup, evidence = case.trace, case.lookup, case.evidence or NO_EVIDENCE
        facts = [fact for fact in trace.facts if case.plan.joint or fact not in lookup.facts]
        if case.plan.joint and lookup.direct_answer is not None:
            facts.insert(0, Fact(f"{lookup.direct_answer} ({lookup.direct_reason})", "knowledge graph: computed"))
        text = facts_text(facts, self.answerer.model, self.max_tokens)
        if text:
            evidence = self.web.trimmed(evidence, self.answerer.model.count_tokens(text))
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
        closed = class_gate(self.gates, case.trace.route, "web")
        if closed or case.evidence is None or case.trace.context != case.evidence.context:
            return closed
        return score_gate(self.gates, case.evidence.top_probability)


@dataclass(frozen=True)
class PagesAlone(Check):
    """Reads each page's passages alone: one page cannot speak for others (RobustRAG, Xiang et al. 2024)."""

    name, asks = "pages alone", True

    answerer: Answerer
    web: WebPath
    settings: AloneSettings
    model: ConfidenceModel | None

    def applies(self, draft: Draft) -> bool:
        """An answer of the model from pages."""
        return not draft.abstains and draft.answer.source == WEB

    def requests(self, case: CaseView, draft: Draft) -> Mapping[str, GenerationRequest]:
        likely = self.model.probability(answer_features(case.trace, draft)) if self.model else None
        if likely is not None and not self.settings.above < likely < self.settings.below:
            return {}
        evidence = case.evidence if isinstance(case, Case) and case.evidence else NO_EVIDENCE
        contexts = self.web.alone(evidence, self.settings.pages, self.settings.max_tokens)
        domain = label(case.trace.route, "domain")
        return {f"alone {n}": self.answerer.request(case.query, own, domain) for n, own in enumerate(contexts, 1)}

    def read(self, case: CaseView, draft: Draft) -> Draft:
        replies = [reply for key, reply in draft.replies.items() if key.startswith("alone ")]
        finished = [reply for reply in replies if reply.finish_reason in {"stop", "length"}]  # the clock says nothing
        return replace(draft, alone=tuple(self.answerer.read(reply, "", WEB).answer.text for reply in finished))

    def __call__(self, case: CaseView, draft: Draft) -> None:
        """Nothing: P(correct) knows how many pages agree."""


def _queries(cases: Sequence[Case]) -> list[Query]:
    return [case.query for case in cases]


def _domains(cases: Sequence[Case]) -> list[str | None]:
    """Predicted domains."""
    return [label(case.trace.route, "domain") for case in cases]
