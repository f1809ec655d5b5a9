"""Time and memory of the GPU presets on four T4, planned and measured."""

import argparse
import math
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, NamedTuple
from unittest.mock import patch

import numpy as np

from crag.answering import prompt_for_trace
from crag.benchmarks.common import UNHURRIED_SECONDS, markdown_table
from crag.benchmarks.retrieval import questions, with_pages
from crag.core.contracts import I_DONT_KNOW, Page, Query, Trace
from crag.core.deadline import Deadline
from crag.core.files import UserError
from crag.core.progress import batches_with_progress
from crag.core.queries import BATCH_KEYS
from crag.engines.encoders import BatchedDenseEncoder, load_dense_encoder
from crag.engines.encoders.base import SPECIAL_TOKENS, Vectors
from crag.engines.llm import Generation, GenerationRequest
from crag.engines.llm.local_engine import model_folder
from crag.engines.llm.tokenizer import ChatTokenizer
from crag.engines.llm.vllm_engine import VllmLanguageModel
from crag.evaluation.batches import GPU_MEMORY_GIB, SECONDS_PER_QUERY
from crag.facts import ShippedPublicData
from crag.graph import open_knowledge_graph
from crag.mock_api import serve
from crag.pipeline.agent import CragAgent
from crag.router import QuestionRouter, open_router
from crag.settings import KG_VARIABLE, Settings, VllmEngine, load_settings
from crag.submission.gpu_plan import Generations, GpuPlan, Workload, build_writer, plan_gpus, time_rows
from crag.submission.stand_in import make_stand_ins, write_random_adapter, write_real_sizes
from crag.training.adapters import longest_example
from crag.training.lora import LoraTraining, PreferenceTraining
from crag.training.lora.memory import tuning_memory
from crag.web import WebPath
from crag.weights.manifest import load_manifest

EVERY_STEP = (
    "answering.gates=[]",
    "answering.confidence=none",
    "deadline.seconds_per_query=3600",
)
"""Changes with which no question ends early, by a gate or by the clock."""
EVERY_STEP_OF_THE_GRAPH = (
    "knowledge_graph.graph_only_domains=[]",
    "knowledge_graph.direct_answers=false",
    "knowledge_graph.derived_answers=false",
    "knowledge_graph.invalid_without_game=false",
    "knowledge_graph.answer_not_found=true",
)
CACHE_BLOCK = 16
"""Tokens of a block of vLLM's prefix cache."""
# The examples of a prompt; "Calls: None" stands for no call
_CALLS = re.compile(r"Calls:\n(?!None)(.+?)(?:\n\n|$)", re.DOTALL)
LONGEST = 512
"""Most tokens of a text if the preset has no encoder with a limit."""
MANY_PAGES = 50  # task 3


