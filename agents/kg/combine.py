"""The meaning of a list of names: the rows that all of them share."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from agents.kg.results import Cell, Row
from agents.kg.schema import ParameterKind, Table, Type

_COUNTERPARTS = {ParameterKind.MOVIE: ("name",), ParameterKind.PERSON: ("movie_name", "film")}
"""Films share people, and people share films."""


def shared_rows(table: Table, place: int, found: Sequence[list[Row]], select: str | None) -> list[list[Row]]:
    """The rows that several names share, as one group, or else a group of rows for each name.

    `found` has the rows of each name, `place` is the parameter that was a list, `select` the key that is asked for.

    * Tables of films and people: of several films the people, of several people the films, each once.
    * Games: those that the teams played against each other, as the first one saw them.
    * A key that is a list, such as the members of two bands: one row with the members of both.
    * In every other table a row is about the name itself, so that nothing can be shared: the rows of each.
    """
    if len(found) == 1:
        return list(found)
    kind = table.parameters[place].kind
    counterpart = next((key for key in _COUNTERPARTS.get(kind, ()) if key in table.columns), None)
    if counterpart is not None:
        return [_shared(found, counterpart)]
    if kind is ParameterKind.TEAM:
        return [_against_each_other(found)]
    column = table.column(select) if select is not None else None
    if column is not None and column.type in {Type.TEXTS, Type.YEARS}:
        return [_shared_entries(found, column.name)]
    return list(found)


def _shared(found: Sequence[list[Row]], key: str) -> list[Row]:
    common: set[Cell] = set.intersection(*({row.cells.get(key) for row in rows} for rows in found)) - {None}
    names = " and ".join(rows[0].entity for rows in found if rows)
    unique: dict[Cell, Row] = {}
    for row in found[0]:
        if row.cells.get(key) in common:
            unique.setdefault(row.cells.get(key), replace(row, entity=names))
    return list(unique.values())


def _against_each_other(found: Sequence[list[Row]]) -> list[Row]:
    others = [{row.cells.get("team") for row in rows} for rows in found[1:]]
    return [row for row in found[0] if all(row.cells.get("opponent") in teams for teams in others)]


def _shared_entries(found: Sequence[list[Row]], key: str) -> list[Row]:
    rows = [row for group in found for row in group[:1]]
    if not rows:
        return []
    lists = [cell if isinstance(cell := row.cells.get(key), tuple) else () for row in rows]
    common = tuple(entry for entry in lists[0] if all(entry in other for other in lists[1:]))
    return [Row(rows[0].table, " and ".join(row.entity for row in rows), {key: cast("Cell", common)})]
