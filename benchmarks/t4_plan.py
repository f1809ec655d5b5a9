"""Will it fit in 30 seconds a question on four T4? Memory and time of a batch of 16, from measured token counts.

    python -m benchmarks.t4_plan [--dataset FILE] [--preset submission] [--out FILE]

The front half runs for real on the dataset's pages with the preset's own settings and counts every token that would
go through an encoder, a cross-encoder or the language model. The encoder is the small one of the cpu preset (same
pages, same chunks; bge-base has the same BERT vocabulary), the language model's tokens are counted with the tokenizer
of the cpu preset. Times are arithmetic: operations over the assumed share of the card's peak for reading prompts,
bytes of weights over the assumed share of its memory bandwidth for writing answers. Nothing here ran on a T4.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from agents.answering.prompts import PROMPTS
from agents.contracts import Query
from agents.datasets import read_rows
from agents.deadline import BatchClock, Deadline
from agents.encoders import BatchedDenseEncoder, load_dense_encoder
from agents.encoders.base import Vectors
from agents.llm import load_language_model
from agents.queries import parse_row
from agents.settings import Settings, VllmEngine, load_settings
from agents.web import WebPath
from evaluation.real_evaluator import SECONDS_PER_QUERY

BATCH = 16
GIB = 2**30
PCIE_BYTES_PER_SECOND = 6e9
"""Assumed for T4 in a g4dn machine: PCIe 3.0, no NVLink."""


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU's figures from its maker's data sheet, and the shares of them that we dare to count on."""

    name: str
    memory_gib: float
    half_tflops: float
    bandwidth_gb: float
    compute_share: float
    bandwidth_share: float


T4 = Card("NVIDIA T4", 15.0, 65.0, 320.0, 0.35, 0.70)
"""65 TFLOPS of half-precision tensor operations and 320 GB/s (NVIDIA T4 data sheet); the 16 GB card shows 15.0 GiB to
programs. 0.35 and 0.70 are cautious assumptions: a 70 W card lowers its clock under load."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model's shape, from its published configuration."""

    name: str
    parameters: float
    active_parameters: float
    """Parameters that each token passes through: without the embedding table, which is only looked up."""
    key_value_bytes_per_token: int = 0


LLAMA_3_8B = Model("Llama-3-8B-Instruct", 8.03e9, 7.50e9, 2 * 32 * 8 * 128 * 2)
"""32 layers, 8 key/value heads of 128, two bytes: 131,072 bytes a token."""
BGE_BASE = Model("bge-base-en-v1.5", 109e6, 85e6)
BGE_RERANKER = Model("bge-reranker-v2-m3", 568e6, 303e6)


@dataclass(slots=True)
class Workload:
    """What a batch asks of the models, in tokens that a model reads (padding not counted)."""

    questions: int = 0
    pages_read: int = 0
    encoder_texts: int = 0
    encoder_tokens: int = 0
    reranker_pairs: int = 0
    reranker_tokens: int = 0
    prompt_tokens: int = 0
    front_half_seconds_on_cpu: float = 0.0
    """Extraction and chunking alone: what stays on the evaluator's CPU."""


class CountingDense:
    """A dense encoder that notes what it is asked to read."""

    def __init__(self, inner: BatchedDenseEncoder, max_tokens: int, load: Workload) -> None:
        self._inner, self._max_tokens, self._load = inner, max_tokens, load

    def warm_up(self) -> None:
        """Load the encoder behind."""
        self._inner.warm_up()

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Note and pass on."""
        self._note(texts)
        return self._inner.encode_queries(texts)

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Note and pass on."""
        self._note(texts)
        return self._inner.encode_passages(texts, deadline)

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """As the encoder behind."""
        return self._inner.token_offsets(text)

    def count(self, text: str) -> int:
        """Tokens of a text as this model reads it, its two marks included."""
        return min(self._max_tokens, len(self.token_offsets(text)) + 2)

    def _note(self, texts: Sequence[str]) -> None:
        self._load.encoder_texts += len(texts)
        self._load.encoder_tokens += sum(map(self.count, texts))


class CountingCross:
    """A cross-encoder that notes what it is asked to read and ranks by the order in which it is asked."""

    def __init__(self, tokens: CountingDense, max_tokens: int, load: Workload) -> None:
        self._tokens, self._max_tokens, self._load = tokens, max_tokens, load

    def warm_up(self) -> None:
        """Nothing to load."""

    def score(self, pairs: Sequence[tuple[str, str]], deadline: Deadline | None = None) -> list[float | None]:
        """Falling numbers: counting needs no relevance, and the small model's would cost minutes."""
        self._load.reranker_pairs += len(pairs)
        self._load.reranker_tokens += sum(
            min(self._max_tokens, self._tokens.count(query) + self._tokens.count(text)) for query, text in pairs
        )
        return [-float(place) for place in range(len(pairs))]


