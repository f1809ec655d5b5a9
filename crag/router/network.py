"""The neural part of a classifier: a BERT encoder for questions, in numpy.

Sixteen short questions are one small matrix product after another, so neither torch nor an exported graph is needed.
Training (`crag.training.router`) runs transformers' own encoder; a test holds both together.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crag.core.text import encodable
from crag.settings import SettingsError

Pooling = Literal["mean", "cls"]
"""Pooling of the token vectors: their mean, or the first token's vector (as in BERT)."""
Tensors = Mapping[str, NDArray[np.floating[Any]]]
Floats = NDArray[np.float32]

_SPECIAL_TOKENS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
_ERF = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
"""Abramowitz and Stegun, 7.1.26: the error function to 1.5e-7."""


class TokenBatch(NamedTuple):
    """Token numbers and attention mask, of shape (questions, tokens)."""

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


class QuestionTokenizer:
    """The encoder's tokenizer; truncates long questions.
    Raises SettingsError: it lacks a special token of BERT.
    """

    def __init__(self, folder: Path, max_tokens: int) -> None:
        from tokenizers import Tokenizer

        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.no_padding()
        for name in _SPECIAL_TOKENS:
            if self._tokenizer.token_to_id(name) is None:
                raise SettingsError(f"{folder}: the tokenizer has no {name}: it is not a BERT-like encoder")
        self._padding = self._tokenizer.token_to_id("[PAD]") or 0

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token numbers of each text, special tokens included."""
        readable = [encodable(text) for text in texts]
        return [list(encoding.ids) for encoding in self._tokenizer.encode_batch(readable)]

    def batch(self, tokens: Sequence[Sequence[int]]) -> TokenBatch:
        """The texts' tokens as one padded batch."""
        width = max(map(len, tokens))
        ids = [[*row, *[self._padding] * (width - len(row))] for row in tokens]
        mask = [[1] * len(row) + [0] * (width - len(row)) for row in tokens]
        return TokenBatch(np.array(ids), np.array(mask))


class BertEncoder:
    """The encoder of a Hugging Face folder (Devlin et al. 2019), with a trained update.

    In the update ``<layer>.lora_a`` (rank, in) and ``<layer>.lora_b`` (out, rank) are a low-rank change; their product
    is added to the layer's weight (LoRA, Hu et al. 2021; the scale is already in b). Other names replace a parameter.
    Raises KeyError: the encoder has no such parameter. ValueError: a shape does not fit.
    """

    def __init__(self, folder: Path, update: Tensors) -> None:
        from safetensors.numpy import load_file

        config = json.loads((folder / "config.json").read_bytes())
        self.dimensions: int = config["hidden_size"]
        self._layers, self._heads = int(config["num_hidden_layers"]), int(config["num_attention_heads"])
        self._epsilon: float = config["layer_norm_eps"]
        stored = load_file(folder / "model.safetensors")
        self._parameters = {_plain(name): array.astype(np.float32, copy=False) for name, array in stored.items()}
        for name, array in update.items():
            layer, _, part = name.rpartition(".")
            if part == "lora_b":
                change = array.astype(np.float32) @ update[f"{layer}.lora_a"].astype(np.float32)
                self._parameters[f"{layer}.weight"] += change
            elif part != "lora_a":
                self._parameters[name][...] = array

    def vectors(self, batch: TokenBatch, pooling: Pooling) -> Floats:
        """One vector for each question: (questions, dimensions)."""
        states = self.states(batch)
        if pooling == "cls":
            return states[:, 0]
        weights = (batch.mask / batch.mask.sum(axis=1, keepdims=True)).astype(np.float32)
        mean: Floats = (states * weights[:, :, None]).sum(axis=1)
        return mean

    def states(self, batch: TokenBatch) -> Floats:
        """The last layer's state of each token: (questions, tokens, dimensions)."""
        words, places, kinds = (
            self._parameters[f"embeddings.{table}_embeddings.weight"] for table in ("word", "position", "token_type")
        )
        embedded = words[batch.ids] + places[: batch.ids.shape[1]] + kinds[0]
        states = self._normed(embedded, "embeddings")
        hidden = np.where(batch.mask[:, None, None, :] == 1, np.float32(0), np.float32(-1e9))
        for number in range(self._layers):
            layer = f"encoder.layer.{number}"
            query, key, value = (
                self._in_heads(self._linear(states, f"{layer}.attention.self.{part}"))
                for part in ("query", "key", "value")
            )
            scores = query @ key.swapaxes(2, 3) / np.float32(math.sqrt(query.shape[3])) + hidden
            weights = np.exp(scores - scores.max(axis=3, keepdims=True))
            context = (weights / weights.sum(axis=3, keepdims=True)) @ value
            context = context.swapaxes(1, 2).reshape(states.shape)
            states = self._added(states, context, f"{layer}.attention.output")
            states = self._added(states, _gelu(self._linear(states, f"{layer}.intermediate.dense")), f"{layer}.output")
        return states

    def _linear(self, states: Floats, name: str) -> Floats:
        rows = (
            states.reshape(-1, states.shape[-1]) @ self._parameters[f"{name}.weight"].T
        )  # one product, not one a question
        return (rows + self._parameters[f"{name}.bias"]).reshape(*states.shape[:-1], -1)

    def _added(self, states: Floats, change: Floats, name: str) -> Floats:
        return self._normed(states + self._linear(change, f"{name}.dense"), name)

    def _normed(self, states: Floats, name: str) -> Floats:
        centred = states - states.mean(axis=-1, keepdims=True)
        scale = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(self._epsilon))
        weight, bias = (self._parameters[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        normed: Floats = centred / scale * weight + bias
        return normed

    def _in_heads(self, states: Floats) -> Floats:
        """(questions, heads, tokens, dimensions of a head)."""
        questions, tokens, _ = states.shape
        return states.reshape(questions, tokens, self._heads, -1).swapaxes(1, 2)


def _gelu(values: Floats) -> Floats:
    scaled = np.abs(values) * np.float32(math.sqrt(0.5))
    t = 1 / (1 + np.float32(0.3275911) * scaled)
    series = np.zeros_like(t)
    for coefficient in reversed(_ERF):
        series = (series + np.float32(coefficient)) * t
    error_function = np.copysign(1 - series * np.exp(-np.square(scaled)), values)
    activated: Floats = values * np.float32(0.5) * (1 + error_function)
    return activated


def _plain(name: str) -> str:
    """A parameter's name without the model's prefix, and with what norms are called since TensorFlow's checkpoints."""
    return name.removeprefix("bert.").replace(".gamma", ".weight").replace(".beta", ".bias")
