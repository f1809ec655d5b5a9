"""The one canonical form of a program: what examples show, grammars allow and logs hold."""

import re
from collections.abc import Sequence
from functools import cache

from agents.kg.language.program import Argument, Average, Call, Condition, Key, Previous, Program, Sort, Statement, Take
from agents.kg.schema import COUNT_KEY, Domain, load_schema

NOTHING = "None"
_PLAIN_KEY = re.compile(r"(?!(?:none|null|and)$)[a-z_]\w*", re.ASCII | re.IGNORECASE)


def render(program: Program) -> str:
    """The text that `agents.kg.language.parse` reads back as an equal program: one statement a line."""
    return "\n".join(map(_statement, program.statements)) or NOTHING


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
    return f"{prefix}{name}({inside}){select}{count}{_slice(statement.take)}"


def _slice(take: Take) -> str:
    return f"[:{take}]" if isinstance(take, int) else ""


def _call_arguments(call: Call) -> str:
    arguments = [_argument(argument) for argument in call.arguments]
    if call.conditions:
        arguments += [NOTHING] * (_parameter_count(call.table) - len(arguments))
        arguments.append(_conditions(call.conditions))
    return ",".join(arguments)


def _sort_arguments(sort: Sort) -> str:
    conditions = _conditions(sort.conditions) if sort.conditions else NOTHING
    if sort.key is None:
        return conditions
    key = ("-" if sort.descending else "") + sort.key
    return f"{conditions},{key if _PLAIN_KEY.fullmatch(sort.key) else _quoted(key)}"


def _argument(argument: Argument) -> str:
    match argument:
        case None:
            return NOTHING
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
    match condition.value:
        case Previous():
            value = "*"
        case Key(name):
            value = _key(name)
        case text:
            value = _quoted(text)
    return f"{condition.operator}({_key(condition.key)},{value})"


def _key(name: str) -> str:
    """Bare; in quotes where a key of an info box has characters that a bare word cannot have."""
    return name if _PLAIN_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """In double quotes, on one line: white space of any kind is one blank, for no name depends on it."""
    text = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


@cache
def _parameter_count(table: str) -> int:
    """How many arguments come before the conditions; domains that share a table's name share its arguments."""
    tables = (load_schema(domain).tables.get(table) for domain in Domain)
    return max((len(found.parameters) for found in tables if found), default=0)
