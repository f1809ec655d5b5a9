"""Filters and sorts rows by the conditions of a statement, and finds the rows that several names share."""

import operator as comparisons
import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from math import isfinite
from typing import cast

from crag.graph.context import LookupContext
from crag.graph.language import Condition, Key, Operator, Previous
from crag.graph.results import Cell, Row, Value
from crag.graph.schema import Column, Match, ParameterKind, Table, Type
from crag.text.dates import Calendar
from crag.text.matching import contains_words, normalise_name, same_category, same_name, title_form

_NUMBER = re.compile(
    r"""
    (?P<bracket>\()?
    (?:(?<!\w)(?P<sign>[-+\u2212\u2013]))?
    (?P<currency>[$€£¥₹]\s?)?
    (?P<inner_sign>[-\u2212\u2013])?
    (?P<digits>\d+(?:\.\d+)?|(?<!\d)\.\d+)
    (?:[eE](?P<exponent>[-+]?\d{1,3})\b)?
    (?:
        \s*(?P<word>(?i:hundred|thousand|million|billion|trillion|lakh|crore|mln|mn|bln|bn|trn|tn))s?\b
      | \s?(?P<letter>[kKbBM]|T|(?<=\d)MM)\b      # not "m", which are metres or minutes
      | (?P<money_letter>mm?|t)\b                 # but "$2m" are millions
    )?
    (?P<end>\))?
    """,
    re.VERBOSE,
)
_SCALE = {
    "hundred": 1e2, "k": 1e3, "thousand": 1e3, "lakh": 1e5,
    "m": 1e6, "mm": 1e6, "mn": 1e6, "mln": 1e6, "million": 1e6, "crore": 1e7,
    "b": 1e9, "bn": 1e9, "bln": 1e9, "billion": 1e9,
    "t": 1e12, "tn": 1e12, "trn": 1e12, "trillion": 1e12,
}  # fmt: skip
_MINUS = frozenset("-\u2212\u2013")
_MOST_DIGITS = 15
"""A longer string of digits is a code."""
_LARGEST_YEAR = 9999
_WORDS_FOR_TRUE = frozenset({"true", "yes", "1", "won", "win", "winner"})
"""What a condition on a flag may say; any other word means false."""
_COMPARED_AS_NUMBERS = frozenset({Type.NUMBER, Type.MONEY, Type.YEAR, Type.YEARS})
_COMPARE = {
    Operator.EQ: comparisons.eq,
    Operator.NEQ: comparisons.ne,
    Operator.GE: comparisons.ge,
    Operator.LE: comparisons.le,
}

_RowTest = Callable[[Row], bool]
_ValueTest = Callable[[Value], bool]


