"""The values that the packages of the agent exchange. They are plain data."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

I_DONT_KNOW = "i don't know"
"""The abstention of the official metric: lower case, ASCII apostrophe. With a curly one the answer counts as wrong."""

INVALID_QUESTION = "invalid question"
"""The gold answer of every false-premise question of CRAG v3."""


@dataclass(frozen=True, slots=True)
class Page:
    """One search result. Any text may be empty; `rank` is its position in the result list, from 0."""

    name: str
    url: str
    snippet: str
    html: str
    rank: int


@dataclass(frozen=True, slots=True)
class Query:
    """One question as the evaluator asks it.

    `query_time` is in the evaluator's form, ``03/05/2024, 23:18:31 PT``. `asked_at` is the same moment as Pacific
    wall-clock time without a zone, or None if the text, which then stays as it was, is unreadable. `fault` is set if
    the row is malformed: such a question is not shown to a model and costs one answer. `notes` say which fields were
    cut or not understood, for the trace.
    """

    interaction_id: str
    text: str
    query_time: str
    asked_at: datetime | None
    pages: tuple[Page, ...]
    fault: str | None = None
    notes: tuple[str, ...] = ()


GRAPH, WEB = "knowledge graph", "web"
"""The sources of answers."""


class Stage(enum.StrEnum):
    """The stages of a batch, for the clock, traces and report.

    `GRAPH_VALUE`, `ANSWER_FROM_GRAPH` and `GENERATE` are turns: each may answer.
    """

    ROUTE = "route"
    CLASS_GATES = "class_gates"
    WEB = "web"
    """All stages from `SELECT_PAGES` to `RERANK`; may run in parallel with the knowledge graph."""
    KNOWLEDGE_GRAPH = "knowledge_graph"
    PLAN = "plan"
    GRAPH_VALUE = "graph_value"
    ANSWER_FROM_GRAPH = "answer_from_graph"
    REVIEW_GRAPH = "review_graph"
    PUBLIC_DATA = "public_data"
    SELECT_PAGES = "select_pages"
    EXTRACT = "extract"
    RETRIEVE = "retrieve"
    RERANK = "rerank"
    GENERATE = "generate"
    REVIEW = "review"


ANSWERABLE_FROM = "answerable_from"
"""A field that our labels add to CRAG's: what of the graph can hold the answer."""
TABLES = "tables"
"""Its class for what the tables of the graph can hold."""


@dataclass(frozen=True, slots=True)
class Classification:
    """What a router says about one field of a question.

    Attributes:
        label: The likeliest class.
        probabilities: Class -> probability, which sum to 1; None if the router only names a class.
        certainty: From 0 to 1, what a language model says of its own choice: no probability.
    """

    label: str
    probabilities: Mapping[str, float] | None = None
    certainty: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, without what is None."""
        entry: dict[str, Any] = {"label": self.label}
        if self.probabilities is not None:
            entry["probabilities"] = dict(self.probabilities)
        if self.certainty is not None:
            entry["certainty"] = self.certainty
        return entry


@dataclass(frozen=True, slots=True)
class Route:
    """The classes of a question (CRAG, section 2); a field is None if the router says nothing about it.

    Example:
        route = Route(domain=Classification("movie", {"movie": 0.8, "music": 0.2}))
        route_label(route, "domain")  # "movie"
        route_probability(route, "domain", ["music", "sports"])  # 0.2
    """

    domain: Classification | None = None
    question_type: Classification | None = None
    static_or_dynamic: Classification | None = None
    answerable_from: Classification | None = None

    def classifications(self) -> dict[str, Classification]:
        """Field -> its classification, for the fields that have one."""
        by_field = {
            "domain": self.domain,
            "question_type": self.question_type,
            "static_or_dynamic": self.static_or_dynamic,
            ANSWERABLE_FROM: self.answerable_from,
        }
        return {field: classification for field, classification in by_field.items() if classification is not None}

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, as in traces and in the rows of `crag inspect route`; empty for an unrouted question."""
        return {field: classification.to_dict() for field, classification in self.classifications().items()}


UNROUTED = Route()
"""Of a question about which a router says nothing."""


def route_label(route: Route | None, field_name: str) -> str | None:
    """The class of a question under ``domain`` and the like; None if the route has none."""
    classification = _find_classification(route, field_name)
    return classification.label if classification else None


