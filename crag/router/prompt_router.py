"""Routing by asking the language model: db3's one word for the domain, or WeKnow-RAG's domain with a certainty.

The wording is ours; what is asked and what is allowed as an answer are those of the papers.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from crag.core.contracts import Query, Route
from crag.core.deadline import Deadline
from crag.engines.llm import Generation, GenerationRequest, LanguageModel, Message
from crag.router.base import DOMAINS, QuestionRouter
from crag.settings import PromptRouter

OTHER = "other"
"""What the prompts call domain ``open``: open questions often touch the fields of the others (db3 2.3)."""

_NAMES = {name.removesuffix("s"): name for name in DOMAINS} | {OTHER: "open"}
_DOMAIN = re.compile(rf"\b({'|'.join(_NAMES)})s?\b")
_NUMBER = re.compile(r"(?<![\d.])(?![1-3][.)]\s)(\d{0,3}\.\d+|\d{1,3})(?!\d) ?(%|percent)?")
"""A certainty; the marks "1." to "3." of a list of the three parts are none."""
_PACES = {
    "static": "static",
    "stable": "static",
    "never": "static",
    "slow": "slow-changing",
    "fast": "fast-changing",
    "real": "real-time",
}
_DYNAMISM = re.compile(r"(?<!\bnot )(?<!\bnon-)\b(?:static|stable|never|slow|fast|real[ -]?time)")


class RoutingPrompt(NamedTuple):
    """A system turn, the beginning and the end of the user turn around the question, and the reader of the replies.

    `read` gives the fields of a route; it leaves out what the reply does not say in a way that can be understood.
    """

    system: str
    user: str
    end: str
    read: Callable[[str], Route]


def read_domain_word(reply: str) -> Route:
    """The domain whose name comes first in the reply."""
    name = _DOMAIN.search(reply.lower())
    return {"domain": {"label": _NAMES[name[1]]}} if name else {}


def read_domain_with_certainty(reply: str) -> Route:
    """Domain, certainty and dynamism from a reply like ``movie, 95%, static``, its parts in this order.

    The certainty is what the model says, not a calibrated probability: it stands beside the label as `certainty`, and
    no `probabilities` are claimed. A reply without a readable certainty from 0 to 100 has certainty 0.
    """
    text = reply.lower()
    domain = _DOMAIN.search(text)
    if domain is None:
        return {}
    after = text[domain.end() :]
    pace = _DYNAMISM.search(after)
    certainty = _certainty(after, pace.start() if pace else len(after))
    route: Route = {"domain": {"label": _NAMES[domain[1]], "certainty": certainty}}
    if pace:
        route["static_or_dynamic"] = {"label": next(name for word, name in _PACES.items() if pace[0].startswith(word))}
    return route


def _certainty(text: str, pace: int) -> float:
    """The first number of per cent, else the last number before the pace; ``95%``, ``95`` and ``0.95`` are the same."""
    percentages = [float(match[1]) / 100 for match in _NUMBER.finditer(text) if match[2]]
    numbers = [float(match[1]) for match in _NUMBER.finditer(text, 0, pace)]
    if not percentages and not numbers:
        return 0.0
    certainty = percentages[0] if percentages else numbers[-1] if numbers[-1] <= 1 else numbers[-1] / 100
    return certainty if certainty <= 1 else 0.0


ROUTING_PROMPTS: Mapping[str, RoutingPrompt] = {
    "domain_word": RoutingPrompt(
        system="You sort questions into the fields movie, sports, finance and music. You never answer them.",
        user=(
            "Which field is the question about? Reply with exactly one word: movie, sports, finance or music. "
            "Reply other if it is none of these."
        ),
        end="Field:",
        read=read_domain_word,
    ),
    "domain_with_certainty": RoutingPrompt(
        system="You sort questions. You never answer them.",
        user=(
            "Say about the question, in one line with commas between the parts:\n"
            "1. its field: movie, sports, finance, music, or other;\n"
            "2. how certain you are of the field, from 0% to 100%;\n"
            "3. how fast its answer changes: static (never), slow-changing (over years), fast-changing (within weeks) "
            "or real-time (within a day).\n"
            "Example of a reply: music, 95%, static"
        ),
        end="Reply:",
        read=read_domain_with_certainty,
    ),
}
"""`domain_word`: db3 2.3, "Domain Prompt". `domain_with_certainty`: WeKnow-RAG, "Domain classification"."""


class PromptQuestionRouter(QuestionRouter):
    """Asks the language model about all questions of the batch in one call; its owner loads and closes the model."""

    def __init__(self, settings: PromptRouter, model: LanguageModel) -> None:
        self._settings = settings
        self._model = model
        self._prompt = ROUTING_PROMPTS[settings.prompt]

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        """One route per query. A failed or unreadable reply gives an empty one."""
        system, user, end, _ = self._prompt
        requests = [
            GenerationRequest(
                messages=(Message("system", system), Message("user", f"{user}\nQuestion: {query.text}\n{end}")),
                adapter=self._settings.adapter,
                max_tokens=self._settings.max_new_tokens,
                stop=("\n",),
            )
            for query in queries
        ]
        generations = self._model.generate(requests, deadline) if requests else []
        return [self._read(generation) for generation in generations]

    def _read(self, generation: Generation) -> Route:
        """A domain that the model is not certain enough of counts as open (WeKnow-RAG: it must exceed 0.9)."""
        route = self._prompt.read(generation.text)
        domain, least = route.get("domain"), self._settings.minimum_certainty
        if domain and least > 0 and domain.get("certainty", 1.0) <= least:
            domain["label"] = "open"
        return route
