"""Estimates whether a preset fits on the evaluator's GPUs: in memory, and in seconds for a measured workload.

Weights are parameters times bytes, from the shapes in `crag/weights/manifest.toml`. The other figures are cautious
assumptions. Nothing was measured on a T4.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crag.core.files import UserError
from crag.evaluation.batches import GPU_MEMORY_GIB
from crag.settings import EncoderSettings, Settings, TransformersEngine, VllmEngine
from crag.weights.manifest import Manifest, Shape, load_manifest

GIB = 2**30
CONTEXT_GIB = 0.4
"""Assumed: memory of CUDA and its libraries on a card, for each process that uses it."""
VLLM_WORKSPACE_GIB = 1.2
"""Assumed, in vLLM's share: activations of a step of 2,048 tokens, logits, exchange buffers, Triton's workspace."""
ADAPTER_GIB = 0.1
"""An upper bound for a LoRA adapter of rank 8 for an 8B model in half precision."""
PROMPT_AROUND_CONTEXT = 1500
"""Tokens of a prompt besides its context: instructions, examples and answer."""
GRAPH_SECONDS = 4.0
"""Assumed: calls of a batch to the graph's server."""
PCIE_BYTES_PER_SECOND = 6e9
"""Assumed for T4 in a g4dn machine: PCIe 3.0, no NVLink."""
HALF_TFLOPS, BANDWIDTH_GB = 65.0, 320.0
"""Of a T4 (NVIDIA's data sheet)."""
COMPUTE_SHARE, AWQ_COMPUTE_SHARE, BANDWIDTH_SHARE = 0.35, 0.5, 0.70
"""Assumed: a 70 W card lowers its clock under load; 4-bit weights are unpacked for each use."""
STEP_SECONDS = 0.1
"""Assumed: in less the host cannot start the kernels of a step. 0.07 beside an H200, with 8B and an adapter."""


# --- memory -----------------------------------------------------------------------------------------------------------


class Part(NamedTuple):
    """Something that uses memory of one card. `key` is its key in the preset."""

    card: int
    key: str
    what: str
    gib: float


@dataclass(slots=True)
class GpuPlan:
    """The memory use of each card.

    `cached_tokens` is how many tokens' keys and values vLLM's share holds; `unknown` are models without a shape;
    `problems` holds (key of the preset, problem, remedy).
    """

    cards: int
    shapes: Mapping[str, Shape]
    parts: list[Part] = field(default_factory=list)
    cached_tokens: int | None = None
    unknown: list[str] = field(default_factory=list)
    problems: list[tuple[str, str, str]] = field(default_factory=list)

    def on(self, card: int) -> list[Part]:
        """The parts of one card."""
        return [part for part in self.parts if part.card == card]

    def total(self, card: int) -> float:
        """GiB used on a card."""
        return sum(part.gib for part in self.on(card))

    def shape(self, name: str) -> Shape | None:
        """A model's shape; None, and the name is noted in `unknown`."""
        if name not in self.shapes:
            self.unknown.append(name)
        return self.shapes.get(name)


def plan(settings: Settings, *, cards: int = 4, manifest: Manifest | None = None) -> GpuPlan:
    """Place the preset's models on the cards, and list what does not fit."""
    entries = (manifest or load_manifest()).models
    made = GpuPlan(cards, {name: entry.shape for name, entry in entries.items() if entry.shape})
    engine = settings.language_model
    if isinstance(engine, VllmEngine):
        _vllm(engine, made)
    elif isinstance(engine, TransformersEngine) and engine.device.startswith(("cuda", "auto")):
        _transformers(settings, engine, made)
    for key, encoder in (("dense_encoder", settings.dense_encoder), ("cross_encoder", settings.cross_encoder)):
        if encoder is not None and (card := _card(encoder.device)) is not None:
            _encoder(key, encoder, card, made)
    # vLLM includes its workers' CUDA memory in its share.
    own = {part.card for part in made.parts if part.key != "language_model" or not isinstance(engine, VllmEngine)}
    made.parts += [Part(card, "agent", "the agent's process (assumed)", CONTEXT_GIB) for card in sorted(own)]
    for card in sorted({part.card for part in made.parts}):
        _check(card, made)
    return made


def _card(device: str) -> int | None:
    """The number of a torch device's GPU; None for a CPU."""
    return int(device.partition(":")[2] or 0) if device.startswith("cuda") else None


def _bytes(dtype: str) -> int:
    return 4 if dtype == "float32" else 2


def _activations(shape: Shape, tokens: int, value_bytes: int) -> float:
    """GiB that one layer needs for `tokens`: states and intermediate results."""
    return tokens * (4 * shape.hidden + 2 * shape.intermediate) * value_bytes / GIB


