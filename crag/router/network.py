"""The neural part of a classifier: a BERT encoder for questions, in numpy.

Sixteen short questions are one small matrix product after another, so neither torch nor an exported graph is needed.
Training (`crag.training.router`) runs transformers' own encoder; a test holds both together.
"""

import json
import math
import mmap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crag.core.text import encodable
from crag.settings import SettingsError

Pooling = Literal["mean", "pooler"]
"""A question's vector: the mean of its tokens' states, or BERT's own pooler, a layer on the first token's state."""
Tensors = Mapping[str, NDArray[np.floating[Any]]]
Floats = NDArray[np.float32]

POOLER = "pooler.dense"
"""The layer that BERT's own classification head reads; some encoders are published without it."""
_WORDS = "embeddings.word_embeddings.weight"
_DTYPES: Mapping[str, type[np.generic]] = {
    "F32": np.float32,
    "F16": np.float16,
    "F64": np.float64,
    "I64": np.int64,  # the numbers of positions, in some checkpoints
}
"""By their names in safetensors."""
_SPECIAL_TOKENS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
_ERF_P = 0.3275911
_ERF_COEFFICIENTS = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
"""Abramowitz and Stegun, 7.1.26: the error function to 1.5e-7."""


class TokenBatch(NamedTuple):
    """Token numbers and attention mask, of shape (questions, tokens)."""

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


class LowRankChange(NamedTuple):
    """What training adds to a layer's weight: ``up @ down`` (LoRA, Hu et al. 2021; the scale is in `up`)."""

    down: Floats
    """(rank, in)"""
    up: Floats
    """(out, rank)"""


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
        readable_texts = [encodable(text) for text in texts]
        encodings = self._tokenizer.encode_batch(readable_texts)
        return [list(encoding.ids) for encoding in encodings]

    def batch(self, tokens: Sequence[Sequence[int]]) -> TokenBatch:
        """The texts' tokens as one padded batch."""
        longest = max(map(len, tokens))
        shape = (len(tokens), longest)
        ids = np.full(shape, self._padding, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)

        for row, text_tokens in enumerate(tokens):
            length = len(text_tokens)
            ids[row, :length] = text_tokens
            mask[row, :length] = 1
        return TokenBatch(ids, mask)


class BertEncoder:
    """The encoder of a Hugging Face folder (Devlin et al. 2019), with a trained update.

    In the update ``<layer>.lora_a`` (rank, in) and ``<layer>.lora_b`` (out, rank) are a low-rank change; their product
    is added to the layer's weight (LoRA, Hu et al. 2021; the scale is already in b). Other names replace a parameter.
    Raises KeyError: the encoder has no such parameter. ValueError: a shape does not fit.
    """

    def __init__(self, folder: Path, update: Tensors) -> None:
        config = json.loads((folder / "config.json").read_bytes())
        self.dimensions: int = config["hidden_size"]
        self._layer_count = int(config["num_hidden_layers"])
        self._head_count = int(config["num_attention_heads"])
        self._epsilon: float = config["layer_norm_eps"]

        # Mapped, not read: a question needs few rows of the word embeddings, and after it none of the file.
        self._file = MappedTensors(folder / "model.safetensors")
        self._parameters: dict[str, Floats] = {}
        for name in self._file.names:
            self._parameters[_normalise_name(name)] = self._file.tensor(name).astype(np.float32, copy=False)

        self._changes: dict[str, LowRankChange] = {}
        self._apply_update(update)

    def _apply_update(self, update: Tensors) -> None:
        for name, array in update.items():
            layer, _, part = name.rpartition(".")
            if part == "lora_a":
                continue  # used together with its lora_b
            if part != "lora_b":
                self._replace(name, array)
                continue

            change = LowRankChange(down=update[f"{layer}.lora_a"].astype(np.float32), up=array.astype(np.float32))
            weight = self._parameters[f"{layer}.weight"]
            if (len(change.up), change.down.shape[1]) != weight.shape:
                raise ValueError(f"{name} has shape {array.shape}")
            self._changes[layer] = change

    def _replace(self, name: str, array: NDArray[np.floating[Any]]) -> None:
        if array.shape != self._parameters[name].shape:
            raise ValueError(f"{name} has shape {array.shape}")
        self._parameters[name] = array.astype(np.float32)

    def vectors(self, batch: TokenBatch, pooling: Pooling) -> Floats:
        """One vector for each question: (questions, dimensions)."""
        states = self.states(batch)
        self._file.release_memory()
        if pooling == "pooler":
            pooled: Floats = np.tanh(self._linear(states[:, 0], POOLER))
            return pooled

        # The mean over the tokens of the question, without padding.
        token_counts = batch.mask.sum(axis=1, keepdims=True)
        weights = (batch.mask / token_counts).astype(np.float32)
        mean: Floats = (states * weights[:, :, None]).sum(axis=1)
        return mean

    def states(self, batch: TokenBatch) -> Floats:
        """The last layer's state of each token: (questions, tokens, dimensions)."""
        states = self._embed(batch.ids)

        # Added to the attention scores: padding gets no weight. The axes of heads and of attending tokens are added.
        is_token = batch.mask[:, None, None, :] == 1
        attention_bias = np.where(is_token, np.float32(0), np.float32(-1e9))

        for number in range(self._layer_count):
            layer = f"encoder.layer.{number}"

            # Each layer has two sublayers: attention, then a feed-forward network.
            context = self._attend(states, attention_bias, f"{layer}.attention.self")
            states = self._add_and_normalise(states, context, f"{layer}.attention.output")
            intermediate = _gelu(self._linear(states, f"{layer}.intermediate.dense"))
            states = self._add_and_normalise(states, intermediate, f"{layer}.output")
        return states

    def _embed(self, ids: NDArray[np.int64]) -> Floats:
        """The sum of word, position and token type embeddings, normalised: (questions, tokens, dimensions)."""
        words = self._parameters[_WORDS]
        positions = self._parameters["embeddings.position_embeddings.weight"]
        token_types = self._parameters["embeddings.token_type_embeddings.weight"]
        # All tokens have type 0: a question is a single text, not a pair.
        embedded = words[ids] + positions[: ids.shape[1]] + token_types[0]
        return self._normalise(embedded, "embeddings")

    def _attend(self, states: Floats, attention_bias: Floats, name: str) -> Floats:
        """Multi-head self-attention: (questions, tokens, dimensions)."""
        query = self._split_heads(self._linear(states, f"{name}.query"))
        key = self._split_heads(self._linear(states, f"{name}.key"))
        value = self._split_heads(self._linear(states, f"{name}.value"))

        head_dimensions = query.shape[3]
        scale = np.float32(math.sqrt(head_dimensions))
        scores = query @ key.swapaxes(2, 3) / scale + attention_bias

        # The softmax over the tokens that are attended to; less the maximum, so nothing overflows.
        exponentials = np.exp(scores - scores.max(axis=3, keepdims=True))
        weights = exponentials / exponentials.sum(axis=3, keepdims=True)

        # Each head's weighted values, joined to one state per token.
        context = weights @ value
        joined: Floats = context.swapaxes(1, 2).reshape(states.shape)
        return joined

    def _split_heads(self, states: Floats) -> Floats:
        """(questions, heads, tokens, dimensions of a head)."""
        questions, tokens, _ = states.shape
        return states.reshape(questions, tokens, self._head_count, -1).swapaxes(1, 2)

    def _linear(self, states: Floats, name: str) -> Floats:
        """A linear layer. The questions' tokens are the rows of one matrix: one product is faster than many."""
        weight = self._parameters[f"{name}.weight"]
        bias = self._parameters[f"{name}.bias"]

        rows = states.reshape(-1, states.shape[-1])
        outputs = rows @ weight.T + bias
        change = self._changes.get(name)
        if change is not None:
            outputs += (rows @ change.down.T) @ change.up.T
        return outputs.reshape(*states.shape[:-1], -1)

    def _add_and_normalise(self, states: Floats, change: Floats, name: str) -> Floats:
        """The residual connection around a sublayer, then its norm."""
        return self._normalise(states + self._linear(change, f"{name}.dense"), name)

    def _normalise(self, states: Floats, name: str) -> Floats:
        """Layer normalisation."""
        weight = self._parameters[f"{name}.LayerNorm.weight"]
        bias = self._parameters[f"{name}.LayerNorm.bias"]

        centred = states - states.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        deviation = np.sqrt(variance + np.float32(self._epsilon))
        normalised: Floats = centred / deviation * weight + bias
        return normalised


