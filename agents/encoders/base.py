"""The two kinds of text encoder: one that maps a text to a vector, one that scores a pair of texts."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents.deadline import Deadline

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions), rows of unit length, so that a dot product is the cosine."""


class DenseEncoder(Protocol):
    """Maps texts to unit vectors. Queries may get the model's instruction in front; passages do not."""

    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query."""

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        """Vectors of the passages in the given order, and how many of them were encoded before the deadline.

        Rows past that number are zero. Put the most promising passages first.
        """


class CrossEncoder(Protocol):
    """Reads question and passage together and returns a relevance logit."""

    def warm_up(self) -> None:
        """Load weights; raises `models.manifest.WeightsMissingError`."""

    def score(self, pairs: Sequence[tuple[str, str]], deadline: Deadline | None = None) -> list[float | None]:
        """One raw logit per (query, passage) pair, in order; None for pairs not reached before the deadline.

        Pairs are sorted by length inside slices of the given order, so the first pairs are scored first: put the most
        promising ones there.
        """
