"""Runs programs: each statement on the graph or on the result of the previous statement.

All questions of a batch run in parallel threads, over one client with one cache.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from statistics import fmean
from types import ModuleType

from crag.core.deadline import Deadline
from crag.graph.client import KgBatch, KgClient, KgSession
from crag.graph.conditions import Comparer, exact_number, shared_rows
from crag.graph.context import MOST_ROWS, LookupContext, TableQuery
from crag.graph.language import (
    Argument,
    Average,
    Call,
    Key,
    KgQueryError,
    Previous,
    Program,
    Sort,
    Statement,
    parse,
    render,
)
from crag.graph.results import (
    CallError,
    KgError,
    MeaninglessCallError,
    NoGameError,
    NotFoundError,
    Result,
    Row,
    Status,
    Value,
)
from crag.graph.schema import Column, Domain, Schema, Table, Type, load_schema
from crag.graph.tables import encyclopedia, finance, movie, music, sports
from crag.graph.verbalise import say_average, say_nothing_found, verbalise
from crag.text.dates import Calendar

log = logging.getLogger(__name__)

MOST_CALLS = 500
"""HTTP calls for one question; each film of a person costs one."""
_MOST_PREVIOUS = 8
"""Names that `*` may stand for."""
_GRACE_SECONDS = 0.2

TableFiller = Callable[[LookupContext, TableQuery], list[Row]]
"""Raises `NotFoundError` for an unknown entity, returns no rows for a known one without records, passes `KgError` on.
"""

_TABLES: Mapping[Domain, ModuleType] = {
    Domain.MOVIE: movie,
    Domain.FINANCE: finance,
    Domain.MUSIC: music,
    Domain.SPORTS: sports,
    Domain.OPEN: encyclopedia,
}
"""In the module of a domain each table has a `TableFiller` of its name."""


@dataclass(frozen=True, slots=True)
class Task:
    """One question's program, as text or parsed, and the Pacific wall-clock time of asking."""

    domain: Domain
    program: str | Program
    asked_at: datetime | None


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The results of a program, one per statement, and its HTTP calls (without cached ones)."""

    results: tuple[Result, ...]
    calls: int = 0


class Executor:
    """Runs programs against one server; the constructor opens no connection."""

    def __init__(self, client: KgClient) -> None:
        self._client = client

    def run_batch(self, tasks: Sequence[Task], deadline: Deadline) -> list[ProgramResult]:
        """One outcome per task, in order; tasks that are not done at the deadline are `kg_down`."""
        if not tasks:
            return []
        pool = ThreadPoolExecutor(max_workers=min(16, len(tasks)), thread_name_prefix="kg-question")
        batch = self._client.batch(deadline)
        futures = [pool.submit(self._run, task, batch) for task in tasks]
        done, _ = wait(futures, timeout=max(0.0, deadline.remaining) + _GRACE_SECONDS)
        pool.shutdown(wait=False, cancel_futures=True)
        late = Result("", Status.KG_DOWN, explanation=("the time of the knowledge-graph stage was over",))
        return [future.result() if future in done else ProgramResult((late,)) for future in futures]

    def _run(self, task: Task, batch: KgBatch) -> ProgramResult:
        session = KgSession(batch, MOST_CALLS)
        try:
            program = parse(task.program, task.domain) if isinstance(task.program, str) else task.program
            results = _Run(task, session).results(program)
        except Exception as fault:  # even a bug here costs this question only, not the batch
            reason = str(fault)
            if not isinstance(fault, KgQueryError):
                log.exception("a program failed")
                reason = f"{type(fault).__name__}: {fault}"
            results = (Result(str(task.program), Status.INVALID, explanation=(reason,)),)
        return ProgramResult(results, session.calls)


class _Run:
    """One run of a program.

    The next statement works on all matching `_rows`, their `_table` and the selected `_values`, unless `_failed` is the
    result of a failed statement.
    """

    def __init__(self, task: Task, session: KgSession) -> None:
        self._schema: Schema = load_schema(task.domain)
        self._context = LookupContext(session, task.asked_at or datetime.now())
        self._calendar = Calendar.TRADING if task.domain is Domain.FINANCE else Calendar.CIVIL
        self._rows: list[Row] = []
        self._table = self._schema.callable_tables[0]
        self._values: tuple[Value, ...] = ()
        self._failed: Result | None = None

    def results(self, program: Program) -> tuple[Result, ...]:
        """One result per statement. A sort or average after a failed statement fails in the same way.

        A sort or average keeps the remarks of the previous statement, because it replaces that one among the facts.
        """
        done: list[Result] = []
        for place, statement in enumerate(program.statements):
            if isinstance(statement, Call):
                self._context.remarks.clear()
                self._context.unread = 0
            call = render(Program((statement,)))
            result = self._guarded(statement, call, program.statements[place + 1 :])
            done.append(replace(result, explanation=(*result.explanation, *self._context.remarks)))
        return tuple(done)

    def _guarded(self, statement: Statement, call: str, following: Sequence[Statement]) -> Result:
        """The result of a statement. Every failure has a status."""
        refines = not isinstance(statement, Call)
        fault: CallError
        try:
            if isinstance(statement, Call):
                result = self._call(statement, call, following)
            elif self._failed is not None:
                result = replace(self._failed, call=call)
            else:
                result = self._average(call) if isinstance(statement, Average) else self._sort(statement, call)
            return replace(result, refines=refines, partial=self._context.unread > 0)
        except CallError as error:
            fault = error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            log.exception("a record has an unexpected form")
            fault = KgError(f"a record could not be used: {type(error).__name__}: {error}")
        # An empty result proves something only if all records were read.
        is_unknown = isinstance(fault, NotFoundError) and self._context.unread
        status = Status.KG_DOWN if is_unknown else fault.status
        self._values = ()
        self._failed = Result(call, status, (), (), "", (str(fault),), refines, isinstance(fault, NoGameError))
        return replace(self._failed, partial=self._context.unread > 0)

    def _call(self, call: Call, text: str, following: Sequence[Statement]) -> Result:
        table = self._schema.tables[call.table]
        needs_previous = any(isinstance(condition.value, Previous) for condition in call.conditions)
        comparer = Comparer(table, self._context, self._calendar, self._previous_names() if needs_previous else ())
        asked = self._groups(table, call, following)
        groups = [comparer.matching(rows, call.conditions) for rows in asked]
        rows = [row for group in groups for row in group]
        if len(rows) > MOST_ROWS:
            self._context.remark(f"only the first {MOST_ROWS:,} of {len(rows):,} {table.noun} were looked at")
            rows = rows[:MOST_ROWS]
        if call.take is None and table.take == "first":
            taken = [group[0] for group in groups if group]
        else:
            taken = rows if call.take in {None, "all"} else rows[: int(call.take or 1)]
        return self._finish(text, table, [row for group in asked for row in group], rows, taken, call)

    def _sort(self, sort: Sort, text: str) -> Result:
        comparer = Comparer(self._table, self._context, self._calendar, self._values)
        rows = comparer.matching(self._rows, sort.conditions)
        if sort.key is not None:
            rows = comparer.ordered(rows, sort.key, descending=sort.descending)
        take = sort.take if sort.take is not None else ("all" if sort.conditions else 1)
        return self._finish(text, self._table, self._rows, rows, rows if take == "all" else rows[: int(take)], sort)

    def _average(self, text: str) -> Result:
        numbers = [number for number in map(exact_number, self._values) if number is not None]
        if not numbers:
            raise MeaninglessCallError("the statement before gave no numbers to average")
        mean = round(fmean(numbers), 6)
        self._values = (mean,)
        return Result(text, Status.OK, (), (mean,), say_average(mean, len(numbers), self._rows))

    def _finish(
        self, text: str, table: Table, asked: list[Row], rows: list[Row], taken: list[Row], statement: Call | Sort
    ) -> Result:
        """Select and count. `asked` are all rows, `rows` meet the conditions, `taken` are the ones to show.

        The next statement works on `rows`.
        """
        select, count, unread = statement.select, statement.count, self._context.unread
        column = table.column(select) if select is not None else None
        key = column.name if column else (select or table.default_key)
        if column is not None and column.type is Type.ROWS:
            return self._inner_rows(text, column, taken, statement)
        if count:
            values = _number_of(column, key if select is not None else None, rows, taken)
            is_empty = not values or (not values[0] and unread > 0)  # a count of 0 is an answer
        else:
            values = flat(taken, key) if key is not None else ()
            is_empty = not values and not (key is None and rows)
        if is_empty:
            raise NotFoundError(say_nothing_found(table, rows or asked, key, statement.conditions if not rows else ()))
        self._rows, self._table, self._values, self._failed = rows, table, values, None
        number = values[0] if count else None
        shown = key if select is not None or table.default_key == "value" else None
        said = verbalise(table, rows, taken, shown, conditions=statement.conditions, count=number, partial=unread > 0)
        return Result(text, Status.OK, tuple(rows), values, said)

    def _inner_rows(self, text: str, column: Column, taken: list[Row], statement: Call | Sort) -> Result:
        """Select a key that holds rows of another table: the next statement works on those rows."""
        cells = [row.cells.get(column.name) for row in taken]
        found = [each for cell in cells if isinstance(cell, tuple) for each in cell if isinstance(each, Row)]
        inner = self._schema.tables[column.rows_of or ""]
        select = None if statement.count else next(iter(inner.columns))
        return self._finish(text, inner, found, found, found, replace(statement, select=select, conditions=()))

    def _groups(self, table: Table, call: Call, following: Sequence[Statement]) -> list[list[Row]]:
        """The table's rows: one group, or one for each name of a list or value of `*`."""
        fill: TableFiller = getattr(_TABLES[self._schema.domain], table.name)
        arguments: list[Argument] = [*call.arguments, *[None] * (len(table.parameters) - len(call.arguments))]
        places = [place for place, one in enumerate(arguments) if isinstance(one, tuple | Previous)]
        if len(places) > 1:
            raise MeaninglessCallError("only one argument of a call may be a list or *")
        single = tuple(one if isinstance(one, str) else None for one in arguments)
        query = TableQuery(single, call.conditions, *self._keys_read(call, following))
        if not places:
            return [fill(self._context, query)]
        place = places[0]
        argument = arguments[place]
        names = argument if isinstance(argument, tuple) else self._previous_names()
        if not query.keys and len(names) > 1:
            query = replace(query, whole=True)  # names that share rows need the whole records, even for a count
        found: list[list[Row]] = []
        missing: list[NotFoundError] = []
        for name in names:
            try:
                found.append(fill(self._context, replace(query, names=(*single[:place], name, *single[place + 1 :]))))
            except NotFoundError as error:
                missing.append(error)
        if missing and (isinstance(argument, tuple) or not any(found)):
            raise missing[0]
        for each in missing:
            self._context.remark(str(each))
        return shared_rows(table, place, found, call.select) if isinstance(argument, tuple) else found

    def _previous_names(self) -> tuple[str, ...]:
        """The values of `*`."""
        if self._failed is not None and self._failed.status is Status.KG_DOWN:
            raise KgError("the statement before could not be asked")
        if self._failed is not None and self._failed.status is Status.INVALID:
            raise MeaninglessCallError("the statement before makes no sense")
        names = tuple(dict.fromkeys(str(value) for value in self._values if value not in (None, "")))
        if not names:
            raise NotFoundError("the statement before gave nothing for * to stand for")
        if len(names) > _MOST_PREVIOUS:
            self._context.remark(f"* stands for the first {_MOST_PREVIOUS} of {len(names)} values")
        return names[:_MOST_PREVIOUS]

    def _keys_read(self, call: Call, following: Sequence[Statement]) -> tuple[frozenset[str], bool]:
        """The keys that a call and the sorts after it read, and whether the whole record is shown."""
        statements = [call, *takewhile(lambda statement: not isinstance(statement, Call), following)]
        keys = {key for statement in statements for key in _keys_of(statement)}
        last = statements[-1]
        whole = not isinstance(last, Average) and last.select is None and not last.count
        column = self._schema.tables[call.table].column(call.select or "")
        if column is not None and column.rows_of is not None and whole:  # the inner rows are shown
            return frozenset(keys | set(self._schema.tables[column.rows_of].columns)), False
        return frozenset(keys), whole


