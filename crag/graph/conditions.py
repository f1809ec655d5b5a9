"""Filters and sorts rows."""

import operator
import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import cast

from crag.graph.context import LookupContext
from crag.graph.language import Condition, Key, Operator, Previous
from crag.graph.results import Cell, Row, Value
from crag.graph.schema import Column, Match, ParameterKind, Table, Type
from crag.text.dates import Calendar
from crag.text.matching import contains_words, normalise_name, same_category, same_name

_NUMBER = re.compile(r"([-+]?\d+(?:\.\d+)?)(?:\s*(thousand|million|billion|trillion)\b)?", re.IGNORECASE)
_SCALE = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_TRUE = frozenset({"true", "yes", "1", "won", "win", "winner"})
_COMPARE = {Operator.EQ: operator.eq, Operator.NEQ: operator.ne, Operator.GE: operator.ge, Operator.LE: operator.le}


@dataclass(frozen=True, slots=True)
class Comparer:
    """Filters and sorts the rows of one table; dates are relative to the time of asking."""

    table: Table
    context: LookupContext
    calendar: Calendar
    previous: tuple[Value, ...] = ()

    def matching(self, rows: Sequence[Row], conditions: Sequence[Condition]) -> list[Row]:
        """The rows that meet every condition. A row without the key meets none."""
        tests = [self._test(condition) for condition in conditions]
        return [row for row in rows if all(test(row) for test in tests)]

    def ordered(self, rows: Sequence[Row], key: str, *, descending: bool) -> list[Row]:
        """The rows sorted by a key; ties by release date, rows without the key last."""
        column = self.table.column(key)
        name, kind = (column.name, column.type) if column else (key, Type.TEXT)

        def order(row: Row) -> tuple[float | str, str]:
            return _sort_value(row.cells.get(name), kind), str(row.cells.get("release_date") or "")

        have = [row for row in rows if row.cells.get(name) not in (None, "", ())]
        lack = [row for row in rows if row.cells.get(name) in (None, "", ())]
        return [*sorted(have, key=order, reverse=descending), *lack]

    def _test(self, condition: Condition) -> Callable[[Row], bool]:
        column = self.table.column(condition.key)
        name = column.name if column else condition.key
        operator, value = condition.operator, condition.value
        if isinstance(value, Key):
            return lambda row: _between_keys(row.cells.get(name), operator, row.cells.get(value.name))
        if isinstance(value, Previous):
            tests = [self._value_test(column, name, Operator.EQ, str(one)) for one in self.previous]
            return lambda row: any(test(row) for test in tests) is not (operator is Operator.NEQ)
        return self._value_test(column, name, operator, value)

    def _value_test(self, column: Column | None, name: str, operator: Operator, wanted: str) -> Callable[[Row], bool]:
        compare = self._comparison(column, operator, wanted)

        def test(row: Row) -> bool:
            cell = row.cells.get(name)
            if cell is None:
                return False
            if isinstance(cell, tuple):
                hits = [compare(one) for one in cell if not isinstance(one, Row)]
                return all(hits) if operator is Operator.NEQ else any(hits)
            return compare(cell)

        return test

    def _comparison(self, column: Column | None, operator: Operator, wanted: str) -> Callable[[Value], bool]:
        kind = column.type if column else Type.TEXT
        if kind is Type.DATE:
            return self._dates(operator, wanted)
        if kind in {Type.NUMBER, Type.MONEY, Type.YEAR, Type.YEARS}:
            number = as_number(wanted)
            if number is not None:
                return lambda cell: _by_operator(as_number(cell), operator, number)
        if kind is Type.FLAG:
            flag = wanted.strip().lower() in _TRUE
            return lambda cell: (bool(cell) is flag) is (operator is not Operator.NEQ)
        equal = _text_equality(column, wanted)
        if operator is Operator.EQ:
            return equal
        if operator is Operator.NEQ:
            return lambda cell: not equal(cell)
        return lambda cell: _by_operator(normalise_name(str(cell)), operator, normalise_name(wanted))

    def _dates(self, operator: Operator, wanted: str) -> Callable[[Value], bool]:
        """A month or year in a cell meets a condition only if each of its days does."""
        span = self.context.resolve(wanted, self.calendar).range
        first, last = (span.first, span.last) if span else (date.min, date.max)

        def compare(cell: Value) -> bool:
            days = day_span(str(cell))
            if days is None:
                return False
            if operator is Operator.GE:
                return days[0] >= first
            if operator is Operator.LE:
                return days[1] <= last
            within = first <= days[0] and days[1] <= last
            return within is (operator is Operator.EQ)

        return compare


