"""A folder of tables: `tables.json` describes each CSV file; entities and their facts in sentences (db3 section 2.3).

A cell may hold several values separated by ``|``. A new table is a CSV file and an entry, without code.
"""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from crag.core.files import UserError
from crag.text.matching import company_names, plain_name

SHIPPED_TABLES = Path(__file__).with_name("tables")
INDEX = "tables.json"
SEPARATOR = "|"
COUNTED_AT_A_GLANCE = 4
"""Longer lists come with their length: small models count badly."""
csv.field_size_limit(10_000_000)

Domain = Literal["movie", "music", "finance"]
Row = Mapping[str, str]
Key = TypeVar("Key")
T = TypeVar("T")


class TableError(UserError, ValueError):
    """A folder of tables cannot be used; the message names the file and the problem."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: Domain
    label: str
    """The source's name in facts."""
    source: str
    licence: str


class EntityTable(_Table):
    """Every row is one entity, every column an attribute."""

    layout: Literal["entities"]
    names: Annotated[tuple[str, ...], Field(min_length=1)]
    """Columns of names; the first is the main one."""
    hidden: tuple[str, ...] = ()
    """Columns left out of sentences, such as aliases."""
    quoted: tuple[str, ...] = ()
    """Columns of titles."""
    year: str | None = None
    """Column that distinguishes entities with the same name."""
    companies: bool = False
    """Company names also count without their legal form."""
    inverse: dict[str, str] = Field(default_factory=dict)
    """Column of people -> their relation to the rows: the people become entities with their rows as a list."""


class AwardTable(_Table):
    """Every row is one award or nomination (`AwardWin`)."""

    layout: Literal["awards"]
    prize: str
    won: str
    """Attribute of works and people: ``Academy Award{s} won``."""
    nominated: str
    work: str
    """The kind of the awarded work: ``film``."""
    aliases: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Award -> other names of it."""


TableDescription = Annotated[EntityTable | AwardTable, Field(discriminator="layout")]
INDEX_FORMAT: TypeAdapter[dict[str, TableDescription]] = TypeAdapter(dict[str, TableDescription])
"""File name -> description."""


def _values(cell: str) -> tuple[str, ...]:
    return tuple(value.strip() for value in cell.split(SEPARATOR) if value.strip())


def _titles(cell: str) -> tuple[str, ...]:
    return tuple(f'"{value}"' for value in _values(cell))


_Values = Annotated[tuple[str, ...], BeforeValidator(_values)]


class AwardWin(BaseModel):
    """A row of an `AwardTable`.

    `year` is the year of the ceremony, `work_year` the year of the awarded work. `work` is empty if the award goes to a
    person alone. `performer` is known for a work whose award goes to others: the singer of a song.
    """

    award: str
    ceremony: str
    year: int
    work_year: int
    work: str
    winner: _Values
    performer: _Values
    result: str

    @property
    def won(self) -> bool:
        """Whether it is an award, not an unsuccessful nomination."""
        return self.result == "won"


@dataclass(frozen=True, slots=True)
class Entity:
    """One record of the table labelled `table`. `names` has the main name first; `years` distinguish equal names.

    `attributes`: name -> values; ``{s}`` in a name becomes the plural ending. `one_a_year`: an award given once a year;
    a question without a year means the latest.
    """

    names: tuple[str, ...]
    domain: str
    table: str
    attributes: Mapping[str, Sequence[str]]
    years: tuple[int, ...] = ()
    one_a_year: bool = False


def load_entities(folder: Path = SHIPPED_TABLES) -> list[Entity]:
    """All entities of all tables of a folder; raises TableError: a file is missing or has the wrong format."""
    entities: list[Entity] = []
    for file_name, table in read_index(folder).items():
        path = folder / file_name
        rows = list(read_rows(path))
        for number, row in enumerate(rows, start=2):
            if None in row:
                raise TableError(f"{path}, row {number}: more cells than the header names")
        try:
            if isinstance(table, AwardTable):
                entities += _of_awards([AwardWin.model_validate(row) for row in rows], table)
            else:
                entities += _of_rows(rows, table)
        except ValidationError as error:
            raise TableError(f"{path}: not a table of the layout {table.layout!r}: {_fault(error)}") from None
        except KeyError as error:
            raise TableError(f"{path}: not a table of the layout {table.layout!r}: no column {error}") from None
    return entities


def read_index(folder: Path) -> dict[str, TableDescription]:
    """The descriptions of a folder's tables by file name; raises TableError."""
    return read_json(folder / INDEX, INDEX_FORMAT)


def read_json(path: Path, form: TypeAdapter[T]) -> T:
    """The content of a JSON file of this form; raises TableError."""
    try:
        return form.validate_json(path.read_bytes())
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise TableError(f"{path}: {_fault(error)}") from None


def _fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))


