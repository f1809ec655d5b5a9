"""Writes small random networks: language models, encoders and classifiers of the real ones' architecture."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crag.core.files import write_json
from crag.weights.manifest import Shape

_LAYERS = 2
"""Layers of every stand-in."""
_HEADS = 4
_HIDDEN_SIZE = 256
"""A multiple of 128, as AWQ's kernels need."""
_INTERMEDIATE_SIZE = 512
"""A multiple of 128, as AWQ's kernels need."""
WEIGHT_DEVIATION = 0.1
"""Standard deviation of the weights: larger than an untrained model's, so that the next token depends on the prompt."""
_SHARD = "8MB"
"""Several weight files of a language model, with an index, as large models have."""
_VALUES_PER_INT32 = 8
"""4-bit values in an int32."""
_ZERO_POINT = 8
"""Zero point of these values, which are 0 to 15."""
_CROSS_ENCODER_LOGIT = 2.0
"""A cross-encoder's mean score, so that gates on the top passage's score let something through."""
_CLASSIFIER_LEAD = 4.0
"""Lead of a classifier's first class in its logit: a probability of 0.9 or more."""
_LLAMA_2_TOKENIZER = {
    "tokenizer_class": "LlamaTokenizerFast",
    "model_max_length": 4096,
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "add_bos_token": True,
    "add_eos_token": False,
    "legacy": False,
    "clean_up_tokenization_spaces": False,
}
"""tokenizer_config.json of the base model, without a chat template: the package of its tokenizer has no such file."""


def write_network(shape: Shape, tokenizer_folder: Path, folder: Path) -> None:
    """Write a small random network of the same architecture, with as many heads per key/value head (up to 4)."""
    import transformers
    from torch.nn.init import constant_
    from transformers.utils import logging

    logging.disable_progress_bar()
    tokenizer = _copy_tokenizer(tokenizer_folder, folder)
    architecture = getattr(transformers, shape.architecture)
    model = architecture(architecture.config_class(**_small_sizes(shape, tokenizer)))

    weights = None
    if shape.is_language_model:
        model = model.half()
    if shape.awq_group is not None:
        weights = _quantised(model.state_dict(), shape.awq_group)
        model.config.quantization_config = {
            "quant_method": "awq",
            "bits": 4,
            "group_size": shape.awq_group,
            "zero_point": True,
            "version": "gemm",
        }
    if hasattr(model, "classifier"):
        # Only a cross-encoder has a classification head
        constant_(model.classifier.out_proj.bias, _CROSS_ENCODER_LOGIT)

    model.save_pretrained(
        folder,
        state_dict=weights,
        max_shard_size=_SHARD if shape.is_language_model else "1GB",
    )


def _copy_tokenizer(tokenizer_folder: Path, folder: Path) -> Any:  # noqa: ANN401 - transformers has many types of it
    """Copy the files of a tokenizer; without a configuration of its own it is Llama 2's."""
    from transformers import AutoTokenizer

    (folder / "tokenizer_config.json").write_text(json.dumps(_LLAMA_2_TOKENIZER), encoding="utf-8")
    for file in (*tokenizer_folder.glob("tokenizer*.json"), *tokenizer_folder.glob("vocab.txt")):
        shutil.copyfile(file, folder / file.name)
    return AutoTokenizer.from_pretrained(folder, local_files_only=True)