def _gelu(values: Floats) -> Floats:
    """The Gaussian error linear unit: ``x * (1 + erf(x / sqrt(2))) / 2``."""
    scaled = np.abs(values) * np.float32(math.sqrt(0.5))

    # erf(x) = 1 - (a1 t + ... + a5 t^5) exp(-x^2), with t = 1 / (1 + p x), by Horner's rule.
    t = 1 / (1 + np.float32(_ERF_P) * scaled)
    polynomial = np.zeros_like(t)
    for coefficient in reversed(_ERF_COEFFICIENTS):
        polynomial = (polynomial + np.float32(coefficient)) * t
    magnitude = 1 - polynomial * np.exp(-np.square(scaled))

    # The formula is for x >= 0; erf(-x) = -erf(x).
    error_function = np.copysign(magnitude, values)
    activated: Floats = values * np.float32(0.5) * (1 + error_function)
    return activated


def _normalise_name(name: str) -> str:
    """A parameter's name without the model's prefix; norms of TensorFlow's checkpoints have gamma and beta."""
    name = name.removeprefix("bert.")
    name = name.replace(".gamma", ".weight")
    return name.replace(".beta", ".bias")


class MappedTensors:
    """The tensors of a safetensors file as mapped memory, which cannot be written: what is used is read from the file.

    The format: https://huggingface.co/docs/safetensors#format.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            header_length = int.from_bytes(file.read(8), "little")
            header: dict[str, Any] = json.loads(file.read(header_length))
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

        header.pop("__metadata__", None)
        self._header = header
        self._data_start = 8 + header_length

    @property
    def names(self) -> Sequence[str]:
        """The names of all tensors."""
        return list(self._header)

    def tensor(self, name: str) -> NDArray[Any]:
        """A tensor that reads the file where it is used. Raises KeyError: a type of numbers that numpy lacks."""
        tensor = self._header[name]
        begin, _ = tensor["data_offsets"]
        shape = tensor["shape"]
        offset = self._data_start + begin
        values = np.frombuffer(self._content, _DTYPES[tensor["dtype"]], count=math.prod(shape), offset=offset)
        return values.reshape(shape)

    def release_memory(self) -> None:
        """Give back the memory of what was used; used again, it is read from the file again."""
        if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
            self._content.madvise(mmap.MADV_DONTNEED)
