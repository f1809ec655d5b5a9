"""Which language model, in which engine."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from agents.settings.base import StrictModel


class TransformersEngine(StrictModel):
    """Hugging Face transformers in this process, with PEFT adapters: what db3 ran in the end, and the CPU default."""

    engine: Literal["transformers"]
    model: str
    """Name in `models/manifest.toml`."""
    dtype: Literal["float32", "float16", "bfloat16"] = "float16"
    device: str = "auto"
    """A torch device, or ``auto``: layers spread over all GPUs, or the CPU where there is none."""
    adapters: dict[str, str] = Field(default_factory=dict)
    """Adapter name -> name in the manifest."""
    batch_size: PositiveInt = 4
    """Prompts per forward pass."""
    max_model_tokens: PositiveInt = 8192


class VllmEngine(StrictModel):
    """vLLM in this process: continuous batching, prefix caching, several adapters in one batch."""

    engine: Literal["vllm"]
    model: str
    dtype: Literal["half", "float32"] = "half"
    """T4 (compute capability 7.5) has no bfloat16."""
    quantization: Literal["awq", "gptq"] | None = None
    tensor_parallel_size: PositiveInt = 1
    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] = 0.9
    max_model_tokens: PositiveInt = 8192
    attention_backend: str | None = "TRITON_ATTN"
    """On T4 the automatic choice of vLLM up to 0.23 is FlashInfer, which is broken there."""
    enforce_eager: bool = True
    prefix_caching: bool = True
    distributed_executor: Literal["ray", "mp", "uni"] | None = None
    adapters: dict[str, str] = Field(default_factory=dict)
    max_adapter_rank: Literal[8, 16, 32, 64, 128] = 8


class OpenAIEngine(StrictModel):
    """Any OpenAI-compatible server, for example a cluster of vLLM servers."""

    engine: Literal["openai"]
    model: str
    """The model's name on the server."""
    base_url: str = "http://127.0.0.1:8000/v1"
    base_url_variable: str = "CRAG_LLM_URL"
    """Environment variable that overrides `base_url`."""
    api_key_variable: str = "OPENAI_API_KEY"
    adapters: dict[str, str] = Field(default_factory=dict)
    """Adapter name -> model name on the server."""
    concurrency: Annotated[int, Field(ge=1, le=256)] = 16
    max_attempts: Annotated[int, Field(ge=1, le=10)] = 3
    tokenizer: str | None = None
    """Name in the manifest of a tokenizer to count with; without one, a stated safe bound is used."""


class ScriptedEngine(StrictModel):
    """A fake that answers from a table, and fails on purpose; for tests and smoke runs without weights."""

    engine: Literal["scripted"]
    replies: dict[str, str] = Field(default_factory=dict)
    """Substring of the last user message -> reply; the first match wins."""
    default_reply: str = "i don't know"
    fault: Literal["hang", "die_after", "garbage", "slow", "error", "empty", "short_list"] | None = None
    fault_after: Annotated[int, Field(ge=0)] = 0
    """How many requests are served well before the fault begins."""
    seconds_per_request: Annotated[float, Field(ge=0)] = 0.0
    adapters: dict[str, str] = Field(default_factory=dict)


LanguageModelSettings = Annotated[
    TransformersEngine | VllmEngine | OpenAIEngine | ScriptedEngine, Field(discriminator="engine")
]
