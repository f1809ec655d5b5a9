"""What the cross-encoders share: batching and the deadline. An engine adds how one batch of pairs is scored."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from agents.deadline import Deadline
from agents.encoders.batching import length_sorted_batches, slice_size
from agents.encoders.turns import OneCallAtATime
from agents.settings import CrossEncoderSettings
from models.manifest import locate

Pair = tuple[str, str]
"""Query and passage."""


class BatchedCrossEncoder(OneCallAtATime, ABC):
    """A cross-encoder that an engine completes by `warm_up` and `_score_batch`."""

    def __init__(self, settings: CrossEncoderSettings) -> None:
        self.settings = settings
        super().__init__()

    def check_weights(self) -> Path:
        """The model's folder; raises `models.manifest.WeightsMissingError` where it is absent or incomplete."""
        return locate(self.settings.model)

    @abstractmethod
    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""

    @abstractmethod
    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        """Raw logits of a few pairs of similar length."""

    def score(self, pairs: Sequence[Pair], deadline: Deadline | None = None) -> list[float | None]:
        """One raw logit per pair, in order; None for pairs that the deadline did not allow."""
        with self._one_at_a_time:  # two rooms do not load at the same time what was left behind
            self.warm_up()
        scores: list[float | None] = [None] * len(pairs)
        lengths = [len(query) + len(passage) for query, passage in pairs]
        size = slice_size(len(pairs), self.settings.batch_size, hurried=deadline is not None)
        for batch in length_sorted_batches(lengths, self.settings.batch_size, size):
            if deadline is not None and deadline.expired:
                break
            with self._one_at_a_time:
                logits = self._score_batch([pairs[position] for position in batch])
            for position, logit in zip(batch, logits, strict=True):
                scores[position] = logit
        return scores
