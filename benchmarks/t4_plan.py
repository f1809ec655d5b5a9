"""Will it fit in 30 seconds a question on four T4? Memory and time of a preset's batch, from measured token counts.

    python -m benchmarks.t4_plan [--dataset FILE] [--preset submission] [--out FILE]

Works for every preset that needs GPUs; exit code 1 where it does not fit (preflight refuses it, too).

The front half runs for real on the dataset's pages with the preset's own settings and counts every token that would
go through an encoder, a cross-encoder or the language model. The encoder is the small one of the cpu preset (same
pages, same chunks; bge has the same BERT vocabulary), the language model's tokens are counted with the tokenizer of the
cpu preset. Memory is `evaluation.gpu_plan`. Times are arithmetic: operations over the assumed share of the card's peak
for reading prompts, bytes of weights over the assumed share of its memory bandwidth for writing answers. Nothing here
ran on a T4.
"""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from agents.answering.prompts import PROMPTS
from agents.contracts import Query
from agents.deadline import BatchClock, Deadline
from agents.encoders import BatchedDenseEncoder, load_dense_encoder
from agents.encoders.base import Vectors
from agents.llm import load_language_model
from agents.queries import parse_row
from agents.settings import PromptRouter, Settings, SettingsError, TransformersEngine, VllmEngine, load_settings
from agents.web import WebPath
from evaluation.datasets import DatasetError, read_rows
from evaluation.gpu_plan import Plan, plan
from evaluation.real_evaluator import GPU_MEMORY_GIB, SECONDS_PER_QUERY
from models.manifest import load_manifest
from models.shapes import Shape

LONGEST = 512
"""Tokens that a text has at most where the preset has no encoder that says it."""
ROUTE_TOKENS = 400
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


AWQ_COMPUTE_SHARE = 0.5
"""Assumed: what is left of the reading speed where 4-bit weights are unpacked for each use."""
T4 = Card("NVIDIA T4", GPU_MEMORY_GIB, 65.0, 320.0, 0.35, 0.70)
"""65 TFLOPS of half-precision tensor operations and 320 GB/s (NVIDIA T4 data sheet); the 16 GB card shows 15.0 GiB to
programs. 0.35 and 0.70 are cautious assumptions: a 70 W card lowers its clock under load."""


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
    if small.dense_encoder is None:
        raise SystemExit("t4_plan: the cpu preset has no dense encoder to count with")
    load = Workload(questions=len(queries))
    longest = settings.dense_encoder.max_tokens if settings.dense_encoder is not None else LONGEST
    dense = CountingDense(load_dense_encoder(small.dense_encoder), longest, load)
    cross = CountingCross(dense, settings.cross_encoder.max_tokens if settings.cross_encoder else LONGEST, load)
    model = load_language_model(small.language_model)
    web = WebPath(
        settings.web, dense if settings.dense_encoder else None, cross if settings.cross_encoder else None, model
    )
    web.warm_up()
    prompt = PROMPTS[settings.answering.prompt]
    for start in range(0, len(queries), settings.batch_size):
        some = queries[start : start + settings.batch_size]
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


def reading_seconds(shape: Shape, tokens: float, cards: int = 1, card: Card = T4) -> float:
    """Two operations per active parameter and token, over the share of the cards' peak that we count on."""
    share = card.compute_share * (AWQ_COMPUTE_SHARE if shape.awq_group else 1.0)
    return 2 * shape.active_parameters * tokens / (cards * card.half_tflops * 1e12 * share)


def writing_seconds(shape: Shape, steps: float, cards: int = 1, card: Card = T4) -> float:
    """Each step reads all weights once, whatever the number of sequences in the batch."""
    return steps * shape.weight_bytes() / (cards * card.bandwidth_gb * 1e9 * card.bandwidth_share)


