"""Settings of the whole agent: frozen, validated, read from `agents/presets/*.toml`. A preset is only data."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from agents.common.contracts import ANSWERABLE_FROM
from agents.common.files import UserError
from models import needed
from models.manifest import Manifest, WeightsMissingError, find
from models.needed import PRESETS as PRESETS
from models.needed import TRIM_TOKENIZER as TRIM_TOKENIZER
from models.needed import available_presets as available_presets
from models.needed import needs_gpu


class SettingsError(UserError, ValueError):
    """A preset cannot be used; the message names file, key, the value found and the values allowed."""


class StrictModel(BaseModel):
    """A part of the settings; unknown keys, wrong types and infinite numbers are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


# --- the models -------------------------------------------------------------------------------------------------------


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
    """OpenVINO in this process: int8 weights on a CPU."""

    engine: Literal["openvino"]
    batch_size: PositiveInt = 4
    """Prompts per step."""

    @model_validator(mode="after")
    def _has_no_adapters(self) -> Self:
        if self.adapters:
            raise ValueError('engine "openvino" applies no adapters: use engine "transformers"')
        return self


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
    """False: CUDA graphs, with which an H200 wrote eight times as fast; a start takes more time and memory."""
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


class EncoderSettings(StrictModel):
    """An encoder, and how it runs."""

    engine: Literal["sentence-transformers", "onnx"] = "sentence-transformers"
    model: str
    """Name in `models/manifest.toml`; a folder; or ``OWNER/NAME`` of the hub, fetched with ``hf download``."""
    max_tokens: EncoderTokens = 512
    batch_size: PositiveInt = 32
    device: str = "cpu"
    dtype: Literal["float32", "float16"] = "float32"


class CrossEncoderSettings(EncoderSettings):
    """The model that scores (query, passage) pairs, and how."""

    in_parts: bool = False
    """Score all of a passage that is longer than `max_tokens`, part by part, the best of which counts. Otherwise its
    end is cut off."""


class DenseEncoderSettings(EncoderSettings):
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
    Each predicts one or more of domain, question_type, static_or_dynamic and answerable_from."""
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


# --- answers and the clock --------------------------------------------------------------------------------------------


AnswerPromptName = Literal["basic", "controlled", "reader", "graph", "facts", "nec", "assessed"]
"""A key of `agents.answering.prompts.PROMPTS` that asks for an answer."""

ReviewPromptName = Literal["nec_refine", "refine"]
"""A key of `PROMPTS` that asks for a verdict on an answer."""

DomainName = Literal["movie", "finance", "music", "sports", "open"]

ROUTE_CLASSES = {
    "domain": ("finance", "movie", "music", "open", "sports"),
    "question_type": (
        "aggregation", "comparison", "false_premise", "multi-hop", "post-processing", "set", "simple",
        "simple_w_condition",
    ),
    "static_or_dynamic": ("fast-changing", "real-time", "slow-changing", "static"),
}  # fmt: skip
"""The classes of CRAG's questions, by the fields of a route."""


class ClassGate(StrictModel):
    """Withholds answers to questions of certain classes, by the router (NEC 2.1 step 1, 3.3.2)."""

    gate: Literal["class"]
    field: Literal["domain", "question_type", "static_or_dynamic"]
    classes: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    above: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Close if the classes' probabilities sum to more; None: close if the likeliest class is one of them."""
    answer: Literal["i don't know", "invalid question"] = "i don't know"
    source: Literal["any", "web"] = "any"
    """``web``: the knowledge graph may still answer."""

    @property
    def name(self) -> str:
        """The gate's name in traces and results; different gates have different names."""
        above = "" if self.above is None else f" > {self.above:g}"
        answer = "" if self.answer == "i don't know" else f" -> {self.answer}"
        source = "" if self.source == "any" else f" ({self.source})"
        return f"{self.field} {'/'.join(self.classes)}{above}{answer}{source}"

    @model_validator(mode="after")
    def _classes_exist(self) -> "ClassGate":
        unknown = [name for name in self.classes if name not in ROUTE_CLASSES[self.field]]
        if unknown:
            allowed = ", ".join(ROUTE_CLASSES[self.field])
            raise ValueError(f"{self.field} has no class {', '.join(unknown)}; allowed: {allowed}")
        return self


