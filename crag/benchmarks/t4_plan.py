"""Time and memory of the GPU presets on four T4, planned and measured."""

import argparse
import os
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from crag.answering import shown
from crag.benchmarks.common import UNHURRIED_SECONDS, table
from crag.benchmarks.retrieval import questions, with_pages
from crag.core.contracts import I_DONT_KNOW, Page, Query
from crag.core.deadline import Deadline
from crag.core.files import UserError
from crag.core.progress import in_batches
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
from crag.training.lora import LoraTraining
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
_CALLS = re.compile(r"Calls:\n(?!None)(.+?)(?:\n\n|$)", re.DOTALL)
LONGEST = 512
"""Most tokens of a text if the preset has no encoder with a limit."""
MANY_PAGES = 50  # task 3


class CountingEncoders:
    """A dense encoder and a cross-encoder that count what they read.

    Vectors are random and pairs are ranked by their order: counting needs no relevance.
    """

    def __init__(self, inner: BatchedDenseEncoder, settings: Settings, load: Workload) -> None:
        self.warm_up, self.token_offsets = inner.warm_up, inner.token_offsets
        self._load, self._chance = load, np.random.default_rng(0)
        self._most = settings.dense_encoder.max_tokens if settings.dense_encoder else LONGEST
        self._cross = settings.cross_encoder

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Count."""
        return self.encode_passages(texts)[0]

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Count."""
        self._load.encoder_texts += len(texts)
        self._load.encoder_tokens += sum(map(self._count, texts))
        return self._chance.normal(size=(len(texts), 8)).astype(np.float32), len(texts)

    def score(self, pairs: Sequence[tuple[str, str]], deadline: Deadline | None = None) -> list[float | None]:
        """Descending scores."""
        self._load.reranker_pairs += len(pairs)
        self._load.reranker_tokens += sum(self._count_pair(*pair) for pair in pairs)
        return [-float(place) for place in range(len(pairs))]

    def _count(self, text: str) -> int:
        """Tokens of a text as the model reads it, including its two special tokens."""
        return min(self._most, len(self.token_offsets(text)) + 2)

    def _count_pair(self, query: str, passage: str) -> int:
        asked, text = len(self.token_offsets(query)) + SPECIAL_TOKENS, len(self.token_offsets(passage))
        most = self._cross.max_tokens if self._cross else LONGEST
        if self._cross and self._cross.in_parts:
            return text + -(-text // max(1, most - asked)) * asked
        return min(most, asked + text)


class RandomModel(VllmLanguageModel):
    """vLLM with random weights and adapters on this machine's cards, in the preset's shapes or in those of a stand-in.

    Raises UserError: the preset does not run vLLM.
    """

    def __init__(self, settings: Settings, folder: Path, *, full_size: bool) -> None:
        from torch import cuda

        engine = settings.language_model
        if not isinstance(engine, VllmEngine):
            raise UserError(f"the preset {settings.name} does not run vLLM, as {settings.name}_vllm or submission do")
        make_stand_ins({"language_model": {"engine": "vllm", "model": engine.model}}, folder)
        self.folder = folder / engine.model
        if full_size and (shape := load_manifest().models[engine.model].shape):
            write_real_sizes(shape, self.folder)
        for name in engine.adapters:
            write_random_adapter(self.folder, engine.max_adapter_rank, folder / name)
        changes: dict[str, object] = {"model": str(self.folder)}
        changes["adapters"] = {name: str(folder / name) for name in engine.adapters}
        if (cards := cuda.device_count()) < engine.tensor_parallel_size:
            changes |= {"tensor_parallel_size": max(1, cards), "distributed_executor": None}
        if not full_size:
            changes["gpu_memory_utilization"] = 0.1
        super().__init__(engine.model_copy(update=changes))

    def _engine_arguments(self) -> dict[str, Any]:
        return {**super()._engine_arguments(), "load_format": "dummy"}

    def measure(self, requests: Sequence[GenerationRequest], counts: Generations) -> None:
        """Read the prompts without a cache, then write with them in the cache, and note seconds and tokens."""
        self.warm_up()
        whole = [replace(request, stop=(), grammar=None) for request in requests]
        self.generate([replace(request, max_tokens=2) for request in whole], Deadline(UNHURRIED_SECONDS))  # kernels
        self._llm.reset_prefix_cache()
        began = time.perf_counter()
        self.generate([replace(request, max_tokens=1) for request in whole], Deadline(UNHURRIED_SECONDS))
        read = time.perf_counter()
        texts = self.generate(whole, Deadline(UNHURRIED_SECONDS))
        counts.read_seconds, counts.write_seconds = read - began, time.perf_counter() - read
        counts.written = sum(text.completion_tokens for text in texts)
        if errors := [text.error for text in texts if text.error]:
            raise UserError(f"{len(errors)} of {len(texts)} texts failed: {errors[0]}")

    def memory(self) -> str:
        """What each card holds, and the room for keys and values in it."""
        from torch import cuda

        cache = self._llm.llm_engine.vllm_config.cache_config
        held = [f"{(all_ - free) / 2**30:.1f}" for free, all_ in map(cuda.mem_get_info, range(cuda.device_count()))]
        tokens = cache.num_gpu_blocks * cache.block_size
        return f"GiB in use on each card: {', '.join(held) or 'none'}; keys and values of {tokens:,} tokens at once"


class CountingModel:
    """A language model that counts what it reads. It writes the calls of an example, or "i don't know"."""

    def __init__(self, tokenizer: ChatTokenizer) -> None:
        self.count_tokens, self.truncate = tokenizer.count, tokenizer.truncate
        self._tokenizer = tokenizer
        self.calls: list[tuple[list[GenerationRequest], Generations]] = []

    def check_weights(self) -> None:
        """There are none."""

    warm_up = close = check_weights

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """Count and reply."""
        counts, known = Generations(prompts=len(requests)), set[tuple[int, ...]]()
        for request in requests:
            tokens = self._tokenizer.prompt_tokens(request)
            blocks = [tuple(tokens[:end]) for end in range(CACHE_BLOCK, len(tokens), CACHE_BLOCK)]
            counts.tokens += len(tokens)
            counts.unshared += len(tokens) - CACHE_BLOCK * sum(block in known for block in blocks)
            counts.longest = max(counts.longest, request.max_tokens)
            known.update(blocks)
        self.calls.append((list(requests), counts))
        return [Generation(_reply(request), None, 0, 0, "stop") for request in requests]


def _reply(request: GenerationRequest) -> str:
    text = request.prompt if request.prompt is not None else request.messages[-1].content
    calls = _CALLS.findall(text)
    return calls[-1] if calls and text.rstrip().endswith("Calls:") else I_DONT_KNOW


def measure(settings: Settings, queries: Sequence[Query], worker: RandomModel | None = None) -> Workload:
    """Let an agent of these settings answer the queries, and count; with a `worker` measure the language model, too."""
    small = load_settings("cpu", [])
    assert small.dense_encoder is not None
    load = Workload(questions=len(queries))
    encoders = CountingEncoders(load_dense_encoder(small.dense_encoder), settings, load)
    place = worker.folder if worker else model_folder(str(getattr(small.language_model, "model", "")))
    model = CountingModel(ChatTokenizer(place))
    dense, cross = (encoders if part else None for part in (settings.dense_encoder, settings.cross_encoder))
    asks = settings.router is not None and settings.router.engine == "prompt"
    public = settings.public_data
    with serve() as graph, patch.dict(os.environ, {KG_VARIABLE: graph}):
        agent = CragAgent(
            settings,
            model,
            WebPath(settings.web, dense, cross, model),
            open_router(settings.router, model) if asks else QuestionRouter(),
            open_knowledge_graph(settings.knowledge_graph, model, dense),
            ShippedPublicData(public, model, dense) if public else None,
        )
        agent.warm_up()
        load.encoder_texts = load.encoder_tokens = 0
        for some in in_batches(queries, settings.batch_size):
            _, traces = agent.answer_batch(_batch(some))
            load.pages_read += sum(trace.pages_read for trace in traces)
            load.front_half_seconds_on_cpu += traces[0].seconds["extract"]
            steps = {str(prompt): step for trace in traces for step, prompt in trace.prompts.items()}
            for requests, counts in model.calls:
                if worker and requests:
                    worker.measure(requests, counts)
                step = steps.get(str(shown(requests[0])), "route") if requests else "route"
                texts = load.generations.setdefault(step, Generations())
                texts.prompts, texts.tokens = texts.prompts + counts.prompts, texts.tokens + counts.tokens
                texts.unshared, texts.longest = texts.unshared + counts.unshared, max(texts.longest, counts.longest)
                texts.written += counts.written
                texts.read_seconds += counts.read_seconds
                texts.write_seconds += counts.write_seconds
            model.calls.clear()
        agent.close()
    return load


def _batch(queries: Sequence[Query]) -> dict[str, list[object]]:
    """The queries as the evaluator hands them over."""
    rows = [
        (query.interaction_id, query.text, [_result(page) for page in query.pages], query.query_time)
        for query in queries
    ]
    return dict(zip(BATCH_KEYS, map(list, zip(*rows, strict=True)), strict=True))


def _result(page: Page) -> dict[str, str]:
    texts = {"page_name": page.name, "page_url": page.url, "page_snippet": page.snippet, "page_result": page.html}
    return texts | {"page_last_modified": ""}


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
        print(f"\nNot included: {name}, whose shape is not in crag/weights/manifest.toml.")
    for key, problem, remedy in made.problems:
        print(f"\n**Does not fit: {key}: {problem}; {remedy}.**")


def report(settings: Settings, options: argparse.Namespace) -> int:
    """Measure questions with few and with many pages and print the tables; 0: the preset fits, 1: it does not."""
    made = plan_gpus(settings)
    build_writer(settings, made, 0)  # fails before the minutes of work
    limit = options.limit or (settings.batch_size if options.run else None)
    queries = [query for query, _ in questions(options.dataset, limit)]
    budget = settings.batch_size * SECONDS_PER_QUERY
    with TemporaryDirectory() as folder:
        worker = RandomModel(settings, Path(folder), full_size=options.run == "full") if options.run else None
        few, many = measure(settings, queries, worker), measure(settings, with_pages(queries, MANY_PAGES), worker)
        if worker:
            print(f"Run in {options.run} size: {worker.memory()}.")
            worker.close()
    totals = []
    for task, load, graph in (("task 1", few, False), ("task 2", few, True), ("task 3", many, True)):
        count = load.questions
        times = time_rows(settings, made, load, graph=graph, peak=options.peak)
        totals.append(sum(seconds for _, seconds in times))
        print(
            f"\n### {task}, {settings.name}, a batch of {settings.batch_size}\n\n"
            f"Measured per question on {options.dataset.name}: {load.pages_read / count:.1f} pages read, "
            f"{load.encoder_texts / count:.0f} texts ({load.encoder_tokens / count:,.0f} tokens) encoded, "
            f"{load.reranker_pairs / count:.0f} pairs ({load.reranker_tokens / count:,.0f} tokens) reranked."
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
            made = plan_gpus(load_settings(preset, [*sets, *changes]), cards=cards)
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
