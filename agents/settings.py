"""Settings of the whole agent: frozen, validated, read from `agents/presets/*.toml`. A preset is data, nothing more."""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

PRESETS = Path(__file__).parent / "presets"
PRESET_VARIABLE = "CRAG_PRESET"
"""Environment variable that overrides the preset of `agents/presets/active.toml`."""


class SettingsError(ValueError):
    """A preset cannot be used; the message names file, key, what was found and what is allowed."""


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


# --- language model ------------------------------------------------------------------------------------------------


class TransformersEngine(_Settings):
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


class VllmEngine(_Settings):
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


class OpenAIEngine(_Settings):
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


class ScriptedEngine(_Settings):
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

# --- encoders ------------------------------------------------------------------------------------------------------


class DenseEncoderSettings(_Settings):
    """Which model maps texts to vectors, and how."""

    engine: Literal["sentence-transformers", "onnx"] = "sentence-transformers"
    model: str
    query_instruction: str = ""
    """Put in front of queries only; bge-*-v1.5 wants one for short queries against long passages."""
    pooling: Literal["cls", "mean"] | None = None
    """How token vectors become one (engine ``onnx``): bge ``cls``, MiniLM ``mean``, None as the folder says."""
    max_tokens: Annotated[int, Field(ge=8, le=8192)] = 512
    batch_size: PositiveInt = 32
    device: str = "cpu"
    dtype: Literal["float32", "float16"] = "float32"


class CrossEncoderSettings(_Settings):
    """Which model scores (query, passage) pairs, and how."""

    engine: Literal["sentence-transformers", "onnx"] = "sentence-transformers"
    model: str
    max_tokens: Annotated[int, Field(ge=8, le=8192)] = 512
    batch_size: PositiveInt = 32
    device: str = "cpu"
    dtype: Literal["float32", "float16"] = "float32"


# --- web path ------------------------------------------------------------------------------------------------------


class PageSelectionSettings(_Settings):
    """Which of the search results are read at all (db3 3.1 and NEC 2.1: snippets rank 50 pages down to 5 in task 3)."""

    keep: Annotated[int, Field(ge=1, le=50)] = 5
    method: Literal["cross_encoder", "dense", "bm25", "search_order"] = "cross_encoder"
    max_snippet_characters: PositiveInt = 2000


class ExtractSettings(_Settings):
    """How a page's HTML becomes text."""

    method: Literal["main_text", "beautifulsoup"] = "main_text"
    """``beautifulsoup`` is the papers' choice; ``main_text`` drops boilerplate and is an order of magnitude faster."""
    fallback_characters: Annotated[int, Field(ge=0)] = 300
    """A main text shorter than this is replaced by all visible text of the page."""
    max_bytes: Annotated[int, Field(ge=1_000, le=50_000_000)] = 2_000_000
    max_depth: Annotated[int, Field(ge=16, le=10_000)] = 512
    max_text_characters: Annotated[int, Field(ge=1_000)] = 300_000
    """What is longer is cut off: chunking and ranking run in this process, where only size bounds their time."""
    page_seconds: Annotated[float, Field(gt=0, le=60)] = 4.0
    """A page that takes longer is dropped; its worker process is killed."""
    workers: Annotated[int, Field(ge=0, le=64)] = 2
    """Worker processes; 0 extracts in this process, where nothing can stop a page."""
    max_word_characters: PositiveInt | None = None
    """Longer words are dropped (NEC 2.1: 30, they are parsing errors that lost their spaces)."""
    english_only: bool = False
    """Drop lines that are mostly not English (NEC 2.1)."""


class ParentChildChunks(_Settings):
    """Small child chunks are searched, the parent around the hit is what the model reads (db3 2.2)."""

    method: Literal["parent_child"]
    parent_characters: Annotated[int, Field(ge=50, le=20_000)] = 700
    child_characters: Annotated[int, Field(ge=20, le=20_000)] = 200

    @model_validator(mode="after")
    def _child_fits(self) -> "ParentChildChunks":
        if self.child_characters > self.parent_characters:
            raise ValueError("child_characters must not exceed parent_characters")
        return self


class WordChunks(_Settings):
    """Windows of words that overlap (NEC 2.1: 150 words, 25 of them shared)."""

    method: Literal["words"]
    words: Annotated[int, Field(ge=5, le=5_000)] = 150
    overlap: Annotated[int, Field(ge=0)] = 25

    @model_validator(mode="after")
    def _moves_on(self) -> "WordChunks":
        if self.overlap >= self.words:
            raise ValueError("overlap must be smaller than words")
        return self


class TokenChunks(_Settings):
    """Windows of tokens of the dense encoder's tokenizer (WeKnow-RAG, ablation on chunk size: 500)."""

    method: Literal["tokens"]
    tokens: Annotated[int, Field(ge=8, le=8_192)] = 500
    overlap: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _moves_on(self) -> "TokenChunks":
        if self.overlap >= self.tokens:
            raise ValueError("overlap must be smaller than tokens")
        return self