class ScoreGate(StrictModel):
    """Withholds answers from pages whose best passage is not good enough, before generation (NEC 2.1 step 5: 0.8)."""

    gate: Literal["score"]
    score: Literal["top_passage"]
    minimum: Annotated[float, Field(ge=0, lt=1)]
    """The best passage's cross-encoder probability must be above this."""

    @property
    def name(self) -> str:
        """The gate's name in traces and results."""
        return f"{self.score} above {self.minimum:g}"


GateSettings = Annotated[ClassGate | ScoreGate, Field(discriminator="gate")]


class OwnPrompt(StrictModel):
    """A prompt of one's own: a user turn, and a system turn unless it is empty."""

    system: str = ""
    user: str
    """Has ``$context`` and ``$query``; both turns may have ``$query_time`` and ``$token_limit``. ``$$`` is a dollar."""

    @model_validator(mode="after")
    def _has_the_places(self) -> "OwnPrompt":
        found: set[str] = set()
        for turn in (Template(self.system), Template(self.user)):
            if not turn.is_valid():
                raise ValueError("a dollar stands before something else than a name; write $$ for a dollar")
            found.update(turn.get_identifiers())
        if unknown := sorted(found - {"context", "query", "query_time", "token_limit"}):
            allowed = "$context, $query, $query_time, $token_limit"
            raise ValueError(f"there is no place ${', $'.join(unknown)}; allowed: {allowed}")
        if missing := sorted({"context", "query"} - set(Template(self.user).get_identifiers())):
            raise ValueError(f"the user turn needs ${' and $'.join(missing)}")
        return self


class RefineSettings(StrictModel):
    """A second pass over the answer, which confirms, withdraws or corrects it (NEC 2.1 step 7, 2.4)."""

    prompt: ReviewPromptName = "refine"
    max_new_tokens: PositiveInt = 50
    abstentions: bool = False
    """Also refine "i don't know" (NEC refines every initial answer)."""


class SelfAssessmentSettings(StrictModel):
    """The model rates its answer, by the prompt ``assessed`` (WeKnow-RAG, "Answer Generation with Self-Assessment")."""

    accepted: Annotated[tuple[Literal["high", "medium", "low"], ...], Field(min_length=1, strict=False)] = ("high",)
    """Answers with another level, or without one, are withheld."""


class ConfidenceSettings(StrictModel):
    """Answers if the expected score is positive: a right answer scores 1, a wrong one -1."""

    model: str
    """A file written by `python -m training.calibrate`: a name under `models/calibration/`, or a path to a .json."""
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    """P(correct) must be above this; at 0.5 answering and abstaining score the same."""


class AloneSettings(StrictModel):
    """Read the passages of each of the best `pages` alone, in a prompt of its own, and compare the answers (after
    RobustRAG, Xiang et al. 2024), where P(correct) without that is between `above` and `below`.
    """

    pages: Annotated[int, Field(ge=1, le=10)] = 2
    max_tokens: Annotated[int, Field(ge=50)] = 150
    """Of each page's passages."""
    above: Annotated[float, Field(ge=0, le=1)] = 0.0
    below: Annotated[float, Field(ge=0, le=1)] = 1.0


class AnsweringSettings(StrictModel):
    """The prompt and decoding of the answer, and the checks on it."""

    prompt: AnswerPromptName = "controlled"
    own_prompt: OwnPrompt | None = None
    """Instead of `prompt`, for answers from pages; not with `self_assessment`."""
    form: Literal["chat", "completion"] = "chat"
    """``completion``: plain text without a chat template, for base models such as NEC's Llama-2-70B."""
    word_limit: Annotated[int, Field(ge=1, le=75)] = 50
    """db3's token_limit, named in the prompt."""
    max_new_tokens: Annotated[int, Field(ge=1, le=1024)] = 75
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    adapter: str | None = None
    gates: Annotated[tuple[GateSettings, ...], Field(strict=False)] = ()
    refine: RefineSettings | None = None
    self_assessment: SelfAssessmentSettings | None = None
    alone: AloneSettings | None = None
    hints: dict[DomainName, str] = Field(default_factory=dict)
    """What the prompt ``assessed`` adds before a question of the router's domain (WeKnow-RAG, "Main results")."""
    compute: bool = False
    """Replace a formula by its value (WeKnow-RAG, "Answer Retrieval and Post-processing")."""
    confidence: ConfidenceSettings | None = None
    audit: bool = False
    """Also generate the answers that gates withhold, to measure them; the gates' answers are still given."""

    @model_validator(mode="after")
    def _assessment_is_asked_for(self) -> "AnsweringSettings":
        if (self.self_assessment is not None) != (self.prompt == "assessed"):
            raise ValueError("self_assessment and the prompt that asks for it, assessed, go together")
        if self.self_assessment and self.own_prompt is not None:
            raise ValueError("self_assessment reads what the prompt assessed asks for, not own_prompt")
        if self.hints and (self.prompt != "assessed" or self.adapter):
            raise ValueError("hints go with the prompt assessed, without an adapter: training knows no router's domain")
        return self


