"""The prompt of the writer: rules, schema, examples, question. Wording ours; the parts are db3's (section 3.2, C.3).

What all questions of a domain share stands first, for prefix caching. Models below two billion parameters copy an
example when asked in a chat, as db3's larger ones were, and write calls when they continue a list of pairs: a preset
chooses the form.
"""

import functools
from dataclasses import replace

from crag.engines.llm.base import GenerationRequest, Message
from crag.graph.language import Program, constraint, render
from crag.graph.language.faults import Fault
from crag.graph.schema import Column, Domain, Schema, Table, Type, load_schema
from crag.graph.writing.choice import Neighbourhood
from crag.graph.writing.question_form import domain_and_calls, question_prompt
from crag.settings import KgWriterSettings

STOP = ("\n\n", "\nQuestion:", "\nCorrected calls:")
"""Where a model goes on with questions that nobody asked."""

RULES = """Write the database calls that find what a question asks for, one call a line.
table(names, conditions)["key"] gives a key of the matching row. ALL in front gives all rows, ["key"][:3] the first 3, \
["len"] their number. Conditions: eq(key,"x") neq(key,"x") ge(key,"x") le(key,"x"), several in [ ]. None leaves a name \
open, ["a","b"] means both names, * means the values of the line before. sort(conditions,key) orders the line before, \
-key descending; average takes its mean. Copy names and dates as the question has them. \
If no table holds the answer, write None."""

RULES_ONE_BY_ONE = """Rules:
1. table(names, conditions)["key"] finds the row that fits names and conditions and gives its key; without ["key"] it \
gives the whole row.
2. A name that the question leaves open is None. ["a","b"] in place of a name asks for what both have in common.
3. A condition compares a key: eq(key,"x") equal, neq(key,"x") not equal, ge(key,"x") at least, le(key,"x") at most; \
ge(key,other_key) compares two keys. Conditions come last; several stand in a list: [ge(key,"x"),le(key,"y")].
4. A call gives the first row that fits, where its table does not say otherwise. ALL in front of it gives all of them, \
[:3] after the key the first three, ["len"] after or in place of the key how many there are.
5. sort(conditions,key), on the line after a call, filters and orders what the call gave; -key puts the highest or \
latest first, and None in place of conditions keeps every row.
6. average, on the line after a call, is the mean of the values that the call gave.
7. * in place of a name stands for the values that the line before gave.
8. Copy names, numbers and dates as the question has them, also such as yesterday or last year.
9. If no table can hold the answer, write None."""
"""The same rules, for prompts that describe the language in words (db3 C.3, "The API rules")."""

CHAT_SYSTEM = "You translate questions into database calls. You write calls and nothing else; you never answer."
_CHAT_TASK = (
    "You get a question about {meaning}, and the tables of a database. Find out which calls get what the question asks "
    "for."
)
_CHAT_ASK = (
    "Use only what the question says. Keep strictly to the form of the rules{shown}: one call a line, no explanation, "
    "no program around the calls.\n\nQuestion: {question}\nCalls:"
)
_CHAT_REPAIR = "This cannot be read: {message}\n{caret}\nWrite the corrected calls alone."

_MAX_FAULTY_OUTPUT = 300
"""Characters of a faulty output that are shown; what is longer is a loop or prose."""
_MIN_SHARED_KEYS = 5
"""Two tables that share this many keys are described together."""

TYPE_WORDS = {
    Type.TEXT: "text",
    Type.NUMBER: "number",
    Type.MONEY: "number, US dollars",
    Type.DATE: "date, YYYY-MM-DD",
    Type.YEAR: "year, YYYY",
    Type.FLAG: "true or false",
    Type.TEXTS: "list of texts",
    Type.YEARS: "list of years",
    Type.ROWS: "rows",
}


def write_prompt(
    settings: KgWriterSettings,
    neighbourhood: Neighbourhood,
    question: str,
) -> GenerationRequest:
    """The prompt after which the program follows, in the form of the settings: for training and use alike."""
    if settings.form == "question":
        return question_prompt(question)

    pairs = "\n\n".join(_pair(example.question, example.calls) for example in neighbourhood.examples)
    schema = ""
    if settings.schema_in_prompt:
        schema = schema_text(neighbourhood.domain, settings.schema_detail)
    rules = RULES if settings.schema_detail == "names" else RULES_ONE_BY_ONE

    if settings.form == "completion":
        return _completion_prompt(
            rules,
            schema,
            pairs,
            question,
        )
    return _chat_prompt(
        neighbourhood.domain,
        rules,
        schema,
        pairs,
        question,
    )


def write_completion(
    settings: KgWriterSettings,
    domain: Domain,
    program: Program,
) -> str:
    """What the writer should write after `write_prompt`, for training."""
    return domain_and_calls(domain, program) if settings.form == "question" else render(program)


