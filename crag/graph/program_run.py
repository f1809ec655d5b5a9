"""Runs one program: each statement on the graph or on the rows of the previous statement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from statistics import fmean
from types import ModuleType

from crag.core.queries import pacific_now
from crag.graph.client import KgSession
from crag.graph.conditions import Comparer, cell_number, shared_rows
from crag.graph.context import MAX_ROWS, LookupContext, TableQuery
from crag.graph.language import Average, Call, Previous, Program, Sort, Statement, render
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
from crag.graph.statement_rows import (
    Selection,
    concatenated,
    count_rows,
    flat_values,
    keys_of,
    rows_needed,
    taken_rows,
    takes_nearest_rows,
)
from crag.graph.tables import encyclopedia, finance, movie, music, sports
from crag.graph.verbalise import say_average, say_nothing_found, verbalise
from crag.text.dates import Calendar

_MAX_PREVIOUS = 8
"""Names that `*` may stand for."""

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


class ProgramRun:
    """One run of a program.

    Between statements it remembers what the next one works on: all matching `_rows` (not only those shown), their
    `_table` and the selected `_values`; or `_failure`, the result of a failed statement.
    """

    def __init__(self, domain: Domain, asked_at: datetime | None, session: KgSession) -> None:
        self._schema: Schema = load_schema(domain)
        self._session = session
        self._asked_at = asked_at or pacific_now()
        self._context = LookupContext(self._session, self._asked_at)
        self._calendar = Calendar.TRADING if domain is Domain.FINANCE else Calendar.CIVIL

        self._rows: list[Row] = []
        self._table = self._schema.callable_tables[0]
        self._values: tuple[Value, ...] = ()
        self._failure: Result | None = None

    def run(self, program: Program) -> tuple[Result, ...]:
        """One result per statement. A sort or average after a failed statement fails in the same way.

        A sort or average keeps the remarks of the previous statement, because it replaces that one among the facts.
        """
        results: list[Result] = []
        for index, statement in enumerate(program.statements):
            if isinstance(statement, Call):
                # Remarks and unread records of an earlier call do not concern this one
                self._context = LookupContext(self._session, self._asked_at)

            call_text = render(Program((statement,)))
            # The sorts after a call decide which of its keys are worth an HTTP request
            following = program.statements[index + 1 :]
            result = self._run_statement(statement, call_text, following)
            explanation = (*result.explanation, *self._context.remarks)
            results.append(replace(result, explanation=explanation))
        return tuple(results)

    def _run_statement(
        self,
        statement: Statement,
        call_text: str,
        following: Sequence[Statement],
    ) -> Result:
        """The result of a statement; one that fails (`CallError`) has a status. Any other error is a fault of ours."""
        refines = not isinstance(statement, Call)
        try:
            if isinstance(statement, Call):
                result = self._run_call(statement, call_text, following)
            elif self._failure is not None:
                # There are no rows to work on
                result = replace(self._failure, call=call_text)
            elif isinstance(statement, Average):
                result = self._run_average(call_text)
            else:
                result = self._run_sort(statement, call_text)
        except CallError as error:
            return self._fail(error, call_text, refines=refines)
        return replace(result, refines=refines, partial=self._context.unread > 0)

    def _fail(self, fault: CallError, call_text: str, *, refines: bool) -> Result:
        """Remember the failure for the next statement, and return it."""
        # "Not found" proves something only if all records could be read.
        partial = self._context.unread > 0
        status = fault.status
        if partial and isinstance(fault, NotFoundError):
            status = Status.KG_DOWN

        # `*` in the next call must not see the values of an older statement
        self._values = ()
        self._failure = Result(
            call_text,
            status,
            explanation=(str(fault),),
            refines=refines,
            empty_calendar=isinstance(fault, NoGameError),
            partial=partial,
        )
        return self._failure

    # --- the three kinds of statement ---------------------------------------------------------------------------------

    def _run_call(self, call: Call, call_text: str, following: Sequence[Statement]) -> Result:
        table = self._schema.tables[call.table]
        needs_previous = any(isinstance(condition.value, Previous) for condition in call.conditions)
        previous = self._previous_names() if needs_previous else ()
        comparer = Comparer(
            table,
            self._context,
            self._calendar,
            previous,
        )

        fetched_groups = self._fetch_groups(table, call, following)
        groups = [comparer.matching(rows, call.conditions) for rows in fetched_groups]
        matching = concatenated(groups)
        if len(matching) > MAX_ROWS:
            self._context.remark(f"only the first {MAX_ROWS:,} of {len(matching):,} {table.noun} were looked at")
            matching = matching[:MAX_ROWS]

        # "The last game" is one game, also where others were read to find one that matches.
        nearest_only = self._context.first_is_meant and takes_nearest_rows(call, following)
        taken = taken_rows(
            groups,
            matching,
            call.take,
            first=table.take == "first" or nearest_only,
        )
        if nearest_only:
            matching = taken

        # Rows that do not match count too: "among the 12 games ... there is none"
        fetched = concatenated(fetched_groups)
        selection = Selection(
            table,
            fetched,
            matching,
            taken,
        )
        return self._select(selection, call, call_text)

    def _run_sort(self, sort: Sort, call_text: str) -> Result:
        # `*` in a condition of a sort stands for the values that the statement before selected
        comparer = Comparer(
            self._table,
            self._context,
            self._calendar,
            self._values,
        )
        rows = comparer.matching(self._rows, sort.conditions)
        if sort.key is not None:
            rows = comparer.ordered(rows, sort.key, descending=sort.descending)

        # A sort without conditions asks for the first row: the newest, the largest.
        if isinstance(sort.take, int):
            taken = rows[: sort.take]
        elif sort.take == "all" or sort.conditions:
            taken = rows
        else:
            taken = rows[:1]

        selection = Selection(
            self._table,
            self._rows,
            rows,
            taken,
        )
        return self._select(selection, sort, call_text)

    def _run_average(self, call_text: str) -> Result:
        numbers = [number for number in map(cell_number, self._values) if number is not None]
        if not numbers:
            raise MeaninglessCallError("the statement before gave no numbers to average")

        # Rounded, because the mean of binary fractions can have stray digits
        mean = round(fmean(numbers), 6)
        text = say_average(mean, len(numbers), self._rows)
        self._values = (mean,)
        return Result(
            call_text,
            Status.OK,
            values=(mean,),
            text=text,
        )

    # --- the selected key, or the number of rows ----------------------------------------------------------------------

    def _select(self, selection: Selection, statement: Call | Sort, call_text: str) -> Result:
        """Select the key or count the rows, remember them for the next statement, and put them into sentences."""
        table = selection.table
        column = table.column(statement.select) if statement.select is not None else None
        key = column.name if column else (statement.select or table.default_key)
        if column is not None and column.type is Type.ROWS:
            return self._select_inner_rows(
                column,
                selection,
                statement,
                call_text,
            )

        values = self._read_values(selection, statement, column, key)
        # The next statement works on these.
        self._rows = selection.matching
        self._table = table
        self._values = values
        self._failure = None

        shown_key = key if statement.select is not None or table.default_key == "value" else None
        text = verbalise(
            selection,
            shown_key,
            conditions=statement.conditions,
            count=values[0] if statement.count else None,
            partial=self._context.unread > 0,
        )
        return Result(
            call_text,
            Status.OK,
            tuple(selection.matching),
            values,
            text,
        )

    def _read_values(
        self,
        selection: Selection,
        statement: Call | Sort,
        column: Column | None,
        key: str | None,
    ) -> tuple[Value, ...]:
        """The values of the key, or the count. Raises NotFoundError: nothing matches, or the rows lack the key."""
        values: tuple[Value, ...]
        if statement.count:
            counted_key = key if statement.select is not None else None
            values = count_rows(column, counted_key, selection)
            # A count of 0 is an answer, unless records are missing.
            is_empty = not values or (not values[0] and self._context.unread > 0)
        else:
            values = flat_values(selection.taken, key) if key is not None else ()
            is_whole_record = key is None and bool(selection.matching)
            is_empty = not values and not is_whole_record

        if is_empty:
            rows = selection.matching or selection.fetched
            unmet = () if selection.matching else statement.conditions
            raise NotFoundError(say_nothing_found(selection.table, rows, key, unmet))
        return values

    def _select_inner_rows(
        self,
        column: Column,
        selection: Selection,
        statement: Call | Sort,
        call_text: str,
    ) -> Result:
        """Select a key that holds rows of another table: the next statement works on those rows."""
        inner_rows: list[Row] = []
        for row in selection.taken:
            cell = row.cells.get(column.name)
            if isinstance(cell, tuple):
                inner_rows += [entry for entry in cell if isinstance(entry, Row)]

        # As if the statement had asked the inner table for its first key. The conditions were about the outer rows.
        table = self._schema.tables[column.rows_of or ""]
        select = None if statement.count else next(iter(table.columns))
        inner_statement = replace(statement, select=select, conditions=())
        inner_selection = Selection(
            table,
            fetched=inner_rows,
            matching=inner_rows,
            taken=inner_rows,
        )
        return self._select(inner_selection, inner_statement, call_text)

    # --- the rows of a call -------------------------------------------------------------------------------------------

    def _fetch_groups(
        self,
        table: Table,
        call: Call,
        following: Sequence[Statement],
    ) -> list[list[Row]]:
        """The table's rows: one group, or one for each name of a list or value of `*`."""
        fill: TableFiller = getattr(_TABLES[self._schema.domain], table.name)

        # The argument with several names, if there is one: a list or `*`. The query has None for it.
        arguments = call.arguments_of(len(table.parameters))
        multiple = [index for index, argument in enumerate(arguments) if isinstance(argument, tuple | Previous)]
        if len(multiple) > 1:
            raise MeaninglessCallError("only one argument of a call may be a list or *")
        single_names = tuple(argument if isinstance(argument, str) else None for argument in arguments)

        keys, whole = self._keys_read(call, following)
        query = TableQuery(
            single_names,
            call.conditions,
            keys,
            whole,
            rows_needed(call, following),
        )
        if not multiple:
            return [fill(self._context, query)]

        index = multiple[0]
        argument = arguments[index]
        # A list asks for what its names have in common, `*` for the rows of each of its values.
        if isinstance(argument, tuple):
            groups = self._fill_for_each(fill, query, index, argument, needs_all=True)
            return shared_rows(table, index, groups, call.select)
        return self._fill_for_each(fill, query, index, self._previous_names(), needs_all=False)

    def _fill_for_each(
        self,
        fill: TableFiller,
        query: TableQuery,
        index: int,
        names: Sequence[str],
        *,
        needs_all: bool,
    ) -> list[list[Row]]:
        """The rows for each name given as an argument.

        Raises NotFoundError: the graph has none of the names, or with `needs_all` not all of them.
        """
        if not query.keys and len(names) > 1:
            # Names that share rows need the whole records, even for a count.
            query = replace(query, whole=True)

        groups: list[list[Row]] = []
        not_found: list[NotFoundError] = []
        for name in names:
            try:
                groups.append(fill(self._context, query.with_name(index, name)))
            except NotFoundError as error:
                not_found.append(error)

        if not_found and (needs_all or not any(groups)):
            raise not_found[0]
        for fault in not_found:
            self._context.remark(str(fault))
        return groups

    def _previous_names(self) -> tuple[str, ...]:
        """The values of `*`."""
        # The call fails for the same reason as the statement that should have given its names
        if self._failure is not None and self._failure.status is Status.KG_DOWN:
            raise KgError("the statement before could not be asked")
        if self._failure is not None and self._failure.status is Status.INVALID:
            raise MeaninglessCallError("the statement before makes no sense")

        # Each value once, in the order of the rows
        names: dict[str, None] = {}
        for value in self._values:
            if value not in (None, ""):
                names[str(value)] = None
        if not names:
            raise NotFoundError("the statement before gave nothing for * to stand for")
        if len(names) > _MAX_PREVIOUS:
            self._context.remark(f"* stands for the first {_MAX_PREVIOUS} of {len(names)} values")
        return tuple(names)[:_MAX_PREVIOUS]

    def _keys_read(self, call: Call, following: Sequence[Statement]) -> tuple[frozenset[str], bool]:
        """The keys that a call and the sorts after it read, and whether the whole record is shown."""
        # The sorts up to the next call work on the rows that are fetched here
        keys = keys_of(call)
        final: Statement = call
        for statement in following:
            if isinstance(statement, Call):
                break
            keys |= keys_of(statement)
            final = statement

        # Without a selected key the last of them shows whole records.
        whole = not isinstance(final, Average) and final.select is None and not final.count
        column = self._schema.tables[call.table].column(call.select or "")
        shows_inner_rows = column is not None and column.rows_of is not None and whole
        if column is None or not shows_inner_rows:
            return frozenset(keys), whole

        # The records of the inner rows are shown whole, not that of the outer row.
        inner_table = self._schema.tables[column.rows_of or ""]
        return frozenset(keys | set(inner_table.columns)), False
