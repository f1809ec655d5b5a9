"""Estimates whether a preset fits on the evaluator's GPUs.

Weights are parameters times bytes, from the shapes in `models/manifest.toml`. Two figures are cautious assumptions: a
process's basic memory on each card, and vLLM's memory besides weights, keys and values. Nothing was measured on a T4.
"""

import math
from dataclasses import dataclass, field

from agents.settings import CrossEncoderSettings, Settings, TransformersEngine, VllmEngine, needed_weights
from evaluation.batches import GPU_MEMORY_GIB
from models.manifest import Manifest, ModelEntry, Shape, load_manifest
from models.needed import base_of

GIB = 2**30
CONTEXT_GIB = 0.4
"""Assumed: memory of CUDA and its libraries on a card, for each process that uses it."""
VLLM_WORKSPACE_GIB = 1.2
"""Assumed, in vLLM's share: activations of a step of 2,048 tokens, logits, exchange buffers, Triton's workspace."""
ADAPTER_GIB = 0.1
"""An upper bound for a LoRA adapter of rank 8 for an 8B model in half precision."""
PROMPT_AROUND_CONTEXT = 1500
"""Tokens of a prompt besides its context: instructions, examples and answer."""
_ROUTER_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Part:
    """Something that uses memory of one card. `key` is its key in the preset."""

    card: int
    key: str
    what: str
    gib: float


@dataclass(slots=True)
class GpuPlan:
    """The memory use of each card.

    `inside` lists the parts of vLLM's share of each card, in GiB; `cached_tokens` is how many tokens' keys and values
    it holds; `unknown` are models without a size in the manifest; `problems` holds (key of the preset, problem,
    remedy).
    """

    cards: int
    memory_gib: float
    parts: list[Part] = field(default_factory=list)
    inside: list[tuple[str, float]] = field(default_factory=list)
    cached_tokens: int | None = None
    unknown: list[str] = field(default_factory=list)
    problems: list[tuple[str, str, str]] = field(default_factory=list)

    def on(self, card: int) -> list[Part]:
        """The parts of one card."""
        return [part for part in self.parts if part.card == card]

    def total(self, card: int) -> float:
        """GiB used on a card."""
        return sum(part.gib for part in self.on(card))


def plan(
    settings: Settings, *, cards: int = 4, memory_gib: float = GPU_MEMORY_GIB, manifest: Manifest | None = None
) -> GpuPlan:
    """Place the preset's models on the cards, and list what does not fit.

    Args:
        settings: The preset's settings.
        cards: Number of GPUs.
        memory_gib: Usable memory of each.
        manifest: The models' shapes; default: the shipped manifest.
    """
    made = GpuPlan(cards, memory_gib)
    known = (manifest or load_manifest()).models
    engine = settings.language_model
    if isinstance(engine, VllmEngine):
        _vllm(engine, known, made)
    elif isinstance(engine, TransformersEngine) and engine.device.startswith(("cuda", "auto")):
        _transformers(settings, engine, known, made)
    for key, encoder in (("dense_encoder", settings.dense_encoder), ("cross_encoder", settings.cross_encoder)):
        if encoder is not None and (card := _card(encoder.device)) is not None:
            _encoder(key, encoder, known, card, made)
    _classifiers(settings, known, made)
    # vLLM includes its workers' CUDA memory in its share.
    own = {part.card for part in made.parts if part.key != "language_model" or not isinstance(engine, VllmEngine)}
    made.parts += [Part(card, "agent", "the agent's process (assumed)", CONTEXT_GIB) for card in sorted(own)]
    for card in sorted({part.card for part in made.parts}):
        _check(settings, card, made)
    return made


def _card(device: str) -> int | None:
    """The number of a torch device's GPU; None for a CPU."""
    if not device.startswith("cuda"):
        return None
    return int(device.partition(":")[2] or 0)


def _bytes(dtype: str) -> int:
    return 4 if dtype == "float32" else 2


def _shape(name: str, known: dict[str, ModelEntry], made: GpuPlan) -> Shape | None:
    entry = known.get(name)
    if entry is None or entry.shape is None:
        made.unknown.append(name)
        return None
    return entry.shape


def _vllm(engine: VllmEngine, known: dict[str, ModelEntry], made: GpuPlan) -> None:
    cards = engine.tensor_parallel_size
    share = engine.gpu_memory_utilization * made.memory_gib
    what = f"vLLM's share, {engine.gpu_memory_utilization:g} of the card"
    made.parts += [Part(card, "language_model", what, share) for card in range(cards)]
    shape = _shape(engine.model, known, made)
    if shape is None:
        return
    weights = shape.weight_bytes(_bytes(engine.dtype)) / cards / GIB
    token = shape.key_value_bytes(_bytes(engine.dtype)) / cards / GIB
    adapters = ADAPTER_GIB * len(engine.adapters)
    room = share - weights - adapters - VLLM_WORKSPACE_GIB
    made.cached_tokens = max(0, int(room / token))
    made.inside = [
        (f"weights of {engine.model}, a {cards}th" if cards > 1 else f"weights of {engine.model}", weights),
        *([("adapters", adapters)] if adapters else []),
        ("activations, exchange, workspace (assumed)", VLLM_WORKSPACE_GIB),
        ("keys and values: the rest", max(0.0, room)),
    ]
    if made.cached_tokens < engine.max_model_tokens:
        wanted = math.ceil((share - room + engine.max_model_tokens * token) / made.memory_gib * 100) / 100
        higher = f"raise it to {wanted:g} (of {made.memory_gib:g} GiB), or raise " if wanted <= 1 else "raise "
        problem = (
            f"vLLM's share of {share:.1f} GiB a card leaves keys and values of {made.cached_tokens:,} tokens "
            f"beside {weights:.1f} GiB of weights, and one prompt may have {engine.max_model_tokens:,}"
        )
        remedy = f"{higher}language_model.tensor_parallel_size, or lower language_model.max_model_tokens"
        made.problems.append(("language_model.gpu_memory_utilization", problem, remedy))


