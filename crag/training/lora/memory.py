"""The memory of tuning on one GPU, by arithmetic. Nothing was measured on a T4."""

import json
from pathlib import Path

from crag.submission.gpu_plan import CONTEXT_GIB
from crag.training.lora.settings import LoraTraining
from crag.weights.manifest import Shape

ANSWER_TOKENS = 256
"""Assumed for the longest completion; only its positions get logits."""
_NF4_BYTES = (4 + 8 / 64 + 32 / (64 * 256)) / 8
"""Per weight: 4 bits, and scales of blocks of 64 that are themselves quantised (QLoRA, section 3)."""
_LAYER_BYTES_PER_HIDDEN = 47
"""Bytes that a layer keeps for its gradient, per token and value of the hidden size.

Measured on a CPU in 16 bits with all six targets: 369,900 bytes a token at sizes 4,096 and 14,336, with an attention
that keeps no scores (`attention_for`)."""
_LAYER_BYTES_PER_INTERMEDIATE = 12
"""The same, per value of the intermediate size."""
_GRADIENTS = 1.5
"""Assumed: gradients and the unpacked matrix beside these."""
_CONFIG_KEYS = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "intermediate": "intermediate_size",
    "heads": "num_attention_heads",
    "key_value_heads": "num_key_value_heads",
    "vocabulary": "vocab_size",
    "positions": "max_position_embeddings",
}
"""Field of `Shape` -> key of a Hugging Face config.json."""


def tuning_memory(settings: LoraTraining, shape: Shape) -> dict[str, float]:
    """Use of the card's memory -> GiB, for the longest example of the settings."""
    is_quantised = settings.quantise == "4bit"
    tokens = settings.batch_size * settings.max_tokens

    # What a layer keeps for its gradient. With checkpointing only its input stays, in 16 bits; the rest is made again.
    bytes_per_token = _LAYER_BYTES_PER_HIDDEN * shape.hidden + _LAYER_BYTES_PER_INTERMEDIATE * shape.intermediate
    layer = tokens * bytes_per_token
    states_per_layer = tokens * 2 * shape.hidden if settings.gradient_checkpointing else layer

    # The embeddings stay in half precision even if the layers are quantised
    bits = "4" if is_quantised else "16"
    bytes_per_weight = _NF4_BYTES if is_quantised else 2
    sizes = {
        f"matrices in {bits} bits": shape.linear_parameters * bytes_per_weight,
        "embeddings and output layer in float16": shape.other_parameters * 2,
        # float32: weight, gradient and two moments of AdamW
        "adapter with its optimiser": _adapter_parameters(settings, shape) * 4 * 4,
        f"states between layers of {tokens:,} tokens": shape.layers * states_per_layer,
        "the layer in work": layer * _GRADIENTS,
        # float16 logits, and their float32 copy, softmax and gradient
        "logits of the answer": settings.batch_size * ANSWER_TOKENS * shape.vocabulary * (2 + 3 * 4),
    }
    gib = {what: size / 2**30 for what, size in sizes.items()}
    return gib | {"CUDA (assumed)": CONTEXT_GIB}


def _adapter_parameters(settings: LoraTraining, shape: Shape) -> int:
    """A low-rank update of a layer with i inputs and o outputs has rank * (i + o) parameters."""
    attention_outputs = {
        "q_proj": shape.hidden,
        "o_proj": shape.hidden,
        "k_proj": shape.key_value_width,
        "v_proj": shape.key_value_width,
    }
    widths = 0
    for target in settings.adapter.targets:
        # One side of every tuned layer is the hidden size; the layers without an entry are the feed-forward network's
        widths += shape.hidden + attention_outputs.get(target, shape.intermediate)
    return shape.layers * settings.adapter.rank * widths


def shape_of(base: Path) -> Shape | None:
    """The shape of a model folder of Llama's kind, or None."""
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    if config.get("model_type") != "llama":
        return None
    sizes = {name: config[key] for name, key in _CONFIG_KEYS.items()}
    return Shape(architecture="LlamaForCausalLM", **sizes)


def why_too_large(settings: LoraTraining, shape: Shape, gib: float) -> str | None:
    """Why the tuning does not fit on a card of that memory, with the remedy, or None."""
    parts = tuning_memory(settings, shape)
    total = sum(parts.values())
    if total <= gib:
        return None
    part_list = "; ".join(f"{what} {size:.1f}" for what, size in parts.items())
    remedy = "lower max_tokens, --set \"quantise='4bit'\", or a larger card"
    return f"tuning needs {total:.1f} GiB of {gib:.1f}: {part_list}; {remedy}"
