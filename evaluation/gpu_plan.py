"""What a preset lays on which GPU, by arithmetic: does it fit on the evaluator's cards?

Weights are parameters times bytes, from the shapes in `models/manifest.toml`. Two figures are assumptions, on the
careful side: what a process takes of each card before it loads anything, and what vLLM needs beside weights, keys and
values. Nothing of this was measured on a T4.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from agents.settings import (
    CrossEncoderSettings,
    DenseEncoderSettings,
    Settings,
    TransformersEngine,
    VllmEngine,
    needed_weights,
)
from evaluation.real_evaluator import GPU_MEMORY_GIB
from models.manifest import Manifest, ModelEntry, load_manifest
from models.needed import base_of
from models.shapes import Shape

GIB = 2**30
CONTEXT_GIB = 0.4
"""Assumed: what CUDA and its libraries take of a card for each process that uses it."""
VLLM_WORKSPACE_GIB = 1.2
"""Assumed, of vLLM's own share: activations of a step of 2,048 tokens, logits, exchange buffers, Triton's workspace."""
ADAPTER_GIB = 0.1
"""More than a LoRA adapter of rank 8 for a model of 8B parameters takes in half precision."""
PROMPT_AROUND_CONTEXT = 1500
"""Tokens of instructions, examples and answer that a prompt may have beside its context."""
_ROUTER_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Part:
    """Something that takes memory of one card. `key` is where the preset names it."""

    card: int
    key: str
    what: str
    gib: float


@dataclass(slots=True)
class Plan:
    """Who lies where. `problems` holds (key of the preset, what does not fit, what to do)."""

    cards: int
    memory_gib: float
    parts: list[Part] = field(default_factory=list)
    inside: list[tuple[str, float]] = field(default_factory=list)
    """What vLLM's share of each of its cards is made of, in GiB."""
    cached_tokens: int | None = None
    """So many tokens' keys and values vLLM's share holds at once."""
    unknown: list[str] = field(default_factory=list)
    """Models on a GPU whose size nobody knows."""
    problems: list[tuple[str, str, str]] = field(default_factory=list)

    def on(self, card: int) -> list[Part]:
        """The parts of one card."""
        return [part for part in self.parts if part.card == card]

    def total(self, card: int) -> float:
        """GiB that are taken of a card."""
        return sum(part.gib for part in self.on(card))


def plan(
    settings: Settings, *, cards: int = 4, memory_gib: float = GPU_MEMORY_GIB, manifest: Manifest | None = None
) -> Plan:
    """Lay the preset's models on the cards, and say what does not fit.

    Args:
        settings: Of a preset.
        cards: How many GPUs there are.
        memory_gib: What each of them shows to programs.
        manifest: Where the models' shapes stand; default: the shipped one.
    """
    made = Plan(cards, memory_gib)
    known = (manifest or load_manifest()).models
    _language_model(settings, known, made)
    for key, encoder in (("dense_encoder", settings.dense_encoder), ("cross_encoder", settings.cross_encoder)):
        if encoder is not None and (card := _card(encoder.device)) is not None:
            _encoder(key, encoder, known, card, made)
    _classifiers(settings, known, made)
    _contexts(settings, made)
    _check(settings, made)
    return made


def _card(device: str) -> int | None:
    """The number of a torch device's GPU; None for a processor."""
    if not device.startswith("cuda"):
        return None
    number = device.partition(":")[2]
    return int(number) if number.isdigit() else 0


def _language_model(settings: Settings, known: dict[str, ModelEntry], made: Plan) -> None:
    engine = settings.language_model
    if not isinstance(engine, VllmEngine | TransformersEngine):
        return
    if isinstance(engine, TransformersEngine) and not engine.device.startswith(("cuda", "auto")):
        return
    entry = known.get(engine.model)
    shape = entry.shape if entry is not None else None
    if shape is None:
        made.unknown.append(engine.model)
        if isinstance(engine, VllmEngine):
            made.parts += _vllm_parts(engine, made)
    elif isinstance(engine, VllmEngine):
        _vllm(engine, shape, made)
    else:
        _transformers(settings, engine, shape, made)