def measure(settings: Settings, queries: Sequence[Query]) -> Workload:
    """Run the front half of the preset on the queries and count; the encoders are those of the cpu preset."""
    small = load_settings("cpu")
    if small.dense_encoder is None or settings.dense_encoder is None or settings.cross_encoder is None:
        raise SystemExit("t4_plan: the preset needs a dense encoder and a cross-encoder")
    load = Workload(questions=len(queries))
    dense = CountingDense(load_dense_encoder(small.dense_encoder), settings.dense_encoder.max_tokens, load)
    cross = CountingCross(dense, settings.cross_encoder.max_tokens, load)
    model = load_language_model(small.language_model)
    web = WebPath(settings.web, dense, cross, model)
    web.warm_up()
    prompt = PROMPTS[settings.answering.prompt]
    for start in range(0, len(queries), BATCH):
        some = queries[start : start + BATCH]
        clock = BatchClock(24 * 3600, 0, settings.deadline.shares())
        for query, evidence in zip(some, web.prepare(some, clock), strict=True):
            load.pages_read += evidence.pages_read
            turns = prompt.render(
                token_limit=settings.answering.word_limit,
                query_time=query.query_time,
                context=evidence.context,
                query=query.text,
            )
            load.prompt_tokens += sum(model.count_tokens(turn.content) + 8 for turn in turns)
        load.front_half_seconds_on_cpu += clock.seconds["extract"]
    web.close()
    return load


def as_task_3(queries: Sequence[Query], pages_per_question: int = 50) -> list[Query]:
    """The same questions with 50 search results each: their own first, then those of the others in turn."""
    pool = [page for query in queries for page in query.pages]
    grown = []
    for query in queries:
        own = {page.url for page in query.pages}
        others = [page for page in pool if page.url not in own]
        pages = [*query.pages, *others][:pages_per_question]
        ranked = tuple(replace(page, rank=rank) for rank, page in enumerate(pages))
        grown.append(replace(query, pages=ranked))
    return grown


def reading_seconds(model: Model, tokens: float, cards: int = 1, card: Card = T4) -> float:
    """Two operations per active parameter and token, over the share of the cards' peak that we count on."""
    return 2 * model.active_parameters * tokens / (cards * card.half_tflops * 1e12 * card.compute_share)


def writing_seconds(model: Model, steps: float, cards: int = 1, card: Card = T4) -> float:
    """Each step reads all weights (two bytes each) once, whatever the number of sequences in the batch."""
    return steps * 2 * model.parameters / (cards * card.bandwidth_gb * 1e9 * card.bandwidth_share)


def exchange_seconds(tokens: float, cards: int) -> float:
    """Tensor parallelism adds up activations (4,096 values of two bytes) twice in each of 32 layers, over PCIe."""
    return 0.0 if cards == 1 else 32 * 2 * tokens * 4096 * 2 / PCIE_BYTES_PER_SECOND


def memory_rows(settings: Settings, prompt_tokens: float) -> list[tuple[str, str, float]]:
    """(GPU, what lies there, GiB) by arithmetic, half precision."""
    engine = settings.language_model
    cards = engine.tensor_parallel_size if isinstance(engine, VllmEngine) else 1
    new_tokens = settings.answering.max_new_tokens
    cache = BATCH * (prompt_tokens + new_tokens) * LLAMA_3_8B.key_value_bytes_per_token / cards / GIB
    return [
        (f"each of {cards}", f"{LLAMA_3_8B.name} weights", 2 * LLAMA_3_8B.parameters / cards / GIB),
        (f"each of {cards}", f"keys and values of {BATCH} prompts", cache),
        ("one", BGE_BASE.name, 2 * BGE_BASE.parameters / GIB),
        ("one", BGE_RERANKER.name, 2 * BGE_RERANKER.parameters / GIB),
    ]


