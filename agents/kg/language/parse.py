"""Parses the text of a model or a person into a program, by the schema of the domain."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lark import UnexpectedInput

from agents.kg.language.arguments import Contents, find_table, nearest
from agents.kg.language.faults import ErrorKind, KgQueryError, bracket_fault, depth_fault, error, prose, syntax_fault
from agents.kg.language.program import Average, Call, Program, Sort, Statement, Take
from agents.kg.language.syntax import Invocation, Item, Selected, Sign, Sliced, Star, Text, Written, read
from agents.kg.schema import COUNT_KEY, Domain, Schema, Table, bare_name, load_schema

MAX_BYTES = 2000
MAX_DEPTH = 8
"""Maximum number of brackets open at once; a list of conditions has 3."""
MAX_STATEMENTS = 8
"""The longest labelled program has 250 bytes and 4 statements."""

_NUMBER = re.compile(r"[0-9]{1,9}")
_AVERAGES = frozenset({"average", "avg", "mean"})
_FROM_FIRST = "rows are counted from the first: [:n]"


def parse(text: str, domain: Domain) -> Program:
    """Parse a text in a domain.

    Accepts unambiguous slips of models (docs/kg_language.md). Texts that ask the same give equal programs. An empty
    text and `None` give the empty program. Takes 0.5 ms, at most 50 ms.

    Raises:
        KgQueryError: the text is not a program. No text raises another error.
    """
    # Check the characters first: encoding megabytes only to measure them is slow.
    if len(text) > MAX_BYTES or len(text.encode("utf-8", errors="replace")) > MAX_BYTES:
        cut = text[:MAX_BYTES]
        raise error(ErrorKind.TOO_LONG, f"at most {MAX_BYTES} bytes", cut, len(cut))
    if fault := depth_fault(text, MAX_DEPTH):
        raise fault
    try:
        items = read(text)
    except UnexpectedInput as raised:
        raise syntax_fault(text, raised) from None
    if fault := bracket_fault(text):
        raise fault
    return _Binder(text, load_schema(domain)).bind(items, MAX_STATEMENTS)


@dataclass(frozen=True, slots=True)
class _Result:
    """What a statement selects from the rows of a call."""

    select: str | None = None
    count: bool = False
    take: Take = None
    rest: tuple[Selected | Sliced, ...] = ()
    """The brackets after a key that holds another table's rows."""


