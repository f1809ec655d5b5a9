"""The knowledge-graph path: question -> calls of the call language -> facts (db3 section 3).

The package's interface. The steps in order: `writing` (question -> program), `language` (text <-> program), `executor`
with `tables` (program -> rows, through `client`), `verbalise` (rows -> sentences). `path` runs them for a batch.
`schema` defines tables and keys.
"""

import os
from collections.abc import Sequence
from typing import TypeAlias

from crag.core.contracts import Query
from crag.core.deadline import Deadline
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm.base import LanguageModel
from crag.graph.path import UNASKED, KnowledgeGraphPath, Lookup
from crag.settings import KG_VARIABLE, KnowledgeGraphSettings, SettingsError

__all__ = ["UNASKED", "KnowledgeGraph", "KnowledgeGraphPath", "Lookup", "NoKnowledgeGraph", "open_knowledge_graph"]


class NoKnowledgeGraph:
    """Task 1: there is no knowledge graph."""

    def warm_up(self) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to release."""

    def look_up(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[Lookup]:
        """An empty lookup per query."""
        return [Lookup() for _ in queries]


KnowledgeGraph: TypeAlias = KnowledgeGraphPath | NoKnowledgeGraph
"""Looks up all questions of a batch."""


def open_knowledge_graph(
    settings: KnowledgeGraphSettings | None, model: LanguageModel, dense: DenseEncoder | None, kg_url: str = ""
) -> KnowledgeGraph:
    """The knowledge graph for the preset's settings, or none without `kg_url` and the evaluator's environment variable.
    Raises SettingsError: the variable is not an http address.
    """
    address = kg_url or os.environ.get(KG_VARIABLE, "").strip()
    if settings is None or not address:
        return NoKnowledgeGraph()
    try:
        return KnowledgeGraphPath(settings, address, model, dense)
    except ValueError as error:
        named = "kg_url" if kg_url else f"the environment variable {KG_VARIABLE}"
        raise SettingsError(f"{named}: {error}; without it there is no knowledge graph") from None
