"""Estimates whether a preset's models fit into the memory of the evaluator's GPUs.

Weights are parameters times bytes, from the shapes in `crag/weights/manifest.toml`. The other figures are cautious
assumptions. Nothing was measured on a T4.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

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


class Part(NamedTuple):
    """Something that uses memory of one card. `key` is its key in the preset."""

    card: int
    key: str
    what: str
    gib: float


class MemoryProblem(NamedTuple):
    """What does not fit, with the key of the preset that decides it."""

    key: str
    fault: str
    remedy: str


@dataclass(slots=True)
class GpuPlan:
    """The memory use of each card.

    `cached_tokens` is how many tokens' keys and values vLLM's share holds; `unknown` are models without a shape.
    """

    cards: int
    shapes: Mapping[str, Shape]
    parts: list[Part] = field(default_factory=list)
    cached_tokens: int | None = None
    unknown: list[str] = field(default_factory=list)
    problems: list[MemoryProblem] = field(default_factory=list)

    def parts_on(self, card: int) -> list[Part]:
        """What uses memory of one card."""
        return [part for part in self.parts if part.card == card]

    def total(self, card: int) -> float:
        """GiB used on a card."""
        return sum(part.gib for part in self.parts_on(card))

    def find_shape(self, name: str) -> Shape | None:
        """The numbers of a model's layers, heads and parameters; None if unknown, which is noted."""
        if name not in self.shapes:
            self.unknown.append(name)
        return self.shapes.get(name)


def plan_gpus(settings: Settings, *, cards: int = 4, manifest: Manifest | None = None) -> GpuPlan:
    """Place the preset's models on the cards, and list what does not fit.

    Example:
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
        gpu_plan.parts.append(Part(card, "agent", "the agent's process (assumed)", CONTEXT_GIB))

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
    gpu_plan.parts += [Part(card, "language_model", title, share) for card in range(cards)]

    shape = gpu_plan.find_shape(engine.model)
    if shape is None:
        return

    value_bytes = _bytes_per_value(engine.dtype)
    # All in GiB on each card
    weights = shape.weight_bytes(value_bytes) / cards / GIB
    token = shape.key_value_bytes(value_bytes) / cards / GIB
    adapters = ADAPTER_GIB * len(engine.adapters)
    # What vLLM itself leaves for keys and values
    room = share - weights - adapters - VLLM_WORKSPACE_GIB
    gpu_plan.cached_tokens = max(0, int(room / token))

    if gpu_plan.cached_tokens < engine.max_model_tokens:
        fault = (
            f"vLLM's share of {share:.1f} GiB a card leaves keys and values of {gpu_plan.cached_tokens:,} tokens "
            f"beside {weights:.1f} GiB of weights, and one prompt may have {engine.max_model_tokens:,}"
        )
        # All that is not cache, and the cache of one longest prompt
        sufficient = (share - room + engine.max_model_tokens * token) / GPU_MEMORY_GIB
        # Up, to two places: rounded down, the advice would not be enough
        rounded_up = math.ceil(sufficient * 100) / 100
        remedy = f"raise it to {rounded_up:g}, raise tensor_parallel_size, or lower max_model_tokens"
        gpu_plan.problems.append(MemoryProblem("language_model.gpu_memory_utilization", fault, remedy))


def _add_transformers(
    gpu_plan: GpuPlan,
    engine: TransformersEngine,
    *,
    context_tokens: int,
) -> None:
    """Layers are spread evenly (device ``auto``) or on one card; a card processes a whole batch at a time."""
    shape = gpu_plan.find_shape(engine.model)
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
    shape = gpu_plan.find_shape(encoder.model)
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
    parts = gpu_plan.parts_on(card)
    total = gpu_plan.total(card)
    if card >= gpu_plan.cards:
        fault = f"is on GPU {card}, but there are only {gpu_plan.cards} (GPU 0 to {gpu_plan.cards - 1})"
        remedy = "choose an existing device, or raise gpu_count in aicrowd.json"
        gpu_plan.problems.append(MemoryProblem(parts[0].key, fault, remedy))
        return
    if total <= GPU_MEMORY_GIB:
        return

    part_list = "; ".join(f"{part.what} {part.gib:.1f}" for part in parts)
    fault = f"GPU {card} would hold {total:.1f} GiB of {GPU_MEMORY_GIB:g}: {part_list}"
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
    gpu_plan.problems.append(MemoryProblem(key, fault, remedy))
