"""An encoder in training: transformers' own, with a linear head per field. `crag.router` runs it afterwards."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from torch import Tensor
from torch.nn import Linear, Module, functional
from transformers import AutoModel

from crag.engines.llm.tokenizer import quiet_transformers
from crag.router.network import Pooling


class QuestionNetwork:
    """An encoder and its heads: `heads` maps ``<field>.weight`` (classes, dimensions) and ``<field>.bias``."""

    def __init__(
        self,
        encoder: Module,
        heads: Mapping[str, Tensor],
        fields: Sequence[str],
        pooling: Pooling,
    ) -> None:
        self.encoder = encoder
        self.heads = heads
        self._fields = tuple(fields)
        self._pooling = pooling

    def logits(self, ids: Tensor, mask: Tensor, dropout: float = 0.0) -> dict[str, Tensor]:
        """For each field a tensor of shape (questions, classes); `dropout` applies to the heads' inputs."""
        states = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        if self._pooling == "cls":
            # The first token stands for the whole question
            vectors = states[:, 0]
        else:
            # The mean over the tokens that are not padding.
            weights = mask / mask.sum(dim=1, keepdim=True)
            weighted = states * weights.unsqueeze(-1)
            vectors = weighted.sum(dim=1)
        vectors = functional.dropout(vectors, dropout)

        logits: dict[str, Tensor] = {}
        for field in self._fields:
            weight = self.heads[f"{field}.weight"]
            bias = self.heads[f"{field}.bias"]
            logits[field] = functional.linear(vectors, weight, bias)
        return logits


def load_encoder(folder: Path) -> Module:
    """The encoder of a Hugging Face folder, in float32, without its pooler."""
    with quiet_transformers():  # it would print a long warning about the unused pooler
        encoder = AutoModel.from_pretrained(folder, add_pooling_layer=False, local_files_only=True)
    loaded: Module = encoder.float().eval()
    return loaded


def tuned_linear_layers(encoder: Module) -> list[str]:
    """Names of the linear layers of the encoder's blocks: those that a low-rank update may change."""
    names: list[str] = []
    for name, module in encoder.named_modules():
        # BERT names its blocks "encoder.layer.0"; the leading dot also finds a name that begins with it
        if isinstance(module, Linear) and ".layer." in f".{name}":
            names.append(name)
    return names
