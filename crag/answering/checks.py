"""Checks that withhold or change an answer.

A check that fires leaves a `GateFiring` with the withheld answer in the trace, so a run shows what each check cost and
saved. To add a check, write a class and put it into `checks_of`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from crag.answering.answerer import Draft, request_of
from crag.answering.confidence import ConfidenceModel
from crag.answering.features import answer_features
from crag.answering.prompts import PROMPTS
from crag.answering.second_look import review_of
from crag.core.contracts import (
    I_DONT_KNOW,
    INVALID_QUESTION,
    Answer,
    Candidate,
    Decision,
    GateFiring,
    Query,
    Route,
    Trace,
    label,
    probability,
)
from crag.engines.llm import Generation, GenerationRequest
from crag.settings import AnsweringSettings, ClassGate, GateSettings, RefineSettings, ScoreGate
from crag.text.reasoning import computed

_DECISIONS = {I_DONT_KNOW: Decision.ABSTAINED, INVALID_QUESTION: Decision.INVALID_QUESTION}


class CaseView(Protocol):
    """The part of `crag.pipeline.case.Case` that checks may use."""

    query: Query
    trace: Trace

    def note(self, event: str) -> None:
        """Add an event to the trace."""


class Check(ABC):
    """Looks at a draft, may add to it what it reads there, and may replace its answer."""

    name: str
    reads_values = False
    """Whether it also checks the graph's values, which no model wrote."""
    asks = False
    """Whether it asks the model."""

    def applies(self, draft: Draft) -> bool:
        """Whether to check this draft. An abstention has nothing to withhold."""
        return not draft.abstains

    def requests(self, case: CaseView, draft: Draft) -> Mapping[str, GenerationRequest]:
        """What to ask the model, by the reply's name in the trace. `draft.replies` has the replies when it is read."""
        raise NotImplementedError(f"the check {self.name!r} asks, but has no requests")

    def read(self, case: CaseView, draft: Draft) -> Draft:
        """The draft with what this check reads from it, for itself and for later checks."""
        return draft

    @abstractmethod
    def __call__(self, case: CaseView, draft: Draft) -> GateFiring | None:
        """Return a firing that replaces the answer, or None to keep it."""


class Formula(Check):
    """Replaces a formula by its value (WeKnow-RAG, "Answer Retrieval and Post-processing")."""

    name = "formula"

    def __call__(self, case: CaseView, draft: Draft) -> GateFiring | None:
        today = case.query.asked_at.date() if case.query.asked_at else None
        found = computed(draft.answer.text, today) if draft.answer.decision is Decision.ANSWERED else None
        return GateFiring(self.name, f"computed: {found.explanation}", found.text) if found else None


@dataclass(frozen=True)
class SelfAssessment(Check):
    """Withholds answers that the model is not sure of (WeKnow-RAG). The level comes with the answer."""

    name = "self-assessment"

    accepted: Sequence[str]

    def __call__(self, case: CaseView, draft: Draft) -> GateFiring | None:
        if draft.level in self.accepted:
            return None
        said = f"calls its confidence {draft.level}" if draft.level else "does not say how sure it is"
        return GateFiring(self.name, f"the model {said}; accepted: {', '.join(self.accepted)}", I_DONT_KNOW)


@dataclass(frozen=True)
class Refine(Check):
    """Asks the model to confirm, withdraw or correct the answer (NEC 2.1 step 7)."""

    name = "refine"
    asks = True

    settings: AnsweringSettings
    refine: RefineSettings

    def applies(self, draft: Draft) -> bool:
        """Also check the model's own "i don't know", if the preset says so."""
        finished = draft.generation is not None and draft.generation.finish_reason in {"stop", "length"}
        return not draft.abstains or (self.refine.abstentions and finished and not draft.withheld)

    def requests(self, case: CaseView, draft: Draft) -> Mapping[str, GenerationRequest]:
        prompt, most = PROMPTS[self.refine.prompt], self.refine.max_new_tokens
        question = case.query, draft.evidence, draft.answer.text
        return {"refine": request_of(self.settings, prompt, *question, max_tokens=most, adapter=None)}

    def read(self, case: CaseView, draft: Draft) -> Draft:
        reply = draft.replies.get("refine") or Generation.failed("the model was not asked")
        review = review_of(draft.answer, reply)
        case.note(f"second look: {review.verdict}: {reply.text.strip()!r}")
        return replace(draft, review=review)

    def __call__(self, case: CaseView, draft: Draft) -> GateFiring | None:
        if draft.review is None or draft.review.answer == draft.answer:
            return None
        return GateFiring(self.name, draft.review.answer.reason, draft.review.answer.text)


@dataclass(frozen=True)
class ExpectedScore(Check):
    """Withholds answers whose P(correct) is not above the preset's threshold."""

    name = "expected score"
    reads_values = True

    threshold: float
    model: ConfidenceModel | None

    def read(self, case: CaseView, draft: Draft) -> Draft:
        text, source = draft.answer.text, draft.answer.source
        features = answer_features(case.trace, draft)
        likely = self.model.probability(features) if self.model else None
        return replace(draft, candidate=Candidate(text, source, features, likely))

    def __call__(self, case: CaseView, draft: Draft) -> GateFiring | None:
        likely = draft.candidate.probability if draft.candidate else None
        if likely is None or likely > self.threshold:
            return None
        return GateFiring(self.name, f"P(correct) is {likely:.2f}, not above {self.threshold:g}", I_DONT_KNOW)


def checks_of(settings: AnsweringSettings, confidence: ConfidenceModel | None) -> list[Check]:
    """The checks of a preset, in order. `ExpectedScore` also records each answer's features in the trace."""
    checks: list[Check] = [Formula()] if settings.compute else []
    if settings.self_assessment:
        checks.append(SelfAssessment(settings.self_assessment.accepted))
    if settings.refine:
        checks.append(Refine(settings, settings.refine))
    return [*checks, ExpectedScore(settings.confidence.threshold if settings.confidence else 0.0, confidence)]


def class_gate(gates: Sequence[GateSettings], route: Route | None, source: str) -> GateFiring | None:
    """The first gate of that `source` (``any`` or ``web``) that closes for the question's route (NEC 2.1 step 1)."""
    for gate in gates:
        if isinstance(gate, ClassGate) and gate.source == source and (reason := _class_reason(gate, route)):
            return GateFiring(gate.name, reason, gate.answer)
    return None


def _class_reason(gate: ClassGate, route: Route | None) -> str | None:
    """Why the gate closes, or None. Without a route it stays open."""
    if gate.above is None:
        likeliest = label(route, gate.field)
        return f"the router's {gate.field} is {likeliest}" if likeliest in gate.classes else None
    share = probability(route, gate.field, gate.classes)
    if share is None or share <= gate.above:
        return None
    return f"P({gate.field} is {' or '.join(gate.classes)}) is {share:.2f}, above {gate.above:g}"


def score_gate(gates: Sequence[GateSettings], value: float | None) -> GateFiring | None:
    """The first gate on the best passage's probability that closes. A missing one closes it."""
    for gate in gates:
        if isinstance(gate, ScoreGate) and (value is None or value <= gate.minimum):
            found = "no passage was scored" if value is None else f"the best passage fits with {value:.2f} at most"
            return GateFiring(gate.name, f"{found}, not above {gate.minimum:g}", I_DONT_KNOW)
    return None


def gated_answer(firing: GateFiring, source: str) -> Answer:
    """The answer that a gate or check gives."""
    decision = _DECISIONS.get(firing.answer, Decision.ANSWERED)
    return Answer(firing.answer, decision, source, firing.reason)
