"""Programs of calls as plain values (db3 section 3.2). Programs that ask the same are equal."""

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from crag.graph.schema import COUNT_KEY, Domain, load_schema


class Operator(enum.StrEnum):
    """How a condition compares its two sides (db3 section 3.2, "Details of the API System").

    With a value `ge` and `le` include equality. Between two keys they are strict ("closed higher than it opened").
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
    """`*`: the values of the previous statement (announced in db3 section 3.2, not finished there)."""


Argument = str | tuple[str, ...] | Previous | None
"""An argument of a call: one name or date, several names that must all match, `*`, or None for "any"."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`operator(key, value)`; the value is a text, another key or `*` (any of the previous values)."""

    operator: Operator
    key: str
    value: str | Key | Previous


Take = int | Literal["all"] | None
"""How many rows: a number (from 1), or all; None means the table's default (`Table.take`)."""


@dataclass(frozen=True, slots=True)
class Call:
    """`table(arguments, conditions)[key]`: the rows of a table about the named entities.

    `arguments` has no trailing None. `select` is a key, or None for the whole record. `count` is `["len"]`: the number
    of rows, or of entries in a list-valued key.
    """

    table: str
    arguments: tuple[Argument, ...] = ()
    conditions: tuple[Condition, ...] = ()
    select: str | None = None
    count: bool = False
    take: Take = None


@dataclass(frozen=True, slots=True)
class Sort:
    """`sort(conditions, [-]key)[key]`: the rows of the previous statement, filtered and sorted.

    If `key` is None, rows keep their order. Rows without the key come last.
    """

    conditions: tuple[Condition, ...] = ()
    key: str | None = None
    descending: bool = False
    select: str | None = None
    count: bool = False
    take: Take = None


@dataclass(frozen=True, slots=True)
class Average:
    """`average`: the arithmetic mean of the previous statement's numbers."""


Statement = Call | Sort | Average


@dataclass(frozen=True, slots=True)
class Program:
    """The statements of one question in order. The empty program is `None`: the graph cannot answer the question."""

    statements: tuple[Statement, ...] = ()


_NOTHING = "None"
_PLAIN_KEY = re.compile(r"(?!(?:none|null|and)$)[a-z_]\w*", re.ASCII | re.IGNORECASE)


def render(program: Program) -> str:
    """The text that `crag.graph.language.parse` reads back as an equal program, one statement a line."""
    return "\n".join(map(_statement, program.statements)) or _NOTHING


def _statement(statement: Statement) -> str:
    match statement:
        case Average():
            return "average"
        case Sort():
            inside = _sort_arguments(statement)
            name = "sort"
        case Call():
            inside = _call_arguments(statement)
            name = statement.table
    prefix = "ALL " if statement.take == "all" else ""
    select = "" if statement.select is None else f"[{_quoted(statement.select)}]"
    count = f'["{COUNT_KEY}"]' if statement.count else ""
    rows = f"[:{statement.take}]" if isinstance(statement.take, int) else ""
    return f"{prefix}{name}({inside}){select}{count}{rows}"


def _call_arguments(call: Call) -> str:
    arguments = [_argument(argument) for argument in call.arguments]
    if call.conditions:
        arguments += [_NOTHING] * (_parameter_count(call.table) - len(arguments))
        arguments.append(_conditions(call.conditions))
    return ",".join(arguments)


def _sort_arguments(sort: Sort) -> str:
    conditions = _conditions(sort.conditions) if sort.conditions else _NOTHING
    if sort.key is None:
        return conditions
    key = ("-" if sort.descending else "") + sort.key
    return f"{conditions},{key if _PLAIN_KEY.fullmatch(sort.key) else _quoted(key)}"


def _argument(argument: Argument) -> str:
    match argument:
        case None:
            return _NOTHING
        case Previous():
            return "*"
        case str():
            return _quoted(argument)
        case _:
            return f"[{','.join(map(_quoted, argument))}]"


def _conditions(conditions: Sequence[Condition]) -> str:
    written = ",".join(map(_condition, conditions))
    return written if len(conditions) == 1 else f"[{written}]"


def _condition(condition: Condition) -> str:
    value = _key(condition.value.name) if isinstance(condition.value, Key) else _argument(condition.value)
    return f"{condition.operator}({_key(condition.key)},{value})"


def _key(name: str) -> str:
    """In quotes only if an info-box key has characters that a bare word cannot have."""
    return name if _PLAIN_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """In double quotes, on one line. All white space becomes single blanks; no name depends on it."""
    text = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


@cache
def _parameter_count(table: str) -> int:
    tables = (load_schema(domain).tables.get(table) for domain in Domain)
    return max((len(found.parameters) for found in tables if found), default=0)
