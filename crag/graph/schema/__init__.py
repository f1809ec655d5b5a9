"""The tables of each domain, for the executor, the prompts, the grammar and the docs.

One TOML file per domain is the only place that names tables and keys.
"""

import enum
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

FOLDER = Path(__file__).parent
COUNT_KEY = "len"
"""The key for a number of rows; never a column."""


class Domain(enum.StrEnum):
    """The five domains of CRAG; each has its own tables."""

    MOVIE = "movie"
    FINANCE = "finance"
    MUSIC = "music"
    SPORTS = "sports"
    OPEN = "open"


class Type(enum.StrEnum):
    """The type of a key's values: decides how they compare and read in sentences. Plural types are lists."""

    TEXT = "text"
    NUMBER = "number"
    MONEY = "money"  # US dollars
    DATE = "date"  # YYYY[-MM[-DD]]; a shorter date is a whole month or year
    YEAR = "year"
    FLAG = "flag"
    TEXTS = "texts"
    YEARS = "years"
    ROWS = "rows"  # rows of another table

    @property
    def is_number(self) -> bool:
        """Whether a cell holds a number to compute with, such as dollars; a year is none."""
        return self in {Type.NUMBER, Type.MONEY}

    @property
    def is_list(self) -> bool:
        """Whether a cell holds several texts or years; rows of another table are no such list."""
        return self in {Type.TEXTS, Type.YEARS}


class Match(enum.StrEnum):
    """How a condition's value is compared with a row's."""

    EXACT = "exact"  # equal except for case, accents and punctuation
    CONTAINS = "contains"  # contains the condition's words: "james bond" is in "James Bond (007)"
    NAME = "name"  # the name of one entity, also with one typo, or a part of it
    CATEGORY = "category"  # the same Oscar category under any of its names


class ParameterKind(enum.StrEnum):
    """What an argument of a table names."""

    PERSON = "person"
    MOVIE = "movie"
    COMPANY = "company"
    ARTIST = "artist"
    SONG = "song"
    TEAM = "team"
    TITLE = "title"
    DATE = "date"
    YEAR = "year"

    @property
    def is_entity(self) -> bool:
        """Whether it names an entity, in contrast to a point in time."""
        return self not in {ParameterKind.DATE, ParameterKind.YEAR}


class NumberKind(enum.StrEnum):
    """The kind of a key's numbers, for arithmetic."""

    AMOUNT = "amount"  # can be summed: goals, dollars, shares traded
    PRICE = "price"  # a price at a moment: no sum, but changes
    RATIO = "ratio"  # a share, a rating: no sum
    RANK = "rank"  # a position: the first is the best; neither sum nor average


@dataclass(frozen=True, slots=True)
class Column:
    """A key: its name, type, meaning and aliases.

    `label` is the name in sentences, `match` says how texts compare, `synonyms` are other words for its values (bare),
    `kind` says what arithmetic its numbers allow, `rows_of` is the table of a key that holds rows.
    """

    name: str
    type: Type
    meaning: str
    label: str
    aliases: tuple[str, ...] = ()
    unit: str = ""
    kind: NumberKind = NumberKind.AMOUNT
    match: Match = Match.EXACT
    synonyms: Mapping[str, str] = field(default_factory=dict)
    rows_of: str | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a table."""

    name: str
    kind: ParameterKind


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    `take`: how many rows a call gives by default; `identity`: keys that distinguish rows in a sentence; `noun`: the
    word for its rows; `default_key`: the key of a call without one (None: the whole record); `extra_keys`: unlisted
    keys are allowed; `last_year`: the last year it covers, if any; `complete`: what it does not list of a known entity
    does not exist; `callable`: False for rows that only another table's key gives.
    """

    name: str
    meaning: str
    parameters: tuple[Parameter, ...]
    columns: Mapping[str, Column]
    identity: tuple[str, ...] = ()
    noun: str = "records"
    take: Literal["first", "all"] = "first"
    default_key: str | None = None
    extra_keys: bool = False
    last_year: int | None = None
    complete: bool = False
    callable: bool = True

    def column(self, name: str) -> Column | None:
        """The column of that name or alias in any spelling, or None."""
        # "releaseDate", "release date" and "release_date" are one key
        bare = bare_name(name)
        for column in self.columns.values():
            spellings = (column.name, *column.aliases)
            if bare in map(bare_name, spellings):
                return column
        return None


_TABLE = TypeAdapter(Table)


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one domain by name."""

    domain: Domain
    meaning: str
    tables: Mapping[str, Table]

    @property
    def callable_tables(self) -> tuple[Table, ...]:
        """The tables that a program may call, in file order."""
        return tuple(table for table in self.tables.values() if table.callable)


@functools.cache
def load_schema(domain: Domain | str) -> Schema:
    """The schema of a domain. Raises ValueError: there is no such domain.

    >>> load_schema("movie").tables["get_movie"].columns["length"].unit
    'minutes'
    """
    domain = Domain(domain)
    path = FOLDER / f"{domain}.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))

    shared_columns = data.get("columns", {})
    tables = {}
    for name, entry in data["tables"].items():
        tables[name] = _build_table(name, entry, shared_columns)
    return Schema(domain, data["meaning"], tables)


def _build_table(
    name: str,
    entry: Mapping[str, Any],
    shared_columns: Mapping[str, Mapping[str, Any]],
) -> Table:
    """Read a table; `include` adds named groups of columns that several tables share."""
    keys: dict[str, Any] = dict(entry.get("keys", {}))
    for group in entry.get("include", ()):
        for key, column in shared_columns[group].items():
            # The table's own column of that name goes before the shared one
            keys.setdefault(key, column)

    # A column's label is its key in words, unless the file has a better one.
    columns = {}
    for key, column in keys.items():
        label = key.replace("_", " ")
        columns[key] = {"name": key, "label": label, **column}

    parameters = [{"name": label, "kind": kind} for label, kind in entry.get("parameters", {}).items()]
    options = {key: value for key, value in entry.items() if key not in {"keys", "include"}}
    table = {**options, "name": name, "parameters": parameters, "columns": columns}
    return _TABLE.validate_python(table)


@functools.lru_cache(maxsize=4096)
def bare_name(name: str) -> str:
    """A name of a table or key without case, blanks, hyphens and underscores."""
    return "".join(character for character in name.casefold() if character.isalnum())
