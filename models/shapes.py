"""The size of a model, from its published configuration: what it takes of a GPU, and what its stand-in is made of."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, PositiveInt

Architecture = Literal["LlamaForCausalLM", "BertModel", "BertForMaskedLM", "XLMRobertaForSequenceClassification"]
"""Classes of transformers, as `architectures` in a model's `config.json` names them."""

_HALF = 2
_AWQ_BITS = 4
_BITS_OF_A_GROUP = 16 + _AWQ_BITS
"""AWQ keeps a scale in half precision and a zero point for each group of weights (Lin et al. 2023)."""


class Shape(BaseModel):
    """Numbers of a `config.json`. Sizes are in values; `awq_group` is given where the weights are 4-bit AWQ."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    architecture: Architecture
    layers: PositiveInt
    hidden: PositiveInt
    intermediate: PositiveInt
    heads: PositiveInt
    key_value_heads: PositiveInt | None = None
    """None: as many as heads."""
    vocabulary: PositiveInt
    positions: PositiveInt
    rope_theta: float = 10_000.0
    awq_group: PositiveInt | None = None

    @property
    def is_language_model(self) -> bool:
        """Whether it writes text."""
        return self.architecture == "LlamaForCausalLM"

    @property
    def key_value_width(self) -> int:
        """Values of a key (and of a value) of one token in one layer."""
        return self.hidden // self.heads * (self.key_value_heads or self.heads)

    @property
    def linear_parameters(self) -> int:
        """Weights of the layers' matrices: what each token is multiplied with, and what AWQ makes smaller."""
        if self.is_language_model:
            attention = 2 * self.hidden**2 + 2 * self.hidden * self.key_value_width
            return self.layers * (attention + 3 * self.hidden * self.intermediate)
        return self.layers * (4 * self.hidden**2 + 2 * self.hidden * self.intermediate)

    @property
    def other_parameters(self) -> int:
        """Embeddings, output layer, norms and biases."""
        if self.is_language_model:  # embeddings and output layer are two matrices
            return 2 * self.vocabulary * self.hidden + (2 * self.layers + 1) * self.hidden
        small = self.layers * (9 * self.hidden + self.intermediate) + 4 * self.hidden
        return (self.vocabulary + self.positions) * self.hidden + small + self.hidden**2

    @property
    def parameters(self) -> int:
        """All of them."""
        return self.linear_parameters + self.other_parameters

    @property
    def active_parameters(self) -> int:
        """What each token passes through: without the embedding table, which is only looked up."""
        output = self.vocabulary * self.hidden if self.is_language_model else 0
        return self.linear_parameters + output

    def weight_bytes(self, bytes_per_value: int = _HALF) -> float:
        """Bytes of all weights; those that AWQ has quantised take theirs whatever `bytes_per_value` says."""
        bits = 8.0 * bytes_per_value
        if self.awq_group is not None:
            bits = _AWQ_BITS + _BITS_OF_A_GROUP / self.awq_group
        return self.linear_parameters * bits / 8 + self.other_parameters * bytes_per_value

    def key_value_bytes(self, bytes_per_value: int = _HALF) -> int:
        """Bytes that the cache of keys and values takes for one token."""
        return 2 * self.layers * self.key_value_width * bytes_per_value
