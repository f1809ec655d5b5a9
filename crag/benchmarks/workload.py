"""Counts the tokens that a preset's models read for some questions, with models that only count."""

import math
import os
import re
from collections.abc import Sequence
from unittest.mock import patch

import numpy as np

from crag.benchmarks.random_model import RandomModel
from crag.core.contracts import I_DONT_KNOW, Page, Query, Trace
from crag.core.deadline import Deadline
from crag.core.progress import batches_with_progress
from crag.core.queries import BATCH_KEYS
from crag.engines.encoders import BatchedDenseEncoder, load_dense_encoder
from crag.engines.encoders.base import SPECIAL_TOKENS, Vectors
from crag.engines.llm import Generation, GenerationRequest
from crag.engines.llm.base import prompt_for_trace
from crag.engines.llm.local_engine import model_folder
from crag.engines.llm.tokenizer import ChatTokenizer
from crag.facts import ShippedPublicData
from crag.graph import open_knowledge_graph
from crag.mock_api import serve
from crag.pipeline.agent import CragAgent
from crag.router import QuestionRouter, open_router
from crag.settings import KG_VARIABLE, Settings, load_settings
from crag.submission.batch_time import StepWorkload, Workload
from crag.web import WebPath

CACHE_BLOCK = 16
"""Tokens of a block of vLLM's prefix cache."""
_CALLS = re.compile(r"Calls:\n(?!None)(.+?)(?:\n\n|$)", re.DOTALL)
"""The calls of a prompt's examples; "Calls: None" stands for no call."""
LONGEST = 512
"""Most tokens of a text if the preset has no encoder with a limit."""


class CountingEncoders:
    """A dense encoder and a cross-encoder that count what they read.

    Vectors are random and pairs are ranked by their order: counting needs no relevance.
    """

    def __init__(
        self,
        inner: BatchedDenseEncoder,
        settings: Settings,
        workload: Workload,
    ) -> None:
        self.warm_up = inner.warm_up
        self.token_offsets = inner.token_offsets
        self._workload = workload
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
        self._workload.encoder_texts += len(texts)
        self._workload.encoder_tokens += sum(map(self._count, texts))
        vectors = self._chance.normal(size=(len(texts), 8))
        return vectors.astype(np.float32), len(texts)

    def score(
        self,
        pairs: Sequence[tuple[str, str]],
        deadline: Deadline | None = None,
    ) -> list[float | None]:
        """Count, and return descending scores."""
        self._workload.reranker_pairs += len(pairs)
        self._workload.reranker_tokens += sum(self._count_pair(*pair) for pair in pairs)
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


class CountingModel:
    """A language model that counts what it reads. It writes the calls of an example, or "i don't know"."""

    def __init__(self, tokenizer: ChatTokenizer) -> None:
        self.count_tokens = tokenizer.count
        self.truncate = tokenizer.truncate
        self._tokenizer = tokenizer
        self.calls: list[tuple[list[GenerationRequest], StepWorkload]] = []

    def check_weights(self) -> None:
        """There are none."""

    warm_up = close = check_weights

    def generate(
        self,
        requests: Sequence[GenerationRequest],
        deadline: Deadline,
    ) -> list[Generation]:
        """Count and reply."""
        counts = StepWorkload(prompts=len(requests))
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
    random_model: RandomModel | None = None,
) -> Workload:
    """Let an agent of these settings answer the queries, and count; a `random_model` is measured too."""
    # The tokenizers of `cpu` stand in for those of the preset, whose weights are not needed.
    small = load_settings("cpu", [])
    assert small.dense_encoder is not None
    workload = Workload(questions=len(queries))
    encoders = CountingEncoders(load_dense_encoder(small.dense_encoder), settings, workload)
    small_model = str(getattr(small.language_model, "model", ""))
    tokenizer_folder = random_model.folder if random_model else model_folder(small_model)
    model = CountingModel(ChatTokenizer(tokenizer_folder))

    with serve() as graph, patch.dict(os.environ, {KG_VARIABLE: graph}):
        agent = _build_agent(settings, model, encoders)
        agent.warm_up()
        # The warm-up is not part of a batch
        workload.encoder_texts = 0
        workload.encoder_tokens = 0

        for batch in batches_with_progress(queries, settings.batch_size):
            _, traces = agent.answer_batch(_batch(batch))
            workload.pages_read += sum(trace.pages_read for trace in traces)
            # Every trace of a batch has the seconds of the whole batch
            workload.extraction_seconds += traces[0].seconds["extract"]
            _add_steps(workload, model, traces, random_model)
            # Counted for this batch
            model.calls.clear()
        agent.close()
    return workload


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


def _add_steps(
    workload: Workload,
    model: CountingModel,
    traces: Sequence[Trace],
    random_model: RandomModel | None,
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
            if random_model:
                random_model.measure(requests, counts)

        workload.steps.setdefault(step, StepWorkload()).add(counts)


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