_SHARES_OF_THE_WEB = {"select_pages": 2.0, "extract": 4.0, "retrieve": 3.0, "rerank": 6.0, "generate": 12.0}
"""Constants: a preset makes the stages before them longer or shorter, and these divide what is left."""


class DeadlineSettings(StrictModel):
    """The clock of a batch of n questions: n times `seconds_per_query`, less a reserve, divided by relative shares.

    Only the stages whose work depends on the preset have a key: a router that asks the model, and writing calls.
    """

    seconds_per_query: Annotated[float, Field(gt=0)] = 30.0
    reserve_seconds: Annotated[float, Field(ge=0)] = 4.0
    route: Annotated[float, Field(gt=0)] = 1.0
    knowledge_graph: Annotated[float, Field(gt=0)] = 8.0
    answer_from_graph: Annotated[float, Field(gt=0)] = 6.0

    def shares(self, *, review: bool = True) -> dict[str, float]:
        """Relative weights of the stages in order; without `review` no second looks at answers."""
        own = {name: getattr(self, name) for name in ("route", "knowledge_graph", "answer_from_graph")}
        shares = own | {"review_graph": 3.0, "public_data": 1.0} | _SHARES_OF_THE_WEB | {"review": 6.0}
        return {name: share for name, share in shares.items() if review or not name.startswith("review")}


KG_VARIABLE = "CRAG_MOCK_API_URL"
"""Environment variable with the address of the graph's server; without it there is no knowledge graph (task 1)."""
_Domains = Annotated[tuple[DomainName, ...], Field(strict=False)]


# --- the web: pages to passages to context ---------------------------------------------------------------------------


class PageSelectionSettings(StrictModel):
    """Which search results are read (db3 3.1 and NEC 2.1: snippets rank 50 pages down to 5 in task 3)."""

    keep: Annotated[int, Field(ge=1, le=50)] = 5
    method: Literal["cross_encoder", "bm25", "search_order"] = "cross_encoder"
    with_page_name: bool = True
    """Score the page's name with its snippet. Otherwise, as in db3 and NEC, it only replaces a missing snippet."""
    max_days_before: PositiveInt | None = None
    """A question about this week, today or Tuesday is not answered from pages that were published longer before."""


class ExtractSettings(StrictModel):
    """How a page's HTML becomes text."""

    method: Literal["main_text", "beautifulsoup"] = "main_text"
    """``beautifulsoup``: the papers' choice. ``main_text`` drops boilerplate and is ten times faster."""
    labelled_tables: bool = False
    """With ``main_text``: write each cell of a table with its column's header."""
    page_seconds: Annotated[float, Field(gt=0, le=60)] = 4.0
    """A slower page is dropped; its worker process is killed."""
    workers: Annotated[int, Field(ge=0, le=64)] = 2
    """Number of processes; 0 extracts in this process, where a hanging page cannot be stopped."""
    max_word_characters: PositiveInt | None = None
    """Longer words are dropped (NEC 2.1: 30)."""
    english_only: bool = False
    """Drop lines that are mostly not English (NEC 2.1)."""


class Chunks(StrictModel):
    """Settings that all chunkers share."""

    searched_with: Annotated[tuple[Literal["page_name", "snippet"], ...], Field(strict=False)] = ()
    """Precedes chunks in retrieval and reranking, not in the context (WeKnow-RAG, "Multi-stage Retrieval")."""


