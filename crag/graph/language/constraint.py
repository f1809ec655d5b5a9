"""The grammar that constrains a language model to the calls of one domain, made from part 1 of `calls.lark`.

Tables, numbers of arguments and keys come from the schema, so every output is a valid call. Names are free, or limited
to parts of the question: small models copy names wrongly.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crag.graph.language.syntax import CANONICAL
from crag.graph.schema import Domain, Parameter, Schema, Table, Type, load_schema

MAX_STATEMENTS = 4
"""As in the longest labelled program; the parser accepts twice as many."""

LONGEST_NAME = 12
"""Maximum number of words in a name from the question."""
_LONGEST_TEXT = 150
"""Maximum number of characters of a quoted text, as in the free grammar."""
_FREE_NAMES = "QUOTED | names"
_GIVEN_NAMES = "ENTITY | entities"
_PART = re.compile(r"\w+|[^\w\s]")
_QUOTABLE = re.compile(r'["\\]')
_UNSPEAKABLE = re.compile(r"[\x00-\x1f\x7f]")

_RULE = re.compile(r"^(\w+): ?(.*(?:\n +\|.*)*)", re.MULTILINE)
_RULES: dict[str, str] = dict(_RULE.findall(CANONICAL))
_BY_TABLE = frozenset({"call", "sort", "order", "conditions", "condition", "select"})
"""Rules that are copied for each table, because they lead to TABLE or KEY."""
_REPLACED = frozenset({"program", "statement", "arguments", "argument", "TABLE"})
"""Rules that the schema replaces."""
_SYMBOL = re.compile(r"arguments\?|[A-Za-z_]+")
_LITERAL = re.compile(r"(\"(?:[^\"\\]|\\.)*\")")


class _Form(NamedTuple):
    """A callable table, its position (first statement or later), and the table of the rows that it gives.

    `key`: the selected key, if it leads to another table's rows.
    """

    table: Table
    rows: Table
    key: str | None
    is_first: bool

    @property
    def name(self) -> str:
        """Prefix of its rules' names."""
        return "_".join(part for part in ("first" if self.is_first else "later", self.table.name, self.key) if part)


def constraint(domain: Domain | str, question: str | None = None) -> str:
    """The Lark grammar for `GenerationRequest.grammar` (llguidance). Every text it allows can be parsed.

    It allows `None`, or 1 to 4 statements in canonical form; `sort`, `average` and `*` only after rows. With a
    `question`, every name in a call must be in it word for word (not dates and values of conditions).
    """
    spans = _spans(" ".join((question or "").lower().split()))
    text = _constraint(str(domain), names_given=bool(spans))
    written = "|".join(re.escape(_QUOTABLE.sub(r"\\\g<0>", span)).replace("/", r"\/") for span in spans)
    return f'{text}ENTITY: /"(?:{written})"/\n' if spans else text


def _spans(question: str) -> list[str]:
    """Every part of the question of at most `LONGEST_NAME` words, with and without punctuation; longest first."""
    parts = [match.span() for match in _PART.finditer(question)]
    starts, ends = [start for start, _ in parts], [end for _, end in parts]
    found = {
        question[start:end]
        for start in starts
        for end in ends
        if start < end <= start + _LONGEST_TEXT
        and len(question[start:end].split()) <= LONGEST_NAME
        and not _UNSPEAKABLE.search(question[start:end])
    }
    return sorted(found, key=lambda span: (-len(span), span))


@functools.cache
def _constraint(domain: str, *, names_given: bool) -> str:
    """The grammar without the names; given names are the terminal ENTITY."""
    schema = load_schema(domain)
    lines = [f"start: NOTHING | {_calls(schema, MAX_STATEMENTS, is_first=True)}"]
    for left in range(1, MAX_STATEMENTS):
        lines.append(f"next_{left}: {_calls(schema, left, is_first=False)}")
        lines += [_after(table, left) for table in schema.tables.values()]
    for form in [*_forms(schema, is_first=True), *_forms(schema, is_first=False)]:
        lines += _call_rules(form)
    for table in schema.tables.values():
        lines += _row_rules(table)
    lines += [f"{name}: {body}" for name, body in _RULES.items() if name not in _BY_TABLE | _REPLACED]
    if names_given:
        lines.append(f"entities: {_RULES['names'].replace('QUOTED', 'ENTITY')}")
        lines = [line.replace(_FREE_NAMES, _GIVEN_NAMES) for line in lines]
    return "\n".join(lines) + "\n"