def exchange_seconds(shape: Shape, tokens: float, cards: int) -> float:
    """Tensor parallelism adds up activations (two bytes each) twice in each layer, over PCIe."""
    return 0.0 if cards == 1 else shape.layers * 2 * tokens * shape.hidden * 2 / PCIE_BYTES_PER_SECOND


def shape_of(name: str) -> Shape:
    """The shape of a model of the manifest."""
    entry = load_manifest().models.get(name)
    if entry is None or entry.shape is None:
        raise SystemExit(f"t4_plan: models/manifest.toml gives no shape of {name}, the numbers of its config.json")
    return entry.shape


@dataclass(frozen=True, slots=True)
class Writer:
    """The language model and how it runs.

    `cards` work side by side on one step (tensor parallelism); layers spread over cards work one after another.
    `together` prompts are answered at once.
    """

    shape: Shape
    cards: int
    together: int

    def read(self, tokens: float) -> float:
        """Seconds to read the prompts of a batch."""
        return reading_seconds(self.shape, tokens, self.cards) + exchange_seconds(self.shape, tokens, self.cards)

    def write(self, prompts: int, tokens: int) -> float:
        """Seconds in which each prompt of a batch gets so many tokens."""
        return math.ceil(prompts / self.together) * writing_seconds(self.shape, tokens, self.cards)


