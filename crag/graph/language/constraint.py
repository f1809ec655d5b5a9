"""The grammar that constrains a language model to the calls of one domain, made from part 1 of `calls.lark`.

Tables, numbers of arguments and keys come from the schema, so every output is a valid call. Names are free, or limited
to parts of the question: small models copy names wrongly.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from crag.graph.language.syntax import CANONICAL
from crag.graph.schema import Domain, Parameter, Schema, Table, Type, load_schema

MAX_WRITTEN_STATEMENTS = 4
"""As in the longest labelled program; the parser accepts twice as many."""

MAX_NAME_WORDS = 12
"""Maximum number of words in a name from the question."""
_MAX_QUOTED_CHARACTERS = 150
"""As in the free grammar."""
_ANY_NAMES = "QUOTED | names"
_NAMES_OF_QUESTION = "ENTITY | entities"
_WORD_OR_MARK = re.compile(r"\w+|[^\w\s]")
_NEEDS_ESCAPE = re.compile(r'["\\]')
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f]")

_RULE = re.compile(r"^(\w+): ?(.*(?:\n +\|.*)*)", re.MULTILINE)
_RULES: dict[str, str] = dict(_RULE.findall(CANONICAL))
"""The rules and terminals of part 1 by name."""
_BY_TABLE = frozenset({"call", "sort", "order", "conditions", "condition", "select"})
"""Rules that are copied for each table, because they lead to TABLE or KEY."""
_REPLACED = frozenset({"program", "statement", "arguments", "argument", "TABLE"})
"""Rules that the schema replaces."""
_SYMBOL = re.compile(r"arguments\?|[A-Za-z_]+")
_RULE_NAME = re.compile(r"\b[a-z]\w*")
"""The name of a rule; not that of a terminal, which is in capitals."""
_LITERAL = re.compile(r"(\"(?:[^\"\\]|\\.)*\")")


class _Form(NamedTuple):
    """One way to call a table: in the first statement or a later one, for its rows or those of another table.

    `rows` is the table of the rows that it gives; `key` the selected key, if it leads to another table's rows.
    """

    table: Table
    rows: Table
    key: str | None
    is_first: bool

    @property
    def name(self) -> str:
        """Prefix of its rules' names, such as "first_get_person" or "later_get_person_music"."""
        order = "first" if self.is_first else "later"
        name = f"{order}_{self.table.name}"
        return f"{name}_{self.key}" if self.key else name


def constraint(domain: Domain | str, question: str | None = None) -> str:
    """The Lark grammar for `GenerationRequest.grammar` (llguidance). Every text it allows can be parsed.

    It allows `None`, or 1 to 4 statements in canonical form; `sort`, `average` and `*` only after rows. With a
    `question`, every name in a call must be in it word for word (not dates and values of conditions).
    """
    # Lower case and single blanks, as names stand in programs
    spans = _question_spans(" ".join((question or "").lower().split()))
    if not spans:
        return _grammar(str(domain), names_from_question=False)

    # The large part is the same for every question and cached; only ENTITY is new
    return _grammar(str(domain), names_from_question=True) + _entity_terminal(spans)


@functools.cache
def constraint_with_domain(domains: tuple[Domain, ...]) -> str:
    """The grammar of one of these domains on the first line, followed by calls of that domain or `None`."""
    beginnings = [f'"{domain}" NEXT {domain}_start' for domain in domains]
    rules = {"start": " | ".join(beginnings)}
    for domain in domains:
        grammar = _grammar(str(domain), names_from_question=False)
        for name, body in _RULE.findall(grammar):
            # Terminals, in capitals, are the same in all domains; rules are not, so each gets the domain's name
            if name[0].islower():
                rules[f"{domain}_{name}"] = _prefix_symbols(body, f"{domain}_")
            else:
                rules[name] = body
    return "".join(f"{name}: {body}\n" for name, body in rules.items())


def _question_spans(question: str) -> list[str]:
    """Every part of the question of at most `MAX_NAME_WORDS` words, with and without punctuation; longest first."""
    parts = [match.span() for match in _WORD_OR_MARK.finditer(question)]
    spans: set[str] = set()
    for index, (start, _) in enumerate(parts):
        for _, end in parts[index:]:
            span = question[start:end]
            # Later ends only make the span longer
            if len(span) > _MAX_QUOTED_CHARACTERS or len(span.split()) > MAX_NAME_WORDS:
                break
            if not _CONTROL_CHARACTER.search(span):
                spans.add(span)
    return sorted(spans, key=lambda span: (-len(span), span))


def _entity_terminal(spans: Sequence[str]) -> str:
    alternatives = "|".join(_span_pattern(span) for span in spans)
    return f'ENTITY: /"(?:{alternatives})"/\n'


def _span_pattern(span: str) -> str:
    """The span as it stands between quotes, as a regular expression of Lark, which delimits them with slashes."""
    escaped = _NEEDS_ESCAPE.sub(r"\\\g<0>", span)
    return re.escape(escaped).replace("/", r"\/")


@functools.cache
def _grammar(domain: str, *, names_from_question: bool) -> str:
    """The grammar; `names_from_question`: without the terminal ENTITY, which has the names that are allowed."""
    schema = load_schema(domain)
    # A grammar cannot count: the number of statements that are left is part of the rules' names
    lines = [f"start: NOTHING | {_any_call(schema, MAX_WRITTEN_STATEMENTS, is_first=True)}"]
    for remaining in range(1, MAX_WRITTEN_STATEMENTS):
        lines.append(f"next_{remaining}: {_any_call(schema, remaining, is_first=False)}")
        lines += [_after_rule(table, remaining) for table in schema.tables.values()]

    for form in [*_forms(schema, is_first=True), *_forms(schema, is_first=False)]:
        lines += _call_rules(form)
    for table in schema.tables.values():
        lines += _row_rules(table)
    lines += [f"{name}: {body}" for name, body in _RULES.items() if name not in _BY_TABLE | _REPLACED]

    if names_from_question:
        lines.append(f"entities: {_RULES['names'].replace('QUOTED', 'ENTITY')}")
        lines = [line.replace(_ANY_NAMES, _NAMES_OF_QUESTION) for line in lines]
    return "\n".join(lines) + "\n"


