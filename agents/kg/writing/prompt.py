"""The prompt of the writer: rules, schema, examples, question. Wording ours; the parts are db3's (section 3.2, C.3).

What is the same for every question of a domain stands first, so that an engine with prefix caching reads it once. The
prompt is a text to be continued rather than a chat: models below two billion parameters copy an example when they are
asked through their chat template, and write calls when they go on with a list of pairs.
"""

import functools
from collections.abc import Iterable

from agents.kg.language import constraint
from agents.kg.language.errors import Fault
from agents.kg.schema import Domain, Schema, Table, load_schema
from agents.kg.writing.bank import Example

STOP = ("\n\n", "\nQuestion:", "\nCorrected calls:")
"""Where a model goes on with questions of its own."""

RULES = """Write the database calls that find what a question asks for, one call a line.
table(names, conditions)["key"] gives a key of the matching row. ALL in front gives all rows, ["key"][:3] the first 3, \
["len"] their number. Conditions: eq(key,"x") neq(key,"x") ge(key,"x") le(key,"x"), several in [ ]. None leaves a name \
open, ["a","b"] means both names, * means the values of the line before. sort(conditions,key) orders the line before, \
-key descending; average takes its mean. Copy names and dates as the question has them. \
If no table holds the answer, write None."""


def write_prompt(domain: Domain, examples: Iterable[Example], question: str, *, with_schema: bool) -> str:
    """The text whose continuation is the program; `examples` in the order in which they are shown."""
    pairs = [_pair(example.question, example.calls) for example in examples]
    head = [f"{RULES}\n\n{schema_text(domain)}"] if with_schema else []
    return "\n\n".join([*head, *pairs, _pair(question, "")])


def output_grammar(domain: Domain, question: str | None = None) -> str:
    """The language of the domain, and after it, if the model wants, the empty line that ends an example.

    With a question, names must stand in it (see `agents.kg.language.constraint`).

    Without the latter a model under a grammar cannot end where it is used to: tokenizers have the closing bracket and
    the empty line as one token, and where that is forbidden a small model writes one more index instead.
    """
    rules = constraint(domain, question)
    start = "start:"
    if not rules.startswith(start):
        raise ValueError(f"the grammar of {domain} does not begin with the rule `start`")
    return f'start: program "\\n\\n"?\nprogram:{rules.removeprefix(start)}'


def write_repair_prompt(prompt: str, output: str, fault: Fault) -> str:
    """The same prompt, then what was written and why it cannot be read, then once more the open end."""
    written = " ".join(output.split())[:_LONGEST_OUTPUT]
    return f"{prompt}{written}\nError: {fault.message}\n{fault.caret}\nCorrected calls:\n"


_LONGEST_OUTPUT = 300
"""Characters of a faulty output that are shown; what is longer is a loop or prose."""


def _pair(question: str, calls: str) -> str:
    return f"Question: {' '.join(question.split())}\nCalls:\n{calls}"


@functools.cache
def schema_text(domain: Domain) -> str:
    """The tables that a program may call, one a line: ``table(parameters): key, key, ...``."""
    schema = load_schema(domain)
    return "\n".join(["Tables:", *(_table_line(schema, table) for table in schema.callable_tables)])


def _table_line(schema: Schema, table: Table) -> str:
    parameters = ", ".join(parameter.name for parameter in table.parameters)
    likewise = _table_with_same_keys(schema, table)
    shared = set(likewise.columns) if likewise else set()
    keys = [_key_text(schema, table, name) for name in table.columns if name not in shared]
    if likewise:
        keys.append(f"keys of {likewise.name}")
    return f"{table.name}({parameters}): {', '.join(keys)}"


def _key_text(schema: Schema, table: Table, name: str) -> str:
    rows_of = table.columns[name].rows_of
    return f"{name} (rows with {', '.join(schema.tables[rows_of].columns)})" if rows_of else name


def _table_with_same_keys(schema: Schema, table: Table) -> Table | None:
    """An earlier table all of whose keys this one has too, by name or alias, so that they need not be listed again."""
    for earlier in schema.callable_tables:
        if earlier is table:
            return None
        if len(earlier.columns) >= _WORTH_SHARING and all(table.column(name) for name in earlier.columns):
            return earlier
    return None


_WORTH_SHARING = 5
