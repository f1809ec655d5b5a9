"""What a statement gives back, in states that are never confused with each other."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float | bool | None
"""A single value of a row. Dates are texts ``YYYY[-MM[-DD]]``."""

Cell = Value | tuple[Value, ...] | tuple["Row", ...]
"""A value, a list of values, or rows of another table."""


class Status(enum.StrEnum):
    """How a statement ended."""

    OK = "ok"
    NOT_FOUND = "not_found"
    """The server answered, and there is no such entity or row."""
    INVALID = "invalid"
    """The statement cannot be read or makes no sense; `explanation` holds the named error with its caret."""
    KG_DOWN = "kg_down"
    """The server could not be asked, or not in time: evidence of nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a table; `entity` is the name under which the graph knows what was asked about."""

    table: str
    entity: str
    cells: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one statement.

    Args:
        call: The statement in canonical form.
        status: How it ended.
        rows: All rows that match.
        values: The selected values of the rows taken; lists are flattened, absent values left out.
        text: Both in sentences.
        explanation: How names and dates were understood, or why there is no result.
        refines: Whether the statement works on the one before, as a sort does.
        empty_calendar: A known team has no game on the date asked for: evidence of a false premise.
        partial: Some records could not be read, so values may be missing and a count or an order may be wrong.
    """

    call: str
    status: Status
    rows: tuple[Row, ...] = ()
    values: tuple[Value, ...] = ()
    text: str = ""
    explanation: tuple[str, ...] = ()
    refines: bool = False
    empty_calendar: bool = False
    partial: bool = False