def _prefix_symbols(body: str, prefix: str) -> str:
    """The body of a rule with the prefix before the names of other rules."""
    parts = []
    for part in _LITERAL.split(body):
        is_literal = part.startswith('"')
        parts.append(part if is_literal else _RULE_NAME.sub(rf"{prefix}\g<0>", part))
    return "".join(parts)


def _forms(schema: Schema, *, is_first: bool) -> Iterator[_Form]:
    """All ways to call the tables of a domain."""
    for table in schema.callable_tables:
        yield _Form(table, table, None, is_first)
        for column in table.columns.values():
            if column.rows_of is not None:
                yield _Form(table, schema.tables[column.rows_of], column.name, is_first)


def _any_call(schema: Schema, remaining: int, *, is_first: bool) -> str:
    """A call of any table, followed by at most `remaining - 1` statements."""
    forms = _forms(schema, is_first=is_first)
    return " | ".join(f"{form.name}_call{_following(form.rows, remaining)}" for form in forms)


def _following(rows: Table, remaining: int) -> str:
    return f" after_{rows.name}_{remaining - 1}?" if remaining > 1 else ""


def _after_rule(table: Table, remaining: int) -> str:
    """What may follow rows of a table when `remaining` statements are left. A mean cannot be sorted."""
    call_after_average = f" (NEXT next_{remaining - 1})?" if remaining > 1 else ""
    sort = f"{table.name}_sort{_following(table, remaining)}"
    return (
        f"after_{table.name}_{remaining}: NEXT {sort} | NEXT AVERAGE_CALL{call_after_average} | NEXT next_{remaining}"
    )


def _call_rules(form: _Form) -> list[str]:
    """The rules of a call: its arguments, conditions and keys. `*` needs a previous statement."""
    prefix = form.name
    table = form.table
    rules = _copies(prefix, ("call", "conditions", "condition", "select"))
    call = rules["call"].replace("TABLE", f'"{table.name}"')
    select = rules["select"]

    # A form with a key selects it: `select` is no longer optional, and has no second alternative.
    if form.key is not None:
        call = call.replace(f"{prefix}_select?", f"{prefix}_select")
        select = select.replace("KEY", f'"{form.key}"')
        select, _, _ = select.rpartition(" | ")
    else:
        select = select.replace("KEY", _selectable(table))

    rules["call"] = call
    rules["select"] = select
    rules["condition"] = rules["condition"].replace("KEY", f"{table.name}_key")
    rules["arguments"] = _arguments_rule(prefix, table.parameters)

    # The first statement has no previous one to refer to.
    if form.is_first:
        for name, body in rules.items():
            rules[name] = body.replace(" | PREVIOUS", "")
    return _write_rules(prefix, rules)


def _row_rules(table: Table) -> list[str]:
    """The rules of `sort` on rows of a table, and the keys of the table."""
    rules = _copies(table.name, ("sort", "order", "conditions", "condition", "select"))
    rules["select"] = rules["select"].replace("KEY", _selectable(table))
    for name, body in rules.items():
        rules[name] = body.replace("KEY", f"{table.name}_key")

    # Keys that hold rows are selected by forms of their own, and never compared or sorted by
    literals = [f'"{column.name}"' for column in table.columns.values() if column.type is not Type.ROWS]
    rules["key"] = " | ".join(literals)
    return _write_rules(table.name, rules)


def _write_rules(prefix: str, rules: Mapping[str, str]) -> list[str]:
    """The rules as lines of the grammar, with the prefix before their names."""
    return [f"{prefix}_{name}: {body}" for name, body in rules.items()]


def _selectable(table: Table) -> str:
    """Keys of an info box that the schema lacks are allowed, but only as the selected key."""
    return f"({table.name}_key | KEY)" if table.extra_keys else f"{table.name}_key"


def _copies(prefix: str, names: Sequence[str]) -> dict[str, str]:
    """Copies of rules of part 1 that refer to each other instead of the originals: `call` is `<prefix>_call`."""

    def prefix_symbol(match: re.Match[str]) -> str:
        name = match[0].rstrip("?")
        is_copied = name in names or name == "arguments"
        return f"{prefix}_{name}" if is_copied else match[0]

    copies: dict[str, str] = {}
    for name in names:
        body = ""
        for part in _LITERAL.split(_RULES[name]):
            # Literals such as "sort(" are no symbols.
            is_literal = part.startswith('"')
            body += part if is_literal else _SYMBOL.sub(prefix_symbol, part)
        copies[name] = body
    return copies


def _arguments_rule(prefix: str, parameters: Sequence[Parameter]) -> str:
    """At least one argument that is not None, or conditions after all arguments."""
    # One alternative per parameter: it is the last argument, and those before it may be None.
    alternatives: list[str] = []
    optional: list[str] = []
    for parameter in parameters:
        argument = _argument(parameter)
        alternatives.append(" ".join([*optional, argument]))
        optional.append(f'(NOTHING | {argument}) ","')

    alternatives.append(" ".join([*optional, f"{prefix}_conditions"]))
    return " | ".join(alternatives)


def _argument(parameter: Parameter) -> str:
    return f"({_ANY_NAMES} | PREVIOUS)" if parameter.kind.is_entity else "(QUOTED | PREVIOUS)"