class _Binder:
    """Binds the statements of one text, each to the table of the previous statement's rows."""

    def __init__(self, text: str, schema: Schema) -> None:
        self._text = text
        self._schema = schema
        self._rows: Table | None = None
        self._statements: list[Statement] = []

    def bind(self, items: Sequence[Item], limit: int) -> Program:
        if not items and self._text.strip():
            raise prose(self._text)
        self._check_brackets([item.text if isinstance(item, Sign) else None for item in items], items)
        for item in items:
            if isinstance(item, Written):
                self._statement(item)
                if len(self._statements) > limit:
                    raise error(ErrorKind.TOO_MANY_STATEMENTS, f"at most {limit} statements", self._text, item.position)
        return Program(tuple(self._statements))

    def _check_brackets(self, signs: Sequence[str | None], items: Sequence[Item]) -> None:
        """Allow an extra closing bracket only after a statement; a bracket around all statements must close."""
        opens = signs[:1] == ["["]
        first = signs.index(None) if None in signs else len(signs)
        if "]" in signs[:first] and not opens:
            position = items[signs.index("]")].position
            raise error(ErrorKind.EXTRA_BRACKET, "a bracket is closed before any is open", self._text, position)
        if opens and "]" not in signs:
            raise error(ErrorKind.MISSING_BRACKET, "] is missing here", self._text, len(self._text.rstrip()))

    def _statement(self, written: Written) -> None:
        body = written.body
        if body is None:
            self._average(written.position)
        elif bare_name(body.name) in _AVERAGES:
            self._average_of(body)
        elif bare_name(body.name) == "sort":
            self._sort(body, written.take)
        else:
            self._call(body, written.take)

    def _average(self, position: int) -> None:
        self._rows_before("average", position)
        self._rows = None
        self._statements.append(Average())

    def _average_of(self, body: Invocation) -> None:
        """Read `average()`, `average(*)`, or an average with the call in its brackets."""
        match body.items:
            case (None | Star(),):
                pass
            case (Invocation() as inner,):
                self._statement(Written("", inner, inner.position))
            case _:
                raise self._wrong("average takes no argument: it works on the statement before", body.position)
        if body.trailers:
            raise self._wrong("average gives one number: nothing can follow it", body.trailers[0].position)
        self._average(body.position)

    def _sort(self, body: Invocation, take: str) -> None:
        table = self._rows_before("sort", body.position)
        contents = self._contents(body, table)
        key, descending = contents.order()
        result = self._result(body, contents, table, take)
        sort = Sort(tuple(contents.conditions), key, descending, result.select, result.count, result.take)
        self._append(sort, table, result, body)

    def _call(self, body: Invocation, take: str) -> None:
        table = find_table(self._schema, body.name)
        if table is None:
            names = nearest(body.name, [table.name for table in self._schema.callable_tables])
            message = f"{self._schema.domain} has no table {body.name}; it has {', '.join(names)}"
            raise error(ErrorKind.UNKNOWN_TABLE, message, self._text, body.position)
        contents = self._contents(body, table)
        arguments = contents.arguments()
        result = self._result(body, contents, table, take)
        call = Call(table.name, arguments, tuple(contents.conditions), result.select, result.count, result.take)
        self._append(call, table, result, body)

    def _append(self, statement: Call | Sort, table: Table, result: _Result, body: Invocation) -> None:
        """Add a statement. After a key with rows, as in `["music"]["name"]`, the rest is a statement on those rows."""
        self._statements.append(statement)
        selected = table.columns.get(result.select or "")
        self._rows = self._schema.tables[selected.rows_of] if selected and selected.rows_of else table
        if result.rest:
            self._statements[-1] = replace(statement, take=None)
            take = "" if result.take is None else str(result.take)
            self._sort(Invocation("sort", (), result.rest, body.position), take)

    def _rows_before(self, word: str, position: int) -> Table:
        if self._rows is None:
            message = f"{word} works on the rows of the statement before, and there are none"
            raise error(ErrorKind.NOTHING_BEFORE, message, self._text, position)
        return self._rows

    def _contents(self, body: Invocation, table: Table) -> Contents:
        return Contents(self._text, self._schema, table, body.items, has_previous=bool(self._statements))

    def _result(self, body: Invocation, contents: Contents, table: Table, take: str) -> _Result:
        """Read the word before a call and the brackets after it."""
        result = _Result(take="all" if take == "all" else self._number(take, body.position) if take else None)
        key = f'one key in brackets, such as ["{next(iter(table.columns))}"]'
        for index, trailer in enumerate(body.trailers):
            if isinstance(trailer, Sliced):
                result = replace(result, take=self._slice(trailer))
                continue
            value = trailer.value
            if isinstance(value, Star) or not trailer.is_alone:
                raise self._wrong(key, trailer.position)
            if not value.quoted and value.text.lstrip("-").isdecimal():
                if value.text != "0":
                    raise self._wrong(_FROM_FIRST, trailer.position)
                result = replace(result, take=1)
            elif result.count:
                raise self._wrong(f'{key}, then ["len"] or [:n]', trailer.position)
            elif bare_name(value.text) == COUNT_KEY and table.column(value.text) is None:
                result = replace(result, count=True)
            elif result.select is None:
                result = replace(result, select=contents.key(value))
            elif result.select in table.columns and table.columns[result.select].rows_of is not None:
                return replace(result, rest=body.trailers[index:])
            else:
                raise self._wrong(f'{key}, then ["len"] or [:n]', trailer.position)
        return result

    def _slice(self, trailer: Sliced) -> Take:
        start, stop = trailer.start, trailer.stop
        if start is not None and not (isinstance(start, Text) and start.text == "0"):
            raise self._wrong(_FROM_FIRST, trailer.position)
        return "all" if stop is None else self._number(stop.text if isinstance(stop, Text) else "*", stop.position)

    def _number(self, digits: str, position: int) -> int:
        if not _NUMBER.fullmatch(digits) or int(digits) < 1:
            raise self._wrong("the number of rows must be 1 or more", position)
        return int(digits)

    def _wrong(self, message: str, position: int) -> KgQueryError:
        return error(ErrorKind.WRONG_ARGUMENT, message, self._text, position)
