"""Estimate whether a preset fits four T4 in 30 seconds per question: memory and time, from measured token counts.

    python -m benchmarks.t4_plan [--dataset FILE] [--preset submission]
    python -m benchmarks.t4_plan --training [--set KEY=VALUE]      memory of the steps of docs/training.md

Works for every preset that needs GPUs; exit code 1 if it does not fit (preflight refuses it, too). The retrieval runs
on the dataset's pages with the preset's own settings and counts every token that an encoder, a cross-encoder or the
language model would read, with the encoder and the tokenizer of `cpu`. `evaluation.gpu_plan` computes the rest:
operations over the assumed share of the card's peak for reading prompts, bytes of weights over the assumed share of its
memory bandwidth for writing answers. Nothing here ran on a T4.
"""

from collections.abc import Sequence
from pathlib import Path

from agents.answering.prompts import answer_prompt
from agents.common.contracts import Query
from agents.common.deadline import Deadline
from agents.encoders import BatchedDenseEncoder, load_dense_encoder
from agents.encoders.base import Vectors
from agents.llm import load_language_model
from agents.settings import Settings, load_settings
from agents.web import WebPath
from benchmarks.common import table
from benchmarks.retrieval import questions, unhurried, with_pages
from crag.command import add_preset_arguments, command, end_with, in_batches, parser_of, whole
from evaluation.batches import GPU_MEMORY_GIB, SECONDS_PER_QUERY
from evaluation.datasets import DEFAULT_DATASET
from evaluation.gpu_plan import GpuPlan, Workload, plan, time_rows, writer_of
from models.manifest import load_manifest
from training.lora import LoraTraining
from training.lora.memory import tuning_memory

LONGEST = 512
"""Most tokens of a text if the preset has no encoder with a limit."""
MANY_PAGES = 50
"""Task 3."""


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
    """Run the front half of the preset on the queries and count."""
    small = load_settings("cpu", [])
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


def print_memory(made: GpuPlan) -> None:
    """Print the memory of each card."""
    rows: list[tuple[int, str, str]] = []
    for card in range(made.cards):
        rows += [(card, f"{part.key}: {part.what}", f"{part.gib:.1f}") for part in made.on(card)]
        rows.append((card, "**all**", f"{made.total(card):.1f}"))
    print(f"\n### memory\n\n{table(['GPU', 'what', f'GiB of {GPU_MEMORY_GIB:g}'], rows)}")
    if made.cached_tokens is not None:
        print(f"\nKeys and values of {made.cached_tokens:,} tokens at once.")
    for name in made.unknown:
        print(f"\nNot included: {name}, whose shape is not in models/manifest.toml.")
    for key, problem, remedy in made.problems:
        print(f"\n**Does not fit: {key}: {problem}; {remedy}.**")


def report(settings: Settings, dataset: Path, limit: int | None) -> int:
    """Measure questions with few and with many pages and print the tables; 0: the preset fits, 1: it does not."""
    made = plan(settings)
    writer_of(settings, made, 0)  # fails before the minutes of work
    queries = [query for query, _ in questions(dataset, limit)]
    budget = settings.batch_size * SECONDS_PER_QUERY
    few, many = measure(settings, queries), measure(settings, with_pages(queries, MANY_PAGES))
    totals = []
    for task, load, graph in (("task 1", few, False), ("task 2", few, True), ("task 3", many, True)):
        count = load.questions
        times = time_rows(settings, made, load, graph=graph)
        totals.append(sum(seconds for _, seconds in times))
        print(
            f"\n### {task}, {settings.name}, a batch of {settings.batch_size}\n\n"
            f"Measured per question on {dataset.name}: {load.pages_read / count:.1f} pages read, "
            f"{load.encoder_texts / count:.0f} texts ({load.encoder_tokens / count:,.0f} tokens) encoded, "
            f"{load.reranker_pairs / count:.0f} pairs ({load.reranker_tokens / count:,.0f} tokens) reranked, "
            f"{load.prompt_tokens / count:,.0f} prompt tokens."
        )
        steps = [(step, f"{seconds:.1f}") for step, seconds in [*times, ("**all, in sequence**", totals[-1])]]
        print(f"\n{table(['step', f'seconds of {budget:.0f}'], steps)}")
        if totals[-1] > budget:
            print("\n**Too slow if every question takes every step: the clock would stop the last ones.**")
    print_memory(made)
    return int(bool(made.problems) or max(totals) > budget)


def report_training(changes: Sequence[str]) -> int:
    """Print the memory of the fullest card in each step of training db3's adapters; 1: one does not fit."""
    configuration = LoraTraining.load("db3")
    shape = load_manifest().models[configuration.base].shape
    assert shape is not None
    tuning = tuning_memory(configuration, shape)
    rows: list[tuple[str, str, float, float]] = []
    alone = ["device='cuda:0'", "language_model.batch_size=1"]
    for place, cards, gib, sets in (("four T4", 4, GPU_MEMORY_GIB, []), ("one of 24 GB", 1, 22.0, alone)):
        for preset in ("db3_task23", "db3_task1"):
            made = plan(load_settings(preset, [*sets, *changes]), cards=cards)
            rows.append((place, f"{preset}: label, answer, judge", max(map(made.total, range(cards))), gib))
        rows.append((place, "tune one adapter in 4 bits, on the first card", sum(tuning.values()), gib))
    print(
        table(
            ["cards", "step", "GiB on the fullest", "of"], [(*row[:2], f"{row[2]:.1f}", f"{row[3]:g}") for row in rows]
        )
    )
    print("\nTuning: " + ", ".join(f"{what} {size:.1f}" for what, size in tuning.items()))
    for place, step, needed, gib in rows:
        if needed > gib:
            print(f"\n**Does not fit: {step}, {place}: {needed:.1f} of {gib:g} GiB; lower language_model.batch_size.**")
    return int(any(needed > gib for *_, needed, gib in rows))


@command()
def main() -> int:
    """Command line. Exit code: 0 it fits, 1 it does not, 2 a file or preset cannot be used."""
    parser = parser_of("benchmarks.t4_plan", __doc__)
    parser.add_argument("--dataset", type=Path, default=DEFAULT_DATASET, metavar="FILE")
    parser.add_argument("--limit", type=whole(1), metavar="N", help="at most N questions")
    add_preset_arguments(parser, "submission")
    parser.add_argument("--training", action="store_true", help="the memory of training db3's adapters instead")
    options = parser.parse_args()
    if options.training:
        return report_training(options.set)
    return report(load_settings(options.preset, options.set), options.dataset, options.limit)


if __name__ == "__main__":
    end_with(main)