class CountingEncoders:
    """A dense encoder and a cross-encoder that count what they read.

    Vectors are random and pairs are ranked by their order: counting needs no relevance.
    """

    def __init__(
        self,
        inner: BatchedDenseEncoder,
        settings: Settings,
        load: Workload,
    ) -> None:
        self.warm_up = inner.warm_up
        self.token_offsets = inner.token_offsets
        self._load = load
        self._chance = np.random.default_rng(0)
        self._max_tokens = settings.dense_encoder.max_tokens if settings.dense_encoder else LONGEST
        self._cross_encoder = settings.cross_encoder

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Count, and return random vectors."""
        vectors, _ = self.encode_passages(texts)
        return vectors

    def encode_passages(
        self,
        texts: Sequence[str],
        deadline: Deadline | None = None,
    ) -> tuple[Vectors, int]:
        """Count, and return random vectors."""
        self._load.encoder_texts += len(texts)
        self._load.encoder_tokens += sum(map(self._count, texts))
        vectors = self._chance.normal(size=(len(texts), 8))
        return vectors.astype(np.float32), len(texts)

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        deadline: Deadline | None = None,
    ) -> list[float | None]:
        """Count, and return descending scores."""
        self._load.reranker_pairs += len(pairs)
        self._load.reranker_tokens += sum(self._count_pair(*pair) for pair in pairs)
        return [-float(rank) for rank in range(len(pairs))]

    def _count(self, text: str) -> int:
        """Tokens of a text as the model reads it, including its two special tokens."""
        return min(self._max_tokens, len(self.token_offsets(text)) + 2)

    def _count_pair(self, query: str, passage: str) -> int:
        """Tokens of a query and a passage; the query is read again with each part of a passage that is too long."""
        query_tokens = len(self.token_offsets(query)) + SPECIAL_TOKENS
        passage_tokens = len(self.token_offsets(passage))
        max_tokens = self._cross_encoder.max_tokens if self._cross_encoder else LONGEST
        if self._cross_encoder and self._cross_encoder.in_parts:
            parts = math.ceil(passage_tokens / max(1, max_tokens - query_tokens))
            return passage_tokens + parts * query_tokens
        return min(max_tokens, query_tokens + passage_tokens)


class RandomModel(VllmLanguageModel):
    """vLLM with random weights and adapters on this machine's cards, in the preset's shapes or in those of a stand-in.

    Raises UserError: the preset does not run vLLM.
    """

    more_arguments: ClassVar[Mapping[str, object]] = {"load_format": "dummy"}

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        *,
        full_size: bool,
    ) -> None:
        from torch import cuda

        engine = settings.language_model
        if not isinstance(engine, VllmEngine):
            raise UserError(f"the preset {settings.name} does not run vLLM, as {settings.name}_vllm or submission do")

        # A folder with configuration and tokenizer; vLLM makes up the weights
        make_stand_ins({"language_model": {"engine": "vllm", "model": engine.model}}, folder)
        self.folder = folder / engine.model
        shape = load_manifest().models[engine.model].shape
        if full_size and shape:
            write_real_sizes(shape, self.folder)

        adapters: dict[str, str] = {}
        for name in engine.adapters:
            write_random_adapter(self.folder, engine.max_adapter_rank, folder / name)
            adapters[name] = str(folder / name)

        changes: dict[str, object] = {"model": str(self.folder), "adapters": adapters}
        cards = cuda.device_count()
        # Fewer cards than the preset expects: everything on those that are there
        if cards < engine.tensor_parallel_size:
            changes["tensor_parallel_size"] = max(1, cards)
        if not full_size:
            # A stand-in is tiny; the rest of the card is left to others
            changes["gpu_memory_utilization"] = 0.1
        super().__init__(engine.model_copy(update=changes))

    def measure(self, requests: Sequence[GenerationRequest], counts: Generations) -> None:
        """Read the prompts without a cache, then write with them in the cache, and note seconds and tokens."""
        self.warm_up()
        # Random weights would stop anywhere; every text must reach its full length
        unstopped = [replace(request, stop=(), grammar=None) for request in requests]
        only_reading = [replace(request, max_tokens=1) for request in unstopped]

        # The first call of a size compiles kernels.
        warming_up = [replace(request, max_tokens=2) for request in unstopped]
        self.generate(warming_up, Deadline(UNHURRIED_SECONDS))
        # The warm-up has left the prompts in the cache
        self._call({"do": "reset_prefix_cache"}, Deadline(UNHURRIED_SECONDS))

        began = time.perf_counter()
        self.generate(only_reading, Deadline(UNHURRIED_SECONDS))
        read = time.perf_counter()
        # The prompts are in the cache now, so this is the time of writing
        generations = self.generate(unstopped, Deadline(UNHURRIED_SECONDS))
        written = time.perf_counter()

        counts.read_seconds = read - began
        counts.write_seconds = written - read
        counts.written = sum(generation.completion_tokens for generation in generations)
        errors = [generation.error for generation in generations if generation.error]
        if errors:
            raise UserError(f"{len(errors)} of {len(generations)} texts failed: {errors[0]}")

    def memory(self) -> str:
        """The memory in use on each card, and the room for keys and values, as a sentence."""
        from torch import cuda

        used: list[str] = []
        for card in range(cuda.device_count()):
            free, total = cuda.mem_get_info(card)
            used.append(f"{(total - free) / 2**30:.1f}")

        tokens = self._call({"do": "count_cached_tokens"}, Deadline(UNHURRIED_SECONDS))["tokens"]
        return f"GiB in use on each card: {', '.join(used) or 'none'}; keys and values of {tokens:,} tokens at once"


class CountingModel:
    """A language model that counts what it reads. It writes the calls of an example, or "i don't know"."""

    def __init__(self, tokenizer: ChatTokenizer) -> None:
        self.count_tokens = tokenizer.count
        self.truncate = tokenizer.truncate
        self._tokenizer = tokenizer
        self.calls: list[tuple[list[GenerationRequest], Generations]] = []

    def check_weights(self) -> None:
        """There are none."""

    warm_up = close = check_weights

    def generate(
        self,
        requests: Sequence[GenerationRequest],
        deadline: Deadline,
    ) -> list[Generation]:
        """Count and reply."""
        counts = Generations(prompts=len(requests))
        cached: set[tuple[int, ...]] = set()
        for request in requests:
            tokens = self._tokenizer.prompt_tokens(request)

            # vLLM knows a block by all tokens up to its end.
            ends = range(CACHE_BLOCK, len(tokens), CACHE_BLOCK)
            beginnings = [tuple(tokens[:end]) for end in ends]
            shared_blocks = sum(beginning in cached for beginning in beginnings)
            cached.update(beginnings)

            counts.tokens += len(tokens)
            counts.unshared += len(tokens) - CACHE_BLOCK * shared_blocks
            counts.longest = max(counts.longest, request.max_tokens)
            if request.grammar is not None and request.with_log_probability:
                # vLLM writes each token again to score it, and reads at most a block for it
                counts.unshared += CACHE_BLOCK * self._tokenizer.count(_reply(request))
        self.calls.append((list(requests), counts))
        return [Generation(_reply(request), None, 0, 0, "stop") for request in requests]


def _reply(request: GenerationRequest) -> str:
    text = request.prompt if request.prompt is not None else request.messages[-1].content
    example_calls = _CALLS.findall(text)
    if example_calls and text.rstrip().endswith("Calls:"):
        return str(example_calls[-1])
    return I_DONT_KNOW


def measure_workload(
    settings: Settings,
    queries: Sequence[Query],
    worker: RandomModel | None = None,
) -> Workload:
    """Let an agent of these settings answer the queries, and count; with a `worker` measure the language model, too."""
    # The tokenizers of `cpu` stand in for those of the preset, whose weights are not needed.
    small = load_settings("cpu", [])
    assert small.dense_encoder is not None
    load = Workload(questions=len(queries))
    encoders = CountingEncoders(load_dense_encoder(small.dense_encoder), settings, load)
    small_model = str(getattr(small.language_model, "model", ""))
    tokenizer_folder = worker.folder if worker else model_folder(small_model)
    model = CountingModel(ChatTokenizer(tokenizer_folder))

    with serve() as graph, patch.dict(os.environ, {KG_VARIABLE: graph}):
        agent = _build_agent(settings, model, encoders)
        agent.warm_up()
        # The warm-up is not part of a batch
        load.encoder_texts = 0
        load.encoder_tokens = 0

        for batch in batches_with_progress(queries, settings.batch_size):
            _, traces = agent.answer_batch(_batch(batch))
            load.pages_read += sum(trace.pages_read for trace in traces)
            # Every trace of a batch has the seconds of the whole batch
            load.front_half_seconds_on_cpu += traces[0].seconds["extract"]
            _add_generations(load, model, traces, worker)
            # Counted for this batch
            model.calls.clear()
        agent.close()
    return load


def _build_agent(settings: Settings, model: CountingModel, encoders: CountingEncoders) -> CragAgent:
    """The preset's agent, whose models only count."""
    dense = encoders if settings.dense_encoder else None
    cross = encoders if settings.cross_encoder else None
    asks_model_for_route = settings.router is not None and settings.router.engine == "prompt"
    public = settings.public_data
    return CragAgent(
        settings,
        model,
        WebPath(settings.web, dense, cross, model),
        open_router(settings.router, model) if asks_model_for_route else QuestionRouter(),
        open_knowledge_graph(settings.knowledge_graph, model, dense),
        ShippedPublicData(public, model, dense) if public else None,
    )