def _vllm(engine: VllmEngine, made: GpuPlan) -> None:
    cards, share = engine.tensor_parallel_size, engine.gpu_memory_utilization * GPU_MEMORY_GIB
    title = f"vLLM's share, {engine.gpu_memory_utilization:g} of the card"
    made.parts += [Part(card, "language_model", title, share) for card in range(cards)]
    if shape := made.shape(engine.model):
        weights = shape.weight_bytes(_bytes(engine.dtype)) / cards / GIB
        token = shape.key_value_bytes(_bytes(engine.dtype)) / cards / GIB
        room = share - weights - ADAPTER_GIB * len(engine.adapters) - VLLM_WORKSPACE_GIB
        made.cached_tokens = max(0, int(room / token))
        if made.cached_tokens < engine.max_model_tokens:
            problem = (
                f"vLLM's share of {share:.1f} GiB a card leaves keys and values of {made.cached_tokens:,} tokens "
                f"beside {weights:.1f} GiB of weights, and one prompt may have {engine.max_model_tokens:,}"
            )
            wanted = math.ceil((share - room + engine.max_model_tokens * token) / GPU_MEMORY_GIB * 100) / 100
            remedy = f"raise it to {wanted:g}, raise tensor_parallel_size, or lower max_model_tokens"
            made.problems.append(("language_model.gpu_memory_utilization", problem, remedy))


def _transformers(settings: Settings, engine: TransformersEngine, made: GpuPlan) -> None:
    """Layers are spread evenly (device ``auto``) or on one card; a card processes a whole batch at a time."""
    if shape := made.shape(engine.model):
        cards = range(made.cards) if engine.device == "auto" else [_card(engine.device) or 0]
        value = _bytes(engine.dtype)
        longest = min(engine.max_model_tokens, settings.web.context.max_tokens + PROMPT_AROUND_CONTEXT)
        tokens = engine.batch_size * longest
        sizes = {
            f"{engine.model}: weights{', a part of the layers' * (len(cards) > 1)}": shape.weight_bytes(value),
            f"keys and values of {engine.batch_size} prompts of {longest:,} tokens": tokens
            * shape.key_value_bytes(value),
        }
        for card in cards:
            made.parts += [Part(card, "language_model", what, size / len(cards) / GIB) for what, size in sizes.items()]
            work = _activations(shape, tokens, value)
            made.parts.append(Part(card, "language_model", "activations of these", work))


def _encoder(key: str, encoder: EncoderSettings, card: int, made: GpuPlan) -> None:
    if shape := made.shape(encoder.model):
        value, count, tokens = _bytes(encoder.dtype), encoder.batch_size, encoder.max_tokens
        work = _activations(shape, count * tokens, value) + count * shape.heads * tokens**2 * value / GIB
        made.parts += [
            Part(card, key, f"{encoder.model}: weights", shape.weight_bytes(value) / GIB),
            Part(card, key, f"activations of {count} texts of {tokens} tokens", work),
        ]


def _check(card: int, made: GpuPlan) -> None:
    parts, total = made.on(card), made.total(card)
    if card >= made.cards:
        problem = f"is on GPU {card}, but there are only {made.cards} (GPU 0 to {made.cards - 1})"
        made.problems.append((parts[0].key, problem, "choose an existing device, or raise gpu_count in aicrowd.json"))
    elif total > GPU_MEMORY_GIB:
        listed = "; ".join(f"{part.what} {part.gib:.1f}" for part in parts)
        problem = f"GPU {card} would hold {total:.1f} GiB of {GPU_MEMORY_GIB:g}: {listed}"
        largest = max(parts, key=lambda part: part.gib)
        key, remedy = f"{largest.key}.device", "another GPU, a smaller batch_size, or fewer tokens"
        if largest.what.startswith("vLLM"):
            share = (GPU_MEMORY_GIB - total + largest.gib) / GPU_MEMORY_GIB
            key, remedy = "language_model.gpu_memory_utilization", f"lower it to {math.floor(share * 100) / 100:g}"
        made.problems.append((key, problem, remedy))


# --- seconds ----------------------------------------------------------------------------------------------------------


GRAPH_STEPS = ("calls", "graph_answer")
"""Steps of a trace that task 1 does not have."""


@dataclass(slots=True)
class Generations:
    """The language model's texts of one kind, for some questions.

    `tokens` are those of all prompts. `unshared` are those that a prefix cache does not know from an earlier prompt of
    the same call. `longest` is the most tokens of a text. The rest is measured where a model ran: `written` tokens, and
    the seconds of reading and of writing.
    """

    prompts: int = 0
    tokens: int = 0
    unshared: int = 0
    longest: int = 0
    written: int = 0
    read_seconds: float = 0.0
    write_seconds: float = 0.0