@dataclass(frozen=True, slots=True)
class Comparer:
    """Filters and sorts the rows of one table; dates are relative to the time of asking.

    `previous` are the values of the previous statement, for conditions with `*`.
    """

    table: Table
    context: LookupContext
    calendar: Calendar
    previous: tuple[Value, ...] = ()

    def matching(self, rows: Sequence[Row], conditions: Sequence[Condition]) -> list[Row]:
        """The rows that meet every condition. A row without the key meets none."""
        # All tests first: a condition that makes no sense is a fault, even if no rows are left for it.
        tests = [self._row_test(condition) for condition in conditions]
        matching = list(rows)
        for test in tests:
            matching = [row for row in matching if test(row)]
        return matching

    def ordered(self, rows: Sequence[Row], key: str, *, descending: bool) -> list[Row]:
        """The rows sorted by a key; ties by release date, rows without the key last."""
        column = self.table.column(key)
        name = column.name if column else key
        value_type = column.type if column else Type.TEXT

        with_key: list[Row] = []
        without_key: list[Row] = []
        for row in rows:
            if row.cells.get(name) in (None, "", ()):
                without_key.append(row)
            else:
                with_key.append(row)

        def sort_key(row: Row) -> tuple[float | str, str]:
            value = _sort_value(row.cells.get(name), value_type)
            release_date = str(row.cells.get("release_date") or "")
            return value, release_date

        # Sorted apart: `reverse` would put rows without the key first
        with_key.sort(key=sort_key, reverse=descending)
        return with_key + without_key

    # A test is built once per condition, so that names and dates are normalised once, not for each row.

    def _row_test(self, condition: Condition) -> _RowTest:
        column = self.table.column(condition.key)
        name = column.name if column else condition.key
        operator = condition.operator
        value = condition.value
        if isinstance(value, Key):
            return lambda row: _compare_cells(row.cells.get(name), operator, row.cells.get(value.name))
        if isinstance(value, Previous):
            return self._previous_test(column, name, operator)
        return self._cell_test(
            column,
            name,
            operator,
            value,
        )

    def _previous_test(self, column: Column | None, name: str, operator: Operator) -> _RowTest:
        """`eq(key,*)`: any of the previous values; `neq(key,*)`: none of them."""
        tests = [self._cell_test(column, name, Operator.EQ, str(value)) for value in self.previous]

        def test(row: Row) -> bool:
            equals_any = any(test(row) for test in tests)
            return not equals_any if operator is Operator.NEQ else equals_any

        return test

    def _cell_test(
        self,
        column: Column | None,
        name: str,
        operator: Operator,
        expected: str,
    ) -> _RowTest:
        """The test of a cell. A list meets a condition if one entry does, `neq` if all entries do."""
        test_value = self._value_test(column, operator, expected)

        def test(row: Row) -> bool:
            cell = row.cells.get(name)
            # An unknown value meets no condition, not even `neq`
            if cell is None:
                return False
            if not isinstance(cell, tuple):
                return test_value(cell)

            hits = [test_value(entry) for entry in cell if not isinstance(entry, Row)]
            return all(hits) if operator is Operator.NEQ else any(hits)

        return test

    def _value_test(self, column: Column | None, operator: Operator, expected: str) -> _ValueTest:
        value_type = column.type if column else Type.TEXT
        if value_type is Type.DATE:
            return self._date_test(operator, expected)
        if value_type is Type.FLAG:
            flag = means_true(expected)
            is_equal = operator is not Operator.NEQ
            return lambda cell: (bool(cell) is flag) is is_equal

        # A value without a number, such as "unknown", is compared as text
        number = as_number(expected) if value_type in _COMPARED_AS_NUMBERS else None
        if number is not None:
            return lambda cell: _compare(as_number(cell), operator, number)
        return _text_test(column, operator, expected)

    def _date_test(self, operator: Operator, expected: str) -> _ValueTest:
        """A month or year in a cell meets a condition only if each of its days does."""
        span = self.context.resolve(expected, self.calendar).range
        # "Latest" has no span, so it limits nothing
        first_day = span.first if span else date.min
        last_day = span.last if span else date.max

        def test(cell: Value) -> bool:
            days = day_span(str(cell))
            if days is None:
                return False
            first_of_cell, last_of_cell = days
            if operator is Operator.GE:
                return first_of_cell >= first_day
            if operator is Operator.LE:
                return last_of_cell <= last_day

            is_within = first_day <= first_of_cell and last_of_cell <= last_day
            return is_within if operator is Operator.EQ else not is_within

        return test


# --- comparisons ------------------------------------------------------------------------------------------------------


def _text_test(column: Column | None, operator: Operator, expected: str) -> _ValueTest:
    """Text is equal as its column says; `ge` and `le` compare by the alphabet."""
    if operator in {Operator.GE, Operator.LE}:
        expected_name = normalise_name(expected)
        return lambda cell: _compare(normalise_name(str(cell)), operator, expected_name)

    is_equal = _text_equality(column, expected)
    if operator is Operator.EQ:
        return is_equal
    return lambda cell: not is_equal(cell)


