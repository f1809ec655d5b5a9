"""The values that flow between the rooms of the agent. They are plain data: no room's code is needed to read them."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

I_DONT_KNOW = "i don't know"
"""The abstention that the official metric recognises: lower case, ASCII apostrophe (a curly one is judged as wrong)."""

INVALID_QUESTION = "invalid question"
"""The gold answer of every false-premise question of CRAG v3."""


@dataclass(frozen=True, slots=True)
class Page:
    """One search result. Any text may be empty; `rank` is its place in the result list, from 0."""

    name: str
    url: str
    snippet: str
    html: str
    last_modified: str
    rank: int


@dataclass(frozen=True, slots=True)
class Query:
    """One question as the evaluator asks it.

    `query_time` is the evaluator's own text, like ``03/05/2024, 23:18:31 PT``; `asked_at` is the same moment as Pacific
    wall-clock time without a zone, or None where the text could not be read. `fault` is set where the row was
    malformed: such a question is never shown to a model and costs one answer, not the batch. `notes` say what of the
    row was cut off, for the trace.
    """

    interaction_id: str
    text: str
    query_time: str
    asked_at: datetime | None
    pages: tuple[Page, ...]
    fault: str | None = None
    notes: tuple[str, ...] = ()


GRAPH, WEB = "knowledge graph", "web"
"""Where an answer can come from."""


class Stage(enum.StrEnum):
    """The stages of a batch: names for the clock, the traces and the report.

    `VALUE`, `FACTS`, `PAGES`, `LATE_VALUE` and `LATE_FACTS` are turns: each may answer questions.
    """

    ROUTE = "route"
    CLASS_GATES = "class_gates"
    WEB = "web"
    """Everything from `SELECT_PAGES` to `RERANK`, beside the knowledge graph."""
    GRAPH = "knowledge_graph"
    PLAN = "plan"
    VALUE = "graph_value"
    FACTS = "answer_from_graph"
    REVIEW_FACTS = "review_graph"
    PUBLIC_DATA = "public_data"
    SELECT_PAGES = "select_pages"
    EXTRACT = "extract"
    RETRIEVE = "retrieve"
    RERANK = "rerank"
    PAGES = "generate"
    REVIEW = "review"
    LATE_VALUE = "late_graph_value"
    LATE_FACTS = "graph_after_web"
    FALSE_PREMISE = "false_premise"


Route = dict[str, Any]
"""``{domain, question_type, static_or_dynamic}``, each ``{label, probabilities}``; empty for an unknown question.

``probabilities`` maps classes to numbers that sum to 1; it is absent where a router only names a class. JSON-ready.
"""


def label(route: Route | None, field_name: str) -> str | None:
    """The class that a route gives a question under ``domain`` and the like; None where it says nothing."""
    entry = (route or {}).get(field_name)
    if isinstance(entry, Mapping):
        entry = entry.get("label")
    return entry if isinstance(entry, str) else None


def probability(route: Route | None, field_name: str, classes: Sequence[str]) -> float | None:
    """The probability that the question is of one of the classes; None where the route has no probabilities."""
    entry = (route or {}).get(field_name)
    shares = entry.get("probabilities") if isinstance(entry, Mapping) else None
    if not isinstance(shares, Mapping) or not shares:
        return None
    return min(1.0, sum(float(shares.get(name, 0.0)) for name in classes))


class PassageKind(enum.StrEnum):
    """Where a passage's text stood: in the page itself or in the search engine's snippet."""

    PAGE = "page"
    SNIPPET = "snippet"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that may hold the answer.

    `start` and `end` are character offsets into the extracted text of the page (or into the snippet). `scores` holds
    one number per ranking step that saw the passage (``bm25``, ``dense``, ``fusion``, ``cross_encoder``); higher is
    better. `heading` stood in front of the text in each of these steps, and is not shown to the answering model.
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
        """The number of the last ranking step that saw the passage, or None before any did."""
        return next(reversed(list(self.scores.values())), None)


@dataclass(frozen=True, slots=True)
class Fact:
    """One sentence from a structured source (knowledge graph or public data), with the name of that source."""

    text: str
    source: str


class Decision(enum.StrEnum):
    """What became of a question."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    INVALID_QUESTION = "invalid_question"


@dataclass(frozen=True, slots=True)
class Answer:
    """The final text for one question, what kind of decision it is, which source it came from, and why."""

    text: str
    decision: Decision
    source: str
    reason: str


def abstain(reason: str, source: str = "none") -> Answer:
    """The answer that costs nothing."""
    return Answer(I_DONT_KNOW, Decision.ABSTAINED, source, reason)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer that could be given: what is known about it, and how likely it is to be right.

    `features` are the numbers that `agents.answering.features` computes (by name), `probability` is P(correct) of the
    preset's calibrated model, None where the preset has none.
    """

    text: str
    source: str
    features: Mapping[str, float]
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class GateFiring:
    """A gate that closed: its name, why, what is answered instead, and the answer that it withheld.

    `withheld` is None where the gate closed before any answer was asked for, and nobody audits it.
    """

    name: str
    reason: str
    answer: str
    withheld: str | None = None


@dataclass(slots=True)
class Trace:
    """All that happened to one question, in the order of the pipeline, for a person who asks why it was answered so.

    `seconds` maps stage names to wall-clock seconds of the whole batch's stage; `events` are degradations, faults and
    gates in plain sentences.
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
    """How the calls ended: ``found``, ``not_found``, ``empty_calendar``, ``no_call``, ``down``; None: not run."""
    candidates: list[Candidate] = field(default_factory=list)
    gates: list[GateFiring] = field(default_factory=list)
    answer: Answer | None = None
    events: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    batch_size: int = 0
    out_of_time: dict[str, int] = field(default_factory=dict)
    """Generations of the whole batch that the clock ended: ``not_begun`` before their first token, ``cut_short`` later.
    """

    def note_generation(self, key: str, prompt: Any, generation: Any) -> None:  # noqa: ANN401 - any engine's values
        """Keep what a model read and wrote in the step `key`."""
        self.prompts[key] = prompt
        self.generations[key] = generation

    def to_dict(self) -> dict[str, Any]:
        """The trace as JSON-ready data."""
        return asdict(self)
