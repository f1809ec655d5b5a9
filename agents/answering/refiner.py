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

_CONFIRMED = re.compile(
    r"^(?:yes\W+)?(?:(?:the|that|this|your|given|proposed|provided)\s+)*(?:answer\s+)?(?:is\s+)?(?:correct|right)\W*$",
    re.IGNORECASE,
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
    if _CONFIRMED.match(one_line(generation.text)):
        return Review(Verdict.CONFIRMED, answer, request, generation)
    found = normalise(generation.text, answer.source)
    if found.text.casefold().strip(" .") == answer.text.casefold().strip(" ."):
        return Review(Verdict.CONFIRMED, answer, request, generation)
    if found.decision is Decision.ABSTAINED:
        withdrawn = Answer(found.text, found.decision, found.source, "the second look withdrew the answer")
        return Review(Verdict.WITHDRAWN, withdrawn, request, generation)
    corrected = Answer(found.text, found.decision, found.source, f"the second look corrected {answer.text!r}")
    return Review(Verdict.CORRECTED, corrected, request, generation)
