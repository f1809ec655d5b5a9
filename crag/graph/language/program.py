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


def names_in(argument: Argument) -> tuple[str, ...]:
    """The names in an argument, one or several; none in `*` and None.

    >>> names_in("jaws"), names_in(("heat", "ronin")), names_in(None)
    (('jaws',), ('heat', 'ronin'), ())
    """
    if isinstance(argument, str):
        return (argument,)
    return argument if isinstance(argument, tuple) else ()


@dataclass(frozen=True, slots=True)
class Condition:
    """`operator(key, value)`; the value is a string, another key or `*` (any of the previous values)."""

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

    def arguments_of(self, parameter_count: int) -> list[Argument]:
        """One argument for each parameter of the table, also for those that the call leaves out at its end: None."""
        omitted = parameter_count - len(self.arguments)
        return [*self.arguments, *[None] * omitted]


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


def without_repeats(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """The statements without calls that stand before already, word for word with what refines their rows.

    A small model in doubt may write a line again and again; asked once, it says the same.

    >>> call = Call("get_movie", ("jaws",), select="length")
    >>> without_repeats([call, call]) == (call,)
    True
    """
    groups: list[list[Statement]] = []
    for statement in statements:
        if not groups or _stands_alone(statement):
            groups.append([])
        groups[-1].append(statement)

    kept: list[Statement] = []
    for index, group in enumerate(groups):
        if group not in groups[:index]:
            kept += group
    return tuple(kept)


def _stands_alone(statement: Statement) -> bool:
    """Whether it is a call that takes nothing from the statement before."""
    if not isinstance(statement, Call):
        return False
    given = [*statement.arguments, *(condition.value for condition in statement.conditions)]
    return not any(isinstance(value, Previous) for value in given)


_NOTHING = "None"
_PLAIN_KEY = re.compile(r"(?!(?:none|null|and)$)[a-z_]\w*", re.ASCII | re.IGNORECASE)


def render(program: Program) -> str:
    """The canonical text, which `crag.graph.language.parse` reads back as an equal program; one statement a line.

    >>> render(Program((Call("get_movie", ("jaws",), select="length"),)))
    'get_movie("jaws")["length"]'
    """
    lines = [_render_statement(statement) for statement in program.statements]
    return "\n".join(lines) or _NOTHING


def _render_statement(statement: Statement) -> str:
    match statement:
        case Average():
            return "average"
        case Sort():
            arguments = _render_sort_arguments(statement)
            name = "sort"
        case Call():
            arguments = _render_call_arguments(statement)
            name = statement.table

    # A number of rows stands behind the call, "ALL" before it
    every = "ALL " if statement.take == "all" else ""
    select = "" if statement.select is None else f"[{_quoted(statement.select)}]"
    count = f'["{COUNT_KEY}"]' if statement.count else ""
    slice_ = f"[:{statement.take}]" if isinstance(statement.take, int) else ""
    return f"{every}{name}({arguments}){select}{count}{slice_}"


def _render_call_arguments(call: Call) -> str:
    if not call.conditions:
        return ",".join(map(_render_argument, call.arguments))
    # Conditions come after all arguments.
    arguments = call.arguments_of(_parameter_count(call.table))
    return ",".join([*map(_render_argument, arguments), _render_conditions(call.conditions)])


def _render_sort_arguments(sort: Sort) -> str:
    conditions = _render_conditions(sort.conditions) if sort.conditions else _NOTHING
    if sort.key is None:
        return conditions

    # The minus stands inside the quotes: "-net income"
    key = f"-{sort.key}" if sort.descending else sort.key
    if not _PLAIN_KEY.fullmatch(sort.key):
        key = _quoted(key)
    return f"{conditions},{key}"


def _render_argument(argument: Argument) -> str:
    match argument:
        case None:
            return _NOTHING
        case Previous():
            return "*"
        case str():
            return _quoted(argument)
        case _:
            return f"[{','.join(map(_quoted, argument))}]"


def _render_conditions(conditions: Sequence[Condition]) -> str:
    joined = ",".join(map(_render_condition, conditions))
    return joined if len(conditions) == 1 else f"[{joined}]"


def _render_condition(condition: Condition) -> str:
    return f"{condition.operator}({_render_key(condition.key)},{_render_value(condition.value)})"


def _render_value(value: str | Key | Previous) -> str:
    if isinstance(value, Key):
        return _render_key(value.name)
    return _render_argument(value)


def _render_key(name: str) -> str:
    """In quotes only if an info-box key has characters that a bare word cannot have."""
    return name if _PLAIN_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """In double quotes, on one line. All white space becomes single blanks; no name depends on it."""
    on_one_line = " ".join(text.split())
    escaped = on_one_line.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@cache
def _parameter_count(table: str) -> int:
    """How many parameters a table has; the most, if several domains have a table of that name."""
    counts = [0]
    for domain in Domain:
        schema_table = load_schema(domain).tables.get(table)
        if schema_table is not None:
            counts.append(len(schema_table.parameters))
    return max(counts)
