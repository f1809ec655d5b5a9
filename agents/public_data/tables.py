"""A folder of tables: `tables.json` describes each CSV file, its source, and its entities.

A cell may hold several values separated by ``|``. A new table is a CSV file and an entry, without code.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from agents.common.files import UserError
from agents.matching import company_names, plain_name
from agents.public_data.entity import (
    INDEX_FORMAT,
    Attribute,
    AwardTable,
    AwardWin,
    Entity,
    EntityTable,
    TableDescription,
    award_entities,
)

SHIPPED_TABLES = Path(__file__).with_name("tables")
INDEX = "tables.json"
SEPARATOR = "|"
csv.field_size_limit(10_000_000)

Row = Mapping[str, str]


class TableError(UserError, ValueError):
    """A folder of tables cannot be used; the message names the file and the problem."""


def load_entities(folder: Path = SHIPPED_TABLES) -> list[Entity]:
    """All entities of all tables of a folder.

    Raises:
        TableError: the index or a table is missing or has the wrong format.
    """
    entities: list[Entity] = []
    for file_name, table in read_index(folder).items():
        path = folder / file_name
        rows = list(read_rows(path))
        for number, row in enumerate(rows, start=2):
            if None in row:
                raise TableError(f"{path}, row {number}: more cells than the header names")
        try:
            if isinstance(table, AwardTable):
                entities += award_entities([_award_win(row) for row in rows], table)
            else:
                entities += _row_entities(rows, table)
        except (KeyError, ValueError) as error:
            raise TableError(f"{path}: not a table of the layout {table.layout!r}: {error}") from None
    return entities


def read_index(folder: Path) -> dict[str, TableDescription]:
    """The descriptions of a folder's tables by file name; raises TableError."""
    path = folder / INDEX
    try:
        return INDEX_FORMAT.validate_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise TableError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def read_rows(path: Path, columns: Iterable[str] = ()) -> Iterator[Row]:
    """The rows of a UTF-8 CSV file with at least these columns; raises TableError."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            missing = set(columns) - set(reader.fieldnames or ())
            if missing:
                raise TableError(f"{path}: the header lacks {', '.join(sorted(missing))}")
            yield from reader
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{path}: not a CSV file in UTF-8: {error}") from None


def _cells(row: Row, column: str) -> tuple[str, ...]:
    return tuple(value.strip() for value in row[column].split(SEPARATOR) if value.strip())


def _award_win(row: Row) -> AwardWin:
    return AwardWin(
        award=row["award"],
        ceremony=row["ceremony"],
        year=int(row["year"]),
        work_year=int(row["work_year"]),
        work=row["work"],
        winners=_cells(row, "winner"),
        performers=_cells(row, "performer"),
        won=row["result"] == "won",
    )


def _row_entities(rows: Sequence[Row], table: EntityTable) -> Iterator[Entity]:
    people: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    spelling: dict[str, str] = {}
    for row in rows:
        names = tuple(name for column in table.names for name in _cells(row, column))
        if not names:
            continue
        year = row[table.year] if table.year else ""
        if table.companies:
            names = tuple(dict.fromkeys((*names, *(short for name in names for short in company_names(name)))))
        years = (int(year),) if year.isdecimal() else ()
        yield Entity(names, table.domain, table.label, tuple(_attributes(row, table)), years)
        for column in table.inverse:
            for person in _cells(row, column):
                key = plain_name(person)
                spelling.setdefault(key, person)
                people[key][column].append(f'"{names[0]}" ({year})' if year else f'"{names[0]}"')
    for key, lists in people.items():
        works = [Attribute(table.inverse[column], tuple(titles)) for column, titles in lists.items()]
        name = spelling[key]
        yield Entity((name,), table.domain, table.label, (Attribute("name", (name,)), *works))


def _attributes(row: Row, table: EntityTable) -> Iterator[Attribute]:
    for column in row:
        if column not in table.hidden:
            name = column.replace("_", " ") + "{s}"
            yield Attribute(name, _cells(row, column), quoted=column in table.quoted)
