"""Reads LoRA adapters as PEFT saves them, and checks that they are whole and fit their base model.

LoRA: Hu et al. 2021, https://arxiv.org/abs/2106.09685. The files: https://huggingface.co/docs/peft/developer_guides/checkpoint
"""

import json
import math
import re
from collections.abc import Mapping
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, FiniteFloat, PositiveInt, ValidationError
from safetensors import SafetensorError, deserialize

from crag.core.validation import first_fault

ADAPTER_CONFIG = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"

_TENSOR = re.compile(
    r"""
    base_model\.model\.                      # what PEFT wraps around a model
    (?P<matrix>[\w.]{1,200}) \.
    lora_(?P<half>[AB]) \.weight             # not lora_embedding_A, lora_magnitude_vector (DoRA), lora_B.bias
    """,
    re.VERBOSE,
)
_NUMBER_TYPES = {"F32": np.float32, "F16": np.float16, "F64": np.float64}
"""Safetensors' names of the types that numpy has; it lacks BF16."""
_FEATURES_OF_ALL_TEXTS = (
    "alora_invocation_tokens",
    "layer_replication",
    "kasa_config",
    "arrow_config",
    "megatron_config",
)
"""Keys of `adapter_config.json` with which PEFT 0.21.2 changes the base model itself, or needs a whole text at once or
more than the folder has; unless null or false."""
_FEATURES_BEYOND_LORA = (
    "use_dora",
    "rank_pattern",
    "alpha_pattern",
    "modules_to_save",
    "lora_bias",
    "fan_in_fan_out",
    "trainable_token_indices",
    "target_parameters",
    "use_bdlora",
    "use_qalora",
    "monteclora_config",
)
"""Keys that change more than one product beside each matrix, unless empty, null or false."""
_INITS_OF_ADAPTER_ALONE = frozenset({"gaussian", "eva", "orthogonal", "mica", "lora_ga"})
"""Values of ``init_lora_weights`` that a saved adapter no longer needs. Others (``pissa``, ``olora``, ``corda``,
``loftq``) take something out of the base's own weights when PEFT loads the adapter, for every text."""

MATRICES_OF_LAYER = (
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
)
"""Of a Llama or Qwen2 model."""
LAYERS = "model.layers."
"""Before the number of a layer, in the names of its weights."""

Matrix = NDArray[np.float32]
Shapes = Mapping[str, tuple[int, int]]
"""Name of a matrix -> outputs, inputs."""


def matrix_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, int]] | None:
    """The matrices of all layers, layer by layer, by a model's `config.json`; None: not a Llama or Qwen2 model."""
    if config.get("model_type") not in {"llama", "qwen2"}:
        return None

    hidden = config["hidden_size"]
    inner = config["intermediate_size"]
    key_value_width = hidden // config["num_attention_heads"] * config["num_key_value_heads"]
    attention = [(hidden, hidden), (key_value_width, hidden), (key_value_width, hidden), (hidden, hidden)]
    feed_forward = [(inner, hidden), (inner, hidden), (hidden, inner)]
    shapes_of_layer = dict(zip(MATRICES_OF_LAYER, attention + feed_forward, strict=True))

    shapes: dict[str, tuple[int, int]] = {}
    for number in range(config["num_hidden_layers"]):
        for name, shape in shapes_of_layer.items():
            shapes[f"{LAYERS}{number}.{name}"] = shape
    return shapes


class AdapterError(ValueError):
    """An adapter cannot be used; the message names the file and its fault, in one line."""


class AdapterConfig(BaseModel):
    """The part of an `adapter_config.json` that is used here."""

    kind: str = Field("LORA", validation_alias="peft_type")
    base: str | None = Field(None, validation_alias="base_model_name_or_path")
    r: PositiveInt = 8
    lora_alpha: FiniteFloat = 8
    use_rslora: bool = False
    bias: str = "none"

    @property
    def scale(self) -> float:
        """The factor of the low-rank product; with `use_rslora`: Kalajdzievski 2023, https://arxiv.org/abs/2312.03732."""
        return self.lora_alpha / (math.sqrt(self.r) if self.use_rslora else self.r)


class LowRank(NamedTuple):
    """What is added to a matrix: ``up @ down``."""

    down: Matrix
    """(rank x inputs), PEFT's A."""
    up: Matrix
    """(outputs x rank), PEFT's B times the scale."""


