"""The neural part of a classifier: a BERT-like encoder for questions, and a linear head per field.

Training (`training.router`) and inference run the same code; torch is imported only to build a network.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from agents.common.text import encodable
from agents.llm.trainable import quiet_transformers
from agents.settings import SettingsError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

Pooling = Literal["mean", "cls"]
"""Pooling of the token vectors: their mean, or the first token's vector (as in BERT)."""

_SPECIAL_TOKENS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")


class TokenBatch(NamedTuple):
    """Token numbers and attention mask, torch tensors of shape (questions, tokens)."""

    ids: "Tensor"
    mask: "Tensor"


class QuestionTokenizer:
    """The encoder's tokenizer; truncates long questions.
    Raises SettingsError: it lacks a special token of BERT.
    """

    def __init__(self, folder: Path, max_tokens: int) -> None:
        from tokenizers import Tokenizer

        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.no_padding()
        numbers = {name: self._tokenizer.token_to_id(name) for name in _SPECIAL_TOKENS}
        missing = [name for name, number in numbers.items() if number is None]
        if missing:
            raise SettingsError(f"{folder}: the tokenizer has no {missing[0]}: it is not a BERT-like encoder")
        self.special_tokens: tuple[int, ...] = tuple(number for number in numbers.values() if number is not None)
        self._padding, self.mask_token = self.special_tokens[0], self.special_tokens[-1]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token numbers of each text, special tokens included."""
        readable = [encodable(text) for text in texts]
        return [list(encoding.ids) for encoding in self._tokenizer.encode_batch(readable)]

    def batch(self, tokens: Sequence[Sequence[int]], device: str = "cpu") -> TokenBatch:
        """The texts' tokens as one padded batch."""
        import torch

        width = max(map(len, tokens))
        ids = [[*row, *[self._padding] * (width - len(row))] for row in tokens]
        mask = [[1] * len(row) + [0] * (width - len(row)) for row in tokens]
        return TokenBatch(torch.tensor(ids, device=device), torch.tensor(mask, device=device))


class QuestionNetwork:
    """An encoder and its heads.

    `heads` maps ``<field>.weight`` (classes, dimensions) and ``<field>.bias`` to tensors.
    """

    def __init__(
        self, encoder: "Module", heads: "Mapping[str, Tensor]", fields: Sequence[str], pooling: Pooling
    ) -> None:
        self.encoder = encoder
        self.heads = heads
        self._fields = tuple(fields)
        self._pooling = pooling

    def logits(self, batch: TokenBatch, dropout: float = 0.0) -> "dict[str, Tensor]":
        """For each field a tensor of shape (questions, classes); `dropout` applies to the heads' inputs."""
        from torch.nn import functional

        states = self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        if self._pooling == "cls":
            vectors = states[:, 0]
        else:
            weights = batch.mask / batch.mask.sum(dim=1, keepdim=True)
            vectors = (states * weights.unsqueeze(-1)).sum(dim=1)
        if dropout:
            vectors = functional.dropout(vectors, dropout)
        return {
            field: functional.linear(vectors, self.heads[f"{field}.weight"], self.heads[f"{field}.bias"])
            for field in self._fields
        }


def load_encoder(folder: Path) -> "Module":
    """The encoder of a Hugging Face folder, in float32, without its pooler."""
    from transformers import AutoModel

    with quiet_transformers():  # it would print a long warning about the unused pooler
        encoder = AutoModel.from_pretrained(folder, add_pooling_layer=False, local_files_only=True)
    loaded: Module = encoder.float().eval()
    return loaded


def tuned_linear_layers(encoder: "Module") -> "dict[str, Module]":
    """Name -> linear layer of the encoder's blocks: those that a low-rank update may change."""
    import torch

    return {
        name: module
        for name, module in encoder.named_modules()
        if isinstance(module, torch.nn.Linear) and ".layer." in f".{name}"
    }


def add_update(encoder: "Module", update: "Mapping[str, Tensor]") -> None:
    """Apply a trained update to the encoder's weights.

    ``<layer>.lora_a`` (rank, in) and ``<layer>.lora_b`` (out, rank) are a low-rank update; their product is added to
    the layer's weight (LoRA, Hu et al. 2021; the scale is already in b). Any other name is a parameter to replace.

    Raises:
        KeyError: the encoder has no such layer or parameter. RuntimeError: a shape does not fit.
    """
    import torch

    parameters = dict(encoder.named_parameters())
    with torch.no_grad():
        for name, tensor in update.items():
            layer, _, part = name.rpartition(".")
            if part == "lora_b":
                weight = parameters[f"{layer}.weight"]
                weight += tensor.float() @ update[f"{layer}.lora_a"].float()
            elif part != "lora_a":
                parameters[name].copy_(tensor)
