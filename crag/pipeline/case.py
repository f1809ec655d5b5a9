"""One question with all that the agent knows about it, and its plan: which sources may answer, in which order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crag.core.contracts import Answer, Fact, GateFiring, Lost, Query, Route, Stage, Trace, route_label
from crag.engines.llm import LanguageModel
from crag.graph import Lookup
from crag.settings import KnowledgeGraphSettings
from crag.web import WebEvidence

_MARK = re.compile(r"<(?=/?\s*doc\b)", re.IGNORECASE)


class Plan(NamedTuple):
    """The turns of a question in order. If one turn abstains, the next one answers.

    `joint`: pages and the graph's facts share a context; `pages_lead`: the pages come first in it.
    """

    turns: tuple[Stage, ...]
    joint: bool = False
    pages_lead: bool = False


PAGES_ONLY = Plan((Stage.GENERATE,))
GRAPH_ONLY = Plan((Stage.GRAPH_VALUE, Stage.ANSWER_FROM_GRAPH))
GRAPH_LEADS = Plan((Stage.GENERATE,), joint=True)
PAGES_LEAD = Plan((Stage.GENERATE,), joint=True, pages_lead=True)

POLICIES: Mapping[str, tuple[Plan, Mapping[str, Plan]]] = {
    "graph_first": (Plan((Stage.GRAPH_VALUE, Stage.ANSWER_FROM_GRAPH, Stage.GENERATE)), {}),
    "synthesis": (GRAPH_LEADS, {"fast-changing": PAGES_LEAD, "real-time": PAGES_LEAD}),
}
"""`source_policy` of a preset -> the plan of its questions, and the plan of questions with fast-changing answers."""


@dataclass(eq=False, slots=True)
class Case:
    """A question: what the sources found, its plan, and its answer.

    `evidence` is None if the pages could not be read. `gate` is the gate that closed; in an audit the question
    continues, to learn what the gate withholds. `fault` is the last failure of a stage, `lost` its kind.
    """

    query: Query
    trace: Trace
    lookup: Lookup = field(default_factory=Lookup)
    evidence: WebEvidence | None = None
    plan: Plan = PAGES_ONLY
    answer: Answer | None = None
    gate: GateFiring | None = None
    fault: str = ""
    lost: Lost | None = None

    def note(self, event: str) -> None:
        """Add an event to the trace, once: a stage that failed for the batch runs again."""
        if event not in self.trace.events:
            self.trace.events.append(event)


def plan_of(settings: KnowledgeGraphSettings, route: Route | None, lookup: Lookup) -> Plan:
    """The plan of a question by the preset's policy, without turns for which the graph has nothing.

    Graph-only domains exclude the web only if the graph was really asked. With a dead server, or without a call for the
    question, the web answers.
    """
    usual, by_dynamism = POLICIES[settings.source_policy]
    plan = by_dynamism.get(route_label(route, "static_or_dynamic") or "", usual)
    asked = bool(lookup.statuses) and not lookup.down
    if asked and (route_label(route, "domain") or lookup.domain) in settings.graph_only_domains:
        plan = GRAPH_ONLY
    has_facts = bool(lookup.facts) if settings.answer_not_found else lookup.found
    useful = {Stage.GRAPH_VALUE: lookup.direct_answer is not None, Stage.ANSWER_FROM_GRAPH: has_facts}
    return plan._replace(turns=tuple(turn for turn in plan.turns if useful.get(turn, True)))


def facts_text(facts: Sequence[Fact], model: LanguageModel, max_tokens: int) -> str:
    """The first facts that fit into the limit, in `<doc>` marks; marks inside facts are broken."""
    blocks: list[str] = []
    left = max_tokens
    for fact in facts:
        opening = f'<doc source="{_plain(fact.source)}">'
        block = f"{opening}{_plain(fact.text)}</doc>\n"
        size = model.count_tokens(block)
        if size > left:
            text = model.truncate(_plain(fact.text), max(0, left - model.count_tokens(f"{opening}</doc>\n")))
            return "".join([*blocks, f"{opening}{text}</doc>\n" if text else ""])
        blocks.append(block)
        left -= size
    return "".join(blocks)


def _plain(text: str) -> str:
    return _MARK.sub("&lt;", text).replace('"', "'")
