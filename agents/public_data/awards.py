"""Rows of awards as three kinds of entities: the award of a year, the awarded work, and the person."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agents.public_data.description import AwardTable
from agents.public_data.entity import Attribute, Entity
from agents.public_data.names import normalise


@dataclass(frozen=True, slots=True)
class AwardWin:
    """One award given (`won`) or one nomination that won nothing.

    `year` is the year of the ceremony, `work_year` that of the awarded work. `performers` are those who are known for
    a work that was awarded to others: the singer of a song. An award to a person alone has an empty `work`.
    """

    award: str
    ceremony: str
    year: int
    work_year: int
    work: str
    winners: tuple[str, ...]
    performers: tuple[str, ...]
    won: bool


def award_entities(rows: Sequence[AwardWin], table: AwardTable) -> Iterator[Entity]:
    """One entity per award and ceremony, per work (title and year), and per person or group."""
    given: dict[tuple[str, int], list[AwardWin]] = defaultdict(list)
    works: dict[tuple[str, int], list[AwardWin]] = defaultdict(list)
    people: dict[str, list[AwardWin]] = defaultdict(list)
    spelling: dict[str, str] = {}
    for row in rows:
        given[row.award, row.year].append(row)
        if row.work:
            works[normalise(row.work), row.work_year].append(row)
        for person in dict.fromkeys((*row.winners, *row.performers)):
            people[normalise(person)].append(row)
            spelling.setdefault(normalise(person), person)
    for own in given.values():
        yield _award(own, table)
    for own in works.values():
        yield _work(own, table)
    for key, own in people.items():
        name = spelling[key]
        told = (Attribute("name", (name,)), *_won_and_nominated(own, table, _in_words_of_person))
        yield Entity((name,), table.domain, table.label, told)


def _award(rows: Sequence[AwardWin], table: AwardTable) -> Entity:
    first = rows[0]
    full_name = f"{table.prize} for {first.award}"
    told = (
        Attribute("award", (full_name,)),
        Attribute("ceremony", (f"{first.ceremony}, held in {first.year}",)),
        Attribute("awarded year", (str(first.work_year),)),
        Attribute("winner{s}", tuple(_who_for_what(row) for row in rows if row.won)),
        Attribute("other nominee{s}", tuple(_who_for_what(row) for row in rows if not row.won)),
    )
    names = (first.award, full_name, *table.aliases.get(first.award, ()))
    return Entity(names, table.domain, table.label, told, (first.year, first.work_year), one_a_year=True)


def _work(rows: Sequence[AwardWin], table: AwardTable) -> Entity:
    first = rows[0]
    told = (
        Attribute(table.work, (first.work,), quoted=True),
        Attribute("awarded year", (str(first.work_year),)),
        Attribute("performer{s}", first.performers),
        *_won_and_nominated(rows, table, _in_words_of_work),
    )
    return Entity((first.work,), table.domain, table.label, told, (first.work_year, first.year))


def _won_and_nominated(
    rows: Sequence[AwardWin], table: AwardTable, tell: Callable[[AwardWin], str]
) -> tuple[Attribute, Attribute]:
    return (
        Attribute(table.won, tuple(dict.fromkeys(tell(row) for row in rows if row.won))),
        Attribute(table.nominated, tuple(dict.fromkeys(tell(row) for row in rows if not row.won))),
    )


def _who_for_what(row: AwardWin) -> str:
    people = ", ".join(row.winners)
    if not row.work or not people:
        return people or f'"{row.work}"'
    return f'{people} for "{row.work}"' if len(row.winners) == 1 else f'"{row.work}" ({people})'


def _in_words_of_work(row: AwardWin) -> str:
    return f"{row.award} ({', '.join((*row.winners, f'ceremony of {row.year}'))})"


def _in_words_of_person(row: AwardWin) -> str:
    work = f' for "{row.work}"' if row.work else ""
    return f"{row.award}{work} (ceremony of {row.year})"