def _add_generations(
    load: Workload,
    model: CountingModel,
    traces: Sequence[Trace],
    worker: RandomModel | None,
) -> None:
    """Add the counts of a batch to those of its steps."""
    # A call knows its prompt only; the traces say which step it was
    step_by_prompt: dict[str, str] = {}
    for trace in traces:
        for step, prompt in trace.prompts.items():
            step_by_prompt[str(prompt)] = step

    for requests, counts in model.calls:
        step = "route"
        if requests:
            step = step_by_prompt.get(str(prompt_for_trace(requests[0])), "route")
            if worker:
                worker.measure(requests, counts)

        total = load.generations.setdefault(step, Generations())
        total.prompts += counts.prompts
        total.tokens += counts.tokens
        total.unshared += counts.unshared
        total.longest = max(total.longest, counts.longest)
        total.written += counts.written
        total.read_seconds += counts.read_seconds
        total.write_seconds += counts.write_seconds


def _batch(queries: Sequence[Query]) -> dict[str, list[object]]:
    """The queries as the evaluator passes them: a column per field."""
    rows: list[tuple[object, ...]] = []
    for query in queries:
        results = [_search_result(page) for page in query.pages]
        rows.append((query.interaction_id, query.text, results, query.query_time))
    columns = map(list, zip(*rows, strict=True))
    return dict(zip(BATCH_KEYS, columns, strict=True))


