"""The turns of a batch: each source, in its turn, may answer the questions that are still open.

A turn gives each question its material, a context for the model or a finished draft. The model's drafts then pass the
turn's checks (`crag.answering.checks`).
"""

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
from crag.core.contracts import GRAPH, WEB, Answer, Decision, Fact, GateFiring, Stage, abstain, route_label
from crag.core.text import clean
from crag.engines.llm import GenerationRequest
from crag.pipeline.batch_run import Turn
from crag.pipeline.case import Case, facts_text
from crag.settings import AloneSettings, GateSettings
from crag.web import WebEvidence, WebPath

NO_EVIDENCE = WebEvidence(context="", passages=(), pages_read=0, events=(), top_probability=None)


class GraphValue(Turn):
    """The graph's value, or one that rules compute from its values, is the answer; no model is asked."""

    source = GRAPH
    author = "the graph's value"
    review = Stage.REVIEW_GRAPH

    def material(self, case: Case) -> Draft:
        value = clean(case.lookup.direct_answer or "")
        text = trim_to_tokens(" ".join(value.split()))
        return Draft(Answer(text, Decision.ANSWERED, GRAPH, case.lookup.direct_reason))


@dataclass(frozen=True)
class GraphFacts(Turn):
    """The model answers from the graph's facts (db3 3.1, 3.3)."""

    source = GRAPH
    author = "the model"
    reads = "the graph's facts"
    review = Stage.REVIEW_GRAPH
    prefix = "graph_"

    max_tokens: int

    def material(self, case: Case) -> str | Draft:
        text = facts_text(case.lookup.facts, self.answerer.model, self.max_tokens)
        return text or Draft(abstain("no fact of the graph fits into max_fact_tokens", GRAPH))


@dataclass(frozen=True)
class WebPages(Turn):
    """The model answers from the pages, and from facts in the same token budget."""

    source = WEB
    author = "the model"
    reads = "the pages"
    review = Stage.REVIEW

    web: WebPath
    gates: Sequence[GateSettings]
    max_tokens: int

    def material(self, case: Case) -> str | Draft:
        facts = facts_text(self._facts(case), self.answerer.model, self.max_tokens)
        evidence = case.evidence or NO_EVIDENCE
        if facts:
            evidence = self.web.shorten_context(evidence, self.answerer.model.count_tokens(facts))
        elif case.evidence is None:
            return Draft(abstain(case.fault or "the web path gave nothing", WEB))

        trace = case.trace
        trace.pages_read = evidence.pages_read
        trace.passages = list(evidence.passages)
        for event in evidence.events:
            case.note(event)

        if case.plan.pages_lead:
            trace.context = f"{evidence.context}\n{facts}".strip("\n")
        else:
            trace.context = facts + evidence.context
        return trace.context if trace.context.strip() else Draft(abstain("neither a passage nor a fact", WEB))

    def _facts(self, case: Case) -> list[Fact]:
        """The facts that share the context with the pages: those of the graph only in a joint plan."""
        facts = list(case.trace.facts)
        lookup = case.lookup
        if not case.plan.joint:
            return [fact for fact in facts if fact not in lookup.facts]
        if lookup.direct_answer is not None:
            computed = Fact(f"{lookup.direct_answer} ({lookup.direct_reason})", "knowledge graph: computed")
            facts.insert(0, computed)
        return facts

    def gate(self, case: Case) -> GateFiring | None:
        """Gates on the question's class that apply to the web only; without facts also on the best passage (NEC 2.1,
        step 5).
        """
        firing = class_gate(self.gates, case.trace.route, "web")
        only_pages = case.evidence is not None and case.trace.context == case.evidence.context
        if firing or case.evidence is None or not only_pages:
            return firing
        return score_gate(self.gates, case.evidence.top_probability)


@dataclass(frozen=True)
class ReadPagesSeparately(Check):
    """Asks the model about each of the best pages in a prompt of its own: one page cannot speak for others (RobustRAG,
    Xiang et al. 2024). P(correct) uses how many of them agree.
    """

    name = "pages alone"
    asks = True

    answerer: Answerer
    web: WebPath
    settings: AloneSettings
    model: ConfidenceModel | None

    def applies(self, draft: Draft) -> bool:
        """An answer of the model from pages."""
        return not draft.abstains and draft.answer.source == WEB

    def requests(self, case: CaseView, draft: Draft) -> Mapping[str, GenerationRequest]:
        """One request for each page, unless P(correct) is sure without them."""
        likely = self.model.probability(answer_features(case.trace, draft)) if self.model else None
        if likely is not None and not self.settings.above < likely < self.settings.below:
            return {}

        evidence = case.evidence if isinstance(case, Case) and case.evidence else NO_EVIDENCE
        contexts = self.web.separate_contexts(evidence, self.settings.pages, self.settings.max_tokens)
        domain = route_label(case.trace.route, "domain")
        return {
            f"alone {number}": self.answerer.request(case.query, context, domain)
            for number, context in enumerate(contexts, start=1)
        }

    def read(self, case: CaseView, draft: Draft) -> Draft:
        """The draft with the pages' answers. A generation that the clock ended says nothing."""
        answers = []
        for key, reply in draft.replies.items():
            if key.startswith("alone ") and reply.finish_reason in {"stop", "length"}:
                answers.append(self.answerer.read(reply, "", WEB).answer.text)
        return replace(draft, single_page_answers=tuple(answers))

    def __call__(self, case: CaseView, draft: Draft) -> None:
        """Withholds nothing: P(correct) knows how many pages agree."""
