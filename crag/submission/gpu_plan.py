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
HALF_TFLOPS = 65.0
"""Peak of a T4 in half precision (NVIDIA's data sheet)."""
BANDWIDTH_GB = 320.0
"""GB per second from the memory of a T4 (NVIDIA's data sheet)."""
COMPUTE_SHARE = 0.35
"""Assumed share of that peak: a 70 W card lowers its clock under load."""
AWQ_COMPUTE_SHARE = 0.5
"""Assumed share of the former share: 4-bit weights are unpacked for each use."""
BANDWIDTH_SHARE = 0.70
"""Assumed share of the bandwidth."""
STEP_SECONDS = 0.1
"""Assumed: in less time the host cannot start the kernels of a step. 0.07 beside an H200, with 8B and an adapter."""


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


def plan_gpus(settings: Settings, *, cards: int = 4, manifest: Manifest | None = None) -> GpuPlan:
    """Place the preset's models on the cards, and list what does not fit.

    plan = plan_gpus(load_settings("submission", []))
    plan.problems  # [] if everything fits
    """
    entries = (manifest or load_manifest()).models
    shapes = {name: entry.shape for name, entry in entries.items() if entry.shape}
    gpu_plan = GpuPlan(cards, shapes)

    engine = settings.language_model
    if isinstance(engine, VllmEngine):
        _add_vllm(gpu_plan, engine)
    elif isinstance(engine, TransformersEngine) and engine.device.startswith(("cuda", "auto")):
        _add_transformers(gpu_plan, engine, context_tokens=settings.web.context.max_tokens)

    if settings.dense_encoder is not None:
        _add_encoder(gpu_plan, "dense_encoder", settings.dense_encoder)
    if settings.cross_encoder is not None:
        _add_encoder(gpu_plan, "cross_encoder", settings.cross_encoder)

    agent_cards: set[int] = set()
    for part in gpu_plan.parts:
        # vLLM includes its workers' CUDA memory in its share.
        is_in_share = part.key == "language_model" and isinstance(engine, VllmEngine)
        if not is_in_share:
            agent_cards.add(part.card)
    for card in sorted(agent_cards):
        gpu_plan.parts.append(
            Part(
                card,
                "agent",
                "the agent's process (assumed)",
                CONTEXT_GIB,
            )
        )

    for card in sorted({part.card for part in gpu_plan.parts}):
        _check_card(gpu_plan, card)
    return gpu_plan


def _card_number(device: str) -> int | None:
    """The number of a torch device's GPU; None for a CPU."""
    if not device.startswith("cuda"):
        return None
    _, _, number = device.partition(":")
    # "cuda" alone is the first card
    return int(number or 0)


def _bytes_per_value(dtype: str) -> int:
    return 4 if dtype == "float32" else 2


def _activations(shape: Shape, tokens: int, value_bytes: int) -> float:
    """GiB that one layer needs for `tokens`: states and intermediate results."""
    return tokens * (4 * shape.hidden + 2 * shape.intermediate) * value_bytes / GIB


def _add_vllm(gpu_plan: GpuPlan, engine: VllmEngine) -> None:
    """Reserve vLLM's share of each card, whatever it needs; what is free in the share holds keys and values."""
    cards = engine.tensor_parallel_size
    share = engine.gpu_memory_utilization * GPU_MEMORY_GIB
    title = f"vLLM's share, {engine.gpu_memory_utilization:g} of the card"
    gpu_plan.parts += [
        Part(
            card,
            "language_model",
            title,
            share,
        )
        for card in range(cards)
    ]

    shape = gpu_plan.shape(engine.model)
    if shape is None:
        return

    # All in GiB on each card.
    value_bytes = _bytes_per_value(engine.dtype)

    weights = shape.weight_bytes(value_bytes) / cards / GIB
    token = shape.key_value_bytes(value_bytes) / cards / GIB
    adapters = ADAPTER_GIB * len(engine.adapters)
    # What vLLM itself leaves for keys and values
    room = share - weights - adapters - VLLM_WORKSPACE_GIB
    gpu_plan.cached_tokens = max(0, int(room / token))

    if gpu_plan.cached_tokens < engine.max_model_tokens:
        problem = (
            f"vLLM's share of {share:.1f} GiB a card leaves keys and values of {gpu_plan.cached_tokens:,} tokens "
            f"beside {weights:.1f} GiB of weights, and one prompt may have {engine.max_model_tokens:,}"
        )
        # All that is not cache, and the cache of one longest prompt
        sufficient = (share - room + engine.max_model_tokens * token) / GPU_MEMORY_GIB
        # Up, to two places: rounded down, the advice would not be enough
        rounded_up = math.ceil(sufficient * 100) / 100
        remedy = f"raise it to {rounded_up:g}, raise tensor_parallel_size, or lower max_model_tokens"
        gpu_plan.problems.append(("language_model.gpu_memory_utilization", problem, remedy))


