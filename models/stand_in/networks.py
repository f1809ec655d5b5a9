"""The random weights of a stand-in, by architecture, written as the hub's repositories lay them out."""

import json
import zlib
from pathlib import Path
from typing import Any

from models.shapes import Shape

LAYERS = 2
_WIDTH, _HEADS, _INTERMEDIATE = 256, 4, 512
"""Multiples of 128, as AWQ's kernels want them."""
_SPREAD = 0.1
"""Standard deviation of the weights: larger than an untrained model's, so that the next token depends on the prompt."""
_PARTS = 4
"""Files that a language model's weights are split into, with an index, as large models are."""
_PACKED = 8
"""4-bit values in an int32."""
_MIDDLE = 8
"""Zero point of the 4-bit values; theirs are 0 to 15."""
PASSES = 2.0
"""Logit that a cross-encoder gives on the average: gates on the top passage's score let something through."""


def small(shape: Shape, vocabulary: int) -> Shape:
    """The stand-in's shape: few layers, narrow, with as many heads to a key/value head as the model has (up to 4)."""
    shared = min(_HEADS, shape.heads // (shape.key_value_heads or shape.heads))
    sizes = {"layers": LAYERS, "hidden": _WIDTH, "intermediate": _INTERMEDIATE, "heads": _HEADS}
    return shape.model_copy(update={**sizes, "key_value_heads": _HEADS // shared, "vocabulary": vocabulary})


def seed_of(name: str, seed: int) -> int:
    """A seed of its own for each name, the same on every machine."""
    return zlib.crc32(f"{seed} {name}".encode())


def write_network(shape: Shape, tokens: dict[str, int], folder: Path, seed: int) -> None:
    """Write `config.json` and the weights of a random network of this (small) shape.

    Args:
        shape: Of the stand-in, not of the model.
        tokens: Numbers of the special tokens ``bos``, ``eos`` and ``pad``, those that the model has.
        folder: Gets the files.
        seed: Of the random numbers.
    """
    import torch
    from transformers.utils import logging

    torch.manual_seed(seed)
    logging.disable_progress_bar()
    (_write_llama if shape.is_language_model else _write_encoder)(shape, tokens, folder)


def _write_encoder(shape: Shape, tokens: dict[str, int], folder: Path) -> None:
    import torch
    import transformers

    xlm = shape.architecture.startswith("XLMRoberta")
    kind = transformers.XLMRobertaConfig if xlm else transformers.BertConfig
    config: Any = kind(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.intermediate,
        max_position_embeddings=shape.positions,
        type_vocab_size=1 if xlm else 2,
        initializer_range=_SPREAD,
        pad_token_id=tokens["pad"],
        architectures=[shape.architecture],
        **({"num_labels": 1, "bos_token_id": tokens["bos"], "eos_token_id": tokens["eos"]} if xlm else {}),
    )
    model = getattr(transformers, shape.architecture)(config)
    if xlm:
        with torch.no_grad():
            model.classifier.out_proj.bias.fill_(PASSES)
    model.save_pretrained(str(folder))


def _write_llama(shape: Shape, tokens: dict[str, int], folder: Path) -> None:
    import torch
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.key_value_heads,
        intermediate_size=shape.intermediate,
        max_position_embeddings=shape.positions,
        initializer_range=_SPREAD,
        bos_token_id=tokens["bos"],
        eos_token_id=tokens["eos"],
        rms_norm_eps=1e-5,
        rope_theta=shape.rope_theta,
        tie_word_embeddings=False,
        architectures=[shape.architecture],
        dtype="float16",
    )
    model = transformers.LlamaForCausalLM(config)
    weights = {name: tensor.to(torch.float16) for name, tensor in model.state_dict().items()}
    if shape.awq_group is not None:
        weights = _quantised(weights, shape.awq_group)
        config.quantization_config = {
            "quant_method": "awq",
            "bits": 4,
            "group_size": shape.awq_group,
            "zero_point": True,
            "version": "gemm",
        }
    config.save_pretrained(str(folder))
    model.generation_config.save_pretrained(str(folder))
    _write_parts(weights, folder)


def _quantised(weights: dict[str, Any], group: int) -> dict[str, Any]:
    """The matrices of the layers as AWQ stores them: random 4-bit values, their zero points, and a scale per group."""
    import torch

    stored: dict[str, Any] = {}
    for name, weight in weights.items():
        if ".layers." not in name or not name.endswith("_proj.weight"):
            stored[name] = weight
            continue
        outputs, inputs = weight.shape
        layer = name.removesuffix(".weight")
        packed = torch.randint(-(2**31), 2**31, (inputs, outputs // _PACKED), dtype=torch.int64)
        stored[f"{layer}.qweight"] = packed.to(torch.int32)
        middle = sum(_MIDDLE << 4 * place for place in range(_PACKED)) - 2**32
        stored[f"{layer}.qzeros"] = torch.full((inputs // group, outputs // _PACKED), middle, dtype=torch.int32)
        # Values of -8 to 7 have a standard deviation of 4.6.
        stored[f"{layer}.scales"] = torch.full((inputs // group, outputs), _SPREAD / 4.6, dtype=torch.float16)
    return stored


def _write_parts(weights: dict[str, Any], folder: Path) -> None:
    from safetensors.torch import save_file

    names = sorted(weights)
    index: dict[str, str] = {}
    for part in range(_PARTS):
        file = f"model-{part + 1:05}-of-{_PARTS:05}.safetensors"
        mine = names[part::_PARTS]
        index |= dict.fromkeys(mine, file)
        save_file({name: weights[name].contiguous() for name in mine}, str(folder / file), metadata={"format": "pt"})
    size = sum(tensor.numel() * tensor.element_size() for tensor in weights.values())
    text = json.dumps({"metadata": {"total_size": size}, "weight_map": index}, indent=1)
    (folder / "model.safetensors.index.json").write_text(text, encoding="utf-8")


def write_adapter(base: Shape, base_name: str, rank: int, folder: Path, seed: int) -> None:
    """Write a random LoRA adapter (PEFT's two files) for a language model of this shape.

    Six targets, as db3's adapters have (all matrices of a layer but the attention's output).
    """
    import torch
    from safetensors.torch import save_file

    chance = torch.Generator().manual_seed(seed)
    rows = {
        "self_attn.q_proj": base.hidden,
        "self_attn.k_proj": base.key_value_width,
        "self_attn.v_proj": base.key_value_width,
        "mlp.gate_proj": base.intermediate,
        "mlp.up_proj": base.intermediate,
        "mlp.down_proj": base.hidden,
    }
    tensors = {}
    for layer in range(base.layers):
        for module, outputs in rows.items():
            inputs = base.intermediate if module == "mlp.down_proj" else base.hidden
            name = f"base_model.model.model.layers.{layer}.{module}"
            for part, size in (("lora_A", (rank, inputs)), ("lora_B", (outputs, rank))):
                tensors[f"{name}.{part}.weight"] = torch.randn(*size, generator=chance).mul(_SPREAD).to(torch.float16)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(folder / "adapter_model.safetensors"), metadata={"format": "pt"})
    description = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base_name,
        "r": rank,
        "lora_alpha": 2 * rank,
        "lora_dropout": 0.0,
        "bias": "none",
        "inference_mode": True,
        "target_modules": sorted(module.rpartition(".")[2] for module in rows),
    }
    (folder / "adapter_config.json").write_text(json.dumps(description, indent=1), encoding="utf-8")
