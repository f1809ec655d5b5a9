"""How sure the model says it is of its answer (WeKnow-RAG, "Answer Generation with Self-Assessment")."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from agents.answering.prompts import PROMPTS
from agents.answering.requests import generate_all, request_of
from agents.contracts import Answer, Query
from agents.deadline import Deadline
from agents.llm.base import Generation, GenerationRequest, LanguageModel
from agents.settings import AnsweringSettings

Level = Literal["high", "medium", "low"]

_LEVEL = re.compile(
    r"[\s(\[*_,;.-]*\bconfidence(?: level)?\W{0,8}(?:is\W+)?(?P<level>high|medium|low)\b[\s)\].*_]*", re.IGNORECASE
)


_ASKED_LEVEL = re.compile(
    r"[\W_]*(?:confidence(?: level)?[\W_]+(?:is[\W_]+)?)?(?P<level>high|medium|low)(?![^\W_])"
    r"(?![\W_]+(?:(?:or|to|and)\W+)?(?:high|medium|low)\b)",
    re.IGNORECASE,
)
_LEVELS: dict[str, Level] = {"high": "high", "medium": "medium", "low": "low"}


class Assessed(NamedTuple):
    """A model's text without its assessment, and the level; None where the text names none or several."""

    text: str
    level: Level | None


def assessed(text: str) -> Assessed:
    """Take the assessment out of a text, wherever the model put it.

    Levels that contradict each other are no level: what a model is sure of it says once.
    """
    found = {match["level"].lower() for match in _LEVEL.finditer(text)}
    rest = _LEVEL.sub("\n", text).strip()
    return Assessed(rest, _LEVELS[found.pop()] if len(found) == 1 else None)


def level_of(text: str) -> Level | None:
    """The level that a model named when it was asked for nothing else; None where it names none or several.

    Engines that know no grammars give "High." or "**high** (the text says so)"; a level further on in a sentence may
    be about anything.
    """
    found = _ASKED_LEVEL.match(text)
    return _LEVELS[found["level"].lower()] if found else None


LEVEL_GRAMMAR = 'start: "high" | "medium" | "low"'
"""The one word that is asked for afterwards, as a Lark grammar."""


class Assessment(NamedTuple):
    """The level, None where the model gave none, and what it was asked and said."""

    level: Level | None
    request: GenerationRequest
    generation: Generation


NO_ASSESSMENT = Assessment(None, GenerationRequest(prompt=""), Generation.failed("the stage failed"))
"""What is left of an assessment whose stage failed."""


class Assessor:
    """Asks the model afterwards how sure it is of each answer.

    Models of around a billion parameters, asked for answer and level at once, name no level; held to a grammar of both
    they do not end the answer. One word, held to three choices, is what they can give.
    """

    def __init__(self, settings: AnsweringSettings, model: LanguageModel) -> None:
        self._settings = settings
        self._model = model

    def assess(
        self, queries: Sequence[Query], contexts: Sequence[str], answers: Sequence[Answer], deadline: Deadline
    ) -> list[Assessment]:
        """One assessment per answer, in order."""
        requests = [
            request_of(
                PROMPTS["assess"].render(
                    token_limit=self._settings.word_limit,
                    query_time=query.query_time,
                    context=context,
                    query=query.text,
                    answer=answer.text,
                ),
                self._settings,
                max_tokens=4,
                adapter=self._settings.adapter,
                grammar=LEVEL_GRAMMAR,
            )
            for query, context, answer in zip(queries, contexts, answers, strict=True)
        ]
        generations = generate_all(self._model, requests, deadline)
        return [
            Assessment(level_of(generation.text), request, generation)
            for request, generation in zip(requests, generations, strict=True)
        ]