def read_rows(path: Path, columns: Iterable[str] = ()) -> Iterator[Row]:
    """The rows of a UTF-8 CSV file with at least these columns; raises TableError."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            if missing := set(columns) - set(reader.fieldnames or ()):
                raise TableError(f"{path}: the header lacks {', '.join(sorted(missing))}")
            yield from reader
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{path}: not a CSV file in UTF-8: {error}") from None


def _groups(pairs: Iterable[tuple[Key, T]]) -> dict[Key, list[T]]:
    """The values of each key."""
    groups: dict[Key, list[T]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def _of_rows(rows: Iterable[Row], table: EntityTable) -> Iterator[Entity]:
    people: list[tuple[str, tuple[str, str, str]]] = []
    for row in rows:
        names = [name for column in table.names for name in _values(row[column])]
        if not names:
            continue
        year = row[table.year] if table.year else ""
        title = f'"{names[0]}" ({year})' if year else f'"{names[0]}"'
        people += [
            (plain_name(name), (name, column, title)) for column in table.inverse for name in _values(row[column])
        ]
        if table.companies:
            names += [short for name in names for short in company_names(name)]
        cells = {column: cell for column, cell in row.items() if column not in table.hidden}
        attributes = {
            column.replace("_", " ") + "{s}": _titles(cell) if column in table.quoted else _values(cell)
            for column, cell in cells.items()
        }
        years = (int(year),) if year.isdecimal() else ()
        yield Entity(tuple(dict.fromkeys(names)), table.domain, table.label, attributes, years)
    for own in _groups(people).values():
        titles = _groups((column, title) for _, column, title in own)
        yield _person(own[0][0], table, {table.inverse[column]: titles[column] for column in titles})


def _of_awards(rows: Sequence[AwardWin], table: AwardTable) -> Iterator[Entity]:
    """One entity per award and ceremony, per work (title and year), and per person or group."""
    for own in _groups(((row.award, row.year), row) for row in rows).values():
        yield _award(own, table)
    for own in _groups(((plain_name(row.work), row.work_year), row) for row in rows if row.work).values():
        yield _work(own, table)
    names = ((name, row) for row in rows for name in dict.fromkeys((*row.winner, *row.performer)))
    for shares in _groups((plain_name(name), (name, row)) for name, row in names).values():
        yield _person(shares[0][0], table, _won_and_nominated([row for _, row in shares], table, _of_person))


def _person(name: str, table: _Table, attributes: Mapping[str, Sequence[str]]) -> Entity:
    return Entity((name,), table.domain, table.label, {"name": (name,), **attributes})


def _award(rows: Sequence[AwardWin], table: AwardTable) -> Entity:
    first = rows[0]
    full_name = f"{table.prize} for {first.award}"
    attributes = {
        "award": (full_name,),
        "ceremony": (f"{first.ceremony}, held in {first.year}",),
        "awarded year": (str(first.work_year),),
        "winner{s}": [_who_for_what(row) for row in rows if row.won],
        "other nominee{s}": [_who_for_what(row) for row in rows if not row.won],
    }
    names = (first.award, full_name, *table.aliases.get(first.award, ()))
    return Entity(names, table.domain, table.label, attributes, (first.year, first.work_year), one_a_year=True)


def _work(rows: Sequence[AwardWin], table: AwardTable) -> Entity:
    first = rows[0]
    attributes = {
        table.work: (f'"{first.work}"',),
        "awarded year": (str(first.work_year),),
        "performer{s}": first.performer,
        **_won_and_nominated(rows, table, _of_work),
    }
    return Entity((first.work,), table.domain, table.label, attributes, (first.work_year, first.year))


def _won_and_nominated(
    rows: Sequence[AwardWin], table: AwardTable, text: Callable[[AwardWin], str]
) -> dict[str, list[str]]:
    return {
        name: list(dict.fromkeys(text(row) for row in rows if row.won is won))
        for name, won in ((table.won, True), (table.nominated, False))
    }


def _who_for_what(row: AwardWin) -> str:
    people = ", ".join(row.winner)
    if not row.work or not people:
        return people or f'"{row.work}"'
    return f'{people} for "{row.work}"' if len(row.winner) == 1 else f'"{row.work}" ({people})'


def _of_work(row: AwardWin) -> str:
    return f"{row.award} ({', '.join((*row.winner, f'ceremony of {row.year}'))})"


def _of_person(row: AwardWin) -> str:
    work = f' for "{row.work}"' if row.work else ""
    return f"{row.award}{work} (ceremony of {row.year})"


def verbalise(entity: Entity, max_items: int, years: Sequence[int] = ()) -> str:
    """The paragraph of an entity: ``The <attribute> is <value>.`` for each attribute with a value.

    Lists are cut to `max_items` values; those with one of the `years` come first.
    """
    items = entity.attributes.items()
    return " ".join(_sentence(name, values, max_items, years) for name, values in items if values)


def _sentence(name: str, values: Sequence[str], max_items: int, years: Sequence[int]) -> str:
    shown = sorted(values, key=lambda value: not any(str(year) in value for year in years))[:max_items]
    if len(values) > len(shown):
        shown.append(f"{len(values) - len(shown)} more")
    subject, verb = (name.replace("{s}", "s"), "are") if len(values) > 1 else (name.replace("{s}", ""), "is")
    listed = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
    if len(values) > COUNTED_AT_A_GLANCE:
        listed += f" ({len(values)} in all)"
    return f"The {subject} {verb} {listed.removesuffix('.')}."