def _vllm_parts(engine: VllmEngine, made: Plan) -> Iterator[Part]:
    share = engine.gpu_memory_utilization * made.memory_gib
    for card in range(engine.tensor_parallel_size):
        yield Part(card, "language_model", f"vLLM's share, {engine.gpu_memory_utilization:g} of the card", share)


def _vllm(engine: VllmEngine, shape: Shape, made: Plan) -> None:
    made.parts += _vllm_parts(engine, made)
    cards = engine.tensor_parallel_size
    value_bytes = 4 if engine.dtype == "float32" else 2
    weights = shape.weight_bytes(value_bytes) / cards / GIB
    adapters = ADAPTER_GIB * len(engine.adapters)
    share = engine.gpu_memory_utilization * made.memory_gib
    room = share - weights - adapters - VLLM_WORKSPACE_GIB
    made.cached_tokens = max(0, int(room * GIB * cards / shape.key_value_bytes(value_bytes)))
    made.inside = [
        (f"weights of {engine.model}, a {cards}th" if cards > 1 else f"weights of {engine.model}", weights),
        *([("adapters", adapters)] if adapters else []),
        ("activations, exchange, workspace (assumed)", VLLM_WORKSPACE_GIB),
        ("keys and values: the rest", max(0.0, room)),
    ]
    if made.cached_tokens < engine.max_model_tokens:
        least = share - room + engine.max_model_tokens * shape.key_value_bytes(value_bytes) / cards / GIB
        wanted = _rounded_up(least / made.memory_gib)
        higher = f"raise it to {wanted} (of {made.memory_gib:g} GiB), or raise " if float(wanted) <= 1 else "raise "
        made.problems.append(
            (
                "language_model.gpu_memory_utilization",
                (
                    f"vLLM's share of {share:.1f} GiB a card leaves keys and values of {made.cached_tokens:,} tokens "
                    f"beside {weights:.1f} GiB of weights, and one prompt may have {engine.max_model_tokens:,}"
                ),
                f"{higher}language_model.tensor_parallel_size, or lower language_model.max_model_tokens",
            )
        )


def _rounded_up(share: float) -> str:
    return f"{math.ceil(share * 100) / 100:g}"


def _transformers(settings: Settings, engine: TransformersEngine, shape: Shape, made: Plan) -> None:
    """Layers spread evenly (device ``auto``) or on one card; a card works on a whole batch of prompts at a time."""
    cards = range(made.cards) if engine.device == "auto" else [_card(engine.device) or 0]
    value_bytes = 4 if engine.dtype == "float32" else 2
    longest = min(engine.max_model_tokens, settings.web.context.max_tokens + PROMPT_AROUND_CONTEXT)
    tokens = engine.batch_size * longest
    spread = "weights, a part of the layers" if len(cards) > 1 else "weights"
    for card in cards:
        made.parts += [
            Part(
                card, "language_model", f"{engine.model}: {spread}", shape.weight_bytes(value_bytes) / len(cards) / GIB
            ),
            Part(
                card,
                "language_model",
                f"keys and values of {engine.batch_size} prompts of {longest:,} tokens",
                tokens * shape.key_value_bytes(value_bytes) / len(cards) / GIB,
            ),
            Part(card, "language_model", "activations of these", _activations(shape, 1, tokens, value_bytes)),
        ]


def _activations(shape: Shape, texts: int, tokens: int, value_bytes: int) -> float:
    """GiB that one layer takes for `texts` of `tokens` each: states and what lies between its matrices."""
    return texts * tokens * (4 * shape.hidden + 2 * shape.intermediate) * value_bytes / GIB


