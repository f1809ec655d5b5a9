"""Finds out, with the schema of the domain, what a written program means.

A text is taken in one of two ways only where brackets, quotes or the schema decide it; nothing is guessed from the
words of a name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.kg.language.arguments import Contents, find_table, nearest
from agents.kg.language.faults import ErrorKind, KgQueryError, error, prose
from agents.kg.language.program import Average, Call, Program, Sort, Statement, Take
from agents.kg.language.syntax import Invocation, Item, Selected, Sign, Sliced, Star, Text, Written
from agents.kg.schema import COUNT_KEY, Schema, Table, bare_name

_NUMBER = re.compile(r"[0-9]{1,9}")
_AVERAGES = frozenset({"average", "avg", "mean"})


@dataclass(frozen=True, slots=True)
class _Result:
    """What is wanted of the rows of a call."""

    select: str | None = None
    count: bool = False
    take: Take = None
    rest: tuple[Selected | Sliced, ...] = ()
    """The brackets that follow a key whose rows are another table's."""


class Binder:
    """Binds the statements of one text, each with the table whose rows the statement before gave."""

    def __init__(self, text: str, schema: Schema) -> None:
        self._text = text
        self._schema = schema
        self._rows: Table | None = None
        self._statements: list[Statement] = []

    def bind(self, items: Sequence[Item], limit: int) -> Program:
        """The program of a text."""
        if not items and self._text.strip():
            raise prose(self._text)
        self._check_brackets(items)
        for item in items:
            if isinstance(item, Written):
                self._statement(item)
                if len(self._statements) > limit:
                    raise error(ErrorKind.TOO_MANY_STATEMENTS, f"at most {limit} statements", self._text, item.position)
        return Program(tuple(self._statements))

    def _check_brackets(self, items: Sequence[Item]) -> None:
        """A closing bracket too many is allowed after a statement only; a bracket around all statements must close."""
        signs = [item.text if isinstance(item, Sign) else None for item in items]
        opens = signs[:1] == ["["]
        first = next((place for place, sign in enumerate(signs) if sign is None), len(items))
        if "]" in signs[:first] and not opens:
            position = items[signs.index("]")].position
            raise error(ErrorKind.EXTRA_BRACKET, "a bracket is closed before any is open", self._text, position)
        if opens and "]" not in signs:
            raise error(ErrorKind.MISSING_BRACKET, "] is missing here", self._text, len(self._text.rstrip()))

    # ---- statements

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
        """`average()`, `average(*)`, or with the call itself in the brackets."""
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
        """Add a statement; what follows a key with rows, as in `["music"]["name"]`, is a statement on those rows."""
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

    # ---- what stands around a call

    def _result(self, body: Invocation, contents: Contents, table: Table, take: str) -> _Result:
        result = _Result(take="all" if take == "all" else self._number(take, body.position) if take else None)
        for index, trailer in enumerate(body.trailers):
            if isinstance(trailer, Sliced):
                result = replace(result, take=self._slice(trailer))
                continue
            value = trailer.value
            if isinstance(value, Star) or not trailer.is_alone:
                raise self._wrong(f"one key in brackets, such as {_example(table)}", trailer.position)
            if not value.quoted and value.text.lstrip("-").isdecimal():
                if value.text != "0":
                    raise self._wrong("rows are counted from the first: [:n]", trailer.position)
                result = replace(result, take=1)
            elif not result.count and _is_count(value, table):
                result = replace(result, count=True)
            elif not result.count and result.select is None:
                result = replace(result, select=contents.key(value))
            elif not result.count and _has_rows(result.select, table):
                return replace(result, rest=body.trailers[index:])
            else:
                raise self._wrong(
                    f'one key in brackets, such as {_example(table)}, then ["len"] or [:n]', trailer.position
                )
        return result

    def _slice(self, trailer: Sliced) -> Take:
        start, stop = trailer.start, trailer.stop
        if start is not None and not (isinstance(start, Text) and start.text == "0"):
            raise self._wrong("rows are counted from the first: [:n]", trailer.position)
        if stop is None:
            return "all"
        return self._number(stop.text if isinstance(stop, Text) else "*", stop.position)

    def _number(self, digits: str, position: int) -> int:
        if not _NUMBER.fullmatch(digits) or int(digits) < 1:
            raise self._wrong("the number of rows must be 1 or more", position)
        return int(digits)

    def _wrong(self, message: str, position: int) -> KgQueryError:
        return error(ErrorKind.WRONG_ARGUMENT, message, self._text, position)


def _example(table: Table) -> str:
    return f'["{next(iter(table.columns))}"]'


def _is_count(name: Text, table: Table) -> bool:
    return bare_name(name.text) == COUNT_KEY and table.column(name.text) is None


def _has_rows(key: str | None, table: Table) -> bool:
    column = table.columns.get(key or "")
    return column is not None and column.rows_of is not None