ChunkSettings = Annotated[ParentChildChunks | WordChunks | TokenChunks, Field(discriminator="method")]


class Bm25Stage(_Settings):
    """Keep the `top_k` chunks with the best BM25 score; with `per_kind`, so many page chunks and so many snippets."""

    method: Literal["bm25"]
    top_k: PositiveInt
    per_kind: bool = False
    implementation: Literal["query_terms", "rank_bm25"] = "query_terms"


class DenseStage(_Settings):
    """Keep the `top_k` chunks nearest to the query by cosine."""

    method: Literal["dense"]
    top_k: PositiveInt


class FusionStage(_Settings):
    """Keep the `top_k` chunks by reciprocal rank fusion of BM25 and dense ranks (Cormack et al. 2009: constant 60)."""

    method: Literal["reciprocal_rank_fusion"]
    top_k: PositiveInt
    constant: PositiveInt = 60


class UnionStage(_Settings):
    """Keep the best `sparse_k` chunks by BM25 and the best `dense_k` by cosine, each once (WeKnow-RAG, stage two)."""

    method: Literal["union"]
    sparse_k: PositiveInt
    dense_k: PositiveInt


RetrieveStage = Annotated[Bm25Stage | DenseStage | FusionStage | UnionStage, Field(discriminator="method")]


class RerankSettings(_Settings):
    """The cross-encoder's part: of the retrieved passages keep the `top_k` it finds most relevant."""

    top_k: PositiveInt
    max_pairs: PositiveInt | None = None
    """At most this many passages per question are scored, best first; None scores all."""
    with_page_name: bool = False
    """Put the page's title in front of the passage (WeKnow-RAG adds it for retrieval)."""


class ContextSettings(_Settings):
    """How passages become the text that the model reads."""

    max_tokens: Annotated[int, Field(ge=32, le=32_768)] = 4000
    """Counted with the answering model's own tokenizer (db3 2.4)."""
    order: Literal["best_first", "best_last"] = "best_first"
    """Small models read best what stands next to the question."""


class WebSettings(_Settings):
    """The web path: pages to passages to context."""

    pages: PageSelectionSettings = PageSelectionSettings()
    extract: ExtractSettings = ExtractSettings()
    chunk: ChunkSettings
    snippets: bool = False
    """Search snippets are passages too."""
    retrieve: Annotated[tuple[RetrieveStage, ...], Field(min_length=1, strict=False)]
    rerank: RerankSettings | None = None
    context: ContextSettings = ContextSettings()


# --- answering, deadline -------------------------------------------------------------------------------------------


class AnsweringSettings(_Settings):
    """The prompt and decoding of the answer, and the gate in front of it."""

    prompt: Literal["basic", "controlled", "reader"] = "controlled"
    """A key of `agents.answering.prompts.PROMPTS`."""
    word_limit: Annotated[int, Field(ge=1, le=75)] = 50
    """db3's token_limit: what the prompt asks for."""
    max_new_tokens: Annotated[int, Field(ge=1, le=1024)] = 75
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    adapter: str | None = None
    minimum_top_score: Annotated[float, Field(ge=0, le=1)] | None = None
    """Abstain where the best passage's cross-encoder probability is not above this (NEC 2.1 step 5: 0.8)."""


class DeadlineSettings(_Settings):
    """The clock of a batch of n questions: n times `seconds_per_query`, less a reserve, divided by relative shares."""

    seconds_per_query: Annotated[float, Field(gt=0)] = 30.0
    reserve_seconds: Annotated[float, Field(ge=0)] = 4.0
    route: Annotated[float, Field(gt=0)] = 1.0
    knowledge_graph: Annotated[float, Field(gt=0)] = 8.0
    public_data: Annotated[float, Field(gt=0)] = 1.0
    select_pages: Annotated[float, Field(gt=0)] = 2.0
    extract: Annotated[float, Field(gt=0)] = 4.0
    retrieve: Annotated[float, Field(gt=0)] = 3.0
    rerank: Annotated[float, Field(gt=0)] = 6.0
    generate: Annotated[float, Field(gt=0)] = 12.0

    def shares(self) -> dict[str, float]:
        """Relative weight of each stage, in the order in which they run."""
        sources = ("route", "knowledge_graph", "public_data")
        web = ("select_pages", "extract", "retrieve", "rerank")
        return {name: getattr(self, name) for name in (*sources, *web, "generate")}


