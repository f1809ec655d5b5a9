"""Sources: web pages, the knowledge graph, and facts shipped with a submission."""

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from agents.settings.answering import AnswerPromptName
from agents.settings.base import StrictModel

KG_VARIABLE = "CRAG_MOCK_API_URL"
"""Environment variable with the address of the graph's server; without it there is no knowledge graph (task 1)."""
_Domains = Annotated[tuple[Literal["movie", "finance", "music", "sports", "open"], ...], Field(strict=False)]


# --- the web: pages to passages to context ---------------------------------------------------------------------------


class PageSelectionSettings(StrictModel):
    """Which search results are read (db3 3.1 and NEC 2.1: snippets rank 50 pages down to 5 in task 3)."""

    keep: Annotated[int, Field(ge=1, le=50)] = 5
    method: Literal["cross_encoder", "bm25", "search_order"] = "cross_encoder"
    with_page_name: bool = True
    """Score the page's name with its snippet. Otherwise, as in db3 and NEC, it only replaces a missing snippet."""


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
    """``best_last`` suits small models."""


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
    invalid_without_game: bool = False
    """Answer "invalid question" if a dated sports question matches no game: evidence of a false premise (db3)."""


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
