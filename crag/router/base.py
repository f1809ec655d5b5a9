"""The interface of routers, and the fields of a route with their classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crag.core.contracts import ANSWERABLE_FROM, TABLES, Classification, Query, Route
from crag.core.deadline import Deadline
from crag.settings import ROUTE_CLASSES

FIELD_CLASSES = ROUTE_CLASSES | {ANSWERABLE_FROM: (TABLES, "article", "nothing")}
"""The fields of a route and their classes: CRAG's labels (section 2), and what of the graph can hold the answer."""
DOMAINS = ROUTE_CLASSES["domain"]


class QuestionRouter:
    """Classifies the questions of a batch. The base class returns empty routes, for presets without a router."""

    def check_weights(self) -> None:
        """Raise `crag.weights.manifest.WeightsMissingError` if a file is missing; loads nothing."""

    def warm_up(self) -> None:
        """Load weights, once; raises `crag.weights.manifest.WeightsMissingError`."""

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        """One route per query, in order."""
        return [Route() for _ in queries]

    def close(self) -> None:
        """Release memory; safe to call twice."""


def build_classification(labels: Sequence[str], probabilities: NDArray[np.floating[Any]]) -> Classification:
    """The most probable label of a field, and all its probabilities (shape (labels,)).

    >>> classification = build_classification(["movie", "music"], np.array([0.75, 0.25]))
    >>> classification.label, classification.probabilities
    ('movie', {'movie': 0.75, 'music': 0.25})
    """
    rounded = {}
    for label, probability in zip(labels, probabilities, strict=True):
        rounded[label] = round(float(probability), 6)

    best = int(np.argmax(probabilities))
    return Classification(labels[best], rounded)