class ParentChildChunks(Chunks):
    """Searches small child chunks; the model reads the parent around the hit (db3 2.2)."""

    method: Literal["parent_child"]
    parent_characters: Annotated[int, Field(ge=50, le=20_000)] = 700
    child_characters: Annotated[int, Field(ge=20, le=20_000)] = 200

    @model_validator(mode="after")
    def _child_fits(self) -> "ParentChildChunks":
        if self.child_characters > self.parent_characters:
            raise ValueError("child_characters must not exceed parent_characters")
        return self


class _Windows(Chunks):
    """Windows of words or tokens; the key of the size has the name of the method."""

    method: str
    overlap: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _moves_on(self) -> Self:
        if self.overlap >= getattr(self, self.method):
            raise ValueError(f"overlap must be smaller than {self.method}")
        return self


class WordChunks(_Windows):
    """Overlapping windows of words (NEC 2.1: 150 words, 25 of them shared)."""

    method: Literal["words"]
    words: Annotated[int, Field(ge=5, le=5_000)] = 150
    overlap: Annotated[int, Field(ge=0)] = 25


class TokenChunks(_Windows):
    """Windows of tokens of the dense encoder's tokenizer (WeKnow-RAG, ablation on chunk size: 500)."""

    method: Literal["tokens"]
    tokens: Annotated[int, Field(ge=8, le=8_192)] = 500


ChunkSettings = Annotated[ParentChildChunks | WordChunks | TokenChunks, Field(discriminator="method")]


class Bm25Stage(StrictModel):
    """Keep the `top_k` chunks with the best BM25 score; with `per_kind`, `top_k` page chunks and `top_k` snippets."""

    method: Literal["bm25"]
    top_k: PositiveInt
    per_kind: bool = False
    implementation: Literal["query_terms", "rank_bm25"] = "query_terms"


class DenseStage(StrictModel):
    """Keep the `top_k` chunks nearest to the query by cosine, or by fusion of this rank with that of BM25."""

    method: Literal["dense", "reciprocal_rank_fusion"]
    top_k: PositiveInt


class UnionStage(StrictModel):
    """Keep the best `sparse_k` chunks by BM25 and the best `dense_k` by cosine, each once (WeKnow-RAG, stage two)."""

    method: Literal["union"]
    sparse_k: PositiveInt
    dense_k: PositiveInt


RetrieveStage = Annotated[Bm25Stage | DenseStage | UnionStage, Field(discriminator="method")]


class RerankSettings(StrictModel):
    """The cross-encoder: keep the `top_k` most relevant of the retrieved passages."""

    top_k: PositiveInt
    max_pairs: PositiveInt | None = None
    """Score at most this many passages per question, best first; None: all."""


class ContextSettings(StrictModel):
    """How passages become the prompt's context."""

    max_tokens: Annotated[int, Field(ge=32, le=32_768)] = 4000
    """In tokens of the answering model (db3 2.4)."""
    order: Literal["best_first", "best_last"] = "best_first"
    """``best_last`` suits small models: the best page last, its best passage last; passages of a page share a mark."""


class WebSettings(StrictModel):
    """The web path: pages to passages to context."""

    after_graph: bool = False
    """Wait for the knowledge graph and read pages only for questions that it left open, on machines whose CPU also runs
    the language model. Otherwise pages are read in parallel."""
    pages: PageSelectionSettings = PageSelectionSettings()
    extract: ExtractSettings = ExtractSettings()
    chunk: ChunkSettings
    snippets: bool = False
    """Use search snippets as passages too."""
    largest_question_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """Drop passages that hold, with the page's name, this share of the question's words, and the one that asks, in any
    order: poisoned pages repeat a question to be found (PoisonedRAG, Zou et al. 2024). And those that say "invalid
    question": no page but an attacker's judges it."""
    retrieve: Annotated[tuple[RetrieveStage, ...], Field(min_length=1, strict=False)]
    rerank: RerankSettings | None = None
    context: ContextSettings = ContextSettings()


# --- the knowledge graph and shipped facts ----------------------------------------------------------------------------


