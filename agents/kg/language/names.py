"""Which table or key a written name means, and which come near it."""

import re
from collections.abc import Iterable
from functools import lru_cache

from rapidfuzz import fuzz, process

from agents.kg.schema import COUNT_KEY, Schema, Table

SHOWN_NAMES = 12
"""How many names an error message offers; the repair prompt that quotes it must stay short."""

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_FILLERS = frozenset({"get", "info", "information", "data", "details", "by", "name"})
"""Words that tell no two tables apart."""


@lru_cache(1024)
def fold(name: str) -> str:
    """A name without what makes no difference: case, blanks, hyphens, underscores."""
    return "".join(character for character in name.casefold() if character.isalnum())


def find_table(schema: Schema, name: str) -> Table | None:
    """The table that is meant, if it is only one: `GET_MOVIE`, `getMovie`, `get_movie_info` are `get_movie`.

    A name may also leave words out, as in `get_market_cap`, where one table alone has all the words it gives.
    """
    tables = schema.callable_tables
    exact = [table for table in tables if fold(table.name) == fold(name)]
    if exact:
        return exact[0]
    words = _words(name)
    same = [table for table in tables if _words(table.name) == words]
    wider = [table for table in tables if words and words < _words(table.name)]
    candidates = same or wider
    return candidates[0] if len(candidates) == 1 else None


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The names in the order of their likeness to one, at most `SHOWN_NAMES`."""
    found = process.extract(name, list(names), scorer=fuzz.WRatio, processor=fold, limit=SHOWN_NAMES)
    return [match for match, _, _ in found]


def nearest_keys(name: str, table: Table) -> str:
    """The keys to offer where a table has none of that name."""
    names = [*nearest(name, table.columns), COUNT_KEY]
    return ", ".join(names) + (", ..." if len(table.columns) > SHOWN_NAMES else "")


@lru_cache(1024)
def _words(name: str) -> frozenset[str]:
    words = (word.lower().removesuffix("s") for word in _WORDS.findall(name))
    return frozenset(word for word in words if word not in _FILLERS)
