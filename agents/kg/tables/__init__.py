"""Fills each table of the schema from the server's endpoints."""

from collections.abc import Callable, Mapping
from types import ModuleType

from agents.kg.context import LookupContext, TableQuery
from agents.kg.results import Row
from agents.kg.schema import Domain
from agents.kg.tables import encyclopedia, finance, movie, music, sports

TableFiller = Callable[[LookupContext, TableQuery], list[Row]]
"""Raises `NotFoundError` for an unknown entity, returns no rows for a known one without records, passes `KgError` on.
"""

_MODULES: Mapping[Domain, ModuleType] = {
    Domain.MOVIE: movie,
    Domain.FINANCE: finance,
    Domain.MUSIC: music,
    Domain.SPORTS: sports,
    Domain.OPEN: encyclopedia,
}


def filler(domain: Domain, table: str) -> TableFiller:
    """The function that fills a table: it has the table's name, in the module of its domain."""
    found: TableFiller = getattr(_MODULES[domain], table)
    return found
