"""Parses the text of a model or a person into a program, by the schema of the domain.

`crag.graph.language.syntax` reads the text into a tree; `_Binder` gives its statements their meaning, and
`crag.graph.language.arguments` that of one call. Errors are in `crag.graph.language.faults`.
"""

from dataclasses import replace

from lark import Token, Tree, UnexpectedInput

from crag.graph.language.arguments import BoundCall, find_table, nearest
from crag.graph.language.faults import ErrorKind, bracket_fault, depth_fault, error, prose, syntax_fault
from crag.graph.language.program import Average, Call, Program, Sort, Statement, without_repeats
from crag.graph.language.syntax import Node, parts, position, read
from crag.graph.schema import Domain, Schema, Table, bare_name, load_schema

MAX_BYTES = 2000
MAX_DEPTH = 8
"""Maximum number of brackets open at once; a list of conditions has 3."""
MAX_STATEMENTS = 8
"""The longest of 1,371 labelled programs has 423 bytes, and none has more than 4 statements."""

_AVERAGES = frozenset({"average", "avg", "mean"})


def parse(text: str, domain: Domain) -> Program:
    """Parse the calls of one question.

    Accepts unambiguous slips of models (docs/kg_language.md). Texts that ask the same give equal programs; a call that
    is repeated is read once. An empty string and `None` give the empty program. Takes 0.5 ms, at most 50 ms.
    Raises KgQueryError: the text is not a program. No text raises another error.

    >>> (call,) = parse('GET_MOVIE("jaws")[length]', Domain.MOVIE).statements
    >>> call.table, call.arguments, call.select
    ('get_movie', ('jaws',), 'length')
    """
    if _is_too_long(text):
        beginning = text[:MAX_BYTES]
        raise error(ErrorKind.TOO_LONG, f"at most {MAX_BYTES} bytes", beginning, len(beginning))
    fault = depth_fault(text, MAX_DEPTH)
    if fault is not None:
        raise fault

    try:
        items = read(text)
    except UnexpectedInput as raised:
        raise syntax_fault(text, raised) from None

    # The grammar is lenient: it also reads a text with a bracket too many.
    fault = bracket_fault(text)
    if fault is not None:
        raise fault
    if not items and text.strip():
        raise prose(text)

    # In order: each statement may refer to the rows of the one before
    binder = _Binder(text, load_schema(domain))
    for item in items:
        if parts(item):  # a token beside the statements has no parts
            take, body = parts(item)
            binder.bind(str(take or ""), body)
    return Program(without_repeats(binder.statements))


def _is_too_long(text: str) -> bool:
    # The characters first: encoding megabytes only to measure them is slow
    return len(text) > MAX_BYTES or len(text.encode("utf-8", errors="replace")) > MAX_BYTES


class _Binder:
    """Binds the statements of one text, each to the table of the previous statement's rows."""

    def __init__(self, text: str, schema: Schema) -> None:
        self._text = text
        self._schema = schema
        self._rows: Table | None = None
        self.statements: list[Statement] = []

    def bind(self, take: str, body: Node) -> None:
        """Add the statements of one item; `take` is the word before it, such as ``ALL``."""
        if isinstance(body, Token):
            self._add_average(body)
        else:
            name = bare_name(str(body.children[0]))
            if name in _AVERAGES:
                self._bind_average(body)
            elif name == "sort":
                self._bind_sort(body, take)
            else:
                self._bind_call(body, take)

        if len(self.statements) > MAX_STATEMENTS:
            message = f"at most {MAX_STATEMENTS} statements"
            raise error(ErrorKind.TOO_MANY_STATEMENTS, message, self._text, position(body))

    def _add_average(self, body: Node) -> None:
        self._require_rows("average", body)
        # A mean is not a row: no sort can follow it
        self._rows = None
        self.statements.append(Average())

    def _bind_average(self, body: Tree[Token]) -> None:
        """Read `average()`, `average(*)`, or an average with the call in its brackets."""
        _, slots, trailers = body.children
        match parts(slots):
            case [Tree(data="slot")] | [Token(type="STAR")]:
                pass
            case [Tree(data="invocation") as inner]:
                # `average(get_x(...))` is the call, then its average
                self.bind("", inner)
            case _:
                message = "average takes no argument: it works on the statement before"
                raise error(ErrorKind.WRONG_ARGUMENT, message, self._text, position(body))
        if parts(trailers):
            message = "average gives one number: nothing can follow it"
            raise error(ErrorKind.WRONG_ARGUMENT, message, self._text, position(parts(trailers)[0]))
        self._add_average(body)

    def _bind_sort(self, body: Tree[Token], take: str) -> None:
        call = self._bound(self._require_rows("sort", body), body)
        call.take_years_of_order()
        key, descending = call.order()
        call.read_trailers(take)
        sort = Sort(
            conditions=tuple(call.conditions),
            key=key,
            descending=descending,
            select=call.select,
            count=call.count,
            take=call.take,
        )
        self._append(sort, call, body)

    def _bind_call(self, body: Tree[Token], take: str) -> None:
        name = str(body.children[0])
        table = find_table(self._schema, name)
        if table is None:
            table_names = [table.name for table in self._schema.callable_tables]
            names = nearest(name, table_names)
            message = f"{self._schema.domain} has no table {name}; it has {', '.join(names)}"
            raise error(ErrorKind.UNKNOWN_TABLE, message, self._text, position(body))

        call = self._bound(table, body)
        call.take_years_of_arguments()
        arguments = call.arguments()
        call.read_trailers(take)
        statement = Call(
            table=table.name,
            arguments=arguments,
            conditions=tuple(call.conditions),
            select=call.select,
            count=call.count,
            take=call.take,
        )
        self._append(statement, call, body)

    def _bound(self, table: Table, body: Tree[Token]) -> BoundCall:
        return BoundCall(
            self._text,
            self._schema,
            table,
            body,
            has_previous=bool(self.statements),
        )

    def _append(self, statement: Call | Sort, call: BoundCall, body: Tree[Token]) -> None:
        """Add a statement. After a key with rows, as in `["music"]["name"]`, the rest is a statement on those rows."""
        self._rows = call.table
        # The next statement works on the inner rows if a key selected them
        selected = call.table.columns.get(call.select or "")
        if selected is not None and selected.rows_of:
            self._rows = self._schema.tables[selected.rows_of]

        if not call.rest:
            self.statements.append(statement)
            return

        # The number of rows means the inner rows.
        self.statements.append(replace(statement, take=None))

        # The rest as if it had been written on the next line: `sort()["name"]`.
        sort_name = Token("NAME", "sort")
        no_slots: Tree[Token] = Tree("slots", [])
        trailers: Tree[Token] = Tree("trailers", call.rest)
        sort: Tree[Token] = Tree("invocation", [sort_name, no_slots, trailers], body.meta)
        self._bind_sort(sort, str(call.take or ""))

    def _require_rows(self, word: str, node: Node) -> Table:
        """The table of the previous statement's rows; an error if there are none."""
        if self._rows is None:
            message = f"{word} works on the rows of the statement before, and there are none"
            raise error(ErrorKind.NOTHING_BEFORE, message, self._text, position(node))
        return self._rows
