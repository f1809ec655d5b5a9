"""What the sources found becomes the text that the model reads, and which source is asked first."""

import enum
import re
from collections.abc import Sequence

from agents.contracts import Fact, Route, label
from agents.kg import Lookup
from agents.llm import LanguageModel
from agents.settings import KnowledgeGraphSettings

_MARK = re.compile(r"<(?=/?\s*doc\b)", re.IGNORECASE)


class SourceOrder(enum.StrEnum):
    """Which source answers a question."""

    GRAPH_FIRST = "graph_first"
    """The graph; where it does not know, the web."""
    TOGETHER = "together"
    """One answer from both; where that abstains, the graph's value if it is an answer."""
    GRAPH_LEADS = "graph_leads"
    """One answer from both and nothing else; the graph's facts stand first."""
    WEB_LEADS = "web_leads"
    """The same; the pages stand first."""
    WEB_FIRST = "web_first"
    """The web; where it does not know, the graph."""

    @property
    def joint(self) -> bool:
        """Whether one answer is made from both sources."""
        return self in {SourceOrder.TOGETHER, SourceOrder.GRAPH_LEADS, SourceOrder.WEB_LEADS}


_BY_DYNAMISM = {
    "static": SourceOrder.GRAPH_FIRST,
    "slow-changing": SourceOrder.GRAPH_FIRST,
    "fast-changing": SourceOrder.TOGETHER,
    "real-time": SourceOrder.WEB_FIRST,
}
_LEADING = {"fast-changing": SourceOrder.WEB_LEADS, "real-time": SourceOrder.WEB_LEADS}


def source_order(settings: KnowledgeGraphSettings, route: Route | None, lookup: Lookup) -> SourceOrder:
    """The order of a question by the preset's policy; an unknown dynamism counts as static."""
    if graph_only(settings, route, lookup):
        return SourceOrder.GRAPH_FIRST
    dynamism = label(route, "static_or_dynamic") or ""
    if settings.source_policy == "by_dynamism":
        return _BY_DYNAMISM.get(dynamism, SourceOrder.GRAPH_FIRST)
    if settings.source_policy == "synthesis":
        return _LEADING.get(dynamism, SourceOrder.GRAPH_LEADS)
    return SourceOrder(settings.source_policy)


def graph_only(settings: KnowledgeGraphSettings, route: Route | None, lookup: Lookup) -> bool:
    """Whether the preset forbids the web for the question's domain, as the router or else the call writer sees it.

    Only where the graph was really asked: a dead server, and a question that no call can be written for, go to the web.
    """
    asked = bool(lookup.statuses) and not lookup.down
    return asked and (label(route, "domain") or lookup.domain) in settings.graph_only_domains


def joined(facts: str, pages: str, order: SourceOrder) -> str:
    """Both as one context, what leads first; each of them may be empty."""
    return f"{pages}\n{facts}".strip("\n") if order is SourceOrder.WEB_LEADS else facts + pages


def facts_text(facts: Sequence[Fact], model: LanguageModel, max_tokens: int) -> str:
    """The facts in `<doc>` marks, the first ones until the limit is reached; marks inside of facts are broken."""
    blocks: list[str] = []
    left = max_tokens
    for fact in facts:
        opening = f'<doc source="{_plain(fact.source)}">'
        block = f"{opening}{_plain(fact.text)}</doc>\n"
        size = model.count_tokens(block)
        if size > left:
            text = model.truncate(_plain(fact.text), max(0, left - model.count_tokens(f"{opening}</doc>\n")))
            if text:
                blocks.append(f"{opening}{text}</doc>\n")
            break
        blocks.append(block)
        left -= size
    return "".join(blocks)


def _plain(text: str) -> str:
    return _MARK.sub("&lt;", text).replace('"', "'") if "<" in text else text.replace('"', "'")
