"""Articles of an encyclopedia."""

from mock_api.search import NameSearch
from mock_api.tables import Record, Tables


class OpenAnswers:
    """Answers of /open."""

    def __init__(self, tables: Tables) -> None:
        self._entities = tables.entities
        self._search = NameSearch(tables.entities)

    def search_entity_by_name(self, query: str) -> list[str]:
        """At most ten titles that share words with the query, best first."""
        return self._search(query)

    def get_entity(self, query: str) -> Record | None:
        """The article with exactly this title: summary_text, summary_structured, raw_mediawiki."""
        return self._entities.get(query)