def _search_result(page: Page) -> dict[str, str]:
    return {
        "page_name": page.name,
        "page_url": page.url,
        "page_snippet": page.snippet,
        "page_result": page.html,
        "page_last_modified": "",
    }


def print_memory(gpu_plan: GpuPlan) -> None:
    """Print the memory of each card."""
    rows: list[tuple[int, str, str]] = []
    for card in range(gpu_plan.cards):
        rows += [(card, f"{part.key}: {part.what}", f"{part.gib:.1f}") for part in gpu_plan.on(card)]
        rows.append((card, "**all**", f"{gpu_plan.total(card):.1f}"))

    table = markdown_table(["GPU", "what", f"GiB of {GPU_MEMORY_GIB:g}"], rows)
    print(f"\n### memory\n\n{table}")
    if gpu_plan.cached_tokens is not None:
        print(f"\nKeys and values of {gpu_plan.cached_tokens:,} tokens at once.")
    for name in gpu_plan.unknown:
        print(f"\nNot included: {name}, whose shape is not in crag/weights/manifest.toml.")
    for key, problem, remedy in gpu_plan.problems:
        print(f"\n**Does not fit: {key}: {problem}; {remedy}.**")


def report(settings: Settings, options: argparse.Namespace) -> int:
    """Measure questions with few and with many pages and print the tables; 0: the preset fits, 1: it does not."""
    gpu_plan = plan_gpus(settings)
    build_writer(settings, gpu_plan, 0)  # fails before the minutes of work
    few_pages, many_pages = _measure_both(settings, options)

    budget = settings.batch_size * SECONDS_PER_QUERY
    totals: list[float] = []
    # Task 1 has no graph, task 3 has fifty pages a question
    for task, load, graph in (
        ("task 1", few_pages, False),
        ("task 2", few_pages, True),
        ("task 3", many_pages, True),
    ):
        times = time_rows(settings, gpu_plan, load, graph=graph, peak=options.peak)
        total = sum(seconds for _, seconds in times)
        totals.append(total)
        print(f"\n### {task}, {settings.name}, a batch of {settings.batch_size}\n")
        _print_load(load, options.dataset.name)

        steps = [(step, f"{seconds:.1f}") for step, seconds in times]
        steps.append(("**all, in sequence**", f"{total:.1f}"))
        table = markdown_table(["step", f"seconds of {budget:.0f}"], steps)
        print(f"\n{table}")
        if total > budget:
            print("\n**Too slow if every question takes every step: the clock would stop the last ones.**")

    print_memory(gpu_plan)
    return int(bool(gpu_plan.problems) or max(totals) > budget)