def _small_sizes(shape: Shape, tokenizer: Any) -> dict[str, Any]:  # noqa: ANN401 - transformers has many types of it
    """The fields of a stand-in's configuration."""
    sizes: dict[str, Any] = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "vocab_size": len(tokenizer),
        "hidden_size": _HIDDEN_SIZE,
        "intermediate_size": _INTERMEDIATE_SIZE,
        "num_hidden_layers": _LAYERS,
        "num_attention_heads": _HEADS,
        "max_position_embeddings": shape.positions,
        "initializer_range": WEIGHT_DEVIATION,
    }
    if shape.is_language_model:
        # The real ratio of query to key/value heads, as far as four heads allow
        heads_per_key = min(_HEADS, shape.heads // (shape.key_value_heads or shape.heads))
        sizes["num_key_value_heads"] = _HEADS // heads_per_key
        sizes["rope_theta"] = shape.rope_theta
        sizes["dtype"] = "float16"
        sizes["rms_norm_eps"] = 1e-5
    elif shape.architecture.startswith("XLMRoberta"):
        sizes["type_vocab_size"] = 2
        sizes["num_labels"] = 1
    return sizes


def _quantised(weights: Mapping[str, Any], group: int) -> dict[str, Any]:
    """The matrices of the layers as AWQ stores them: random 4-bit values, their zero points, and a scale per group.

    No library that writes them is among the requirements.
    """
    import torch

    # Eight zero points in an int32, as its two's complement
    unsigned = sum(_ZERO_POINT << 4 * number for number in range(_VALUES_PER_INT32))
    packed_zero_points = unsigned - 2**32
    scale = WEIGHT_DEVIATION / 4.6  # values of -8 to 7 have a standard deviation of 4.6

    stored: dict[str, Any] = {}
    for name, weight in weights.items():
        # Embeddings, norms and the output layer stay in half precision
        if ".layers." not in name or not name.endswith("_proj.weight"):
            stored[name] = weight
            continue

        layer = name.removesuffix(".weight")
        outputs, inputs = weight.shape
        groups = inputs // group
        packed_outputs = outputs // _VALUES_PER_INT32
        # Eight random 4-bit values are one random 32-bit integer
        packed = torch.randint(
            -(2**31),
            2**31,
            (inputs, packed_outputs),
            dtype=torch.int64,
        )
        zero_points = torch.full((groups, packed_outputs), packed_zero_points, dtype=torch.int32)
        scales = torch.full((groups, outputs), scale, dtype=torch.float16)

        stored[f"{layer}.qweight"] = packed.to(torch.int32)
        stored[f"{layer}.qzeros"] = zero_points
        stored[f"{layer}.scales"] = scales
    return stored


def write_real_sizes(shape: Shape, folder: Path) -> None:
    """Change a stand-in's configuration to the sizes of the real language model. The engine must make the weights."""
    file = folder / "config.json"
    configuration = json.loads(file.read_bytes())
    configuration |= {
        "hidden_size": shape.hidden,
        "intermediate_size": shape.intermediate,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.key_value_heads or shape.heads,
        "head_dim": shape.hidden // shape.heads,
    }
    write_json(file, configuration)


def write_classifier(
    base_folder: Path,
    base_name: str,
    labels: Mapping[str, Sequence[str]],
    folder: Path,
) -> None:
    """Write a random classifier in the form of `crag.training.router`.

    For each field it predicts the first of the `labels`.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModel

    config: Any = AutoConfig.from_pretrained(base_folder, local_files_only=True)
    encoder: Any = AutoModel.from_config(config, add_pooling_layer=False)

    tensors: dict[str, torch.Tensor] = {}
    for name, value in encoder.named_parameters():
        # "0." stands before the names of the only encoder, as training writes them
        tensors[f"0.encoder.{name}"] = value.detach().clone()
    for name, classes in labels.items():
        bias = torch.zeros(len(classes))
        # With weights near 0 the bias alone decides: always the first class
        bias[0] = _CLASSIFIER_LEAD
        tensors[f"0.head.{name}.weight"] = torch.randn(len(classes), config.hidden_size) * 0.01
        tensors[f"0.head.{name}.bias"] = bias
    save_file(tensors, str(folder / "weights.safetensors"))

    fields: dict[str, dict[str, Any]] = {}
    for name, classes in labels.items():
        fields[name] = {"labels": list(classes), "encoder_weight": 1.0}
    description: dict[str, Any] = {
        "format": 1,
        "base": base_name,
        "members": 1,
        "pooling": "mean",
        "max_tokens": 64,
        "fields": fields,
        "trained_on": "nothing: a stand-in with random weights",
        "licence": "none needed",
    }
    (folder / "config.json").write_text(json.dumps(description, indent=1), encoding="utf-8")


def write_sentence_transformer(folder: Path) -> None:
    """Make an encoder's folder one of sentence-transformers: CLS pooling, unit length, as in bge."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer

    modules = [
        Transformer(str(folder)),
        Pooling(_HIDDEN_SIZE, pooling_mode="cls"),
        Normalize(),
    ]
    model = SentenceTransformer(modules=modules, device="cpu")
    model.save(str(folder), create_model_card=False)