class Adapter:
    """An adapter's folder; its files are read on use.

    Example:
        adapter = Adapter(Path("models/adapters/kg_writer"))
        adapter.check_fit({"model.layers.0.mlp.up_proj": (8960, 1536)})
        adapter.low_rank["model.layers.0.mlp.up_proj"].down.shape   # (8, 1536)
    """

    def __init__(self, folder: Path) -> None:
        self._config_file = folder / ADAPTER_CONFIG
        self.weights_file = folder / ADAPTER_WEIGHTS

    @cached_property
    def config(self) -> AdapterConfig:
        """Raises AdapterError: the file is damaged."""
        try:
            return AdapterConfig.model_validate_json(self._config_file.read_bytes())
        except ValidationError as error:
            raise _damaged(self._config_file, str(first_fault(error))) from None

    @cached_property
    def _halves(self) -> dict[str, Matrix]:
        """Tensors by name, float32. Raises AdapterError: the file is cut off or a tensor has another type."""
        try:
            # Not safetensors.numpy, which reads no bfloat16
            tensors = deserialize(self.weights_file.read_bytes())  # type: ignore[no-untyped-call]
        except SafetensorError as error:
            raise _damaged(self.weights_file, str(error)) from None
        return {
            name: _as_float32(self.weights_file, name, tensor) for name, tensor in sorted(tensors, key=itemgetter(0))
        }

    def check_numbers(self) -> None:
        """Raise AdapterError if the file of the weights is damaged or one of its numbers is not finite."""
        for name, values in self._halves.items():
            if not np.isfinite(values).all():
                raise AdapterError(f"{self.weights_file}: {name} has numbers that are not finite")

    def check_fit(self, shapes: Shapes) -> None:
        """Raise AdapterError unless each product is for a matrix of the base's layers.

        Matrices of the base without a product stay as they are.
        """
        targets = self._keys.get("target_modules")
        for name, (down, up) in self._pairs.items():
            # PEFT would leave its product out without a word, and other engines would not
            if isinstance(targets, list) and not any(f".{name}".endswith(f".{target}") for target in targets):
                raise AdapterError(f"{self._config_file}: target_modules does not name {name}, which has a product")
            if not name.startswith(LAYERS):
                continue
            if name not in shapes:
                raise AdapterError(f"{self.weights_file}: the base model has no matrix {name}")
            shape = (len(up), down.shape[1])
            if shape != shapes[name]:
                raise AdapterError(
                    f"{self.weights_file}: {name} is for a matrix of {shape[0]} x {shape[1]}, "
                    f"the base model's has {shapes[name][0]} x {shapes[name][1]}"
                )

    def check_features(self) -> None:
        """Raise AdapterError if no engine can run it beside other adapters and the bare base model.

        PEFT would change the base's own weights with it, and so the texts of others.
        """
        if self._feature_of_all_texts is not None:
            raise AdapterError(self._feature_of_all_texts)

    @cached_property
    def _feature_of_all_texts(self) -> str | None:
        """What `check_features` refuses; None: nothing."""
        if self.config.bias != "none":
            return f"{self._config_file}: bias is {self.config.bias}, not none"

        init = self._keys.get("init_lora_weights")
        if isinstance(init, str) and init.lower() not in _INITS_OF_ADAPTER_ALONE:
            return (
                f"{self._config_file}: init_lora_weights is {init}, which changes the base's own weights: save it as "
                "plain LoRA (save_pretrained of PEFT, path_initial_model_for_weight_conversion)"
            )
        for key in _FEATURES_OF_ALL_TEXTS:
            # Empty settings of a method switch it on
            if self._keys.get(key) not in (None, False):
                return f"{self._config_file}: {key} is set"
        return None

    @cached_property
    def feature_beyond_lora(self) -> str | None:
        """What makes it more than a low-rank product beside matrices of the layers; None: nothing."""
        if self.config.kind != "LORA":
            return f"{self._config_file}: peft_type is {self.config.kind}, not LORA"
        if self._feature_of_all_texts is not None:
            return self._feature_of_all_texts
        for key in _FEATURES_BEYOND_LORA:
            if self._keys.get(key):
                return f"{self._config_file}: {key} is set"
        for name in self._pairs:
            if not name.startswith(LAYERS):
                return f"{self.weights_file}: {name} is not a matrix of a layer"
        return None

    @property
    def missing_keys(self) -> list[str]:
        """Keys that PEFT always writes and vLLM needs, and that are missing here."""
        return [key for key in ("r", "lora_alpha", "target_modules") if key not in self._keys]

    @cached_property
    def _keys(self) -> Mapping[str, Any]:
        """All keys of the configuration."""
        keys: Mapping[str, Any] = json.loads(self._config_file.read_bytes())
        return keys

    @cached_property
    def low_rank(self) -> dict[str, LowRank]:
        """The products by the name of their matrix. Raises AdapterError: see `check_numbers` and `check_fit`."""
        scale = np.float32(self.config.scale)
        return {name: LowRank(down, up * scale) for name, (down, up) in self._pairs.items()}

    @cached_property
    def _pairs(self) -> dict[str, tuple[Matrix, Matrix]]:
        """Both halves of each product, whose ranks agree."""
        halves: dict[str, dict[str, Matrix]] = {}
        for tensor, values in self._halves.items():
            match = _TENSOR.fullmatch(tensor)
            if match is None or values.ndim != 2:
                raise AdapterError(f"{self.weights_file}: {tensor} is not half of a low-rank product")
            halves.setdefault(match["matrix"], {})[match["half"]] = values

        rank = self.config.r
        pairs: dict[str, tuple[Matrix, Matrix]] = {}
        for name, pair in halves.items():
            if len(pair) < 2:
                raise AdapterError(f"{self.weights_file}: {name} has only one half of its product")
            down = pair["A"]
            up = pair["B"]
            if len(down) != rank or up.shape[1] != rank:
                raise AdapterError(f"{self.weights_file}: {name} has not rank {rank}, which {ADAPTER_CONFIG} says")
            pairs[name] = (down, up)
        return pairs


def _as_float32(file: Path, name: str, tensor: Mapping[str, Any]) -> Matrix:
    """A tensor of safetensors' `deserialize`: its type, shape and bytes."""
    kind = tensor["dtype"]
    if kind == "BF16":
        # The upper half of a float32 number
        upper = np.frombuffer(tensor["data"], np.uint16)
        values = (upper.astype(np.uint32) << 16).view(np.float32)
    elif kind in _NUMBER_TYPES:
        values = np.frombuffer(tensor["data"], _NUMBER_TYPES[kind]).astype(np.float32)
    else:
        raise AdapterError(f"{file}: {name} has numbers of type {kind}, give it float16, bfloat16 or float32")
    return values.reshape(tensor["shape"])


def _damaged(file: Path, fault: str) -> AdapterError:
    reason = " ".join(f"{file}: is damaged: {fault}".split())
    return AdapterError(reason[:300])
