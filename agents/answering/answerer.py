"""Context and question -> the answering model's text, one language-model call for the whole batch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.answering.assessment import Assessed, assessed
from agents.answering.prompts import PROMPTS
from agents.answering.requests import generate_all, request_of
from agents.contracts import Query
from agents.deadline import Deadline
from agents.llm.base import Generation, GenerationRequest, LanguageModel
from agents.settings import AnsweringSettings


@dataclass(frozen=True, slots=True)
class Draft:
    """What the model was asked and what it said, before anything was decided.

    `said` is the generation's text, without the model's assessment of itself where the prompt asked for one.
    """

    request: GenerationRequest
    generation: Generation
    said: Assessed
    assessed: bool = False
    """Whether the model was asked how sure it is."""


NO_DRAFT = Draft(GenerationRequest(prompt=""), Generation.failed("the stage failed"), Assessed("", None))
"""What is left of a draft whose stage failed: decided as an abstention, so that another source may answer."""


class Answerer:
    """Fills the preset's prompt and generates (db3 section 2.4)."""

    def __init__(self, settings: AnsweringSettings, model: LanguageModel) -> None:
        self._settings = settings
        self._model = model
        self._prompt = PROMPTS[settings.prompt]

    def draft(self, queries: Sequence[Query], contexts: Sequence[str], deadline: Deadline) -> list[Draft]:
        """One draft per query, in order. An engine that returns too few generations costs only the missing ones."""
        requests = [self.request(query, context) for query, context in zip(queries, contexts, strict=True)]
        return [
            Draft(request, generation, self._said(generation.text), self._prompt.assesses)
            for request, generation in zip(requests, generate_all(self._model, requests, deadline), strict=True)
        ]

    def _said(self, text: str) -> Assessed:
        return assessed(text) if self._prompt.assesses else Assessed(text, None)

    def request(self, query: Query, context: str) -> GenerationRequest:
        """What the model is asked about a question: also what an adapter for it is tuned on."""
        messages = self._prompt.render(
            token_limit=self._settings.word_limit, query_time=query.query_time, context=context, query=query.text
        )
        request = request_of(messages, self._settings, self._settings.max_new_tokens, self._settings.adapter)
        # For gates and P(correct), and for whoever fits them to the traces of this run.
        return replace(request, with_log_probability=True)