def year_range(conditions: Sequence[Condition], key: str = "year") -> range | None:
    """The years that the conditions on a key allow, or None for no conditions; saves calls to the server."""
    bounds = [
        (condition.operator, int(number))
        for condition in conditions
        if condition.key == key and isinstance(condition.value, str) and condition.operator is not Operator.NEQ
        if (number := as_number(condition.value)) is not None
    ]
    first = max((year for operator, year in bounds if operator is not Operator.LE), default=0)
    last = min((year for operator, year in bounds if operator is not Operator.GE), default=9999)
    return range(first, last + 1) if bounds else None


def day_span(text: str) -> tuple[date, date] | None:
    """First and last day of a date ``YYYY[-MM[-DD]]`` (ignoring what follows), or None."""
    try:
        year, *rest = map(int, text[:10].split("-")[:3])
        if len(rest) == 2:
            return date(year, *rest), date(year, *rest)
        first, last = (rest[0], rest[0]) if rest else (1, 12)
        return date(year, first, 1), date(year, last, monthrange(year, last)[1])
    except ValueError:
        return None


def as_number(value: object) -> float | None:
    """The number in a cell or a text such as "1,200", "$3.5" or "2 million", or None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    found = _NUMBER.search(str(value).replace(",", ""))
    return float(found.group(1)) * _SCALE.get((found.group(2) or "").lower(), 1) if found else None


def exact_number(value: object) -> float | None:
    """The number that a cell is, also as text; None for a text that only contains a number."""
    text = str(value).replace(",", "").strip()
    return as_number(value) if not isinstance(value, str) or _NUMBER.fullmatch(text) else None


def _sort_value(cell: Cell, kind: Type) -> float | str:
    """The sort key of a cell: numbers as numbers, dates and texts as texts, the first item of a list."""
    if isinstance(cell, tuple):
        first = cell[0] if cell else None
        cell = None if isinstance(first, Row) else first
    if kind in {Type.NUMBER, Type.MONEY, Type.YEAR, Type.YEARS}:
        number = as_number(cell)
        return number if number is not None else float("-inf")
    return str(cell) if kind is Type.DATE else normalise_name(str(cell))


def _text_equality(column: Column | None, wanted: str) -> Callable[[Value], bool]:
    how = column.match if column else Match.EXACT
    meant = column.synonyms.get(wanted.strip().casefold(), wanted) if column else wanted
    if how is Match.CATEGORY:
        return lambda cell: same_category(meant, str(cell))
    if how is Match.CONTAINS:
        return lambda cell: contains_words(str(cell), meant)
    if how is Match.NAME:
        return lambda cell: same_name(str(cell), meant) or contains_words(str(cell), meant)
    return lambda cell: normalise_name(str(cell)) == normalise_name(meant)


def _by_operator(left: float | str | None, how: Operator, right: float | str) -> bool:
    return left is not None and bool(_COMPARE[how](left, right))


def _between_keys(left: Cell, operator: Operator, right: Cell) -> bool:
    """Compare two cells of a row, as numbers if both are. `ge` and `le` are strict here (see `Operator`)."""
    if left is None or right is None:
        return False
    one: float | str | None = exact_number(left)
    other: float | str | None = exact_number(right)
    if one is None or other is None:
        one, other = normalise_name(str(left)), normalise_name(str(right))
    is_strict = operator in {Operator.GE, Operator.LE}
    return _by_operator(one, operator, other) and not (is_strict and one == other)


_COUNTERPARTS = {ParameterKind.MOVIE: ("name",), ParameterKind.PERSON: ("movie_name", "film")}
"""What films share, and what people share."""


def shared_rows(table: Table, place: int, found: Sequence[list[Row]], select: str | None) -> list[list[Row]]:
    """The rows that several names share, as one group; else one group of rows per name.

    `found` has the rows of each name, `place` is the parameter that was a list, `select` the requested key. Films share
    people and people share films; games are those between the teams, from the first team's side; of a list-valued key,
    such as the members of two bands, one row has the shared entries.
    """
    kind, several = table.parameters[place].kind, len(found) > 1
    counterpart = next((key for key in _COUNTERPARTS.get(kind, ()) if key in table.columns), None)
    column = table.column(select) if select is not None else None
    if several and counterpart is not None:
        return [_shared(found, counterpart)]
    if several and kind is ParameterKind.TEAM:
        others = [{row.cells.get("team") for row in rows} for rows in found[1:]]
        return [[row for row in found[0] if all(row.cells.get("opponent") in teams for teams in others)]]
    if several and column is not None and column.type in {Type.TEXTS, Type.YEARS}:
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


def _shared_entries(found: Sequence[list[Row]], key: str) -> list[Row]:
    rows = [row for group in found for row in group[:1]]
    if not rows:
        return []
    lists = [cell if isinstance(cell := row.cells.get(key), tuple) else () for row in rows]
    common = tuple(entry for entry in lists[0] if all(entry in other for other in lists[1:]))
    return [Row(" and ".join(row.entity for row in rows), {key: cast("Cell", common)})]