class KgWriterSettings(StrictModel):
    """How a question becomes calls (db3 3.2, "API Generation")."""

    adapter: str | None = None
    """Name in `language_model.adapters` (db3's tuned API generator)."""
    examples: Annotated[int, Field(ge=0, le=40)] = 6
    """Examples shown per question."""
    selection: Literal["similar", "fixed"] = "similar"
    """``similar``: the nearest of the bank; ``fixed``: the same for every question (db3)."""
    fixed_examples: str = "agents/kg/writing/fixed"
    """Folder from ``python -m training.choose_examples``, relative to the repository."""
    form: Literal["completion", "chat"] = "completion"
    """``chat``: an instruction through the chat template (db3 C.3); ``completion``: a text to continue, for small
    models. `benchmarks.kg_writing` compares them for a model."""
    schema_in_prompt: bool = True
    """Show tables, keys and rules; a tuned model does not need them."""
    schema_detail: Literal["names", "described"] = "names"
    """``names``: keys in one line, short rules. ``described``: type and meaning of each key, each rule (db3 C.3)."""
    grammar: bool = True
    """Constrain the output by the language's grammar if the engine can."""
    names_from_question: _Domains = ()
    """Domains whose grammar allows only names from the question, word for word: small models copy names wrongly."""
    repair: bool = True
    """Repeat the request, with the error, if the output cannot be parsed."""
    max_new_tokens: Annotated[int, Field(ge=16, le=512)] = 128


class KnowledgeGraphSettings(StrictModel):
    """The knowledge-graph path: question -> calls -> facts -> answer."""

    writer: KgWriterSettings = KgWriterSettings()
    max_fact_tokens: Annotated[int, Field(ge=32, le=8_192)] = 800
    """Longer facts are cut; in tokens of the answering model."""
    source_policy: Literal["graph_first", "synthesis"] = "graph_first"
    """``graph_first``: the graph answers unless it says "i don't know" (db3 3.1). ``synthesis``: one answer from both;
    the graph's facts come first if the answer changes slowly or never (WeKnow-RAG, "Integrated method")."""
    direct_answers: bool = False
    """A single value of the graph is the answer, without the model."""
    derived_answers: bool = False
    """Rules compute answers from the graph's values (WeKnow-RAG, "Answer Retrieval and Post-processing")."""
    answer_prompt: AnswerPromptName = "graph"
    answer_adapter: str | None = None
    """Prompt and adapter of answers from the graph's facts (db3 3.3)."""
    graph_only_domains: _Domains = ()
    """Domains whose questions are never answered from the web (the USTC team: sports and finance)."""
    answer_not_found: bool = False
    """Also ask the model where the graph has nothing, with what was asked: db3's tuned answerer knows from it when a
    question is invalid (3.3)."""
    ask_above: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Write no calls for a question whose probability of an answer in the graph's tables is not above this."""
    invalid_without_game: bool = False
    """Answer "invalid question" if a dated sports question matches no game, without asking the model."""
    drop_doubtful_calls: bool = True
    """Drop calls with a date for which the question gives no reason: small models copy dates from the examples."""


LinkLevel = Literal["exact", "substring", "similarity"]


class LinkSettings(StrictModel):
    """How much a mention may differ from a name in the tables (db3 2.3: from strict to lenient, by domain)."""

    level: LinkLevel = "exact"
    """Each level includes the stricter ones."""
    minimum_similarity: Annotated[float, Field(ge=-1, le=1)] = 0.8
    """Lowest cosine of the vectors of two equal names (level ``similarity``). With bge-small-en-v1.5 and one typo a
    name, 0.8 links 38 % of films and awards correctly and 2 % wrongly, of companies 33 % and 23 %."""


class PublicDataSettings(StrictModel):
    """Facts shipped with the submission, and how to find them (db3 2.3)."""

    tables: str | None = None
    """Folder made by ``python -m agents.public_data build``, relative to the repository; None: the shipped one."""
    method: Literal["prompt", "spans"] = "prompt"
    """``prompt``: the language model names entities, with a prompt for the router's domain (db3). ``spans``: finds
    names of the tables in the question."""
    links: dict[Literal["movie", "music", "finance"], LinkSettings] = Field(default_factory=dict)
    """By domain; other domains need exact names."""
    max_entities: PositiveInt = 4
    """At most this many paragraphs per question."""
    max_items: PositiveInt = 12
    """Longer lists in a paragraph are cut."""
    max_new_tokens: Annotated[int, Field(ge=4, le=256)] = 64
    """For the entities of one question (method ``prompt``)."""


# --- the whole agent --------------------------------------------------------------------------------------------------


_ADAPTER_USERS = (
    "answering.adapter", "router.adapter", "knowledge_graph.writer.adapter",
    "knowledge_graph.answer_adapter",
)  # fmt: skip
"""Keys that name one of the engine's adapters."""
_PLACED = ("language_model", "dense_encoder", "cross_encoder", "router")
"""Parts that may run on a GPU."""


