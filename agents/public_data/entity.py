"""The format of `tables.json`, and a table's facts about one entity in sentences (db3 section 2.3)."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agents.matching import plain_name

COUNTED_AT_A_GLANCE = 4
"""Longer lists come with their length: small models count badly."""


Domain = Literal["movie", "music", "finance"]


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


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute. ``{s}`` in `name` becomes the plural ending; `quoted` values are titles."""

    name: str
    values: tuple[str, ...]
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """One record of the table labelled `table`. `names` has the main name first; `years` distinguish equal names.

    `one_a_year`: an award given once a year; a question without a year means the latest.
    """

    names: tuple[str, ...]
    domain: str
    table: str
    attributes: tuple[Attribute, ...]
    years: tuple[int, ...] = ()
    one_a_year: bool = False


@dataclass(frozen=True, slots=True)
class AwardWin:
    """One award (`won`) or unsuccessful nomination.

    `year` is the year of the ceremony, `work_year` the year of the awarded work. `work` is empty if the award goes to a
    person alone. `performers` are known for a work whose award goes to others: the singer of a song.
    """

    award: str
    ceremony: str
    year: int
    work_year: int
    work: str
    winners: tuple[str, ...]
    performers: tuple[str, ...]
    won: bool


def verbalise(entity: Entity, max_items: int, years: Sequence[int] = ()) -> str:
    """The paragraph of an entity: ``The <attribute> is <value>.`` for each attribute with a value.

    Lists are cut to `max_items` values; those with one of the `years` come first.
    """
    return " ".join(_sentence(each, max_items, years) for each in entity.attributes if each.values)


def _sentence(attribute: Attribute, max_items: int, years: Sequence[int]) -> str:
    wanted = [str(year) for year in years]
    values = sorted(attribute.values, key=lambda value: not any(year in value for year in wanted))
    shown = [f'"{value}"' if attribute.quoted else value for value in values[:max_items]]
    if len(values) > len(shown):
        shown.append(f"{len(values) - len(shown)} more")
    several = len(values) > 1
    name = attribute.name.replace("{s}", "s" if several else "")
    listed = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
    count = f" ({len(values)} in all)" if len(values) > COUNTED_AT_A_GLANCE else ""
    return f"The {name} {'are' if several else 'is'} {listed}{count}{'' if listed.endswith('.') and not count else '.'}"


def award_entities(rows: Sequence[AwardWin], table: AwardTable) -> Iterator[Entity]:
    """One entity per award and ceremony, per work (title and year), and per person or group."""
    given: dict[tuple[str, int], list[AwardWin]] = defaultdict(list)
    works: dict[tuple[str, int], list[AwardWin]] = defaultdict(list)
    people: dict[str, list[AwardWin]] = defaultdict(list)
    spelling: dict[str, str] = {}
    for row in rows:
        given[row.award, row.year].append(row)
        if row.work:
            works[plain_name(row.work), row.work_year].append(row)
        for person in dict.fromkeys((*row.winners, *row.performers)):
            people[plain_name(person)].append(row)
            spelling.setdefault(plain_name(person), person)
    for own in given.values():
        yield _award(own, table)
    for own in works.values():
        yield _work(own, table)
    for key, own in people.items():
        name = spelling[key]
        attributes = (Attribute("name", (name,)), *_won_and_nominated(own, table, _of_person))
        yield Entity((name,), table.domain, table.label, attributes)


def _award(rows: Sequence[AwardWin], table: AwardTable) -> Entity:
    first = rows[0]
    full_name = f"{table.prize} for {first.award}"
    attributes = (
        Attribute("award", (full_name,)),
        Attribute("ceremony", (f"{first.ceremony}, held in {first.year}",)),
        Attribute("awarded year", (str(first.work_year),)),
        Attribute("winner{s}", tuple(_who_for_what(row) for row in rows if row.won)),
        Attribute("other nominee{s}", tuple(_who_for_what(row) for row in rows if not row.won)),
    )
    names = (first.award, full_name, *table.aliases.get(first.award, ()))
    return Entity(names, table.domain, table.label, attributes, (first.year, first.work_year), one_a_year=True)


def _work(rows: Sequence[AwardWin], table: AwardTable) -> Entity:
    first = rows[0]
    attributes = (
        Attribute(table.work, (first.work,), quoted=True),
        Attribute("awarded year", (str(first.work_year),)),
        Attribute("performer{s}", first.performers),
        *_won_and_nominated(rows, table, _of_work),
    )
    return Entity((first.work,), table.domain, table.label, attributes, (first.work_year, first.year))


def _won_and_nominated(
    rows: Sequence[AwardWin], table: AwardTable, text: Callable[[AwardWin], str]
) -> tuple[Attribute, Attribute]:
    return (
        Attribute(table.won, tuple(dict.fromkeys(text(row) for row in rows if row.won))),
        Attribute(table.nominated, tuple(dict.fromkeys(text(row) for row in rows if not row.won))),
    )


def _who_for_what(row: AwardWin) -> str:
    people = ", ".join(row.winners)
    if not row.work or not people:
        return people or f'"{row.work}"'
    return f'{people} for "{row.work}"' if len(row.winners) == 1 else f'"{row.work}" ({people})'


def _of_work(row: AwardWin) -> str:
    return f"{row.award} ({', '.join((*row.winners, f'ceremony of {row.year}'))})"


def _of_person(row: AwardWin) -> str:
    work = f' for "{row.work}"' if row.work else ""
    return f"{row.award}{work} (ceremony of {row.year})"
