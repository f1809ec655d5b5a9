"""A second look at an answer: confirmed, withdrawn or corrected (NEC sections 2.1 step 7, 2.4 and 3.5)."""

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.answering.normalise import normalise, one_line
from agents.answering.prompts import PROMPTS
from agents.answering.requests import generate_all, request_of
from agents.contracts import I_DONT_KNOW, Answer, Decision, Query
from agents.deadline import Deadline
from agents.llm.base import Generation, GenerationRequest, LanguageModel
from agents.settings import AnsweringSettings, RefineSettings

_SUBJECT = r"(?:it|that|this|(?:(?:the|that|this|your|given|proposed|provided)\s+)*answer)(?:\s+is|[\u2019']s)\s+"
_END = r"(?=\s*(?:[.,;:!?()*\"\u201d]|\s[-\u2013\u2014]\s|(?:because|since)\b|$))"
"""What a verdict ends with; "Right-handed", "Right Said Fred" and "Wrong Turn" are answers."""
_CONFIRMED = re.compile(rf"\W*(?:yes\W+)?(?:{_SUBJECT}|is\s+)?(?:correct|right)(?:\s+answer)?{_END}", re.IGNORECASE)
_REJECTED = re.compile(
    rf"\W*(?:no\W+)?(?:{_SUBJECT}|is\s+)?(?:incorrect|wrong|not\s+(?:correct|right))(?:\s+answer)?{_END}"
    r"(?:[\s.,;:!?()*\"\u201d]|[-\u2013\u2014](?=\s)|(?:because|since)\b)*",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"\W*(?:the\s+)?(?:correct|right)\s+answer(?:\s+(?:is|was|would\s+be|should\s+be)\b|\s*:)[\s:]*", re.IGNORECASE
)


class Verdict(enum.StrEnum):
    """What the second look found."""

    CONFIRMED = "confirmed"
    WITHDRAWN = "withdrawn"
    CORRECTED = "corrected"
    NOT_REVIEWED = "not_reviewed"


@dataclass(frozen=True, slots=True)
class Review:
    """The verdict, the answer that follows from it, and what the model was asked and said."""

    verdict: Verdict
    answer: Answer
    request: GenerationRequest
    generation: Generation


NO_REVIEW = Review(
    Verdict.NOT_REVIEWED,
    Answer(I_DONT_KNOW, Decision.ABSTAINED, "none", "the second look failed"),
    GenerationRequest(prompt=""),
    Generation.failed("the stage failed"),
)
"""What is left of a review whose stage failed: the answer is not trusted."""


class Refiner:
    """Asks the model about each answer once more, with the same context."""

    def __init__(self, settings: AnsweringSettings, model: LanguageModel) -> None:
        self._settings = settings
        self._refine = settings.refine or RefineSettings()
        self._prompt = PROMPTS[self._refine.prompt]
        self._model = model

    def review(
        self, queries: Sequence[Query], contexts: Sequence[str], answers: Sequence[Answer], deadline: Deadline
    ) -> list[Review]:
        """One review per answer, in order. An answer that could not be reviewed is not trusted, but withdrawn."""
        requests = [
            self._request(query, context, answer)
            for query, context, answer in zip(queries, contexts, answers, strict=True)
        ]
        generations = generate_all(self._model, requests, deadline)
        return [
            _review(answer, request, generation)
            for answer, request, generation in zip(answers, requests, generations, strict=True)
        ]

    def _request(self, query: Query, context: str, answer: Answer) -> GenerationRequest:
        messages = self._prompt.render(
            token_limit=self._settings.word_limit,
            query_time=query.query_time,
            context=context,
            query=query.text,
            answer=answer.text,
        )
        return request_of(messages, self._settings, self._refine.max_new_tokens, self._refine.adapter)


def _review(answer: Answer, request: GenerationRequest, generation: Generation) -> Review:
    if generation.finish_reason in {"error", "deadline"}:
        why = generation.error or "time ran out"
        missed = Answer(I_DONT_KNOW, Decision.ABSTAINED, answer.source, f"the answer could not be reviewed: {why}")
        return Review(Verdict.NOT_REVIEWED, missed, request, generation)
    said, further = one_line(generation.text), generation.text.strip().partition("\n")[2]
    correction = _correction(said)
    if correction == said and _CONFIRMED.match(said):
        return Review(Verdict.CONFIRMED, answer, request, generation)
    found = normalise(correction or _correction(one_line(further)), answer.source)
    if found.text.casefold().strip(" .") == answer.text.casefold().strip(" ."):
        return Review(Verdict.CONFIRMED, answer, request, generation)
    if found.decision is Decision.ABSTAINED:
        withdrawn = Answer(found.text, found.decision, found.source, "the second look withdrew the answer")
        return Review(Verdict.WITHDRAWN, withdrawn, request, generation)
    corrected = Answer(found.text, found.decision, found.source, f"the second look corrected {answer.text!r}")
    return Review(Verdict.CORRECTED, corrected, request, generation)


def _correction(said: str) -> str:
    """The reply without its verdict on the first answer and without "the correct answer is"; may be empty."""
    left = said
    while rejected := _REJECTED.match(left):
        left = left[rejected.end() :]
    left = left[lead_in.end() :] if (lead_in := _LEAD_IN.match(left)) else left
    return left.rstrip(" )") if left != said and "(" not in left else left