class Settings(StrictModel):
    """All settings of one system."""

    name: str = ""
    description: str
    batch_size: Annotated[int, Field(ge=1, le=16)] = 16
    language_model: LanguageModelSettings
    tuned: bool = True
    """False: use the base model without adapters, with the keys of `untuned`."""
    untuned: dict[str, Any] = Field(default_factory=dict)
    """Tables that replace the preset's if it is not tuned: the prompts and the abstention of a base model."""
    device: str | None = None
    """The device of all parts for which the preset names one: ``cuda:0`` one GPU, ``cpu`` the CPU, in float32."""
    dense_encoder: DenseEncoderSettings | None = None
    cross_encoder: CrossEncoderSettings | None = None
    router: RouterSettings | None = None
    """None: questions are not classified."""
    web: WebSettings
    knowledge_graph: KnowledgeGraphSettings | None = None
    """None: the graph is not used, even if the evaluator offers one."""
    public_data: PublicDataSettings | None = None
    """None: no shipped facts (tasks 2 and 3 of db3)."""
    answering: AnsweringSettings = AnsweringSettings()
    deadline: DeadlineSettings = DeadlineSettings()

    @property
    def graph_answering(self) -> AnsweringSettings:
        """The settings for answers from the graph's facts: `answering` with the graph's prompt and adapter."""
        graph = self.knowledge_graph or KnowledgeGraphSettings()
        changed = {"prompt": graph.answer_prompt, "own_prompt": None, "adapter": graph.answer_adapter}
        return self.answering.model_copy(update=changed)

    @property
    def needs_gpu(self) -> bool:
        """Whether the preset needs a GPU."""
        return needs_gpu(self.model_dump())

    @property
    def adapters_used(self) -> dict[str, str | None]:
        """Key -> the adapter that it names, for every stage that uses the language model."""
        used: dict[str, str | None] = {}
        for place in _ADAPTER_USERS:
            part: Any = self
            for name in place.split("."):
                part = getattr(part, name, None)
            used[place] = part
        return used

    @model_validator(mode="before")
    @classmethod
    def _apply_tuned_and_device(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        if data.get("tuned") is False:
            for place in ("language_model.adapters", *_ADAPTER_USERS):
                data = _without(data, place.split("."))
        if isinstance(device := data.get("device"), str):
            data = {key: _moved(value, device) if key in _PLACED else value for key, value in data.items()}
        return data

    @model_validator(mode="after")
    def _has_the_parts_it_uses(self) -> "Settings":
        web = self.web
        links = self.public_data.links.values() if self.public_data else ()
        if self.dense_encoder is None:
            if any(stage.method != "bm25" for stage in web.retrieve):
                raise ValueError("dense_encoder is missing, but web.retrieve uses it")
            if web.chunk.method == "tokens":
                raise ValueError("dense_encoder is missing, but web.chunk counts tokens with it")
            if any(link.level == "similarity" for link in links):
                raise ValueError("dense_encoder is missing, but a level of public_data.links is similarity")
        if self.cross_encoder is None and (web.rerank or web.pages.method == "cross_encoder"):
            raise ValueError("cross_encoder is missing, but web.rerank or web.pages uses it")
        for key, adapter in self.adapters_used.items():
            if adapter is not None and adapter not in self.language_model.adapters:
                raise ValueError(f"{key} {adapter!r} is not among language_model.adapters")
        return self

    @model_validator(mode="after")
    def _knows_what_gates_and_sources_read(self) -> "Settings":
        for gate in self.answering.gates:
            if isinstance(gate, ClassGate):
                self._check_route_field(gate.field, f"the gate {gate.name!r} compares it")
                if gate.above is not None and self.router is not None and self.router.engine == "prompt":
                    raise ValueError(
                        f"the gate {gate.name!r} has the key above, but a router with a prompt gives no probabilities"
                    )
            elif self.web.rerank is None:
                raise ValueError(
                    "a gate on top_passage needs web.rerank, whose score it compares; answering.gates=[] removes gates"
                )
        if self.answering.hints:
            self._check_route_field("domain", "answering.hints go by it")
        if self.public_data is not None and self.public_data.method == "prompt":
            self._check_route_field("domain", "public_data.method is prompt")
        if graph := self.knowledge_graph:
            if graph.source_policy == "synthesis":
                self._check_route_field("static_or_dynamic", "knowledge_graph.source_policy is synthesis")
            if graph.answer_prompt == "assessed" and self.answering.self_assessment is None:
                raise ValueError("knowledge_graph.answer_prompt assessed needs answering.self_assessment")
            if graph.ask_above is not None:
                self._check_route_field(ANSWERABLE_FROM, "knowledge_graph.ask_above goes by it")
        return self

    def _check_route_field(self, field: str, user: str) -> None:
        """The folders of trained classifiers name their fields; `agents.questions` checks them."""
        if self.router is None:
            raise ValueError(f"router is missing, but {user}, which needs a router that gives {field}")
        if self.router.engine == "prompt" and field not in self.router.fields:
            fields = " and ".join(self.router.fields)
            raise ValueError(f"router.prompt {self.router.prompt} gives {fields}, not {field}, but {user}")


def _without(data: Mapping[str, Any], place: Sequence[str]) -> dict[str, Any]:
    """The preset's tables without one key."""
    first, *rest = place
    if not rest:
        return {key: value for key, value in data.items() if key != first}
    inner = data.get(first)
    return {**data, first: _without(inner, rest)} if isinstance(inner, Mapping) else dict(data)


def _moved(part: object, device: str) -> object:
    """A part's table with another device, if it names one."""
    if not isinstance(part, Mapping) or "device" not in part:
        return part
    in_full = {"dtype": "float32"} if device == "cpu" and "dtype" in part else {}
    return {**part, "device": device, **in_full}


# --- loading ----------------------------------------------------------------------------------------------------------


PRESET_VARIABLE = "CRAG_PRESET"
"""Environment variable that overrides the preset of `agents/presets/active.toml`."""
DEFAULT_PRESET = "cpu"
OVERRIDES_VARIABLE = "CRAG_SETTINGS"
"""Environment variable with changes to the preset, one TOML line ``key = value`` each."""
_BARE_WORD = re.compile(r"^(?P<key>[^=]+)=\s*(?!(?:true|false|inf|nan)\s*$)(?P<word>[A-Za-z/.~][\w./~:-]*)\s*$")
"""A name, path or address without quotes. Numbers and dates of TOML start with a digit or a sign."""
_WRONG_KEY = "[key]"
"""The last part of pydantic's location if the key, not the value, is wrong."""

Model = TypeVar("Model", bound=StrictModel)


def active_preset() -> str:
    """The active preset: environment `CRAG_PRESET`, else the line of `agents/presets/active.toml`."""
    from_environment = os.environ.get(PRESET_VARIABLE, "").strip()
    if from_environment:
        return from_environment
    path = PRESETS / "active.toml"
    name = _read(path).get("preset")
    if not isinstance(name, str):
        raise SettingsError(f'{path}: key "preset": found {name!r}, allowed: one of {", ".join(available_presets())}')
    return name


def usual_preset() -> str:
    """The preset of commands if none is named: environment `CRAG_PRESET`, else the one for any laptop."""
    return os.environ.get(PRESET_VARIABLE, "").strip() or DEFAULT_PRESET


def load_settings(preset: str | Path | None = None, overrides: Sequence[str] | None = None) -> Settings:
    """Settings of a shipped preset by name, of a TOML file by path, or of the active preset.

    `overrides` change single keys; each is a TOML line such as ``answering.word_limit = 20`` or, to remove a part,
    ``knowledge_graph = none``. None: the lines of the environment variable `CRAG_SETTINGS`. Raises SettingsError.
    """
    chosen = preset if preset is not None else active_preset()
    path = needed.preset_file(chosen)
    if not path.is_file():
        raise SettingsError(f"there is no preset {str(chosen)!r}; shipped presets: {', '.join(available_presets())}")
    lines = os.environ.get(OVERRIDES_VARIABLE, "").splitlines() if overrides is None else overrides
    return read_settings(Settings, path, lines, name=path.stem)


def read_settings(model: type[Model], path: Path, overrides: Sequence[str] = (), **fixed: object) -> Model:
    """The TOML file with the overrides as a settings model; `fixed` are values that files cannot set.
    Raises SettingsError: names file, key, the value found and the values allowed, one fault a line.
    """
    data = needed.with_changes(_read(path), [parse_override(line) for line in overrides if line.strip()])
    try:
        return model.model_validate({**data, **fixed})
    except ValidationError as error:
        raise SettingsError(_explain(model, path, error)) from None


def quoted_override(line: str) -> str:
    """``KEY=VALUE`` of `--set` as a TOML line; names and paths need no quotes, which a shell would remove."""
    return _BARE_WORD.sub(r'\g<key>="\g<word>"', line)


def parse_override(line: str) -> dict[str, Any]:
    """The tables of one ``KEY=VALUE``. Raises SettingsError: not a TOML line."""
    try:
        return tomllib.loads(quoted_override(line))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"the override {line!r} is not a line of TOML ({error}); allowed: KEY=VALUE such as "
            f"answering.word_limit=20, answering.prompt=basic or knowledge_graph=none"
        ) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        return needed.read_tables(path)
    except ValueError as error:
        raise SettingsError(str(error)) from None


