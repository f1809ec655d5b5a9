"""What the dense encoders share: instruction, batching and the deadline. An engine adds how one batch is encoded."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agents.deadline import Deadline
from agents.encoders.base import Vectors
from agents.encoders.batching import length_sorted_batches, slice_size
from agents.encoders.turns import OneCallAtATime
from agents.settings import DenseEncoderSettings
from models.manifest import locate


class BatchedDenseEncoder(OneCallAtATime, ABC):
    """A dense encoder that an engine completes by `warm_up`, `dimensions` and `_encode_batch`."""

    def __init__(self, settings: DenseEncoderSettings) -> None:
        self.settings = settings
        super().__init__()

    def check_weights(self) -> Path:
        """The model's folder; raises `models.manifest.WeightsMissingError` where it is absent or incomplete."""
        return locate(self.settings.model)

    @abstractmethod
    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """Length of a vector; needs `warm_up`."""

    @abstractmethod
    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each of the tokenizer's tokens in the text, without special tokens."""

    @abstractmethod
    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of a few texts of similar length."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query, the model's instruction in front of each."""
        vectors, _ = self.encode_passages([self.settings.query_instruction + text for text in texts])
        return vectors

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Vectors in the given order, and how many of the first texts were encoded in time; rows past that are zero."""
        with self._one_at_a_time:  # two rooms do not load at the same time what was left behind
            self.warm_up()
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        batch_size = self.settings.batch_size
        size = slice_size(len(texts), batch_size, hurried=deadline is not None)
        for batch in length_sorted_batches([len(text) for text in texts], batch_size, size):
            if deadline is not None and deadline.expired:
                encoded = min(batch) // size * size
                vectors[encoded:] = 0.0
                return vectors, encoded
            with self._one_at_a_time:
                vectors[batch] = self._encode_batch([texts[position] for position in batch])
        return vectors, len(texts)
