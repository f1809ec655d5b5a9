"""The public-data path: facts shipped with a submission and how a question finds them (db3 section 2.3)."""

from collections.abc import Sequence
from typing import Protocol

from agents.contracts import Fact, Query
from agents.deadline import Deadline
from agents.encoders.base import DenseEncoder
from agents.llm.base import LanguageModel
from agents.public_data.shipped import ShippedPublicData
from agents.public_data.tables import TableError
from agents.settings import PublicDataSettings

__all__ = ["NoPublicData", "PublicData", "ShippedPublicData", "TableError", "open_public_data"]


class PublicData(Protocol):
    """Finds shipped facts about the entities of a question."""

    def warm_up(self) -> None:
        """Load what the first batch would wait for."""

    def facts(
        self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline
    ) -> list[tuple[Fact, ...]]:
        """The facts for each query, in order; none where nothing fits. `domains` are those that are known already."""


class NoPublicData:
    """A submission that ships no data (tasks 2 and 3 of db3: the knowledge graph covers it)."""

    def warm_up(self) -> None:
        """Nothing to load."""

    def facts(
        self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline
    ) -> list[tuple[Fact, ...]]:
        """No facts for any query."""
        return [() for _ in queries]


def open_public_data(
    settings: PublicDataSettings | None, model: LanguageModel, dense: DenseEncoder | None
) -> PublicData:
    """The shipped facts that the preset names, or none.

    Raises:
        TableError: the folder of tables cannot be used.
    """
    return ShippedPublicData(settings, model, dense) if settings is not None else NoPublicData()
