"""A folder of tables: `tables.json` describes each CSV file (db3 section 2.3).

A cell may hold several values separated by ``|``. A new table is a CSV file and an entry, without code.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from crag.core.csv_files import CsvReader, CsvRow
from crag.core.files import DatasetError, UserError
from crag.core.utf8_lines import ENCODING, ERRORS, utf8_lines
from crag.core.validation import first_fault

SHIPPED_TABLES = Path(__file__).with_name("tables")
INDEX = "tables.json"
VALUE_SEPARATOR = "|"

Domain = Literal["movie", "music", "finance"]
Row = Mapping[str, str]
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
    """Company names also match without their legal form."""
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
    """Award -> its other names."""


TableDescription = Annotated[EntityTable | AwardTable, Field(discriminator="layout")]
INDEX_FORMAT: TypeAdapter[dict[str, TableDescription]] = TypeAdapter(dict[str, TableDescription])
"""File name -> description."""


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
        raise TableError(f"{path}: {first_fault(error)}") from None


def read_table_rows(
    path: Path,
    columns: Iterable[str] = (),
    known: Iterable[str] = (),
    *,
    strict: bool = False,
) -> Iterator[CsvRow]:
    """The rows of a UTF-8 CSV file with at least these columns; raises TableError.

    `known` are further columns whose names may have other blanks and capitals in the file; `strict` is that of
    `CsvReader`.
    """
    required = list(columns)
    try:
        with path.open(encoding=ENCODING, errors=ERRORS, newline="") as file:
            yield from CsvReader(utf8_lines(file, path), str(path), [*required, *known], required, strict=strict)
    except OSError as error:
        raise TableError(f"{path}: cannot be read: {error.strerror}") from None
    except DatasetError as error:
        raise TableError(str(error)) from None


def split_values(cell: str) -> tuple[str, ...]:
    """The values of a cell.

    >>> split_values("Marlon Brando| Al Pacino")
    ('Marlon Brando', 'Al Pacino')
    """
    values = map(str.strip, cell.split(VALUE_SEPARATOR))
    return tuple(filter(None, values))
