"""Language models behind one interface. `load_language_model` is the door; engines are imported only when asked for."""

from importlib import import_module

from agents.llm.base import (
    EngineUnavailableError,
    FinishReason,
    Generation,
    GenerationRequest,
    LanguageModel,
    LanguageModelDiedError,
    Message,
)
from agents.llm.tokenizer import bound_tokens, truncate_to_bound
from agents.settings import LanguageModelSettings

__all__ = [
    "ENGINES",
    "EngineUnavailableError",
    "FinishReason",
    "Generation",
    "GenerationRequest",
    "LanguageModel",
    "LanguageModelDiedError",
    "Message",
    "bound_tokens",
    "load_language_model",
    "truncate_to_bound",
]

ENGINES = {
    "transformers": ("agents.llm.transformers_engine", "TransformersLanguageModel", "requirements-cpu.txt"),
    "vllm": ("agents.llm.vllm_engine", "VllmLanguageModel", "requirements.txt (GPU) or requirements-vllm-cpu.txt"),
    "openai": ("agents.llm.openai_engine", "OpenAILanguageModel", "requirements-cpu.txt"),
    "scripted": ("agents.llm.scripted_engine", "ScriptedLanguageModel", "requirements-cpu.txt"),
}
"""Engine name of the settings -> module, class, and the requirements file that installs what it needs."""


def load_language_model(settings: LanguageModelSettings) -> LanguageModel:
    """The engine that the settings name, not warmed up yet.

    Raises:
        EngineUnavailableError: a package is not installed; the message names the requirements file that has it.
    """
    module, class_name, requirements = ENGINES[settings.engine]
    try:
        model: LanguageModel = getattr(import_module(module), class_name)(settings)
    except ImportError as error:
        raise EngineUnavailableError(
            f"the language model engine {settings.engine!r} cannot start ({error}): pip install -r {requirements}"
        ) from error
    return model