def _add_transformers(
    gpu_plan: GpuPlan,
    engine: TransformersEngine,
    *,
    context_tokens: int,
) -> None:
    """Layers are spread evenly (device ``auto``) or on one card; a card processes a whole batch at a time."""
    shape = gpu_plan.shape(engine.model)
    if shape is None:
        return

    one_card = _card_number(engine.device) or 0
    cards = list(range(gpu_plan.cards)) if engine.device == "auto" else [one_card]
    value_bytes = _bytes_per_value(engine.dtype)
    prompt_tokens = min(engine.max_model_tokens, context_tokens + PROMPT_AROUND_CONTEXT)
    batch_tokens = engine.batch_size * prompt_tokens

    weights = shape.weight_bytes(value_bytes) / len(cards) / GIB
    weights_title = f"{engine.model}: weights"
    if len(cards) > 1:
        weights_title += ", a part of the layers"
    cache = batch_tokens * shape.key_value_bytes(value_bytes) / len(cards) / GIB
    cache_title = f"keys and values of {engine.batch_size} prompts of {prompt_tokens:,} tokens"
    activations = _activations(shape, batch_tokens, value_bytes)

    for card in cards:
        gpu_plan.parts += [
            Part(card, "language_model", weights_title, weights),
            Part(card, "language_model", cache_title, cache),
            Part(card, "language_model", "activations of these", activations),
        ]


def _add_encoder(gpu_plan: GpuPlan, key: str, encoder: EncoderSettings) -> None:
    """A dense encoder or a cross-encoder, unless it runs on a CPU."""
    card = _card_number(encoder.device)
    if card is None:
        return
    shape = gpu_plan.shape(encoder.model)
    if shape is None:
        return

    value_bytes = _bytes_per_value(encoder.dtype)
    texts = encoder.batch_size
    tokens = encoder.max_tokens

    # Encoders keep the scores of all pairs of tokens, for one layer at a time
    attention = texts * shape.heads * tokens**2 * value_bytes / GIB
    activations = _activations(shape, texts * tokens, value_bytes) + attention
    gpu_plan.parts += [
        Part(
            card,
            key,
            f"{encoder.model}: weights",
            shape.weight_bytes(value_bytes) / GIB,
        ),
        Part(
            card,
            key,
            f"activations of {texts} texts of {tokens} tokens",
            activations,
        ),
    ]


def _check_card(gpu_plan: GpuPlan, card: int) -> None:
    """Note a problem if the card does not exist or is too small for its parts."""
    parts = gpu_plan.on(card)
    total = gpu_plan.total(card)
    if card >= gpu_plan.cards:
        problem = f"is on GPU {card}, but there are only {gpu_plan.cards} (GPU 0 to {gpu_plan.cards - 1})"
        remedy = "choose an existing device, or raise gpu_count in aicrowd.json"
        gpu_plan.problems.append((parts[0].key, problem, remedy))
        return
    if total <= GPU_MEMORY_GIB:
        return

    part_list = "; ".join(f"{part.what} {part.gib:.1f}" for part in parts)
    problem = f"GPU {card} would hold {total:.1f} GiB of {GPU_MEMORY_GIB:g}: {part_list}"
    # Advice about the largest part, since moving a small one would not help
    largest = max(parts, key=lambda part: part.gib)
    if largest.what.startswith("vLLM"):
        share = (GPU_MEMORY_GIB - total + largest.gib) / GPU_MEMORY_GIB
        key = "language_model.gpu_memory_utilization"
        # Down, so that the advised share really fits
        remedy = f"lower it to {math.floor(share * 100) / 100:g}"
    else:
        key = f"{largest.key}.device"
        remedy = "another GPU, a smaller batch_size, or fewer tokens"
    gpu_plan.problems.append((key, problem, remedy))


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
        share = COMPUTE_SHARE
        if self.shape.awq_group:
            share *= AWQ_COMPUTE_SHARE
        # A multiplication and an addition for each weight
        operations = 2 * self.shape.active_parameters * tokens
        return operations / (self.cards * HALF_TFLOPS * 1e12 * share)

    def exchange(self, tokens: float) -> float:
        """Seconds in which tensor parallelism adds up activations (two bytes each) twice in each layer, over PCIe."""
        if self.cards == 1:
            return 0.0
        return self.shape.layers * 2 * tokens * self.shape.hidden * 2 / PCIE_BYTES_PER_SECOND

    def read(self, tokens: float) -> float:
        """Seconds to read the prompts of a batch."""
        return self.compute(tokens) + self.exchange(tokens)

    def write(self, prompts: int, tokens: int) -> float:
        """Seconds to write `tokens` for each prompt: a step reads all weights once for the prompts together."""
        # Writing is limited by memory: all weights are read for one token of each prompt
        step = self.shape.weight_bytes() / (self.cards * BANDWIDTH_GB * 1e9 * BANDWIDTH_SHARE)
        # Prompts that do not fit at once wait for the next round
        rounds = math.ceil(prompts / self.together)
        return rounds * tokens * max(step, STEP_SECONDS)