class Settings(_Settings):
    """Everything that tells one system from another."""

    name: str = ""
    description: str
    batch_size: Annotated[int, Field(ge=1, le=16)] = 16
    language_model: LanguageModelSettings
    dense_encoder: DenseEncoderSettings | None = None
    cross_encoder: CrossEncoderSettings | None = None
    web: WebSettings
    answering: AnsweringSettings = AnsweringSettings()
    deadline: DeadlineSettings = DeadlineSettings()

    @model_validator(mode="after")
    def _parts_that_are_used_exist(self) -> "Settings":
        dense_users = [stage.method for stage in self.web.retrieve if stage.method != "bm25"]
        if (dense_users or self.web.chunk.method == "tokens" or self.web.pages.method == "dense") and (
            self.dense_encoder is None
        ):
            raise ValueError("dense_encoder is missing, but web.retrieve, web.chunk or web.pages uses it")
        if (self.web.rerank or self.web.pages.method == "cross_encoder") and self.cross_encoder is None:
            raise ValueError("cross_encoder is missing, but web.rerank or web.pages uses it")
        adapter = self.answering.adapter
        if adapter is not None and adapter not in self.language_model.adapters:
            raise ValueError(f"answering.adapter {adapter!r} is not among language_model.adapters")
        if self.answering.minimum_top_score is not None and self.web.rerank is None:
            raise ValueError("answering.minimum_top_score needs web.rerank, whose score it compares")
        return self


def available_presets() -> list[str]:
    """Names of the shipped presets."""
    return sorted(path.stem for path in PRESETS.glob("*.toml") if path.stem != "active")


def active_preset() -> str:
    """The preset in force: environment `CRAG_PRESET`, else the line of `agents/presets/active.toml`."""
    from_environment = os.environ.get(PRESET_VARIABLE, "").strip()
    if from_environment:
        return from_environment
    path = PRESETS / "active.toml"
    name = _read_toml(path).get("preset")
    if not isinstance(name, str):
        raise SettingsError(f'{path}: key "preset": found {name!r}, allowed: one of {", ".join(available_presets())}')
    return name


def load_settings(preset: str | Path | None = None) -> Settings:
    """Settings of a shipped preset by name, of a TOML file by path, or of the active preset.

    Raises:
        SettingsError: no such preset, not TOML, an unknown key, a wrong type or a value out of range.
    """
    chosen = preset if preset is not None else active_preset()
    path = Path(chosen) if str(chosen).endswith(".toml") else PRESETS / f"{chosen}.toml"
    if not path.is_file():
        raise SettingsError(f"there is no preset {str(chosen)!r}; shipped presets: {', '.join(available_presets())}")
    data = _read_toml(path)
    try:
        return Settings.model_validate({**data, "name": path.stem})
    except ValidationError as error:
        raise SettingsError(_explain(path, data, error)) from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None


_UNION_TAGS = frozenset(
    {"transformers", "vllm", "openai", "scripted", "parent_child", "words", "tokens", "bm25", "dense"}
    | {"reciprocal_rank_fusion", "union"}
)


def _explain(path: Path, data: dict[str, Any], error: ValidationError) -> str:
    """One line per fault: file, key, what was found, what is allowed."""
    lines = []
    for fault in error.errors(include_url=False):
        key = _dotted(fault["loc"], data)
        found = "" if fault["type"] in {"missing", "value_error"} else f" (found {fault['input']!r})"
        message = fault["msg"]
        if fault["type"] == "extra_forbidden":
            siblings = _allowed_keys(fault["loc"])
            message = "unknown key" + (f"; allowed keys: {', '.join(siblings)}" if siblings else "")
            found = ""
        lines.append(f'{path}: key "{key}": {message}{found}')
    return "\n".join(lines)


def _dotted(location: tuple[int | str, ...], data: object) -> str:
    """The key as it is written in the file: pydantic puts the tag of a union into the location, the file has none."""
    parts: list[str] = []
    here: Any = data
    for part in location:
        if part in _UNION_TAGS and isinstance(here, dict) and part not in here:
            continue
        parts.append(str(part))
        try:
            here = here[part]
        except (KeyError, IndexError, TypeError):
            here = None
    return ".".join(parts) or "(whole file)"


def _allowed_keys(location: tuple[int | str, ...]) -> list[str]:
    """Field names of the settings class in which an unknown key was found."""
    schema = Settings.model_json_schema()
    definitions = schema.get("$defs", {})

    def resolve(node: dict[str, Any], tag: int | str | None = None) -> dict[str, Any]:
        if "$ref" in node:
            return dict(definitions[node["$ref"].rsplit("/", 1)[1]])
        options = [resolve(option) for option in node.get("oneOf", node.get("anyOf", []))]
        for option in options:
            consts = {field.get("const") for field in option.get("properties", {}).values()}
            if tag in consts or (tag is None and "properties" in option):
                return option
        return node

    node: dict[str, Any] = schema
    for index, part in enumerate(location[:-1]):
        following = location[index + 1] if index + 1 < len(location) - 1 else None
        if isinstance(part, int):
            node = resolve(node.get("items", node.get("prefixItems", {})), following)
        elif part in node.get("properties", {}):
            child = node["properties"][part]
            node = child if child.get("type") == "array" else resolve(child, following)
    return sorted(node.get("properties", {}))
