"""Checks that withhold or change an answer.

A check that fires leaves a `GateFiring` with the withheld answer in the trace, so a run shows what each check cost and
saved. To add a check, write a class and put it into `build_checks`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, Protocol

from typing_extensions import TypeVar

from crag.answering.answerer import Draft, build_request
from crag.answering.confidence import ConfidenceModel
from crag.answering.features import answer_features
from crag.answering.prompts import PROMPTS, PromptInputs
from crag.answering.second_look import read_review
from crag.core.contracts import (
    I_DONT_KNOW,
    INVALID_QUESTION,
    Answer,
    Candidate,
    Decision,
    GateFiring,
    GateScope,
    Query,
    Route,
    Trace,
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


Case_contra = TypeVar("Case_contra", bound=CaseView, default=CaseView, contravariant=True)
"""What a check reads of a case: a check in `crag.pipeline` may read more of it than a `CaseView` has."""


class Check(ABC, Generic[Case_contra]):
    """Looks at a draft, may add to it what it reads there, and may replace its answer."""

    name: str
    reads_values = False
    """Whether it also checks the graph's values, which no model wrote."""
    asks = False
    """Whether it asks the model."""

    def applies(self, draft: Draft) -> bool:
        """Whether to check this draft. An abstention has nothing to withhold."""
        return not draft.abstains

    def requests(self, case: Case_contra, draft: Draft) -> Mapping[str, GenerationRequest]:
        """What to ask the model, by the reply's name in the trace. `draft.replies` has the replies when it is read."""
        raise NotImplementedError(f"the check {self.name!r} asks, but has no requests")

    def read(self, case: Case_contra, draft: Draft) -> Draft:
        """The draft with what this check reads from it, for itself and for later checks."""
        return draft

    @abstractmethod
    def __call__(self, case: Case_contra, draft: Draft) -> GateFiring | None:
        """Return a firing that replaces the answer, or None to keep it."""


class Formula(Check):
    """Replaces a formula by its value (WeKnow-RAG, "Answer Retrieval and Post-processing")."""

    name = "formula"

    def __call__(self, case: CaseView, draft: Draft) -> GateFiring | None:
        if draft.answer.decision is not Decision.ANSWERED:
            return None
        today = case.query.asked_at.date() if case.query.asked_at else None
        result = computed(draft.answer.text, today)
        if result is None:
            return None
        return GateFiring(self.name, f"computed: {result.explanation}", result.text)


@dataclass(frozen=True)
class SelfAssessment(Check):
    """Withholds answers that the model is not sure of (WeKnow-RAG). The level comes with the answer."""

    name = "self-assessment"

    accepted: Sequence[str]

    def __call__(self, case: CaseView, draft: Draft) -> GateFiring | None:
        if draft.level in self.accepted:
            return None
        assessment = f"calls its confidence {draft.level}" if draft.level else "does not say how sure it is"
        reason = f"the model {assessment}; accepted: {', '.join(self.accepted)}"
        return GateFiring(self.name, reason, I_DONT_KNOW)


@dataclass(frozen=True)
class Refine(Check):
    """Asks the model to confirm, withdraw or correct the answer (NEC 2.1 step 7)."""

    name = "refine"
    asks = True

    settings: AnsweringSettings
    refine: RefineSettings

    def applies(self, draft: Draft) -> bool:
        """Also check the model's own "i don't know", if the preset says so."""
        if not draft.abstains:
            return True
        # A reply that failed or was cut off says nothing about what the model knows.
        is_finished = draft.generation is not None and draft.generation.finish_reason in {"stop", "length"}
        return self.refine.abstentions and is_finished and not draft.withheld

    def requests(self, case: CaseView, draft: Draft) -> Mapping[str, GenerationRequest]:
        request = build_request(
            self.settings,
            PROMPTS[self.refine.prompt],
            PromptInputs(case.query, draft.context, answer=draft.answer.text),
            max_tokens=self.refine.max_new_tokens,
            adapter=None,
        )
        return {"refine": request}

    def read(self, case: CaseView, draft: Draft) -> Draft:
        reply = draft.replies.get("refine") or Generation.failed("the model was not asked")
        review = read_review(draft.answer, reply)
        case.note(f"second look: {review.verdict}: {reply.text.strip()!r}")
        return replace(draft, review=review)

    def __call__(self, case: CaseView, draft: Draft) -> GateFiring | None:
        if draft.review is None:
            return None
        reviewed = draft.review.answer
        if reviewed == draft.answer:
            return None
        return GateFiring(self.name, reviewed.reason, reviewed.text)


