"""Understands a question before any source is asked: domain, type, dynamism, and what can answer it.

`open_router` returns the preset's router: trained classifiers (`encoder_router.py`), the language model
(`prompt_router.py`), or one that does nothing.
"""

from crag.core.contracts import Classification as Classification
from crag.core.contracts import Route as Route
from crag.engines.llm import LanguageModel
from crag.router.base import DOMAINS as DOMAINS
from crag.router.base import FIELD_CLASSES as FIELD_CLASSES
from crag.router.base import QuestionRouter as QuestionRouter
from crag.router.encoder_router import EncoderQuestionRouter
from crag.router.prompt_router import PromptQuestionRouter
from crag.settings import EncoderRouter, PromptRouter, SettingsError


def open_router(settings: EncoderRouter | PromptRouter | None, model: LanguageModel | None = None) -> QuestionRouter:
    """The router that the settings name, not warmed up; without settings one that returns empty routes.

    Engine ``prompt`` uses `model`, whose owner loads and closes it; without a model it raises SettingsError.

    Example:
        router = open_router(settings.router, model)
        router.warm_up()
        routes = router.route(queries, Deadline(1.0))
        routes[0].domain  # Classification("movie", {"finance": 0.02, "movie": 0.95, ...})
        router.close()
    """
    if settings is None:
        return QuestionRouter()
    if isinstance(settings, EncoderRouter):
        return EncoderQuestionRouter(settings)
    if model is None:
        raise SettingsError('a router with engine "prompt" needs a language model')
    return PromptQuestionRouter(settings, model)
