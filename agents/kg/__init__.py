"""The place of the knowledge-graph path: question -> calls of the regularised language -> facts (db3 section 3).

Only the interface stands here so far. `NoKnowledgeGraph` is task 1, where the evaluator offers none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agents.contracts import Fact, Query
from agents.deadline import Deadline


@dataclass(frozen=True, slots=True)
class Lookup:
    """What the knowledge graph said about one question: the calls made and the facts they returned."""

    calls: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()


class KnowledgeGraph(Protocol):
    """Looks all questions of a batch up in the mock knowledge graph."""

    def look_up(self, queries: Sequence[Query], deadline: Deadline) -> list[Lookup]:
        """One lookup per query, in order; an empty one where nothing was found."""


class NoKnowledgeGraph:
    """Task 1: there is no knowledge graph."""

    def look_up(self, queries: Sequence[Query], deadline: Deadline) -> list[Lookup]:
        """An empty lookup per query."""
        return [Lookup() for _ in queries]