def _explain(model: type[StrictModel], path: Path, error: ValidationError) -> str:
    schema = model.model_json_schema()
    lines = []
    for fault in error.errors(include_url=False):
        key, siblings = _place(schema, fault["loc"])
        message = fault["msg"]
        if fault["type"] == "extra_forbidden":
            message = f"unknown key; allowed keys: {', '.join(siblings)}"
        elif fault["type"] not in {"missing", "value_error"}:
            message += f" (found {fault['input']!r})"
        lines.append(f'{path}: key "{key}": {message}')
    return "\n".join(lines)


def _place(schema: dict[str, Any], location: tuple[int | str, ...]) -> tuple[str, list[str]]:
    """The key of a fault as in the file, and all keys that its table may have.

    Pydantic's location has a union's tag before the key. The schema says which parts are tags, because a tag such as
    ``score`` may also be the name of a key.
    """
    parts: list[str] = []
    node, siblings = schema, list[str]()
    for part in location:
        while "$ref" in node or "anyOf" in node:
            target = node.get("$ref") or next(o for o in node["anyOf"] if o.get("type") != "null")
            node = schema["$defs"][target.rsplit("/", 1)[1]] if isinstance(target, str) else target
        if "discriminator" in node:
            node = {"$ref": node["discriminator"]["mapping"][part]}
            continue
        if part == _WRONG_KEY:
            break
        parts.append(str(part))
        keys = node.get("properties", {})
        siblings = sorted(keys)
        of_all = node.get("items") if isinstance(part, int) else node.get("additionalProperties")
        node = keys.get(part) or (of_all if isinstance(of_all, dict) else {})
    return ".".join(parts) or "(whole file)", siblings


