"""Settings of the web path: pages to passages to context."""

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from crag.settings.base import StrictModel


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
    """``main_text``: without boilerplate. ``beautifulsoup``: all visible text, as in the papers; ten times slower."""
    labelled_tables: bool = False
    """With ``main_text``: write each cell of a table with its column's header."""
    page_seconds: Annotated[float, Field(gt=0, le=60)] = 4.0
    """A slower page is dropped; its worker process is killed."""
    workers: Annotated[int, Field(ge=0, le=64)] = 2
    """Most processes that extract at once: no more than the machine has cores, except that two may always run. 0
    extracts in this process, where a hanging page cannot be stopped."""
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
    def _overlap_is_smaller_than_the_window(self) -> Self:
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
    largest_gap: Annotated[float, Field(gt=0)] | None = None
    """Leave out passages whose logit of the cross-encoder is more than this below that of the best: they cost seconds
    and rarely hold the answer. None: leave out none."""


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
    """Drop passages that repeat the question as a question, in the text or in the page's name: this share of its words,
    in its order. Poisoned pages do so to be found (PoisonedRAG, Zou et al. 2024). Also drop passages that say "invalid
    question": only an attacker's page judges the question. None: drop nothing, as for pages that the user chose."""
    retrieve: Annotated[tuple[RetrieveStage, ...], Field(min_length=1, strict=False)]
    rerank: RerankSettings | None = None
    context: ContextSettings = ContextSettings()
