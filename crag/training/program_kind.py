"""What a program asks for: the tables that it calls and the keys that it selects."""

from itertools import zip_longest

from crag.graph.language import Average, Call, Program, Sort

_DEFAULT_KEYS = {"summary", "value"}

Kind = tuple[frozenset[str], frozenset[str]]
"""The tables that a program calls and the keys that it selects, without default keys."""


def program_kind(program: Program) -> Kind:
    """The kind of a program."""
    tables: set[str] = set()
    keys: set[str] = set()
    # With the statement after it; None follows the last
    for statement, following in zip_longest(program.statements, program.statements[1:]):
        if isinstance(statement, Call):
            tables.add(statement.table)

        # An average selects nothing; what is sorted next is selected by the sort.
        if isinstance(statement, Average) or isinstance(following, Sort):
            continue
        if statement.count:
            keys.add("len")
        elif statement.select:
            keys.add(statement.select)

    # Default keys say nothing about the kind of question
    return frozenset(tables), frozenset(keys - _DEFAULT_KEYS)


def kind_name(program: Program) -> str:
    """The kind as text: "get_movie | budget"; empty for a program without calls."""
    if not program.statements:
        return ""
    tables, keys = program_kind(program)
    return f"{' '.join(sorted(tables))} | {' '.join(sorted(keys))}"