# --- weights ----------------------------------------------------------------------------------------------------------


def needed_weights(
    settings: Settings,
    *,
    manifest: Manifest | None = None,
    repository: Path = needed.REPOSITORY,
    cache: Path | None = None,
) -> needed.NeededWeights:
    """The weights that the settings name; see `models.needed.needed_weights`."""
    return needed.needed_weights(settings.model_dump(), manifest=manifest, repository=repository, cache=cache)


def require_weights(settings: Settings) -> None:
    """Check that all weights of the settings exist; loads none.
    Raises WeightsMissingError: one line names all missing weights and the command that gets them.
    """
    wanted = needed_weights(settings, repository=needed.REPOSITORY)
    found = {name: find(name) for name in wanted.models if name != needed.TRIM_TOKENIZER}
    missing = {name: place for name, place in found.items() if place.problem}
    lost = [folder for folder in wanted.folders if folder.problem]
    if not missing and not lost:
        return
    parts = []
    if missing:
        preset = needed.read_preset(settings.name)
        of_preset = needed.needed_weights(preset).models if preset is not None else {}
        names = settings.name if missing.keys() <= of_preset.keys() else " ".join(missing)
        to = " --to models/weights" if any(place.checked_in for place in missing.values()) else ""
        parts = ["; ".join(f"weights of {name}: {place.problem}" for name, place in missing.items())]
        parts.append(f"Get them with: python -m models.fetch {names}{to}")
    parts += [str(folder.problem) for folder in lost]
    if any(folder.kind == "adapter" for folder in lost):
        parts.append("Or run without adapters: --set tuned=false")
    raise WeightsMissingError(f"preset {settings.name}: {'. '.join(parts)}")
