"""Settings of what runs models: language models and encoders."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PositiveInt

from crag.core.environment import read_variable
from crag.settings.base import StrictModel
from crag.settings.places import PathOrName

MODEL_VARIABLE = "CRAG_LLM_MODEL"
"""Environment variable with the model's name on an OpenAI-compatible server."""

EncoderTokens = Annotated[int, Field(ge=8, le=8192)]


def _check_adapter_name(name: str) -> str:
    if "." in name or not name:
        raise ValueError(f"{name!r} cannot name an adapter: give it a name without dots, which separate keys")
    return name


AdapterName = Annotated[str, AfterValidator(_check_adapter_name)]


class LocalEngineSettings(StrictModel):
    """Settings that in-process engines share."""

    model: PathOrName
    """Name in `crag/weights/manifest.toml`, or a folder; engine ``openvino`` needs the output of `crag models int8`."""
    adapters: dict[AdapterName, PathOrName] = Field(default_factory=dict)
    """Adapter name -> name in the manifest, or folder."""
    max_model_tokens: PositiveInt = 8192


class OpenvinoEngine(LocalEngineSettings):
    """OpenVINO in this process: int8 weights on a CPU, several adapters in one batch."""

    engine: Literal["openvino"]
    batch_size: PositiveInt = 4
    """Most prompts per step."""
    batch_tokens: PositiveInt | None = None
    """Most tokens of the prompts of a step, with padding; a longer prompt is read alone."""


class TransformersEngine(LocalEngineSettings):
    """Hugging Face transformers in this process, with PEFT adapters: db3's final engine."""

    engine: Literal["transformers"]
    batch_size: PositiveInt = 4
    """Most prompts per step."""
    batch_tokens: PositiveInt | None = None
    """Most tokens of the prompts of a step, with padding; a longer prompt is read alone."""
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
    """False: CUDA graphs, with which an H200 wrote eight times as fast; a start takes more time and memory."""
    max_adapter_rank: Literal[8, 16, 32, 64, 128] = 8


class OpenAIEngine(StrictModel):
    """Any OpenAI-compatible server, for example a cluster of vLLM servers."""

    engine: Literal["openai"]
    model: str = Field(default_factory=lambda: read_variable(MODEL_VARIABLE))
    """The model's name on the server; default: `CRAG_LLM_MODEL`. Empty: the server's only model."""
    base_url: str = "http://127.0.0.1:8000/v1"
    base_url_variable: str = "CRAG_LLM_URL"
    """Environment variable that overrides `base_url`."""
    api_key_variable: str = "OPENAI_API_KEY"
    adapters: dict[str, str] = Field(default_factory=dict)
    """Adapter name -> model name on the server."""
    concurrency: Annotated[int, Field(ge=1, le=256)] = 16
    tokenizer: PathOrName | None = None
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


class EncoderSettings(StrictModel):
    """An encoder, and how it runs."""

    engine: Literal["sentence-transformers", "onnx"] = "sentence-transformers"
    model: PathOrName
    """Name in `crag/weights/manifest.toml`, a folder, or ``OWNER/NAME`` of the hub, fetched with ``hf download``."""
    max_tokens: EncoderTokens = 512
    batch_size: PositiveInt = 32
    device: str = "cpu"
    dtype: Literal["float32", "float16"] = "float32"


class CrossEncoderSettings(EncoderSettings):
    """The model that scores (query, passage) pairs, and how."""

    in_parts: bool = False
    """Score a passage that is longer than `max_tokens` part by part; its best part counts. Otherwise its end is cut
    off."""


class DenseEncoderSettings(EncoderSettings):
    """The model that maps texts to vectors, and how."""

    query_instruction: str = ""
    """Precedes queries only; bge-*-v1.5 needs one for short queries against long passages."""
    pooling: Literal["cls", "mean"] | None = None
    """Pooling of token vectors (engine ``onnx``): bge ``cls``, MiniLM ``mean``, None: as the folder says."""
