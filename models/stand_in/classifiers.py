"""Random classifiers in the form of `training.router`: a configuration, the tuned encoder, a head per field."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from models.shapes import Shape

_SURE = 4.0
"""Logit by which the first class is ahead of the others: 0.9 of the probability, or more."""


def write_classifier(
    base: Shape, base_name: str, base_folder: Path, labels: Mapping[str, Sequence[str]], folder: Path, seed: int
) -> None:
    """Write `config.json` and `weights.safetensors`.

    Args:
        base: Shape of the stand-in encoder.
        base_name: Its name in the manifest.
        base_folder: Where it lies.
        labels: Field -> its classes; the first one is what the classifier says.
        folder: Gets the files.
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
        bias[0] = _SURE
        tensors[f"0.head.{field}.weight"] = torch.randn(len(classes), base.hidden) * 0.01
        tensors[f"0.head.{field}.bias"] = bias
    folder.mkdir(parents=True, exist_ok=True)
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