def route_probability(route: Route | None, field_name: str, classes: Sequence[str]) -> float | None:
    """The probability that the question is of one of the classes; None without probabilities."""
    classification = _find_classification(route, field_name)
    if classification is None or not classification.probabilities:
        return None
    return min(1.0, sum(classification.probabilities.get(name, 0.0) for name in classes))


def _find_classification(route: Route | None, field_name: str) -> Classification | None:
    return route.classifications().get(field_name) if route else None


class PassageKind(enum.StrEnum):
    """Where a passage comes from: the page itself or the search engine's snippet."""

    PAGE = "page"
    SNIPPET = "snippet"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that may hold the answer.

    `start` and `end` are character offsets into the page's extracted text (or the snippet). `scores` has one number per
    ranking step (``bm25``, ``dense``, ``fusion``, ``cross_encoder``); higher is better. `heading` precedes the text in
    these steps and is not shown to the answering model.
    """

    text: str
    url: str
    page_name: str
    page_rank: int
    kind: PassageKind
    start: int
    end: int
    scores: Mapping[str, float] = field(default_factory=dict)
    heading: str = ""

    @property
    def score(self) -> float | None:
        """The score of the last ranking step, or None."""
        return next(reversed(list(self.scores.values())), None)


@dataclass(frozen=True, slots=True)
class Fact:
    """One sentence from a structured source (knowledge graph or public data), with the source's name."""

    text: str
    source: str


class Decision(enum.StrEnum):
    """The decision on a question."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    INVALID_QUESTION = "invalid_question"


class Lost(enum.StrEnum):
    """What an answer was lost to: the clock, a fault of a part, or a knowledge graph that did not reply."""

    CLOCK = "clock"
    FAULT = "fault"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Answer:
    """The final text for one question, its decision, its source and the reason."""

    text: str
    decision: Decision
    source: str
    reason: str


def abstain(reason: str, source: str = "none") -> Answer:
    """An abstention; it scores 0."""
    return Answer(I_DONT_KNOW, Decision.ABSTAINED, source, reason)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible answer with its features and P(correct).

    `features` are those of `crag.answering.features`, by name. `probability` is P(correct) of the preset's calibrated
    model, or None.
    """

    text: str
    source: str
    features: Mapping[str, float]
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class GateFiring:
    """A gate that closed: its name, the reason, the answer given, and the one withheld, if one was generated."""

    name: str
    reason: str
    answer: str
    withheld: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer rests on: a sentence with its page's title and address, or a fact with its call as `source`."""

    sentence: str
    source: str
    url: str = ""


@dataclass(slots=True)
class Trace:
    """All that happened to one question, in the order of the pipeline.

    `seconds` maps stages to wall-clock seconds of the whole batch. `events` are sentences about faults and limits.
    """

    interaction_id: str
    query: str
    query_time: str
    route: Route | None = None
    calls: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    pages_read: int = 0
    passages: list[Passage] = field(default_factory=list)
    context: str = ""
    prompts: dict[str, Any] = field(default_factory=dict)
    generations: dict[str, Any] = field(default_factory=dict)
    graph_state: str | None = None
    """``found``, ``not_found``, ``empty_calendar``, ``no_call``, ``down``; None: no calls were run."""
    example_similarity: float | None = None
    """How similar the question is to the most similar example in the prompt that asks for calls, at most 1."""
    candidates: list[Candidate] = field(default_factory=list)
    gates: list[GateFiring] = field(default_factory=list)
    answer: Answer | None = None
    evidence: Evidence | None = None
    """None: no answer, or no sentence that holds it was found."""
    lost: Lost | None = None
    """What may have kept an abstention from being an answer; None for answers and for considered abstentions."""
    events: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    batch_size: int = 0
    out_of_time: dict[str, int] = field(default_factory=dict)
    """Generations of the whole batch that ran out of time: ``not_begun`` before their first token, ``cut_short`` later.
    """
    tokens: dict[str, int] = field(default_factory=dict)
    """Tokens that the language model read (``prompt``) and wrote (``completion``), of the whole batch."""

    def to_dict(self) -> dict[str, Any]:
        """The trace as JSON-ready data."""
        data = asdict(self)
        data["route"] = self.route.to_dict() if self.route else None
        return data