@dataclass(frozen=True)
class ExpectedScore(Check):
    """Withholds answers whose P(correct) is not above the preset's threshold."""

    name = "expected score"
    reads_values = True

    threshold: float
    model: ConfidenceModel | None

    def read(self, case: CaseView, draft: Draft) -> Draft:
        features = answer_features(case.trace, draft)
        p_correct = self.model.probability(features) if self.model else None
        candidate = Candidate(draft.answer.text, draft.answer.source, features, p_correct)
        return replace(draft, candidate=candidate)

    def __call__(self, case: CaseView, draft: Draft) -> GateFiring | None:
        p_correct = draft.candidate.probability if draft.candidate else None
        # An answer of a kind that the model of P(correct) does not cover is kept.
        if p_correct is None or p_correct > self.threshold:
            return None
        return GateFiring(self.name, f"P(correct) is {p_correct:.2f}, not above {self.threshold:g}", I_DONT_KNOW)


def build_checks(settings: AnsweringSettings, confidence: ConfidenceModel | None) -> list[Check]:
    """The checks of a preset, in order. `ExpectedScore` also records each answer's features in the trace."""
    checks: list[Check] = []
    if settings.compute:
        # First, so that later checks see the value and not the formula.
        checks.append(Formula())
    if settings.self_assessment:
        checks.append(SelfAssessment(settings.self_assessment.accepted))
    if settings.refine:
        checks.append(Refine(settings, settings.refine))

    # The last check: its features include what the checks before it have read.
    checks.append(ExpectedScore(settings.threshold, confidence))
    return checks


def find_closed_class_gate(
    gates: Sequence[GateSettings], route: Route, source: Literal["any", "web"]
) -> GateFiring | None:
    """The first gate of that `source` that closes for the question's route (NEC 2.1 step 1)."""
    scope = GateScope.PAGES if source == "web" else GateScope.QUESTION
    for gate in gates:
        if not isinstance(gate, ClassGate) or gate.source != source:
            continue
        reason = _closing_reason(gate, route)
        if reason is not None:
            return GateFiring(gate.name, reason, gate.answer, scope=scope)
    return None


def _closing_reason(gate: ClassGate, route: Route) -> str | None:
    """Why the gate closes, or None. For an unrouted question it stays open."""
    if gate.above is None:
        likeliest = route.label(gate.field)
        return f"the router's {gate.field} is {likeliest}" if likeliest in gate.classes else None

    class_probability = route.probability(gate.field, gate.classes)
    if class_probability is None or class_probability <= gate.above:
        return None
    return f"P({gate.field} is {' or '.join(gate.classes)}) is {class_probability:.2f}, above {gate.above:g}"


def find_closed_score_gate(gates: Sequence[GateSettings], probability: float | None) -> GateFiring | None:
    """The first gate on the best passage's probability that closes. A missing one closes it."""
    for gate in gates:
        if not isinstance(gate, ScoreGate):
            continue
        if probability is None:
            reason = f"no passage was scored, not above {gate.minimum:g}"
        elif probability <= gate.minimum:
            reason = f"the best passage fits with {probability:.2f} at most, not above {gate.minimum:g}"
        else:
            continue
        return GateFiring(gate.name, reason, I_DONT_KNOW, scope=GateScope.PAGES)
    return None


def gated_answer(firing: GateFiring, source: str) -> Answer:
    """The answer that a gate or check gives."""
    decision = _DECISIONS.get(firing.answer, Decision.ANSWERED)
    return Answer(firing.answer, decision, source, firing.reason)