def time_rows(settings: Settings, load: Workload, calls: bool) -> list[tuple[str, float]]:
    """(what, seconds) for a batch of 16 questions. `calls` adds what tasks 2 and 3 spend on the knowledge graph."""
    engine = settings.language_model
    cards = engine.tensor_parallel_size if isinstance(engine, VllmEngine) else 1
    scale = BATCH / load.questions
    new_tokens = settings.answering.max_new_tokens
    rows = [
        ("extract and chunk (CPU, measured here)", load.front_half_seconds_on_cpu * scale),
        ("dense encoder", reading_seconds(BGE_BASE, load.encoder_tokens * scale)),
        ("cross-encoder", reading_seconds(BGE_RERANKER, load.reranker_tokens * scale)),
        ("read the prompts", reading_seconds(LLAMA_3_8B, load.prompt_tokens * scale, cards)),
        ("exchange between the cards while reading", exchange_seconds(load.prompt_tokens * scale, cards)),
        (f"write {new_tokens} tokens, all 16 together", writing_seconds(LLAMA_3_8B, new_tokens, cards)),
    ]
    if calls:
        rows += [
            ("knowledge graph: read 16 writer prompts of 2,500 tokens", reading_seconds(LLAMA_3_8B, 40_000, cards)),
            ("knowledge graph: write 80 tokens of calls", writing_seconds(LLAMA_3_8B, 80, cards)),
            ("knowledge graph: server, 16 concurrent questions (assumed)", 4.0),
            ("knowledge graph: read 16 answer prompts of 800 tokens", reading_seconds(LLAMA_3_8B, 12_800, cards)),
            ("knowledge graph: write 75 tokens", writing_seconds(LLAMA_3_8B, 75, cards)),
        ]
    return rows


def report(settings: Settings, dataset: Path, limit: int | None) -> dict[str, Any]:
    """Measure both shapes of question, print the tables, and return all figures."""
    rows = read_rows(dataset, limit)
    keys = ("interaction_id", "query", "search_results", "query_time")
    queries = [parse_row(*(row.get(key) for key in keys)) for row in rows]
    budget = BATCH * SECONDS_PER_QUERY
    figures: dict[str, Any] = {"dataset": dataset.name, "preset": settings.name, "card": asdict(T4), "tasks": {}}
    five, fifty = measure(settings, queries), measure(settings, as_task_3(queries))
    for task, load, calls in (("task 1", five, False), ("task 2", five, True), ("task 3", fifty, True)):
        per_question = load.prompt_tokens / load.questions
        times = time_rows(settings, load, calls)
        total = sum(seconds for _, seconds in times)
        figures["tasks"][task] = {"workload": asdict(load), "seconds": dict(times), "total": total}
        print(f"\n### {task}, {settings.name}, a batch of {BATCH}\n")
        print(
            f"Measured per question on {dataset.name}: {load.pages_read / load.questions:.1f} pages read, "
            f"{load.encoder_texts / load.questions:.0f} texts ({load.encoder_tokens / load.questions:,.0f} tokens) "
            f"encoded, {load.reranker_pairs / load.questions:.0f} pairs ({load.reranker_tokens / load.questions:,.0f} "
            f"tokens) reranked, {per_question:,.0f} prompt tokens.\n"
        )
        print("| step | seconds |\n|---|---:|")
        for what, seconds in times:
            print(f"| {what} | {seconds:.1f} |")
        print(f"| **all, one after another** | **{total:.1f} of {budget:.0f}** |")
    print("\n### memory\n\n| GPU | what | GiB |\n|---|---|---:|")
    for gpu, what, size in memory_rows(settings, fifty.prompt_tokens / fifty.questions):
        print(f"| {gpu} | {what} | {size:.1f} |")
    tokens = BATCH * five.prompt_tokens / five.questions
    one_by_one = reading_seconds(LLAMA_3_8B, tokens) + BATCH * writing_seconds(LLAMA_3_8B, 75)
    together = reading_seconds(LLAMA_3_8B, tokens, 2) + exchange_seconds(tokens, 2) + writing_seconds(LLAMA_3_8B, 75, 2)
    figures["batched_over_one_by_one"] = one_by_one / together
    print(
        f"\nOne question after another, the layers spread over the cards so that one works at a time (how db3 ran): "
        f"{one_by_one:.0f} s for the answers of a batch. All 16 together on two cards: {together:.0f} s, "
        f"{one_by_one / together:.1f} times less."
    )
    return figures


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, default=Path("data/sample/questions.jsonl"))
    parser.add_argument("--preset", default="submission")
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--out", type=Path, default=None, help="write all figures as JSON")
    arguments = parser.parse_args()
    figures = report(load_settings(arguments.preset), arguments.dataset, arguments.limit)
    if arguments.out:
        arguments.out.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