def _measure_both(settings: Settings, options: argparse.Namespace) -> tuple[Workload, Workload]:
    """The workload of questions with their pages, and with fifty; with --run also the speed of the language model."""
    # With a real model one batch is enough
    limit = options.limit or (settings.batch_size if options.run else None)
    few_pages = [query for query, _ in questions(options.dataset, limit)]
    many_pages = with_pages(few_pages, MANY_PAGES)
    if not options.run:
        return measure_workload(settings, few_pages), measure_workload(settings, many_pages)

    with TemporaryDirectory() as folder:
        worker = RandomModel(settings, Path(folder), full_size=options.run == "full")
        few_load = measure_workload(settings, few_pages, worker)
        many_load = measure_workload(settings, many_pages, worker)
        print(f"Run in {options.run} size: {worker.memory()}.")
        worker.close()
    return few_load, many_load


def _print_load(load: Workload, dataset: str) -> None:
    count = load.questions
    print(
        f"Measured per question on {dataset}: {load.pages_read / count:.1f} pages read, "
        f"{load.encoder_texts / count:.0f} texts ({load.encoder_tokens / count:,.0f} tokens) encoded, "
        f"{load.reranker_pairs / count:.0f} pairs ({load.reranker_tokens / count:,.0f} tokens) reranked."
    )


class TrainingStep(NamedTuple):
    """A step of training on a kind of machine, and the memory that it needs of the fullest card."""

    machine: str
    step: str
    needed_gib: float
    card_gib: float

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The cells of its row in the table."""
        return self.machine, self.step, f"{self.needed_gib:.1f}", f"{self.card_gib:g}"


def report_training(changes: Sequence[str]) -> int:
    """Print the memory of the fullest card in each step of training db3's adapters; 1: one does not fit."""
    configuration = LoraTraining.load("db3")
    shape = load_manifest().models[configuration.base].shape
    assert shape is not None
    # The adapter with the longest examples
    longest = longest_example(load_settings("submission_transformers", []), "db3", "web_answerer")
    tuning = tuning_memory(configuration.model_copy(update={"max_tokens": longest}), shape)
    preferences = tuning_memory(PreferenceTraining.load("db3").as_texts, shape)

    steps: list[TrainingStep] = []
    # The changes that docs/training.md gives for one card
    on_one_card = ["device='cuda:0'", "language_model.batch_size=1"]
    for machine, cards, card_gib, machine_changes in (
        ("four T4", 4, GPU_MEMORY_GIB, []),
        ("one of 24 GB", 1, 22.0, on_one_card),
    ):
        for preset in ("submission_transformers", "db3_task23", "db3_task1"):
            settings = load_settings(preset, [*machine_changes, *changes])
            gpu_plan = plan_gpus(settings, cards=cards)
            fullest = max(gpu_plan.total(card) for card in range(cards))
            steps.append(
                TrainingStep(
                    machine,
                    f"{preset}: label, answer, judge",
                    fullest,
                    card_gib,
                )
            )
        tuning_step = "tune one adapter in 4 bits, on the first card"
        steps.append(TrainingStep(machine, tuning_step, sum(tuning.values()), card_gib))
        steps.append(TrainingStep(machine, "the same by preferences", sum(preferences.values()), card_gib))

    rows = [step.cells for step in steps]
    print(markdown_table(["cards", "step", "GiB on the fullest", "of"], rows))

    parts = ", ".join(f"{part} {size:.1f}" for part, size in tuning.items())
    print(f"\nTuning: {parts}")

    too_large = [step for step in steps if step.needed_gib > step.card_gib]
    for step in too_large:
        gib = f"{step.needed_gib:.1f} of {step.card_gib:g} GiB"
        print(f"\n**Does not fit: {step.step}, {step.machine}: {gib}; lower language_model.batch_size.**")
    return int(bool(too_large))