def _keys_of(statement: Statement) -> set[str]:
    if isinstance(statement, Average):
        return set()
    keys = {statement.select, statement.key if isinstance(statement, Sort) else None}
    for condition in statement.conditions:
        keys |= {condition.key, condition.value.name if isinstance(condition.value, Key) else None}
    return {key for key in keys if key}


def flat(rows: Sequence[Row], key: str | None) -> tuple[Value, ...]:
    """The values of a key over rows, with flattened lists and without missing values."""
    cells = (row.cells.get(key) for row in rows if key is not None)
    each = (value for cell in cells for value in (cell if isinstance(cell, tuple) else (cell,)))
    return tuple(value for value in each if value is not None and not isinstance(value, Row))


def _number_of(column: Column | None, key: str | None, rows: list[Row], taken: list[Row]) -> tuple[Value, ...]:
    """The number of rows, of rows that have a key, or of entries in the key's lists."""
    if key is None:
        return (len(rows),)
    known = [row for row in taken if row.cells.get(key) is not None]
    is_list = column is not None and column.type in {Type.TEXTS, Type.YEARS}
    if is_list or (known and isinstance(known[0].cells[key], tuple)):
        return (len(flat(known, key)),) if known else ()
    return (sum(row.cells.get(key) is not None for row in rows),)