def _text_equality(column: Column | None, expected: str) -> _ValueTest:
    match = Match.EXACT
    meant = expected
    if column is not None:
        match = column.match
        meant = column.synonyms.get(expected.strip().casefold(), expected)

    if match is Match.CATEGORY:
        return lambda cell: same_category(meant, str(cell))
    if match is Match.CONTAINS:
        return lambda cell: contains_words(str(cell), meant)
    if match is Match.NAME:
        meant_title = title_form(meant)
        return lambda cell: (
            same_name(str(cell), meant) or contains_words(str(cell), meant) or title_form(str(cell)) == meant_title
        )

    meant_name = normalise_name(meant)
    return lambda cell: normalise_name(str(cell)) == meant_name


def _compare(left: float | str | None, operator: Operator, right: float | str) -> bool:
    return left is not None and bool(_COMPARE[operator](left, right))


def _compare_cells(left: Cell, operator: Operator, right: Cell) -> bool:
    """Compare two cells of a row, as numbers if both are. `ge` and `le` are strict here (see `Operator`)."""
    if left is None or right is None:
        return False

    left_value: float | str | None = cell_number(left)
    right_value: float | str | None = cell_number(right)
    if left_value is None or right_value is None:
        left_value = normalise_name(str(left))
        right_value = normalise_name(str(right))

    is_strict = operator in {Operator.GE, Operator.LE}
    if is_strict and left_value == right_value:
        return False
    return _compare(left_value, operator, right_value)


def _sort_value(cell: Cell, value_type: Type) -> float | str:
    """The sort key of a cell: numbers as numbers, dates and text as text, the first item of a list."""
    if isinstance(cell, tuple):
        first = cell[0] if cell else None
        cell = None if isinstance(first, Row) else first

    if value_type in _COMPARED_AS_NUMBERS:
        number = as_number(cell)
        return float("-inf") if number is None else number
    if value_type is Type.DATE:
        return str(cell)
    return normalise_name(str(cell))


# --- flags, numbers, days and years -----------------------------------------------------------------------------------


def means_true(expected: str) -> bool:
    """Whether the value of a condition on a flag means true: "true", "yes", "won"."""
    return expected.strip().lower() in _WORDS_FOR_TRUE


def as_number(value: object) -> float | None:
    """The number in a cell or a string such as "1,200", "-$.5", "1.5e9", "2 million" or "15B", or None."""
    # A bool is an int in Python: True would be 1
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)

    match = _NUMBER.search(str(value).replace(",", ""))
    if match is None:
        return None
    # "90m" is a length; only beside a currency it is money
    scale = match["word"] or match["letter"] or (match["money_letter"] if match["currency"] else None)
    number = float(f"{match['digits']}e{match['exponent'] or 0}") * _SCALE.get((scale or "").lower(), 1)
    # "($1.25)" is a loss in accounts
    is_loss = match["bracket"] and match["currency"] and match["end"]
    if is_loss or not _MINUS.isdisjoint({match["sign"], match["inner_sign"]}):
        number = -number
    # Thousands of digits become an infinite float
    return number if isfinite(number) else None


def cell_number(value: object) -> float | None:
    """The number that a cell is, also as a string; None for a string that only contains a number."""
    if not isinstance(value, str):
        return as_number(value)
    # "1,200" is a number, "12 Angry Men" only contains one
    is_number = _NUMBER.fullmatch(value.replace(",", "").strip())
    is_whole = is_number is not None and (is_number["bracket"] is None) is (is_number["end"] is None)
    return as_number(value) if is_whole else None


def digits_as_number(value: Value) -> Value:
    """The number that digits in a string are, anything else unchanged: some replies mix "3" and 3."""
    if isinstance(value, str) and value.isdecimal() and len(value) <= _MOST_DIGITS:
        return int(value)
    return value


def day_span(text: str) -> tuple[date, date] | None:
    """First and last day of a date ``YYYY[-MM[-DD]]`` (ignoring what follows), or None."""
    try:
        year, *rest = map(int, text[:10].split("-")[:3])
        if len(rest) == 2:
            month, day = rest
            single_day = date(year, month, day)
            return single_day, single_day

        # A month, or the whole year.
        first_month = rest[0] if rest else 1
        last_month = rest[0] if rest else 12
        _, last_day = monthrange(year, last_month)
        return date(year, first_month, 1), date(year, last_month, last_day)
    # No date, or a day that does not exist, such as February 30 or one of the year 2222222222
    except (ValueError, OverflowError):
        return None


