"""The models: language model, encoders, and the router that classifies questions."""

import os
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from agents.settings.base import StrictModel

MODEL_VARIABLE = "CRAG_LLM_MODEL"
EncoderTokens = Annotated[int, Field(ge=8, le=8192)]


class LocalEngineSettings(StrictModel):
    """Settings that in-process engines share."""

    model: str
    """Name in `models/manifest.toml`, or a folder; engine ``openvino`` needs the output of `python -m models.int8`."""
    adapters: dict[str, str] = Field(default_factory=dict)
    """Adapter name -> name in the manifest, or folder."""
    max_model_tokens: PositiveInt = 8192


class OpenvinoEngine(LocalEngineSettings):
    """OpenVINO in this process: int8 weights on a CPU, with LoRA adapters."""

    engine: Literal["openvino"]
    batch_size: PositiveInt = 4
    """Prompts per step."""


class TransformersEngine(LocalEngineSettings):
    """Hugging Face transformers in this process, with PEFT adapters: db3's final engine."""

    engine: Literal["transformers"]
    batch_size: PositiveInt = 4
    """Prompts per step."""
    dtype: Literal["float32", "float16", "bfloat16"] = "float16"
    device: str = "auto"
    """A torch device, or ``auto``: layers spread over all GPUs, or the CPU without a GPU."""


class VllmEngine(LocalEngineSettings):
    """vLLM in this process: continuous batching, prefix caching, several adapters in one batch."""

    engine: Literal["vllm"]
    dtype: Literal["half", "float32"] = "half"
    """T4 (compute capability 7.5) has no bfloat16."""
    quantization: Literal["awq", "gptq"] | None = None
    tensor_parallel_size: PositiveInt = 1
    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] = 0.9
    attention_backend: str | None = "TRITON_ATTN"
    """On T4, vLLM up to 0.23 chooses FlashInfer by default, which is broken there."""
    enforce_eager: bool = True
    distributed_executor: Literal["ray", "mp", "uni"] | None = None
    max_adapter_rank: Literal[8, 16, 32, 64, 128] = 8


class OpenAIEngine(StrictModel):
    """Any OpenAI-compatible server, for example a cluster of vLLM servers."""

    engine: Literal["openai"]
    model: str = Field(default_factory=lambda: os.environ.get(MODEL_VARIABLE, "").strip())
    """The model's name on the server; default: `CRAG_LLM_MODEL`. Empty: the server's only model."""
    base_url: str = "http://127.0.0.1:8000/v1"
    base_url_variable: str = "CRAG_LLM_URL"
    """Environment variable that overrides `base_url`."""
    api_key_variable: str = "OPENAI_API_KEY"
    adapters: dict[str, str] = Field(default_factory=dict)
    """Adapter name -> model name on the server."""
    concurrency: Annotated[int, Field(ge=1, le=256)] = 16
    tokenizer: str | None = None
    """A tokenizer of the manifest for counting; without one, an upper bound of tokens is used."""


class ScriptedEngine(StrictModel):
    """A fake that answers from a table and fails on request; for tests and smoke runs without weights."""

    engine: Literal["scripted"]
    replies: dict[str, str] = Field(default_factory=dict)
    """Substring of the last user message -> reply; the first match wins."""
    default_reply: str = "i don't know"
    fault: Literal["hang", "die_after", "garbage", "slow", "error", "empty", "short_list"] | None = None
    fault_after: Annotated[int, Field(ge=0)] = 0
    """How many requests succeed before the fault starts."""
    seconds_per_request: Annotated[float, Field(ge=0)] = 0.0
    adapters: dict[str, str] = Field(default_factory=dict)


LanguageModelSettings = Annotated[
    OpenvinoEngine | TransformersEngine | VllmEngine | OpenAIEngine | ScriptedEngine, Field(discriminator="engine")
]


class CrossEncoderSettings(StrictModel):
    """The model that scores (query, passage) pairs, and how."""

    engine: Literal["sentence-transformers", "onnx"] = "sentence-transformers"
    model: str
    """Name in `models/manifest.toml`; a folder; or ``OWNER/NAME`` of the hub, fetched with ``hf download``."""
    max_tokens: EncoderTokens = 512
    batch_size: PositiveInt = 32
    device: str = "cpu"
    dtype: Literal["float32", "float16"] = "float32"


class DenseEncoderSettings(CrossEncoderSettings):
    """The model that maps texts to vectors, and how."""

    query_instruction: str = ""
    """Precedes queries only; bge-*-v1.5 needs one for short queries against long passages."""
    pooling: Literal["cls", "mean"] | None = None
    """Pooling of token vectors (engine ``onnx``): bge ``cls``, MiniLM ``mean``, None: as the folder says."""


class EncoderRouter(StrictModel):
    """Classifiers tuned from a small encoder, with one forward pass each per batch (NEC 2.2)."""

    engine: Literal["encoder"]
    classifiers: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    """Folders written by `python -m training.router`: names under `models/routers/` or in the cache of fetched models.
    Each predicts one or more of domain, question_type and static_or_dynamic."""
    batch_size: PositiveInt = 16


class PromptRouter(StrictModel):
    """The answering model names the class (db3 2.3 "Domain Prompt"; WeKnow-RAG "Domain classification")."""

    engine: Literal["prompt"]
    prompt: Literal["domain_word", "domain_with_certainty"] = "domain_word"
    """``domain_word``: db3's, one word. ``domain_with_certainty``: WeKnow-RAG's, with a certainty in percent and the
    answer's dynamism."""
    minimum_certainty: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Below this certainty the domain counts as ``open`` (WeKnow-RAG: 0.9)."""
    adapter: str | None = None
    max_new_tokens: Annotated[int, Field(ge=1, le=128)] = 24

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a route that it predicts, without probabilities."""
        return ("domain",) if self.prompt == "domain_word" else ("domain", "static_or_dynamic")

    @model_validator(mode="after")
    def _asks_for_certainty(self) -> "PromptRouter":
        if self.minimum_certainty > 0 and self.prompt == "domain_word":
            raise ValueError("minimum_certainty needs prompt domain_with_certainty: domain_word asks for no certainty")
        return self


RouterSettings = Annotated[EncoderRouter | PromptRouter, Field(discriminator="engine")]
