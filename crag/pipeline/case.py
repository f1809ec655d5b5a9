"""One question with all that the agent knows about it, and its plan: which sources may answer, in which order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crag.core.contracts import Answer, Fact, GateFiring, Lost, Query, Route, Stage, Trace
from crag.engines.llm import LanguageModel
from crag.graph import Lookup
from crag.settings import KnowledgeGraphSettings
from crag.web import RetrievedPassages

_DOC_MARK = re.compile(r"<(?=/?\s*doc\b)", re.IGNORECASE)
"""The beginning of ``<doc`` and ``</doc``, which must not come from a fact."""


class Plan(NamedTuple):
    """The turns of a question in order. If one turn abstains, the next one answers.

    `joint`: pages and the graph's facts share a context; `pages_lead`: the pages come first in it. `articles_only`: of
    the pages, only the graph's articles are read.
    """

    turns: tuple[Stage, ...]
    joint: bool = False
    pages_lead: bool = False
    articles_only: bool = False


PAGES_ONLY = Plan((Stage.GENERATE,))
GRAPH_ONLY = Plan((Stage.GRAPH_VALUE, Stage.ANSWER_FROM_GRAPH))
GRAPH_AND_ITS_ARTICLES = Plan((Stage.GRAPH_VALUE, Stage.GENERATE), articles_only=True)
GRAPH_LEADS = Plan((Stage.GENERATE,), joint=True)
PAGES_LEAD = Plan((Stage.GENERATE,), joint=True, pages_lead=True)


class Policy(NamedTuple):
    """The usual plan of a question, and the plans of questions of some dynamisms."""

    usual: Plan
    by_dynamism: Mapping[str, Plan]


POLICIES: Mapping[str, Policy] = {
    # db3 3.1: the graph answers if it can.
    "graph_first": Policy(
        usual=Plan((Stage.GRAPH_VALUE, Stage.ANSWER_FROM_GRAPH, Stage.GENERATE)),
        by_dynamism={},
    ),
    # WeKnow-RAG: one answer from both, and the web first where answers change fast.
    "synthesis": Policy(
        usual=GRAPH_LEADS,
        by_dynamism={"fast-changing": PAGES_LEAD, "real-time": PAGES_LEAD},
    ),
}
"""`source_policy` of a preset -> the plans of its questions."""


@dataclass(eq=False, slots=True)
class Case:
    """A question: what the sources found, its plan, and its answer.

    Attributes:
        query: The question as the evaluator asks it.
        trace: What happened to it; a step writes its results there too.
        lookup: What the graph found.
        retrieved: What the pages hold; None if they were not or could not be read.
        plan: The turns that may answer.
        answer: None until the question is settled.
        gate: The gate that closed; in an audit the question continues, to learn what the gate withholds.
        fault: The last failure of a stage, in a sentence.
        lost: The kind of that failure.
    """

    query: Query
    trace: Trace
    lookup: Lookup = field(default_factory=Lookup)
    retrieved: RetrievedPassages | None = None
    plan: Plan = PAGES_ONLY
    answer: Answer | None = None
    gate: GateFiring | None = None
    fault: str = ""
    lost: Lost | None = None

    def note(self, event: str) -> None:
        """Add an event to the trace, once: a stage that failed for the batch runs again."""
        if event not in self.trace.events:
            self.trace.events.append(event)


def choose_plan(settings: KnowledgeGraphSettings, route: Route, lookup: Lookup) -> Plan:
    """The plan of a question by the preset's policy, without turns for which the graph has nothing or which are off.

    Graph-only domains exclude the web if the graph was asked, or was not asked because no table is likely to hold the
    answer (`crag.graph.UNASKED`). With a dead server, or where the writer found no call, the web answers.
    """
    policy = POLICIES[settings.source_policy]
    dynamism = route.label("static_or_dynamic") or ""
    # An unrouted question has no dynamism, and so the usual plan.
    plan = policy.by_dynamism.get(dynamism, policy.usual)

    graph_was_asked = bool(lookup.statuses) and not lookup.down
    domain = route.label("domain") or lookup.domain
    if graph_was_asked and domain in settings.graph_only_domains:
        plan = GRAPH_AND_ITS_ARTICLES if lookup.articles else GRAPH_ONLY

    # A fact may also be that nothing was found; the preset says whether a model answers from that.
    has_facts = bool(lookup.facts) if settings.answer_not_found else lookup.found
    are_read = lookup.domain is None or lookup.domain in settings.read_facts_of
    has_material = {
        Stage.GRAPH_VALUE: lookup.direct_answer is not None,
        Stage.ANSWER_FROM_GRAPH: has_facts and are_read,
    }
    # Turns that are not in the table read pages, which may hold something for any question.
    turns = tuple(turn for turn in plan.turns if has_material.get(turn, True))
    return plan._replace(turns=turns)


def render_facts(facts: Sequence[Fact], model: LanguageModel, max_tokens: int) -> str:
    r"""The first facts that fit into `max_tokens`, in `<doc>` marks; marks inside facts are broken.

    The first fact that does not fit is cut, and the later ones are left out.

    Example:
        render_facts([Fact("Rain Man: Barry Levinson", "graph")], model, 500)
        # '<doc source="graph">Rain Man: Barry Levinson</doc>\n'
    """
    blocks: list[str] = []
    remaining = max_tokens
    for fact in facts:
        opening = f'<doc source="{_break_marks(fact.source)}">'
        text = _break_marks(fact.text)
        block = f"{opening}{text}</doc>\n"

        size = model.count_tokens(block)
        if size > remaining:
            # The marks around the text take tokens too.
            frame_size = model.count_tokens(f"{opening}</doc>\n")
            beginning = model.truncate(text, max(0, remaining - frame_size))
            if beginning:
                blocks.append(f"{opening}{beginning}</doc>\n")
            break

        blocks.append(block)
        remaining -= size
    return "".join(blocks)


def _break_marks(text: str) -> str:
    """The text without `<doc` and `</doc`, and without the double quotes that would end the mark's attribute."""
    return _DOC_MARK.sub("&lt;", text).replace('"', "'")
