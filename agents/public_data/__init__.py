"""The place of the public-data path: facts shipped with a submission and how a question finds them (db3 section 2.3).

Only the interface stands here so far.
"""

from collections.abc import Sequence
from typing import Protocol

from agents.contracts import Fact, Query
from agents.deadline import Deadline


class PublicData(Protocol):
    """Finds shipped facts about the entities of a question."""

    def facts(self, queries: Sequence[Query], deadline: Deadline) -> list[tuple[Fact, ...]]:
        """The facts for each query, in order; none where nothing fits."""


class NoPublicData:
    """A submission that ships no data (tasks 2 and 3 of db3: the knowledge graph covers it)."""

    def facts(self, queries: Sequence[Query], deadline: Deadline) -> list[tuple[Fact, ...]]:
        """No facts for any query."""
        return [() for _ in queries]