@dataclass(slots=True)
class Workload:
    """The models' work for some questions, in tokens that a model reads (without padding)."""

    questions: int = 0
    pages_read: int = 0
    encoder_texts: int = 0
    encoder_tokens: int = 0
    reranker_pairs: int = 0
    reranker_tokens: int = 0
    generations: dict[str, Generations] = field(default_factory=dict)
    """By the step of a trace; "route" holds what no trace has: the router's, and names for public data."""
    front_half_seconds_on_cpu: float = 0.0
    """Extraction and chunking, which stay on the evaluator's CPU."""


@dataclass(frozen=True, slots=True)
class Writer:
    """The language model: `together` prompts are answered at once.

    `cards` work side by side on one step (tensor parallelism); layers spread over cards work one after another.
    """

    shape: Shape
    cards: int = 1
    together: int = 1

    def compute(self, tokens: float) -> float:
        """Seconds of two operations per active parameter and token, over the assumed share of the cards' peak."""
        share = COMPUTE_SHARE * (AWQ_COMPUTE_SHARE if self.shape.awq_group else 1.0)
        return 2 * self.shape.active_parameters * tokens / (self.cards * HALF_TFLOPS * 1e12 * share)

    def exchange(self, tokens: float) -> float:
        """Seconds in which tensor parallelism adds up activations (two bytes each) twice in each layer, over PCIe."""
        return (self.cards > 1) * self.shape.layers * 2 * tokens * self.shape.hidden * 2 / PCIE_BYTES_PER_SECOND

    def read(self, tokens: float) -> float:
        """Seconds to read the prompts of a batch."""
        return self.compute(tokens) + self.exchange(tokens)

    def write(self, prompts: int, tokens: int) -> float:
        """Seconds to write `tokens` for each prompt: a step reads all weights once for the prompts together."""
        step = self.shape.weight_bytes() / (self.cards * BANDWIDTH_GB * 1e9 * BANDWIDTH_SHARE)
        return math.ceil(prompts / self.together) * tokens * max(step, STEP_SECONDS)


def writer_of(settings: Settings, made: GpuPlan, prompt_tokens: float) -> Writer:
    """The engine's cards, and the number of prompts of this length that it takes at once; raises UserError."""
    engine = settings.language_model
    if not isinstance(engine, TransformersEngine | VllmEngine) or engine.model not in made.shapes:
        raise UserError(
            f"the preset {settings.name} does not run a model of crag/weights/manifest.toml on a GPU of its own"
        )
    if isinstance(engine, TransformersEngine):
        return Writer(made.shapes[engine.model], together=engine.batch_size)
    tokens = max(1.0, prompt_tokens + settings.answering.max_new_tokens)
    fit = settings.batch_size if made.cached_tokens is None else int(made.cached_tokens // tokens)
    return Writer(made.shapes[engine.model], engine.tensor_parallel_size, max(1, min(settings.batch_size, fit)))


def time_rows(
    settings: Settings, made: GpuPlan, load: Workload, *, graph: bool, peak: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """(what, seconds) for a batch in which each question takes every step; with `graph` also those of tasks 2 and 3.

    With the `peak` (TFLOPS and GB/s) of the cards of a run, its seconds by the ratio of the peaks, not by the formulas.
    """
    scale = settings.batch_size / load.questions
    caches_prefixes = isinstance(settings.language_model, VllmEngine)
    rows = [("extract and chunk (CPU, measured here)", load.front_half_seconds_on_cpu * scale)]
    for name, encoder, tokens in (
        ("dense encoder", settings.dense_encoder, load.encoder_tokens),
        ("cross-encoder", settings.cross_encoder, load.reranker_tokens),
    ):
        if encoder is not None and (shape := made.shapes.get(encoder.model)):
            rows.append((name, Writer(shape).compute(tokens * scale)))
    for step, texts in load.generations.items():
        if step in GRAPH_STEPS and not graph:
            continue
        writer = writer_of(settings, made, texts.tokens / texts.prompts)
        read = (texts.unshared if caches_prefixes else texts.tokens) * scale
        prompts = round(texts.prompts * scale)
        seconds = writer.read(read) + writer.write(prompts, texts.longest)
        what = f"{step}: read {read:,.0f} of {texts.tokens * scale:,.0f} tokens, write {texts.longest}"
        if texts.written:
            ran = texts.read_seconds * scale, texts.write_seconds
            speeds = texts.tokens / texts.read_seconds, texts.written / texts.write_seconds
            what += f"; here {ran[0]:.1f} s ({speeds[0]:,.0f} tokens/s) and {ran[1]:.1f} s ({speeds[1]:,.0f} tokens/s)"
            if peak:
                seconds = ran[0] * peak[0] / HALF_TFLOPS + ran[1] * peak[1] / BANDWIDTH_GB
                seconds = seconds / writer.cards + writer.exchange(read)
        rows.append((what, seconds))
    return [*rows, ("the graph's server (assumed)", GRAPH_SECONDS)] if graph and settings.knowledge_graph else rows
