"""Which router a preset gets."""

from agents.llm import LanguageModel
from agents.questions.routes import QuestionRouter, Unrouted
from agents.settings import EncoderRouter, PromptRouter, SettingsError


def open_router(settings: EncoderRouter | PromptRouter | None, model: LanguageModel | None = None) -> QuestionRouter:
    """The router that the settings name, not warmed up yet; without settings one that knows nothing.

    Args:
        settings: Engine ``encoder`` or ``prompt``, or None.
        model: The language model; engine ``prompt`` asks it and leaves loading and closing to its owner.

    Raises:
        SettingsError: engine ``prompt`` without a language model.
    """
    if settings is None:
        return Unrouted()
    if isinstance(settings, EncoderRouter):
        from agents.questions.encoder_router import EncoderQuestionRouter

        return EncoderQuestionRouter(settings)
    if model is None:
        raise SettingsError('a router with engine "prompt" needs a language model')
    from agents.questions.prompt_router import PromptQuestionRouter

    return PromptQuestionRouter(settings, model)
