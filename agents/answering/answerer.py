"""Context and question -> the answering model's text, one language-model call for the whole batch."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.answering.prompts import PROMPTS
from agents.contracts import Query
from agents.deadline import Deadline
from agents.llm.base import Generation, GenerationRequest, LanguageModel
from agents.settings import AnsweringSettings


@dataclass(frozen=True, slots=True)
class Draft:
    """What the model was asked and what it said, before anything was decided."""

    request: GenerationRequest
    generation: Generation


NO_DRAFT = Draft(GenerationRequest(prompt=""), Generation.failed("the stage failed"))
"""What is left of a draft whose stage failed: decided as an abstention, so that another source may answer."""


class Answerer:
    """Fills the preset's prompt and generates (db3 section 2.4)."""

    def __init__(self, settings: AnsweringSettings, model: LanguageModel) -> None:
        self._settings = settings
        self._model = model
        self._prompt = PROMPTS[settings.prompt]

    def draft(self, queries: Sequence[Query], contexts: Sequence[str], deadline: Deadline) -> list[Draft]:
        """One draft per query, in order. An engine that returns too few generations costs only the missing ones."""
        requests = [self._request(query, context) for query, context in zip(queries, contexts, strict=True)]
        generations = list(self._model.generate(requests, deadline))[: len(requests)]
        missing = len(requests) - len(generations)
        generations += [Generation.failed("the engine returned no generation for this request")] * missing
        return [Draft(request, generation) for request, generation in zip(requests, generations, strict=True)]

    def _request(self, query: Query, context: str) -> GenerationRequest:
        messages = self._prompt.render(
            token_limit=self._settings.word_limit, query_time=query.query_time, context=context, query=query.text
        )
        return GenerationRequest(
            messages=messages,
            adapter=self._settings.adapter,
            max_tokens=self._settings.max_new_tokens,
            temperature=self._settings.temperature,
            top_p=self._settings.top_p,
        )