def allowed_numbers(conditions: Sequence[Condition], key: str) -> range | None:
    """The whole numbers, such as years or ranks, that the conditions on a key allow; None if nothing limits them.

    A table asks the server only for these. Conditions with `*` or another key are left out: they are checked on the
    rows.

    >>> allowed_numbers([Condition(Operator.GE, "year", "2010"), Condition(Operator.LE, "year", "2012")], "year")
    range(2010, 2013)
    """
    lowest = 0
    highest = _LARGEST_YEAR
    is_limited = False
    for condition in conditions:
        if condition.key != key or condition.operator is Operator.NEQ:
            continue
        # Values of `*` and of other keys are not known yet.
        if not isinstance(condition.value, str):
            continue
        number = as_number(condition.value)
        if number is None:
            continue

        is_limited = True
        if condition.operator is not Operator.LE:
            lowest = max(lowest, int(number))
        if condition.operator is not Operator.GE:
            highest = min(highest, int(number))
    return range(lowest, highest + 1) if is_limited else None


# --- what several names share -----------------------------------------------------------------------------------------

_COUNTERPARTS = {ParameterKind.MOVIE: ("name",), ParameterKind.PERSON: ("movie_name", "film")}
"""What films share, and what people share."""


def shared_rows(
    table: Table,
    parameter_index: int,
    groups: Sequence[list[Row]],
    select: str | None,
) -> list[list[Row]]:
    """The rows that several names share, as one group; else one group of rows per name.

    `groups` has the rows of each name, `parameter_index` is that of the parameter that was a list, `select` the
    requested key. Films share people and people share films; games are those between the teams, from the first team's
    side; of a list-valued key, such as the members of two bands, one row has the shared entries.
    """
    if len(groups) < 2:
        return list(groups)

    kind = table.parameters[parameter_index].kind
    for counterpart in _COUNTERPARTS.get(kind, ()):
        if counterpart in table.columns:
            return [_rows_with_shared_cell(groups, counterpart)]

    if kind is ParameterKind.TEAM:
        return [_games_between(groups)]

    # "The members of both bands": the entries that their lists have in common
    column = table.column(select) if select is not None else None
    if column is not None and column.type.is_list:
        return [_row_of_shared_entries(groups, column.name)]
    return list(groups)


def _rows_with_shared_cell(groups: Sequence[list[Row]], key: str) -> list[Row]:
    """A row for each value of the key that all groups have."""
    first_group, *other_groups = groups
    common = {row.cells.get(key) for row in first_group} - {None}
    for group in other_groups:
        common &= {row.cells.get(key) for row in group}

    names = " and ".join(group[0].entity for group in groups if group)
    row_of_value: dict[Cell, Row] = {}
    for row in first_group:
        value = row.cells.get(key)
        if value in common:
            # An actor with two roles in the film is shared once
            row_of_value.setdefault(value, replace(row, entity=names))
    return list(row_of_value.values())


def _games_between(groups: Sequence[list[Row]]) -> list[Row]:
    """The first team's games whose opponent is each of the other teams."""
    games, *other_groups = groups
    for group in other_groups:
        # The games of one other team.
        teams = {row.cells.get("team") for row in group}
        games = [row for row in games if row.cells.get("opponent") in teams]
    return games


def _row_of_shared_entries(groups: Sequence[list[Row]], key: str) -> list[Row]:
    """One row with the entries that the first rows of all groups share."""
    rows = [group[0] for group in groups if group]
    if not rows:
        return []

    lists: list[tuple[object, ...]] = []
    for row in rows:
        cell = row.cells.get(key)
        lists.append(cell if isinstance(cell, tuple) else ())

    # Tuples, because sets would lose the order of the first list
    common, *other_lists = lists
    for entries in other_lists:
        common = tuple(entry for entry in common if entry in entries)

    entity = " and ".join(row.entity for row in rows)
    return [Row(entity, {key: cast("Cell", common)})]
