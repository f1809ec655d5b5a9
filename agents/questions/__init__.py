"""The place where a question is understood before any source is asked: domain, type, dynamism, entities, dates.

Only the interface stands here so far. `Unrouted` leaves every question as it is, which is what a preset without routers
gets; the pipeline asks for routes in any case, so a router joins without a change elsewhere.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from agents.contracts import Query
from agents.deadline import Deadline

Route = dict[str, Any]
"""``{domain, question_type, static_or_dynamic}``, each with probabilities; empty where nothing is known."""


class QuestionRouter(Protocol):
    """Classifies the whole batch at once."""

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        """One route per query, in order."""


class Unrouted:
    """The router of a preset without routers: it knows nothing."""

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        """An empty route per query."""
        return [{} for _ in queries]
