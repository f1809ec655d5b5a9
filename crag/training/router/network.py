"""An encoder in training: transformers' own, with a linear head per field. `crag.router` runs it afterwards.

With ``pooler`` encoder and head are those of transformers' `BertForSequenceClassification`: BERT's pooler, dropout, a
linear layer.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from torch import Tensor
from torch.nn import Linear, Module, functional
from transformers import AutoModel

from crag.core.files import UserError
from crag.engines.llm.tokenizer import quiet_transformers
from crag.router.network import POOLER, Pooling


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
        output = self.encoder(input_ids=ids, attention_mask=mask)
        if self._pooling == "pooler":
            vectors = output.pooler_output
        else:
            # The mean over the tokens that are not padding.
            weights = mask / mask.sum(dim=1, keepdim=True)
            weighted = output.last_hidden_state * weights.unsqueeze(-1)
            vectors = weighted.sum(dim=1)
        vectors = functional.dropout(vectors, dropout)

        logits: dict[str, Tensor] = {}
        for field in self._fields:
            weight = self.heads[f"{field}.weight"]
            bias = self.heads[f"{field}.bias"]
            logits[field] = functional.linear(vectors, weight, bias)
        return logits


def load_encoder(folder: Path, pooling: Pooling) -> Module:
    """The encoder of a Hugging Face folder, in float32, with its pooler only if that is used.

    Raises UserError: the pooler is to be used, but the folder has none.
    """
    with quiet_transformers():  # it would print a long warning about the unused pooler
        encoder, loading = AutoModel.from_pretrained(
            folder,
            add_pooling_layer=pooling == "pooler",
            local_files_only=True,
            output_loading_info=True,
        )
    # transformers would make up random weights, and the classifier could not be loaded afterwards
    if f"{POOLER}.weight" in loading["missing_keys"]:
        raise UserError(f'key "encoder.pooling": {folder.name} has no pooler; use "mean"')
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
