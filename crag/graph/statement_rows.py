"""Which keys and rows a statement reads, takes and counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from crag.graph.language import Average, Call, Key, Previous, Sort, Statement, Take
from crag.graph.results import Row, Value
from crag.graph.schema import Column, Table

_ROWS_FOR_A_MATCH = 60
"""So many rows are looked at for one that meets the conditions, such as a team's last game at home."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows of one statement: all `fetched`, those `matching` its conditions, and those `taken` to be shown."""

    table: Table
    fetched: list[Row]
    matching: list[Row]
    taken: list[Row]


def taken_rows(
    groups: Sequence[list[Row]],
    matching: list[Row],
    take: Take,
    *,
    first: bool,
) -> list[Row]:
    """The rows that a call takes: as many as it says, all, or by default (`first`) the first one of each name."""
    if isinstance(take, int):
        return matching[:take]
    if take is None and first:
        return [group[0] for group in groups if group]
    return matching


def takes_nearest_rows(call: Call, following: Sequence[Statement]) -> bool:
    """Whether a call for the nearest rows shows only these, instead of counting or refining all that were read."""
    return not call.count and call.take != "all" and not is_refined(following)


def is_refined(following: Sequence[Statement]) -> bool:
    """Whether a sort or an average works on the rows of the call before these statements."""
    return bool(following) and not isinstance(following[0], Call)


def rows_needed(call: Call, following: Sequence[Statement]) -> int | None:
    """How many of a call's first rows are enough to answer it; None: all, because they are counted or refined."""
    if call.count or call.take == "all" or is_refined(following):
        return None

    row_count = call.take if isinstance(call.take, int) else 1
    has_several_names = any(isinstance(argument, tuple | Previous) for argument in call.arguments)
    if call.conditions or has_several_names:
        # Not every row will do
        return row_count * _ROWS_FOR_A_MATCH
    return row_count


def keys_of(statement: Statement) -> set[str]:
    """The keys that a statement selects, sorts by or compares."""
    if isinstance(statement, Average):
        return set()

    keys = {statement.select}
    if isinstance(statement, Sort):
        keys.add(statement.key)
    for condition in statement.conditions:
        keys.add(condition.key)
        if isinstance(condition.value, Key):
            keys.add(condition.value.name)
    return {key for key in keys if key}


def concatenated(groups: Sequence[list[Row]]) -> list[Row]:
    """The rows of all groups."""
    rows: list[Row] = []
    for group in groups:
        rows += group
    return rows


def flat_values(rows: Sequence[Row], key: str) -> tuple[Value, ...]:
    """The values of a key over rows, with flattened lists and without missing values and inner rows."""
    values: list[Value] = []
    for row in rows:
        cell = row.cells.get(key)
        entries = cell if isinstance(cell, tuple) else (cell,)
        values += [entry for entry in entries if entry is not None and not isinstance(entry, Row)]
    return tuple(values)


def count_rows(column: Column | None, key: str | None, selection: Selection) -> tuple[Value, ...]:
    """The number of rows, of rows that have a key, or of entries in the key's lists; empty if no list is known."""
    if key is None:
        return (len(selection.matching),)

    taken_with_key = [row for row in selection.taken if row.cells.get(key) is not None]
    is_list = column is not None and column.type.is_list
    if is_list and not taken_with_key:
        return ()

    # A key that the schema lacks can hold a list too.
    is_list = is_list or (bool(taken_with_key) and isinstance(taken_with_key[0].cells[key], tuple))
    if is_list:
        entries = flat_values(taken_with_key, key)
        return (len(entries),)

    matching_with_key = [row for row in selection.matching if row.cells.get(key) is not None]
    return (len(matching_with_key),)