def _completion_prompt(
    rules: str,
    schema: str,
    pairs: str,
    question: str,
) -> GenerationRequest:
    """A list of questions with their calls, which the model continues; rules only with a schema."""
    head = f"{rules}\n\n{schema}" if schema else ""
    parts = [part for part in (head, pairs, _pair(question, "")) if part]
    return GenerationRequest(prompt="\n\n".join(parts))


def _chat_prompt(
    domain: Domain,
    rules: str,
    schema: str,
    pairs: str,
    question: str,
) -> GenerationRequest:
    """The task, the schema with its rules, the examples and the question as one message of a chat."""
    parts = [_CHAT_TASK.format(meaning=load_schema(domain).meaning)]
    if schema:
        parts += [schema, rules]
    # Without examples there is no empty heading
    if pairs:
        parts.append(f"Examples:\n{pairs}")

    examples = " and the examples" if pairs else ""
    one_line = " ".join(question.split())
    parts.append(_CHAT_ASK.format(shown=examples, question=one_line))

    system = Message("system", CHAT_SYSTEM)
    user = Message("user", "\n\n".join(parts))
    return GenerationRequest((system, user))


def output_grammar(domain: Domain, question: str | None = None) -> str:
    """The language of the domain, then, optionally, an empty line, which tokenizers join with the last bracket."""
    program = constraint(domain, question).removeprefix("start:")
    return f'start: program "\\n\\n"?\nprogram:{program}'


def write_repair_prompt(request: GenerationRequest, output: str, fault: Fault) -> GenerationRequest:
    """The same request, then the output, why it cannot be read, and the open end again."""
    faulty_output = " ".join(output.split())[:_MAX_FAULTY_OUTPUT]
    if request.prompt is not None:
        complaint = f"Error: {fault.message}\n{fault.caret}\nCorrected calls:\n"
        return replace(request, prompt=f"{request.prompt}{faulty_output}\n{complaint}")

    complaint = _CHAT_REPAIR.format(message=fault.message, caret=fault.caret)
    turns = (Message("assistant", faulty_output), Message("user", complaint))
    return replace(request, messages=(*request.messages, *turns))


@functools.cache
def schema_text(domain: Domain, detail: str = "names") -> str:
    """The tables that a program may call, with the ``names`` of their keys or also ``described``."""
    schema = load_schema(domain)
    describe = _table_with_key_names if detail == "names" else _table_with_meanings
    tables = [describe(schema, table) for table in schema.callable_tables]
    return "\n".join(["Tables:", *tables])


def _pair(question: str, calls: str) -> str:
    # An empty line ends an example, so a question must not have one
    one_line = " ".join(question.split())
    return f"Question: {one_line}\nCalls:\n{calls}"


def _call_form(table: Table) -> str:
    """The table's name with its parameters: `get_movie(title)`."""
    parameters = ", ".join(parameter.name for parameter in table.parameters)
    return f"{table.name}({parameters})"


def _table_with_key_names(schema: Schema, table: Table) -> str:
    """One line: the table's parameters and the names of its keys."""
    # Keys that an earlier table has too are not repeated: prompts are read token by token.
    similar_table, columns = _split_columns(schema, table)
    keys: list[str] = []
    for column in columns:
        if column.rows_of:
            inner_keys = ", ".join(schema.tables[column.rows_of].columns)
            keys.append(f"{column.name} (rows with {inner_keys})")
        else:
            keys.append(column.name)

    if similar_table is not None:
        keys.append(f"keys of {similar_table.name}")
    return f"{_call_form(table)}: {', '.join(keys)}"


def _table_with_meanings(schema: Schema, table: Table) -> str:
    """A line for the table's parameters and meaning, then a line for each key with its type and meaning."""
    all_rows = " (gives all rows)" if table.take == "all" else ""
    lines = [f"{_call_form(table)}: {table.meaning}{all_rows}"]

    similar_table, columns = _split_columns(schema, table)
    for column in columns:
        lines.append(f"- {_described(column)}")
        # No call gives these rows by itself, so their keys stand here
        if column.rows_of:
            inner_columns = schema.tables[column.rows_of].columns.values()
            lines += [f"  - {_described(inner_column)}" for inner_column in inner_columns]

    if similar_table is not None:
        lines.append(f"- all keys of {similar_table.name}")
    if table.extra_keys:
        lines.append("- other keys, by their usual names")
    return "\n".join(lines)


def _described(column: Column) -> str:
    unit = f", {column.unit}" if column.unit else ""
    return f"{column.name} ({TYPE_WORDS[column.type]}{unit}): {column.meaning}"


def _split_columns(schema: Schema, table: Table) -> tuple[Table | None, list[Column]]:
    """An earlier table all of whose keys this one has too, by name or alias, and the keys that only this one has."""
    for earlier in schema.callable_tables:
        # Only tables that the prompt has described before
        if earlier is table:
            break
        if len(earlier.columns) < _MIN_SHARED_KEYS:
            continue
        if all(table.column(name) for name in earlier.columns):
            additional = [column for name, column in table.columns.items() if name not in earlier.columns]
            return earlier, additional
    return None, list(table.columns.values())