def build_writer(settings: Settings, gpu_plan: GpuPlan, prompt_tokens: float) -> Writer:
    """The engine's cards, and the number of prompts of this length that it takes at once; raises UserError."""
    engine = settings.language_model
    if not isinstance(engine, TransformersEngine | VllmEngine) or engine.model not in gpu_plan.shapes:
        raise UserError(f"the preset {settings.name} does not run a model of crag/weights/manifest.toml on its own GPU")
    shape = gpu_plan.shapes[engine.model]
    if isinstance(engine, TransformersEngine):
        return Writer(shape, together=engine.batch_size)

    # vLLM takes as many prompts as its cache has room for.
    together = settings.batch_size
    if gpu_plan.cached_tokens is not None:
        tokens = max(1.0, prompt_tokens + settings.answering.most_tokens)
        together = min(together, int(gpu_plan.cached_tokens // tokens))
    return Writer(shape, engine.tensor_parallel_size, max(1, together))


def time_rows(
    settings: Settings,
    gpu_plan: GpuPlan,
    load: Workload,
    *,
    graph: bool,
    peak: Sequence[float] | None = None,
) -> list[tuple[str, float]]:
    """(what, seconds) for a batch in which each question takes every step; with `graph` also those of tasks 2 and 3.

    With the `peak` (TFLOPS and GB/s) of the cards of a run, its seconds by the ratio of the peaks, not by the formulas.
    """
    # From the measured questions to one batch
    scale = settings.batch_size / load.questions
    rows = [("extract and chunk (CPU, measured here)", load.front_half_seconds_on_cpu * scale)]

    for name, encoder, tokens in (
        ("dense encoder", settings.dense_encoder, load.encoder_tokens),
        ("cross-encoder", settings.cross_encoder, load.reranker_tokens),
    ):
        if encoder is not None and encoder.model in gpu_plan.shapes:
            model = Writer(gpu_plan.shapes[encoder.model])
            rows.append((name, model.compute(tokens * scale)))

    # Only vLLM remembers the beginning that prompts share
    caches_prefixes = isinstance(settings.language_model, VllmEngine)
    for step, generations in load.generations.items():
        if step in GRAPH_STEPS and not graph:
            continue
        writer = build_writer(settings, gpu_plan, generations.tokens / generations.prompts)
        read_tokens = (generations.unshared if caches_prefixes else generations.tokens) * scale
        rows.append(
            _generation_row(
                step,
                generations,
                writer,
                read_tokens,
                scale,
                peak,
            )
        )

    if graph and settings.knowledge_graph:
        rows.append(("the graph's server (assumed)", GRAPH_SECONDS))
    return rows


def _generation_row(
    step: str,
    generations: Generations,
    writer: Writer,
    read_tokens: float,
    scale: float,
    peak: Sequence[float] | None,
) -> tuple[str, float]:
    """The row of one step of the language model. `scale` is the batch size over the number of measured questions."""
    all_tokens = generations.tokens * scale
    what = f"{step}: read {read_tokens:,.0f} of {all_tokens:,.0f} tokens, write {generations.longest}"
    prompts = round(generations.prompts * scale)
    seconds = writer.read(read_tokens) + writer.write(prompts, generations.longest)
    if not generations.written:
        return what, seconds

    read_here = generations.read_seconds * scale
    write_here = generations.write_seconds
    read_speed = generations.tokens / generations.read_seconds
    write_speed = generations.written / generations.write_seconds
    what += (
        f"; here {read_here:.1f} s ({read_speed:,.0f} tokens/s) and {write_here:.1f} s ({write_speed:,.0f} tokens/s)"
    )
    if peak:
        peak_tflops, peak_bandwidth = peak
        # Reading is limited by arithmetic, writing by bandwidth: each by its own ratio
        on_one_card = read_here * peak_tflops / HALF_TFLOPS + write_here * peak_bandwidth / BANDWIDTH_GB
        seconds = on_one_card / writer.cards + writer.exchange(read_tokens)
    return what, seconds