def _transformers(settings: Settings, engine: TransformersEngine, known: dict[str, ModelEntry], made: GpuPlan) -> None:
    """Layers are spread evenly (device ``auto``) or on one card; a card processes a whole batch at a time."""
    shape = _shape(engine.model, known, made)
    if shape is None:
        return
    cards = range(made.cards) if engine.device == "auto" else [_card(engine.device) or 0]
    value = _bytes(engine.dtype)
    longest = min(engine.max_model_tokens, settings.web.context.max_tokens + PROMPT_AROUND_CONTEXT)
    tokens = engine.batch_size * longest
    spread = "weights, a part of the layers" if len(cards) > 1 else "weights"
    sizes = {
        f"{engine.model}: {spread}": shape.weight_bytes(value) / len(cards) / GIB,
        f"keys and values of {engine.batch_size} prompts of {longest:,} tokens": (
            tokens * shape.key_value_bytes(value) / len(cards) / GIB
        ),
        "activations of these": _activations(shape, tokens, value),
    }
    made.parts += [Part(card, "language_model", what, gib) for card in cards for what, gib in sizes.items()]


def _activations(shape: Shape, tokens: int, value_bytes: int) -> float:
    """GiB that one layer needs for `tokens`: states and intermediate results."""
    return tokens * (4 * shape.hidden + 2 * shape.intermediate) * value_bytes / GIB


def _encoder(key: str, encoder: CrossEncoderSettings, known: dict[str, ModelEntry], card: int, made: GpuPlan) -> None:
    shape = _shape(encoder.model, known, made)
    if shape is None:
        return
    value = _bytes(encoder.dtype)
    scores = encoder.batch_size * shape.heads * encoder.max_tokens**2 * value / GIB
    work = _activations(shape, encoder.batch_size * encoder.max_tokens, value) + scores
    made.parts += [
        Part(card, key, f"{encoder.model}: weights", shape.weight_bytes(value) / GIB),
        Part(card, key, f"activations of {encoder.batch_size} texts of {encoder.max_tokens} tokens", work),
    ]


def _classifiers(settings: Settings, known: dict[str, ModelEntry], made: GpuPlan) -> None:
    """The router's classifiers run in float32."""
    router = settings.router
    card = _card(router.device) if router is not None and router.engine == "encoder" else None
    if router is None or router.engine != "encoder" or card is None:
        return
    for folder in needed_weights(settings).folders:
        if folder.kind != "classifier":
            continue
        base = base_of(folder) or folder.name
        shape = _shape(base, known, made)
        if shape is not None:
            work = _activations(shape, router.batch_size * _ROUTER_TOKENS, 4)
            weights = shape.weight_bytes(4) / GIB
            made.parts.append(Part(card, "router", f"classifier {folder.name} on {base}: weights", weights))
            made.parts.append(Part(card, "router", f"activations of {folder.name}", work))


def _check(settings: Settings, card: int, made: GpuPlan) -> None:
    parts = made.on(card)
    if card >= made.cards:
        users = ", ".join(sorted({part.key for part in parts if part.key != "agent"}))
        problem = f"{users} is on GPU {card}, but there are only {made.cards} (GPU 0 to {made.cards - 1})"
        remedy = "choose an existing device, or raise gpu_count in aicrowd.json"
        made.problems.append((parts[0].key, problem, remedy))
    elif made.total(card) > made.memory_gib:
        listed = "; ".join(f"{part.what} {part.gib:.1f}" for part in parts)
        problem = f"GPU {card} would hold {made.total(card):.1f} GiB of {made.memory_gib:g}: {listed}"
        others = [part for part in parts if part.key != "language_model"]
        movable = sorted({f"{part.key}.device" for part in others if part.key != "agent"})
        free = next((f"GPU {other}" for other in range(made.cards) if not made.on(other)), "another GPU")
        move = f"move {' or '.join(movable)} to {free}" if movable else ""
        if isinstance(settings.language_model, VllmEngine) and len(others) < len(parts):
            share = math.floor((1 - sum(part.gib for part in others) / made.memory_gib) * 100) / 100
            remedy = f"lower it to {share:g}{', or ' + move if move else ''}"
            made.problems.append(("language_model.gpu_memory_utilization", problem, remedy))
        else:
            largest = max(parts, key=lambda part: part.gib).key
            made.problems.append((f"{largest}.device", problem, move or "a smaller batch_size, or fewer tokens"))
