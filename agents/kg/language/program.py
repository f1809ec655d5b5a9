"""Programs of calls as plain values (db3 section 3.2): two programs that ask the same are equal."""

import enum
from dataclasses import dataclass
from typing import Literal


class Operator(enum.StrEnum):
    """How two sides of a condition compare (db3 section 3.2, "Details of the API System").

    With a value `ge` and `le` include equality; between two keys they are strict ("closed higher than it opened").
    """

    EQ = "eq"
    NEQ = "neq"
    GE = "ge"
    LE = "le"


@dataclass(frozen=True, slots=True)
class Key:
    """A column of the table, by its canonical name."""

    name: str


@dataclass(frozen=True, slots=True)
class Previous:
    """`*`: the values that the statement before gave (announced in db3 section 3.2, not finished there)."""


Argument = str | tuple[str, ...] | Previous | None
"""An argument of a call: one name or date, several names of which all must hold, `*`, or None for "any"."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`operator(key, value)`; the value is a text, another key or `*` (any of the values before)."""

    operator: Operator
    key: str
    value: str | Key | Previous


Take = int | Literal["all"] | None
"""How many rows: a number (from 1), or all; None leaves it to the table (`Table.take`)."""


@dataclass(frozen=True, slots=True)
class Call:
    """`table(arguments, conditions)[key]`: the rows of a table about the named entities.

    `arguments` has no None at its end. `select` is a key, or None for the whole record; `count` is `["len"]`: the
    number of rows, or of the members of a list-valued key.
    """

    table: str
    arguments: tuple[Argument, ...] = ()
    conditions: tuple[Condition, ...] = ()
    select: str | None = None
    count: bool = False
    take: Take = None


@dataclass(frozen=True, slots=True)
class Sort:
    """`sort(conditions, [-]key)[key]`: the rows of the statement before, filtered and put in order.

    `key` None keeps the order of the rows. Rows without the key come last.
    """

    conditions: tuple[Condition, ...] = ()
    key: str | None = None
    descending: bool = False
    select: str | None = None
    count: bool = False
    take: Take = None


@dataclass(frozen=True, slots=True)
class Average:
    """`average`: the arithmetic mean of the numbers that the statement before gave."""


Statement = Call | Sort | Average


@dataclass(frozen=True, slots=True)
class Program:
    """The statements of one question in order; none at all is `None`: the graph cannot answer this question."""

    statements: tuple[Statement, ...] = ()
