"""Routing by asking the language model: db3's one word for the domain, or WeKnow-RAG's domain with a certainty.

The wording is ours; what is asked and what is allowed as an answer are those of the papers.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from crag.core.contracts import Classification, Query, Route
from crag.core.deadline import Deadline
from crag.engines.llm import Generation, GenerationRequest, LanguageModel, Message
from crag.router.base import DOMAINS, QuestionRouter
from crag.settings import PromptRouter

OTHER = "other"
"""What the prompts call domain ``open``: open questions often touch the fields of the others (db3 2.3)."""

_DOMAIN_BY_WORD = {domain.removesuffix("s"): domain for domain in DOMAINS} | {OTHER: "open"}
_DOMAIN = re.compile(rf"\b({'|'.join(_DOMAIN_BY_WORD)})s?\b")
_NUMBER = re.compile(
    r"(?<![\d.])(?![1-3][.)]\s)"  # not the marks "1." to "3." of a list of the three parts
    r"(\d{0,3}\.\d+|\d{1,3})(?!\d)"  # 95 or .95, not a year
    r" ?(%|percent)?"
)
_DYNAMISM = re.compile(
    r"(?<!\bnot )(?<!\bnon-)"  # not "not static", "non-static"
    r"\b(?:static|stable|never|slow|fast|real[ -]?time)"
)
_DYNAMISM_BY_WORD = {
    "static": "static",
    "stable": "static",
    "never": "static",
    "slow": "slow-changing",
    "fast": "fast-changing",
}
"""Any other match is ``real-time``, which is written in several ways."""


class RoutingPrompt(NamedTuple):
    """A prompt that asks for the class of a question, and how its reply is read.

    Attributes:
        system: The system turn.
        user: The beginning of the user turn; the question follows.
        end: The end of the user turn.
        read: Turns a reply into a route. It leaves out the fields that it cannot read.
    """

    system: str
    user: str
    end: str
    read: Callable[[str], Route]


def read_domain_word(reply: str) -> Route:
    """The domain whose name comes first in the reply.

    >>> read_domain_word("The field is: SPORTS").label("domain")
    'sports'
    """
    word = _DOMAIN.search(reply.lower())
    if word is None:
        return Route()
    return Route(domain=Classification(_DOMAIN_BY_WORD[word[1]]))


def read_domain_with_certainty(reply: str) -> Route:
    """Domain, certainty and dynamism from a reply like ``movie, 95%, static``, its parts in this order.

    The certainty is the model's statement, not a calibrated probability: the route has it as `certainty`, and no
    `probabilities`. A reply without a readable certainty from 0 to 100 has certainty 0.

    >>> route = read_domain_with_certainty("movie, 95%, static")
    >>> route.domain.label, route.domain.certainty, route.static_or_dynamic.label
    ('movie', 0.95, 'static')
    """
    text = reply.lower()
    domain = _DOMAIN.search(text)
    if domain is None:
        return Route()

    after_domain = text[domain.end() :]
    dynamism = _DYNAMISM.search(after_domain)
    before_dynamism = dynamism.start() if dynamism else len(after_domain)

    certainty = _parse_certainty(after_domain, before_dynamism)
    route = Route(domain=Classification(_DOMAIN_BY_WORD[domain[1]], certainty=certainty))
    if dynamism:
        label = _DYNAMISM_BY_WORD.get(dynamism[0], "real-time")
        route = replace(route, static_or_dynamic=Classification(label))
    return route


def _parse_certainty(text: str, end: int) -> float:
    """The first number of per cent, else the last number before `end`; ``95%``, ``95`` and ``0.95`` are the same.

    0 if there is none, or if it is above 100 %.
    """
    percentages = [float(match[1]) for match in _NUMBER.finditer(text) if match[2]]
    numbers = [float(match[1]) for match in _NUMBER.finditer(text, 0, end)]
    if percentages:
        certainty = percentages[0] / 100
    elif numbers:
        # Without a sign, 0.95 and 95 mean the same.
        number = numbers[-1]
        certainty = number if number <= 1 else number / 100
    else:
        return 0.0

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
        if not queries:
            return []
        requests = [self._build_request(query) for query in queries]
        generations = self._model.generate(requests, deadline)
        return [self._read_route(generation) for generation in generations]

    def _build_request(self, query: Query) -> GenerationRequest:
        prompt = self._prompt
        user_turn = f"{prompt.user}\nQuestion: {query.text}\n{prompt.end}"
        return GenerationRequest(
            messages=(Message("system", prompt.system), Message("user", user_turn)),
            adapter=self._settings.adapter,
            max_tokens=self._settings.max_new_tokens,
            stop=("\n",),
        )

    def _read_route(self, generation: Generation) -> Route:
        """A domain that the model is not certain enough of counts as open (WeKnow-RAG: it must exceed 0.9)."""
        route = self._prompt.read(generation.text)
        domain = route.domain
        minimum_certainty = self._settings.minimum_certainty
        if domain is None or domain.certainty is None or minimum_certainty <= 0:
            return route

        if domain.certainty <= minimum_certainty:
            return replace(route, domain=replace(domain, label="open"))
        return route
