"""The entities of the tables: films, people, awards, companies, each with its attributes."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ValidationError

from crag.core.validation import first_fault
from crag.facts.tables import (
    SHIPPED_TABLES,
    AwardTable,
    EntityTable,
    Row,
    TableDescription,
    TableError,
    read_index,
    read_table_rows,
    split_values,
)
from crag.text.matching import company_names, plain_name


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
    winner: Annotated[tuple[str, ...], BeforeValidator(split_values)]
    performer: Annotated[tuple[str, ...], BeforeValidator(split_values)]
    result: str

    @property
    def won(self) -> bool:
        """Whether it is an award, not an unsuccessful nomination."""
        return self.result == "won"


def load_entities(folder: Path = SHIPPED_TABLES) -> list[Entity]:
    """All entities of all tables of a folder; raises TableError: a file is missing or has the wrong format."""
    entities: list[Entity] = []
    for file_name, table in read_index(folder).items():
        entities += _load_table(folder / file_name, table)
    return entities


def _load_table(path: Path, table: TableDescription) -> list[Entity]:
    rows = [row.cells for row in read_table_rows(path, known=_described_columns(table), strict=True)]
    try:
        if isinstance(table, AwardTable):
            wins = [AwardWin.model_validate(row) for row in rows]
            return list(_award_entities(wins, table))
        return list(_row_entities(rows, table))
    except ValidationError as error:
        raise TableError(f"{path}: not a table of the layout {table.layout!r}: {first_fault(error)}") from None
    except KeyError as error:
        raise TableError(f"{path}: not a table of the layout {table.layout!r}: no column {error}") from None


def _described_columns(table: TableDescription) -> set[str]:
    """The columns that the layout or the table's description names."""
    if isinstance(table, AwardTable):
        return set(AwardWin.model_fields)

    year = (table.year,) if table.year else ()
    return {*table.names, *table.hidden, *table.quoted, *table.inverse, *year}


def _person_entity(name: str, table: EntityTable | AwardTable, attributes: Mapping[str, Sequence[str]]) -> Entity:
    with_name = {"name": (name,), **attributes}
    return Entity((name,), table.domain, table.label, with_name)


# --- tables of entities -----------------------------------------------------------------------------------------------
@dataclass(slots=True)
class _Person:
    """A person of a table: the name as first written, and the titles of their rows by column."""

    name: str
    titles: dict[str, list[str]]


def _row_entities(rows: Iterable[Row], table: EntityTable) -> Iterator[Entity]:
    """One entity per row, then one per person in the columns of `table.inverse`."""
    people: dict[str, _Person] = {}
    for row in rows:
        names = _row_names(row, table)
        if not names:
            continue

        year = row[table.year] if table.year else ""
        title = f'"{names[0]}" ({year})' if year else f'"{names[0]}"'
        _add_to_people(people, row, table, title)
        yield Entity(
            names=names,
            domain=table.domain,
            table=table.label,
            attributes=_row_attributes(row, table),
            years=(int(year),) if year.isdecimal() else (),
        )

    # Only now are the lists of the people complete.
    for person in people.values():
        attributes = {table.inverse[column]: titles for column, titles in person.titles.items()}
        yield _person_entity(person.name, table, attributes)


def _row_names(row: Row, table: EntityTable) -> tuple[str, ...]:
    """The names in a row, each once and the main one first; of companies also the short forms."""
    names: list[str] = []
    for column in table.names:
        names += split_values(row[column])
    if table.companies:
        for name in list(names):
            names += company_names(name)
    # The short forms of different names may be equal.
    return tuple(dict.fromkeys(names))


def _add_to_people(people: dict[str, _Person], row: Row, table: EntityTable, title: str) -> None:
    """Put the title of a row into the lists of its people, who are found by their plain names."""
    for column in table.inverse:
        for name in split_values(row[column]):
            # Spellings that differ in accents or capitals are one person.
            person = people.setdefault(plain_name(name), _Person(name, defaultdict(list)))
            person.titles[column].append(title)


