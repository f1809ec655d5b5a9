"""The turns of a batch: each source, in its turn, may answer the questions that are still open.

A turn builds a context for the model, or a draft where no model is needed. The drafts then pass the turn's checks
(`crag.answering.checks`); `crag.pipeline.turn_run` runs all this.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from crag.answering import Draft, find_closed_class_gate, find_closed_score_gate, trim_to_tokens
from crag.core.contracts import GRAPH, WEB, Answer, Decision, Fact, GateFiring, Stage, abstain
from crag.core.text import clean
from crag.pipeline.case import Case, render_facts
from crag.pipeline.turn_run import Turn, TurnContext
from crag.settings import GateSettings
from crag.web import RetrievedPassages, WebPath

NOTHING_RETRIEVED = RetrievedPassages(context="", passages=(), pages_read=0, events=(), top_probability=None)
"""For a question whose pages were not read: it may still have facts."""


class GraphValue(Turn):
    """The graph's value, or one that rules compute from its values, is the answer; no model is asked."""

    source = GRAPH
    author = "the graph's value"
    review = Stage.REVIEW_GRAPH

    def build_context(self, case: Case) -> Draft:
        # The value comes from outside like a page, and the evaluator cuts it like any answer.
        value = clean(case.lookup.direct_answer or "")
        text = trim_to_tokens(" ".join(value.split()))
        return Draft(Answer(text, Decision.ANSWERED, GRAPH, case.lookup.direct_reason))


@dataclass(frozen=True)
class GraphFacts(Turn):
    """The model answers from the graph's facts (db3 3.1, 3.3)."""

    source = GRAPH
    author = "the model"
    reads = "the graph's facts"
    nothing_to_read = "no fact of the graph fits into max_fact_tokens"
    review = Stage.REVIEW_GRAPH
    prefix = "graph_"

    max_tokens: int

    def build_context(self, case: Case) -> TurnContext:
        facts = render_facts(case.lookup.facts, self.answerer.model, self.max_tokens)
        return TurnContext(facts, has_graph_facts=bool(facts))


@dataclass(frozen=True)
class WebPages(Turn):
    """The model answers from the pages, and from facts in the same token budget."""

    source = WEB
    author = "the model"
    reads = "the pages"
    nothing_to_read = "neither a passage nor a fact"
    review = Stage.REVIEW

    web: WebPath
    gates: Sequence[GateSettings]
    max_tokens: int

    def build_context(self, case: Case) -> TurnContext | Draft:
        model = self.answerer.model
        facts = render_facts(self._select_facts(case), model, self.max_tokens)
        if not facts and case.retrieved is None:
            return Draft(abstain(case.fault or "the web path gave nothing", WEB))

        retrieved = case.retrieved or NOTHING_RETRIEVED
        if facts:
            # Facts and pages share one budget: what the facts take, the pages lose.
            retrieved = self.web.shorten_context(retrieved, model.count_tokens(facts))

        # Each fact ends with a line end.
        text = facts + retrieved.context
        if case.plan.pages_lead:
            text = f"{retrieved.context}\n{facts}".strip("\n")

        has_graph_facts = bool(facts and case.plan.joint and case.lookup.facts)
        return TurnContext(text, has_graph_facts=has_graph_facts, retrieved=retrieved)

    def _select_facts(self, case: Case) -> list[Fact]:
        """The facts that share the context with the pages: those of the graph only in a joint plan."""
        lookup = case.lookup
        if not case.plan.joint:
            # The graph's facts are for a turn of their own; those of other sources remain.
            return [fact for fact in case.trace.facts if fact not in lookup.facts]

        facts = list(case.trace.facts)
        if lookup.direct_answer is not None:
            computed = Fact(f"{lookup.direct_answer} ({lookup.direct_reason})", "knowledge graph: computed")
            # First, because the last facts are cut if the budget is too small.
            facts.insert(0, computed)
        return facts

    def find_closed_gate(self, case: Case, context: TurnContext) -> GateFiring | None:
        """The first closed gate: on the question's class, or on the best passage (NEC 2.1, step 5).

        The best passage decides only if there are no facts of the graph beside it, which were looked up for the
        question, and no article, which has the name that the question asks about. Public data is found by names alone:
        without a good passage, of 41 answers from it 6 were right and 8 wrong.
        """
        firing = find_closed_class_gate(self.gates, case.trace.route, "web")
        if firing is not None:
            return firing

        if context.has_graph_facts or case.lookup.articles or context.retrieved is None:
            return None
        return find_closed_score_gate(self.gates, context.retrieved.top_probability)