def _forms(schema: Schema, *, is_first: bool) -> Iterator[_Form]:
    for table in schema.callable_tables:
        yield _Form(table, table, None, is_first)
        for column in table.columns.values():
            if column.rows_of is not None:
                yield _Form(table, schema.tables[column.rows_of], column.name, is_first)


def _calls(schema: Schema, left: int, *, is_first: bool) -> str:
    """A call of any table, followed by at most `left - 1` statements."""
    forms = _forms(schema, is_first=is_first)
    return " | ".join(f"{form.name}_call{_more(form.rows, left)}" for form in forms)


def _more(rows: Table, left: int) -> str:
    return f" after_{rows.name}_{left - 1}?" if left > 1 else ""


def _after(table: Table, left: int) -> str:
    """What may follow rows of a table when `left` statements are left. A mean cannot be sorted."""
    call = f" (NEXT next_{left - 1})?" if left > 1 else ""
    sort = f"{table.name}_sort{_more(table, left)}"
    return f"after_{table.name}_{left}: NEXT {sort} | NEXT AVERAGE_CALL{call} | NEXT next_{left}"


def _call_rules(form: _Form) -> list[str]:
    """The rules of a call: its arguments, conditions and keys. `*` needs a previous statement."""
    prefix = form.name
    rules = _copies(prefix, ("call", "conditions", "condition", "select"))
    rules["call"] = rules["call"].replace("TABLE", f'"{form.table.name}"')
    if form.key is not None:
        rules["call"] = rules["call"].replace(f"{prefix}_select?", f"{prefix}_select")
        rules["select"] = rules["select"].replace("KEY", f'"{form.key}"').rpartition(" | ")[0]
    else:
        rules["select"] = rules["select"].replace("KEY", _selectable(form.table))
    rules["condition"] = rules["condition"].replace("KEY", f"{form.table.name}_key")
    rules["arguments"] = _arguments(prefix, form.table.parameters)
    if form.is_first:
        rules = {name: body.replace(" | PREVIOUS", "") for name, body in rules.items()}
    return [f"{prefix}_{name}: {body}" for name, body in rules.items()]


def _row_rules(table: Table) -> list[str]:
    """The rules of `sort` on rows of a table, and the keys of the table."""
    rules = _copies(table.name, ("sort", "order", "conditions", "condition", "select"))
    rules["select"] = rules["select"].replace("KEY", _selectable(table))
    rules = {name: body.replace("KEY", f"{table.name}_key") for name, body in rules.items()}
    keys = [column.name for column in table.columns.values() if column.type is not Type.ROWS]
    rules["key"] = " | ".join(f'"{name}"' for name in keys)
    return [f"{table.name}_{name}: {body}" for name, body in rules.items()]


def _selectable(table: Table) -> str:
    """Keys of an info box that the schema lacks are allowed, but only as the selected key."""
    return f"({table.name}_key | KEY)" if table.extra_keys else f"{table.name}_key"


def _copies(prefix: str, names: Sequence[str]) -> dict[str, str]:
    """Copies of rules of part 1 that refer to each other."""

    def symbol(match: re.Match[str]) -> str:
        name = match[0].rstrip("?")
        return f"{prefix}_{name}" if name in names or name == "arguments" else match[0]

    copies = {}
    for name in names:
        parts = _LITERAL.split(_RULES[name])
        copies[name] = "".join(part if part.startswith('"') else _SYMBOL.sub(symbol, part) for part in parts)
    return copies


def _arguments(prefix: str, parameters: Sequence[Parameter]) -> str:
    """At least one argument that is not None, or conditions after all arguments."""
    anything = [f'(NOTHING | {_argument(parameter)}) ","' for parameter in parameters]
    ends = [" ".join([*anything[:index], _argument(parameter)]) for index, parameter in enumerate(parameters)]
    return " | ".join([*ends, " ".join([*anything, f"{prefix}_conditions"])])


def _argument(parameter: Parameter) -> str:
    return f"({_FREE_NAMES} | PREVIOUS)" if parameter.kind.is_entity else "(QUOTED | PREVIOUS)"
