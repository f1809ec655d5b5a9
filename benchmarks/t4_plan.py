"""Estimate whether a preset fits four T4 in 30 seconds per question: memory and time, from measured token counts.

    python -m benchmarks.t4_plan [--dataset FILE] [--preset submission]

Works for every preset that needs GPUs; exit code 1 if it does not fit (preflight refuses it, too).

The retrieval runs on the dataset's pages with the preset's own settings and counts every token that an encoder, a
cross-encoder or the language model would read, with the encoder and the tokenizer of `cpu_small`. Memory is
`evaluation.gpu_plan`. Times are computed: operations over the assumed share of the card's peak for reading prompts,
bytes of weights over the assumed share of its memory bandwidth for writing answers. Nothing here ran on a T4.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents.answering.prompts import answer_prompt
from agents.common.console import end_with
from agents.common.contracts import Query
from agents.common.deadline import Deadline
from agents.encoders import BatchedDenseEncoder, load_dense_encoder
from agents.encoders.base import Vectors
from agents.llm import load_language_model
from agents.settings import PromptRouter, Settings, TransformersEngine, VllmEngine, load_settings
from agents.web import WebPath
from benchmarks.common import add_preset_arguments, exit_code, in_batches, table
from benchmarks.front_half import read_queries, unhurried
from crag.command import chosen_settings
from evaluation.cli import DEFAULT_DATASET
from evaluation.gpu_plan import GpuPlan, plan
from evaluation.real_evaluator import SECONDS_PER_QUERY
from models.manifest import Shape, load_manifest
from training.command import CommandError, parser_of

LONGEST = 512
"""Most tokens of a text if the preset has no encoder with a limit."""
ROUTE_TOKENS = 400
PCIE_BYTES_PER_SECOND = 6e9
"""Assumed for T4 in a g4dn machine: PCIe 3.0, no NVLink."""
HALF_TFLOPS, BANDWIDTH_GB = 65.0, 320.0
"""Half-precision tensor operations and memory bandwidth of a T4 (NVIDIA's data sheet)."""
COMPUTE_SHARE, BANDWIDTH_SHARE = 0.35, 0.70
"""Conservative assumptions: a 70 W card lowers its clock under load."""
AWQ_COMPUTE_SHARE = 0.5
"""Assumed: the share of the reading speed that remains if 4-bit weights are unpacked for each use."""


@dataclass(slots=True)
class Workload:
    """A batch's work for the models, in tokens that a model reads (without padding)."""

    questions: int = 0
    pages_read: int = 0
    encoder_texts: int = 0
    encoder_tokens: int = 0
    reranker_pairs: int = 0
    reranker_tokens: int = 0
    prompt_tokens: int = 0
    front_half_seconds_on_cpu: float = 0.0
    """Extraction and chunking, which stay on the evaluator's CPU."""


class CountingEncoders:
    """A dense encoder and a cross-encoder that count what they read.

    Vectors come from the inner encoder. Pairs are ranked by their order: counting needs no relevance.
    """

    def __init__(self, inner: BatchedDenseEncoder, settings: Settings, load: Workload) -> None:
        self.warm_up, self.token_offsets = inner.warm_up, inner.token_offsets
        self._inner, self._load = inner, load
        self._most = settings.dense_encoder.max_tokens if settings.dense_encoder else LONGEST
        self._most_of_pair = settings.cross_encoder.max_tokens if settings.cross_encoder else LONGEST

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Count and pass on."""
        self._note(texts)
        return self._inner.encode_queries(texts)

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Count and pass on."""
        self._note(texts)
        return self._inner.encode_passages(texts, deadline)

    def score(self, pairs: Sequence[tuple[str, str]], deadline: Deadline | None = None) -> list[float | None]:
        """Descending scores."""
        self._load.reranker_pairs += len(pairs)
        self._load.reranker_tokens += sum(min(self._most_of_pair, sum(map(self._count, pair))) for pair in pairs)
        return [-float(place) for place in range(len(pairs))]

    def _note(self, texts: Sequence[str]) -> None:
        self._load.encoder_texts += len(texts)
        self._load.encoder_tokens += sum(map(self._count, texts))

    def _count(self, text: str) -> int:
        """Tokens of a text as the model reads it, including its two special tokens."""
        return min(self._most, len(self.token_offsets(text)) + 2)


def measure(settings: Settings, queries: Sequence[Query]) -> Workload:
    """Run the front half of the preset on the queries and count; the encoder is that of `cpu_small`."""
    small = load_settings("cpu_small")
    assert small.dense_encoder is not None
    load = Workload(questions=len(queries))
    encoders = CountingEncoders(load_dense_encoder(small.dense_encoder), settings, load)
    model = load_language_model(small.language_model)
    dense, cross = (encoders if part else None for part in (settings.dense_encoder, settings.cross_encoder))
    web = WebPath(settings.web, dense, cross, model)
    web.warm_up()
    prompt = answer_prompt(settings.answering)
    for some in in_batches(queries, settings.batch_size):
        clock = unhurried(settings)
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
        pages = [*query.pages, *(page for page in pool if page.url not in own)][:pages_per_question]
        grown.append(replace(query, pages=tuple(replace(page, rank=rank) for rank, page in enumerate(pages))))
    return grown


def shape_of(name: str) -> Shape:
    """The shape of a model of the manifest."""
    entry = load_manifest().models.get(name)
    if entry is None or entry.shape is None:
        raise CommandError(f"models/manifest.toml has no shape of {name} (the numbers of its config.json)")
    return entry.shape


def reading_seconds(shape: Shape, tokens: float, cards: int = 1) -> float:
    """Two operations per active parameter and token, over the assumed share of the cards' peak."""
    share = COMPUTE_SHARE * (AWQ_COMPUTE_SHARE if shape.awq_group else 1.0)
    return 2 * shape.active_parameters * tokens / (cards * HALF_TFLOPS * 1e12 * share)


@dataclass(frozen=True, slots=True)
class Writer:
    """The language model: `together` prompts are answered at once.

    `cards` work side by side on one step (tensor parallelism); layers spread over cards work one after another.
    """

    shape: Shape
    cards: int
    together: int

    def exchange(self, tokens: float) -> float:
        """Seconds in which tensor parallelism adds up activations (two bytes each) twice in each layer, over PCIe."""
        if self.cards == 1:
            return 0.0
        return self.shape.layers * 2 * tokens * self.shape.hidden * 2 / PCIE_BYTES_PER_SECOND

    def read(self, tokens: float) -> float:
        """Seconds to read the prompts of a batch."""
        return reading_seconds(self.shape, tokens, self.cards) + self.exchange(tokens)

    def write(self, prompts: int, tokens: int) -> float:
        """Seconds to write `tokens` for each prompt: a step reads all weights once for the prompts together."""
        step = self.shape.weight_bytes() / (self.cards * BANDWIDTH_GB * 1e9 * BANDWIDTH_SHARE)
        return math.ceil(prompts / self.together) * tokens * step


def writer_of(settings: Settings, made: GpuPlan, prompt_tokens: float) -> Writer:
    """The engine's cards, and the number of prompts of this length that it takes at once."""
    engine = settings.language_model
    if isinstance(engine, TransformersEngine):
        return Writer(shape_of(engine.model), 1, engine.batch_size)
    if not isinstance(engine, VllmEngine):
        raise CommandError(f"the preset {settings.name} does not run its language model on a GPU of its own")
    tokens = max(1.0, prompt_tokens + settings.answering.max_new_tokens)
    fit = settings.batch_size if made.cached_tokens is None else int(made.cached_tokens // tokens)
    return Writer(shape_of(engine.model), engine.tensor_parallel_size, max(1, min(settings.batch_size, fit)))


def time_rows(settings: Settings, load: Workload, writer: Writer, *, graph: bool) -> list[tuple[str, float]]:
    """(what, seconds) for a batch. `graph` adds what tasks 2 and 3 spend on the knowledge graph."""
    batch, answering = settings.batch_size, settings.answering
    scale = batch / load.questions
    new_tokens, tokens = answering.max_new_tokens, load.prompt_tokens * scale
    rows = [("extract and chunk (CPU, measured here)", load.front_half_seconds_on_cpu * scale)]
    if isinstance(settings.router, PromptRouter):
        seconds = writer.read(batch * ROUTE_TOKENS) + writer.write(batch, settings.router.max_new_tokens)
        rows.append((f"route: a prompt of {ROUTE_TOKENS} tokens each (assumed)", seconds))
    if settings.dense_encoder is not None:
        shape = shape_of(settings.dense_encoder.model)
        rows.append(("dense encoder", reading_seconds(shape, load.encoder_tokens * scale)))
    if settings.cross_encoder is not None:
        shape = shape_of(settings.cross_encoder.model)
        rows.append(("cross-encoder", reading_seconds(shape, load.reranker_tokens * scale)))
    rows += [
        ("read the prompts", reading_seconds(writer.shape, tokens, writer.cards)),
        ("exchange between the cards while reading", writer.exchange(tokens)),
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


def print_table(header: Sequence[str], rows: Sequence[tuple[str | int | float, ...]]) -> None:
    """Print a table; its numbers get one digit after the point."""
    texts = [[f"{cell:.1f}" if isinstance(cell, float) else cell for cell in row] for row in rows]
    print(f"\n{table(header, texts)}")


def print_memory(made: GpuPlan) -> None:
    """Print the memory of each card."""
    rows: list[tuple[str | int | float, ...]] = []
    for card in range(made.cards):
        rows += [(card, f"{part.key}: {part.what}", part.gib) for part in made.on(card)]
        rows.append((card, "**all**", made.total(card)))
    print("\n### memory")
    print_table(["GPU", "what", f"GiB of {made.memory_gib:g}"], rows)
    if made.inside:
        print_table(["in vLLM's share of each card", "GiB"], made.inside)
    if made.cached_tokens is not None:
        print(f"\nKeys and values of {made.cached_tokens:,} tokens at once.")
    for name in made.unknown:
        print(f"\nNot included: {name}, whose shape is not in models/manifest.toml.")
    for key, problem, remedy in made.problems:
        print(f"\n**Does not fit: {key}: {problem}; {remedy}.**")


def report(settings: Settings, dataset: Path, limit: int | None) -> bool:
    """Measure questions with few and with 50 pages and print the tables; return whether the preset fits."""
    made = plan(settings)
    writer_of(settings, made, 0)  # fails before the minutes of work
    queries = [query for _, query in read_queries([dataset])][:limit]
    budget = settings.batch_size * SECONDS_PER_QUERY
    totals = []
    five, fifty = measure(settings, queries), measure(settings, as_task_3(queries))
    for task, load, graph in (("task 1", five, False), ("task 2", five, True), ("task 3", fifty, True)):
        count, prompt = load.questions, load.prompt_tokens / load.questions
        times = time_rows(settings, load, writer_of(settings, made, prompt), graph=graph)
        totals.append(sum(seconds for _, seconds in times))
        print(
            f"\n### {task}, {settings.name}, a batch of {settings.batch_size}\n\n"
            f"Measured per question on {dataset.name}: {load.pages_read / count:.1f} pages read, "
            f"{load.encoder_texts / count:.0f} texts ({load.encoder_tokens / count:,.0f} tokens) encoded, "
            f"{load.reranker_pairs / count:.0f} pairs ({load.reranker_tokens / count:,.0f} tokens) reranked, "
            f"{prompt:,.0f} prompt tokens."
        )
        print_table(["step", "seconds"], [*times, (f"**all, in sequence, of {budget:.0f}**", totals[-1])])
        if totals[-1] > budget:
            print("\n**Too slow if every question takes every step: the clock would stop the last ones.**")
    print_memory(made)
    return not made.problems and max(totals) <= budget


def main() -> int:
    """Command line. Exit code: 0 it fits, 1 it does not, 2 a file or preset cannot be used."""
    parser = parser_of("benchmarks.t4_plan", __doc__)
    parser.add_argument("--dataset", type=Path, default=DEFAULT_DATASET)
    add_preset_arguments(parser, "submission")
    parser.add_argument("--limit", type=int, default=None)
    options = parser.parse_args()
    return exit_code(lambda: 0 if report(chosen_settings(options), options.dataset, options.limit) else 1)


if __name__ == "__main__":
    end_with(main)