def writer_of(settings: Settings, made: Plan, prompt_tokens: float) -> Writer:
    """How many prompts of this length the engine takes at once, on how many cards."""
    engine = settings.language_model
    if isinstance(engine, VllmEngine):
        fit = settings.batch_size
        if made.cached_tokens is not None:
            fit = int(made.cached_tokens // max(1.0, prompt_tokens + settings.answering.max_new_tokens))
        return Writer(shape_of(engine.model), engine.tensor_parallel_size, max(1, min(settings.batch_size, fit)))
    if isinstance(engine, TransformersEngine):
        return Writer(shape_of(engine.model), 1, engine.batch_size)
    raise SystemExit(f"t4_plan: the preset {settings.name} runs its language model on no GPU of its own")


def time_rows(settings: Settings, load: Workload, writer: Writer, *, graph: bool) -> list[tuple[str, float]]:
    """(what, seconds) for a batch. `graph` adds what tasks 2 and 3 spend on the knowledge graph."""
    batch = settings.batch_size
    scale = batch / load.questions
    answering = settings.answering
    new_tokens = answering.max_new_tokens
    tokens = load.prompt_tokens * scale
    rows = [("extract and chunk (CPU, measured here)", load.front_half_seconds_on_cpu * scale)]
    if isinstance(settings.router, PromptRouter):
        seconds = writer.read(batch * ROUTE_TOKENS) + writer.write(batch, settings.router.max_new_tokens)
        rows.append((f"route: a prompt of {ROUTE_TOKENS} tokens each (assumed)", seconds))
    for what, encoder, count in (
        ("dense encoder", settings.dense_encoder, load.encoder_tokens),
        ("cross-encoder", settings.cross_encoder, load.reranker_tokens),
    ):
        if encoder is not None:
            rows.append((what, reading_seconds(shape_of(encoder.model), count * scale)))
    rows += [
        ("read the prompts", reading_seconds(writer.shape, tokens, writer.cards)),
        ("exchange between the cards while reading", exchange_seconds(writer.shape, tokens, writer.cards)),
        (f"write {new_tokens} tokens, {writer.together} of {batch} at once", writer.write(batch, new_tokens)),
    ]
    if answering.refine is not None:
        seconds = writer.read(tokens) + writer.write(batch, answering.refine.max_new_tokens)
        rows.append(("second look: read all again, write", seconds))
    if graph and settings.knowledge_graph is not None:
        rows += [
            (f"knowledge graph: read {batch} writer prompts of 2,500 tokens (assumed)", writer.read(batch * 2500)),
            ("knowledge graph: write 80 tokens of calls", writer.write(batch, 80)),
            (f"knowledge graph: server, {batch} concurrent questions (assumed)", 4.0),
            (f"knowledge graph: read {batch} answer prompts of 800 tokens (assumed)", writer.read(batch * 800)),
            (f"knowledge graph: write {new_tokens} tokens", writer.write(batch, new_tokens)),
        ]
    return rows


def print_memory(made: Plan) -> None:
    """Who lies on which card."""
    print(f"\n### memory\n\n| GPU | what | GiB of {made.memory_gib:g} |\n|---|---|---:|")
    for card in range(made.cards):
        for part in made.on(card):
            print(f"| {card} | {part.key}: {part.what} | {part.gib:.1f} |")
        print(f"| {card} | **all** | **{made.total(card):.1f}** |")
    if made.inside:
        print("\n| in vLLM's share of each card | GiB |\n|---|---:|")
        for what, size in made.inside:
            print(f"| {what} | {size:.1f} |")
    if made.cached_tokens is not None:
        print(f"\nKeys and values of {made.cached_tokens:,} tokens at once.")
    for name in made.unknown:
        print(f"\nNot reckoned: {name}, whose shape models/manifest.toml does not give.")
    for key, problem, remedy in made.problems:
        print(f"\n**Does not fit: {key}: {problem}; {remedy}.**")


def report(settings: Settings, dataset: Path, limit: int | None) -> dict[str, Any]:
    """Measure both shapes of question, print the tables, and return all figures."""
    made = plan(settings)
    writer_of(settings, made, 0)  # what cannot be reckoned is said before the minutes of work
    rows = read_rows(dataset, limit)
    keys = ("interaction_id", "query", "search_results", "query_time")
    queries = [parse_row(*(row.get(key) for key in keys)) for row in rows]
    batch = settings.batch_size
    budget = batch * SECONDS_PER_QUERY
    figures: dict[str, Any] = {"dataset": dataset.name, "preset": settings.name, "card": asdict(T4), "tasks": {}}
    five, fifty = measure(settings, queries), measure(settings, as_task_3(queries))
    slowest = 0.0
    for task, load, graph in (("task 1", five, False), ("task 2", five, True), ("task 3", fifty, True)):
        per_question = load.prompt_tokens / load.questions
        times = time_rows(settings, load, writer_of(settings, made, per_question), graph=graph)
        total = sum(seconds for _, seconds in times)
        slowest = max(slowest, total)
        figures["tasks"][task] = {"workload": asdict(load), "seconds": dict(times), "total": total}
        print(f"\n### {task}, {settings.name}, a batch of {batch}\n")
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
        if total > budget:
            print("\n**Not in time, if every question takes every step: the clock would end the last ones.**")
    print_memory(made)
    figures["memory"] = {str(card): made.total(card) for card in range(made.cards)}
    figures["fits"] = not made.problems and slowest <= budget
    if isinstance(settings.language_model, VllmEngine):
        tokens = batch * five.prompt_tokens / five.questions
        writer = writer_of(settings, made, five.prompt_tokens / five.questions)
        one_card = Writer(writer.shape, 1, 1)
        one_by_one = one_card.read(tokens) + one_card.write(batch, settings.answering.max_new_tokens)
        together = writer.read(tokens) + writer.write(batch, settings.answering.max_new_tokens)
        figures["batched_over_one_by_one"] = one_by_one / together
        print(
            "\nOne question after another, the layers spread over the cards so that one works at a time (how db3 ran): "
            f"{one_by_one:.0f} s for the answers of a batch. {writer.together} together on {writer.cards} cards: "
            f"{together:.0f} s, {one_by_one / together:.1f} times less."
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
    try:
        figures = report(load_settings(arguments.preset, []), arguments.dataset, arguments.limit)
    except (SettingsError, DatasetError) as error:
        raise SystemExit(f"t4_plan: {error}") from None
    if arguments.out:
        arguments.out.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    return 0 if figures["fits"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