def _encoder(
    key: str,
    encoder: DenseEncoderSettings | CrossEncoderSettings,
    known: dict[str, ModelEntry],
    card: int,
    made: Plan,
) -> None:
    entry = known.get(encoder.model)
    value_bytes = 4 if encoder.dtype == "float32" else 2
    if entry is None or entry.shape is None:
        weights = _size_of_files(entry)
        if weights is None:
            made.unknown.append(encoder.model)
        else:
            made.parts.append(Part(card, key, f"{encoder.model}: weights", weights))
        return
    shape = entry.shape
    scores = encoder.batch_size * shape.heads * encoder.max_tokens**2 * value_bytes / GIB
    work = _activations(shape, encoder.batch_size, encoder.max_tokens, value_bytes) + scores
    made.parts += [
        Part(card, key, f"{encoder.model}: weights", shape.weight_bytes(value_bytes) / GIB),
        Part(card, key, f"activations of {encoder.batch_size} texts of {encoder.max_tokens} tokens", work),
    ]


def _size_of_files(entry: ModelEntry | None) -> float | None:
    sizes = [size for size in entry.expected.values() if size] if entry is not None else []
    return sum(sizes) / GIB if sizes else None


def _classifiers(settings: Settings, known: dict[str, ModelEntry], made: Plan) -> None:
    """Classifiers of the router compute in float32."""
    router = settings.router
    card = _card(router.device) if router is not None and router.engine == "encoder" else None
    if router is None or router.engine != "encoder" or card is None:
        return
    for folder in needed_weights(settings).folders:
        if folder.kind != "classifier":
            continue
        base = base_of(folder) or ""
        entry = known.get(base)
        key, what = "router", f"classifier {folder.name} on {base or 'an unknown base'}: weights"
        if entry is not None and entry.shape is not None:
            made.parts.append(Part(card, key, what, entry.shape.weight_bytes(4) / GIB))
            work = _activations(entry.shape, router.batch_size, _ROUTER_TOKENS, 4)
            made.parts.append(Part(card, key, f"activations of {folder.name}", work))
        elif (weights := _size_of_files(entry)) is not None:
            made.parts.append(Part(card, key, what, weights))
        else:
            made.unknown.append(base or folder.name)


def _contexts(settings: Settings, made: Plan) -> None:
    """CUDA's own memory of the agent's process. vLLM counts that of its workers in its share."""
    own = [part for part in made.parts if part.key != "language_model" or settings.language_model.engine != "vllm"]
    for card in sorted({part.card for part in own}):
        made.parts.append(Part(card, "agent", "the agent's process (assumed)", CONTEXT_GIB))


def _check(settings: Settings, made: Plan) -> None:
    for card in sorted({part.card for part in made.parts}):
        parts = made.on(card)
        if card >= made.cards:
            users = ", ".join(sorted({part.key for part in parts if part.key != "agent"}))
            problem = f"{users} lies on GPU {card}, and there are {made.cards} (GPU 0 to {made.cards - 1})"
            key = next(part.key for part in parts)
            made.problems.append((key, problem, "give a device that is there, or a higher gpu_count in aicrowd.json"))
            continue
        total = made.total(card)
        if total > made.memory_gib:
            listed = "; ".join(f"{part.what} {part.gib:.1f}" for part in parts)
            problem = f"GPU {card} would hold {total:.1f} GiB of {made.memory_gib:g}: {listed}"
            made.problems.append((_whom_to_blame(settings, parts), problem, _remedy(settings, parts, made)))


def _whom_to_blame(settings: Settings, parts: list[Part]) -> str:
    vllm = settings.language_model.engine == "vllm" and any(part.key == "language_model" for part in parts)
    return "language_model.gpu_memory_utilization" if vllm else f"{max(parts, key=lambda part: part.gib).key}.device"


def _remedy(settings: Settings, parts: list[Part], made: Plan) -> str:
    others = [part for part in parts if part.key != "language_model"]
    movable = sorted({f"{part.key}.device" for part in others if part.key != "agent"})
    free = [str(card) for card in range(made.cards) if not made.on(card)]
    move = f"move {' or '.join(movable)} to {'GPU ' + free[0] if free else 'another GPU'}" if movable else ""
    if isinstance(settings.language_model, VllmEngine) and len(others) < len(parts):
        share = (made.memory_gib - sum(part.gib for part in others)) / made.memory_gib
        return f"lower it to {math.floor(share * 100) / 100:g}{', or ' + move if move else ''}"
    return move or "a smaller batch_size, or fewer tokens"
