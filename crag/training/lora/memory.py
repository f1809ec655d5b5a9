"""The memory of tuning on one GPU, by arithmetic. Nothing was measured on a T4."""

import json
from pathlib import Path

from crag.submission.gpu_plan import CONTEXT_GIB
from crag.training.lora import LoraTraining
from crag.weights.manifest import Shape

ANSWER_TOKENS = 256
"""Assumed for the longest completion; only its positions get logits."""
_NF4_BYTES = (4 + 8 / 64 + 32 / (64 * 256)) / 8
"""Per weight: 4 bits, and scales of blocks of 64 that are themselves quantised (QLoRA, section 3)."""
_OF_HIDDEN, _OF_INTERMEDIATE = 47, 12
"""Bytes that a layer keeps for its gradient, per token and value of width. Measured on a CPU in 16 bits with all six
targets: 369,900 bytes a token at widths 4,096 and 14,336, with an attention that keeps no scores (`attention_for`)."""
_KEYS = {"layers": "num_hidden_layers", "hidden": "hidden_size", "intermediate": "intermediate_size"}
_KEYS |= {"heads": "num_attention_heads", "key_value_heads": "num_key_value_heads", "vocabulary": "vocab_size"}
_KEYS |= {"positions": "max_position_embeddings"}
_GRADIENTS = 1.5
"""Assumed: gradients and the unpacked matrix beside these."""


def tuning_memory(settings: LoraTraining, shape: Shape) -> dict[str, float]:
    """What uses the card's memory -> GiB, for the longest example of the settings."""
    quantised, tokens = settings.quantise == "4bit", settings.batch_size * settings.max_tokens
    ways = {"q_proj": shape.hidden, "o_proj": shape.hidden, "k_proj": shape.key_value_width}
    ways["v_proj"] = shape.key_value_width
    wide = shape.hidden + shape.intermediate
    inputs_and_outputs = [shape.hidden + ways[name] if name in ways else wide for name in settings.adapter.targets]
    layer = tokens * (_OF_HIDDEN * shape.hidden + _OF_INTERMEDIATE * shape.intermediate)
    kept = shape.layers * (tokens * 2 * shape.hidden if settings.gradient_checkpointing else layer)
    sizes = {
        f"matrices in {'4' if quantised else '16'} bits": shape.linear_parameters * (_NF4_BYTES if quantised else 2),
        "embeddings and output layer in float16": shape.other_parameters * 2,
        # float32: weight, gradient and two moments of AdamW
        "adapter with its optimiser": shape.layers * settings.adapter.rank * sum(inputs_and_outputs) * 4 * 4,
        f"states between layers of {tokens:,} tokens": kept,
        "the layer in work": layer * _GRADIENTS,
        # float16 logits, and their float32 copy, softmax and gradient
        "logits of the answer": settings.batch_size * ANSWER_TOKENS * shape.vocabulary * (2 + 3 * 4),
    }
    return {what: size / 2**30 for what, size in sizes.items()} | {"CUDA (assumed)": CONTEXT_GIB}


def shape_of(base: Path) -> Shape | None:
    """The shape of a model folder of Llama's kind, or None."""
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    if config.get("model_type") != "llama":
        return None
    return Shape(architecture="LlamaForCausalLM", **{ours: config[theirs] for ours, theirs in _KEYS.items()})


def too_large(settings: LoraTraining, shape: Shape, gib: float) -> str | None:
    """Why the tuning does not fit on a card of that memory, with the remedy, or None."""
    parts = tuning_memory(settings, shape)
    if (total := sum(parts.values())) <= gib:
        return None
    listed = "; ".join(f"{what} {size:.1f}" for what, size in parts.items())
    return f"tuning needs {total:.1f} GiB of {gib:.1f}: {listed}; lower max_tokens, set quantise=4bit, or a larger card"
