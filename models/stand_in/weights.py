"""The random weights of stand-ins, in the files that the hub and this package's training write."""

import json
import zlib
from collections.abc import Mapping, Sequence
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
"""Zero point of the 4-bit values, which are 0 to 15."""
_CROSS_ENCODER_LOGIT = 2.0
"""What a cross-encoder gives on average: gates on the top passage's score let something through."""
_CLASSIFIER_LEAD = 4.0
"""Logit by which a classifier's first class leads: 0.9 of the probability, or more."""
_ADAPTED = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj", "down_proj")
"""The matrices that db3's adapters tune: all of a layer but the attention's output."""


def small(shape: Shape, vocabulary: int) -> Shape:
    """The stand-in's shape: few layers, narrow, with as many heads to a key/value head as the model has (up to 4)."""
    shared = min(_HEADS, shape.heads // (shape.key_value_heads or shape.heads))
    sizes = {"layers": LAYERS, "hidden": _WIDTH, "intermediate": _INTERMEDIATE, "heads": _HEADS}
    return shape.model_copy(update={**sizes, "key_value_heads": _HEADS // shared, "vocabulary": vocabulary})


def seed_of(name: str, seed: int) -> int:
    """A seed of its own for each name, the same on every machine."""
    return zlib.crc32(f"{seed} {name}".encode())


def write_network(shape: Shape, tokens: dict[str, int], folder: Path, seed: int) -> None:
    """Write `config.json` and the weights of a random network.

    Args:
        shape: The stand-in's, not the model's.
        tokens: Numbers of the special tokens ``bos``, ``eos`` and ``pad``, those that the model has.
        folder: Gets the files.
        seed: Of the random numbers.
    """
    import torch
    import transformers
    from transformers.utils import logging

    torch.manual_seed(seed)
    logging.disable_progress_bar()
    common: dict[str, Any] = {
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.intermediate,
        "max_position_embeddings": shape.positions,
        "initializer_range": _SPREAD,
        "architectures": [shape.architecture],
        **{f"{name}_token_id": number for name, number in tokens.items()},
    }
    if shape.is_language_model:
        _write_llama(shape, common, folder)
    elif shape.architecture.startswith("XLMRoberta"):
        config = transformers.XLMRobertaConfig(**common, type_vocab_size=1, num_labels=1)
        model: Any = transformers.XLMRobertaForSequenceClassification(config)
        with torch.no_grad():
            model.classifier.out_proj.bias.fill_(_CROSS_ENCODER_LOGIT)
        model.save_pretrained(str(folder))
    else:
        getattr(transformers, shape.architecture)(transformers.BertConfig(**common)).save_pretrained(str(folder))


def _write_llama(shape: Shape, common: dict[str, Any], folder: Path) -> None:
    import torch
    import transformers
    from huggingface_hub import save_torch_state_dict

    config = transformers.LlamaConfig(
        **{**common, "pad_token_id": None},
        num_key_value_heads=shape.key_value_heads,
        rms_norm_eps=1e-5,
        rope_theta=shape.rope_theta,
        tie_word_embeddings=False,
        dtype="float16",
    )
    model = transformers.LlamaForCausalLM(config)
    weights = {name: tensor.to(torch.float16) for name, tensor in model.state_dict().items()}
    if shape.awq_group is not None:
        weights = _quantised(weights, shape.awq_group)
        awq = {"quant_method": "awq", "bits": 4, "group_size": shape.awq_group, "zero_point": True, "version": "gemm"}
        config.quantization_config = awq
    config.save_pretrained(str(folder))
    model.generation_config.save_pretrained(str(folder))
    size = sum(tensor.numel() * tensor.element_size() for tensor in weights.values())
    save_torch_state_dict(weights, str(folder), max_shard_size=size // _PARTS)


def _quantised(weights: dict[str, Any], group: int) -> dict[str, Any]:
    """The matrices of the layers as AWQ stores them: random 4-bit values, their zero points, and a scale per group."""
    import torch

    stored: dict[str, Any] = {}
    middle = sum(_MIDDLE << 4 * place for place in range(_PACKED)) - 2**32
    for name, weight in weights.items():
        if ".layers." not in name or not name.endswith("_proj.weight"):
            stored[name] = weight
            continue
        outputs, inputs = weight.shape
        layer = name.removesuffix(".weight")
        packed = torch.randint(-(2**31), 2**31, (inputs, outputs // _PACKED), dtype=torch.int64)
        stored[f"{layer}.qweight"] = packed.to(torch.int32)
        stored[f"{layer}.qzeros"] = torch.full((inputs // group, outputs // _PACKED), middle, dtype=torch.int32)
        # Values of -8 to 7 have a standard deviation of 4.6.
        stored[f"{layer}.scales"] = torch.full((inputs // group, outputs), _SPREAD / 4.6, dtype=torch.float16)
    return stored


def write_adapter(base_folder: Path, base_name: str, rank: int, folder: Path, seed: int) -> None:
    """Write a random LoRA adapter for the stand-in of a language model."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig.from_pretrained(str(base_folder))
    config.quantization_config = None
    lora = LoraConfig(
        task_type="CAUSAL_LM", r=rank, lora_alpha=2 * rank, target_modules=list(_ADAPTED), init_lora_weights=False
    )
    model = get_peft_model(LlamaForCausalLM(config), lora).half()
    model.peft_config["default"].base_model_name_or_path = base_name
    model.save_pretrained(str(folder), save_embedding_layers=False)


def write_classifier(
    base_name: str, base_folder: Path, labels: Mapping[str, Sequence[str]], folder: Path, seed: int
) -> None:
    """Write a random classifier in the form of `training.router`: configuration, encoder, and a head per field.

    Args:
        base_name: The stand-in encoder's name in the manifest.
        base_folder: Where the stand-in lies.
        labels: Field -> its classes; the first one is the classifier's answer to everything.
        folder: Gets `config.json` and `weights.safetensors`.
        seed: Of the random numbers.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(seed)
    config: Any = AutoConfig.from_pretrained(base_folder, local_files_only=True)
    encoder: Any = AutoModel.from_config(config, add_pooling_layer=False)
    tensors = {f"0.encoder.{name}": value.detach().clone() for name, value in encoder.named_parameters()}
    for field, classes in labels.items():
        bias = torch.zeros(len(classes))
        bias[0] = _CLASSIFIER_LEAD
        tensors[f"0.head.{field}.weight"] = torch.randn(len(classes), config.hidden_size) * 0.01
        tensors[f"0.head.{field}.bias"] = bias
    save_file(tensors, str(folder / "weights.safetensors"))
    description = {
        "format": 1,
        "base": base_name,
        "members": 1,
        "pooling": "cls",
        "max_tokens": 64,
        "fields": {field: {"labels": list(classes), "encoder_weight": 1.0} for field, classes in labels.items()},
        "trained_on": "nothing: a stand-in with random weights",
        "licence": "none needed",
    }
    (folder / "config.json").write_text(json.dumps(description, indent=1), encoding="utf-8")
