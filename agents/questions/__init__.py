"""The place where a question is understood before any source is asked: domain, type, dynamism, entities, dates.

Dates are resolved (`dates.py`); of the routers only the interface stands here so far. `Unrouted` leaves every question
as it is, which is what a preset without routers gets; the pipeline asks for routes in any case, so a router joins
without a change elsewhere.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from agents.contracts import Query
from agents.deadline import Deadline
from agents.questions.dates import (
    Calendar,
    DateRange,
    FoundDate,
    MomentKind,
    ResolvedDate,
    eastern_time,
    find_dates,
    resolve_date,
)

__all__ = [
    "Calendar",
    "DateRange",
    "FoundDate",
    "MomentKind",
    "QuestionRouter",
    "ResolvedDate",
    "Route",
    "Unrouted",
    "eastern_time",
    "find_dates",
    "label",
    "resolve_date",
]

Route = dict[str, Any]
"""``{domain, question_type, static_or_dynamic}``, each ``{label, probabilities}``; empty where nothing is known."""


def label(route: Route | None, name: str) -> str | None:
    """The class that a route gives a question under `name`, such as ``domain``; None where it says nothing."""
    entry = (route or {}).get(name)
    if isinstance(entry, Mapping):
        entry = entry.get("label")
    return entry if isinstance(entry, str) else None


class QuestionRouter(Protocol):
    """Classifies the whole batch at once."""

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        """One route per query, in order."""


class Unrouted:
    """The router of a preset without routers: it knows nothing."""

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        """An empty route per query."""
        return [{} for _ in queries]