def _row_attributes(row: Row, table: EntityTable) -> dict[str, Sequence[str]]:
    attributes: dict[str, Sequence[str]] = {}
    for column, cell in row.items():
        if column in table.hidden:
            continue
        values = split_values(cell)
        if column in table.quoted:
            values = tuple(f'"{value}"' for value in values)
        attributes[column.replace("_", " ") + "{s}"] = values
    return attributes


# --- tables of awards -------------------------------------------------------------------------------------------------
def _award_entities(wins: Sequence[AwardWin], table: AwardTable) -> Iterator[Entity]:
    """One entity per award and ceremony, per work (title and year), and per person or group."""
    by_award: dict[tuple[str, int], list[AwardWin]] = defaultdict(list)
    by_work: dict[tuple[str, int], list[AwardWin]] = defaultdict(list)
    by_person: dict[str, list[AwardWin]] = defaultdict(list)
    written_names: dict[str, str] = {}
    for win in wins:
        by_award[win.award, win.year].append(win)
        if win.work:
            # Remakes share the title, but not the year.
            by_work[plain_name(win.work), win.work_year].append(win)
        # The performer may be one of the winners, and counts once.
        for name in dict.fromkeys((*win.winner, *win.performer)):
            written_names.setdefault(plain_name(name), name)
            by_person[plain_name(name)].append(win)

    for award_wins in by_award.values():
        yield _award_entity(award_wins, table)
    for work_wins in by_work.values():
        yield _work_entity(work_wins, table)
    for plain, person_wins in by_person.items():
        attributes = _won_and_nominated(person_wins, table, _award_of_person)
        yield _person_entity(written_names[plain], table, attributes)


def _award_entity(wins: Sequence[AwardWin], table: AwardTable) -> Entity:
    first = wins[0]
    full_name = f"{table.prize} for {first.award}"
    aliases = table.aliases.get(first.award, ())
    winners = [win for win in wins if win.won]
    nominees = [win for win in wins if not win.won]

    return Entity(
        names=(first.award, full_name, *aliases),
        domain=table.domain,
        table=table.label,
        attributes={
            "award": (full_name,),
            "ceremony": (f"{first.ceremony}, held in {first.year}",),
            "awarded year": (str(first.work_year),),
            "winner{s}": list(map(_who_for_what, winners)),
            "other nominee{s}": list(map(_who_for_what, nominees)),
        },
        years=(first.year, first.work_year),
        one_a_year=True,
    )


def _work_entity(wins: Sequence[AwardWin], table: AwardTable) -> Entity:
    first = wins[0]
    attributes = {
        table.work: (f'"{first.work}"',),
        "awarded year": (str(first.work_year),),
        "performer{s}": first.performer,
        **_won_and_nominated(wins, table, _award_of_work),
    }
    # The first year is the main one: of a work its own, of an award that of the ceremony.
    years = (first.work_year, first.year)
    return Entity((first.work,), table.domain, table.label, attributes, years)


def _won_and_nominated(
    wins: Sequence[AwardWin],
    table: AwardTable,
    describe: Callable[[AwardWin], str],
) -> dict[str, list[str]]:
    # Dicts instead of sets: the order of the table, each once.
    won: dict[str, None] = {}
    nominated: dict[str, None] = {}
    for win in wins:
        descriptions = won if win.won else nominated
        descriptions[describe(win)] = None
    return {table.won: list(won), table.nominated: list(nominated)}


def _who_for_what(win: AwardWin) -> str:
    """As "Jane Doe for "Deep"", or ""Deep" (Jane Doe, Jim Roe)" for several people."""
    people = ", ".join(win.winner)
    if not people:
        return f'"{win.work}"'
    if not win.work:
        return people
    return f'{people} for "{win.work}"' if len(win.winner) == 1 else f'"{win.work}" ({people})'


def _award_of_work(win: AwardWin) -> str:
    details = ", ".join((*win.winner, f"ceremony of {win.year}"))
    return f"{win.award} ({details})"


def _award_of_person(win: AwardWin) -> str:
    for_work = f' for "{win.work}"' if win.work else ""
    return f"{win.award}{for_work} (ceremony of {win.year})"
