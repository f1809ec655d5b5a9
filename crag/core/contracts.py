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

    `query_time` is the evaluator's text, like ``03/05/2024, 23:18:31 PT``. `asked_at` is the same moment as Pacific
    wall-clock time without a zone, or None if the text is unreadable. `fault` is set if the row is malformed: such a
    question is not shown to a model and costs one answer. `notes` say which fields were cut, for the trace.
    """

    interaction_id: str
    text: str
    query_time: str
    asked_at: datetime | None
    pages: tuple[Page, ...]
    fault: str | None = None
    notes: tuple[str, ...] = ()


GRAPH = "knowledge graph"
"""The source of answers from the knowledge graph, in traces."""

ARTICLE_SCHEME = "knowledge-graph:"
"""The beginning of the address of a page that is an article of the knowledge graph."""

WEB = "web"
"""The source of answers from pages, in traces."""


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
"""The field that labels of this project add to those of CRAG: what can hold the answer."""

TABLES = "tables"
"""The class of `ANSWERABLE_FROM` for what the tables of the graph can hold."""


@dataclass(frozen=True, slots=True)
class Classification:
    """The class of a question in one field of its route.

    Attributes:
        label: The most probable class.
        probabilities: The probability of each class; they sum to 1. None if the router only names a class.
        certainty: How certain a language model says that it is, from 0 to 1. No calibrated probability; None if the
            model was not asked.
    """

    label: str
    probabilities: Mapping[str, float] | None = None
    certainty: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data, without what is not known."""
        data: dict[str, Any] = {"label": self.label}
        if self.probabilities is not None:
            data["probabilities"] = dict(self.probabilities)
        if self.certainty is not None:
            data["certainty"] = self.certainty
        return data


@dataclass(frozen=True, slots=True)
class Route:
    """What a router predicts about a question (CRAG section 2). A field that it does not predict is None.

    Example:
        route = Route(domain=Classification("movie", {"movie": 0.75, "music": 0.25}))
        route.label("domain")                     # "movie"
        route.probability("domain", ["music"])    # 0.25
        route.label("question_type")              # None
        Route().to_dict()                         # {}, an unrouted question
    """

    domain: Classification | None = None
    question_type: Classification | None = None
    static_or_dynamic: Classification | None = None
    answerable_from: Classification | None = None

    @property
    def classifications(self) -> dict[str, Classification]:
        """The fields that are predicted, by name."""
        fields = {
            "domain": self.domain,
            "question_type": self.question_type,
            "static_or_dynamic": self.static_or_dynamic,
            ANSWERABLE_FROM: self.answerable_from,
        }
        return {name: classification for name, classification in fields.items() if classification is not None}

    def label(self, field_name: str) -> str | None:
        """The class of the question in a field; None if that is not predicted."""
        classification = self.classifications.get(field_name)
        return None if classification is None else classification.label

    def probability(self, field_name: str, classes: Sequence[str]) -> float | None:
        """The probability that the question is of one of the classes; None without probabilities."""
        classification = self.classifications.get(field_name)
        if classification is None or not classification.probabilities:
            return None

        # Rounded probabilities may sum to more than 1.
        total = sum(classification.probabilities.get(name, 0.0) for name in classes)
        return min(1.0, total)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data, without the fields that are not predicted."""
        return {name: classification.to_dict() for name, classification in self.classifications.items()}


class PassageKind(enum.StrEnum):
    """Where a passage comes from: the page itself or the search engine's snippet."""

    PAGE = "page"
    SNIPPET = "snippet"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that may hold the answer.

    Attributes:
        text: The text that the answering model reads.
        url: The address of the page.
        page_name: The title of the page.
        page_rank: The position of the page in the search results, from 0.
        kind: Whether the text is from the page or from the snippet.
        start: Character offset of the text in the page's extracted text, or in the snippet.
        end: Offset of the character after it.
        scores: One number per ranking step (``bm25``, ``dense``, ``fusion``, ``cross_encoder``), in their order; higher
            is better.
        heading: Precedes the text in these steps; the answering model does not read it.
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
        scores = list(self.scores.values())
        return scores[-1] if scores else None


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


class GateScope(enum.StrEnum):
    """What a gate or check withholds when it fires."""

    QUESTION = "question"
    """All answers: no source is asked. A gate on the question's class."""
    PAGES = "pages"
    """Answers from pages; the graph was asked before. A gate on the class or on the best passage."""
    ANSWER = "answer"
    """The answer that a check looked at."""


@dataclass(frozen=True, slots=True)
class GateFiring:
    """A gate or check that acted: its name, the reason, the answer given instead, and what it withholds.

    `withheld` is the withheld answer, if one was generated.
    """

    name: str
    reason: str
    answer: str
    withheld: str | None = None
    scope: GateScope = GateScope.ANSWER


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
    An unrouted question has an empty `route`.
    """

    interaction_id: str
    query: str
    query_time: str
    route: Route = field(default_factory=Route)
    calls: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    pages_read: int = 0
    passages: list[Passage] = field(default_factory=list)
    passages_left_out: list[Passage] = field(default_factory=list)
    """Passages that would have fit into the context, but are far below the best one."""
    context: str = ""
    prompts: dict[str, Any] = field(default_factory=dict)
    generations: dict[str, Any] = field(default_factory=dict)
    graph_state: str | None = None
    """``found``, ``not_found`` (also where no table is likely to hold the answer), ``empty_calendar``, ``no_call``,
    ``down``; None: there is no graph."""
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

    @property
    def found_passages(self) -> list[Passage]:
        """The passages of the context and those left out of it: what the pages say, whatever the model reads."""
        return [*self.passages, *self.passages_left_out]

    def to_dict(self) -> dict[str, Any]:
        """The trace as JSON-ready data; the route of an unrouted question is None."""
        data = asdict(self)
        data["route"] = self.route.to_dict() or None
        return data
