"""The results of a question's calls, as one reading per entity."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import zip_longest

from agents.kg.language import Average, Call, Condition, Program, Sort
from agents.kg.masked_question import AVERAGE, TOTAL, Asked, ask, keeps_dates
from agents.kg.results import Result, Row, Status, Value
from agents.kg.schema import Column, Domain, NumberKind, Table, Type, load_schema
from agents.reasoning import CalendarDate, ExpressionError, Quantity, evaluate, in_words
from agents.reasoning import Value as Computed

NUMBERS = frozenset({Type.NUMBER, Type.MONEY})
_MOST_SHOWN = 120
_LARGEST = 10**25
_UNITS = frozenset({"minutes", "weeks"})
"""Units of columns that a formula can hold."""


@dataclass(frozen=True, slots=True)
class Derived:
    """An answer derived from the graph's values, and how, for the trace."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of a call and the sorts after it.

    `column` is the key of the selected `values`, None for whole records. `counted`: the value is a number of rows;
    `averaged`: it is a mean.
    """

    call: Call
    conditions: tuple[Condition, ...]
    table: Table
    column: Column | None
    values: tuple[Value, ...]
    rows: tuple[Row, ...]
    counted: bool = False
    averaged: bool = False

    @property
    def key(self) -> str:
        """The name of the column, or an empty string."""
        return self.column.name if self.column is not None else ""

    @property
    def kind(self) -> NumberKind | None:
        """What arithmetic the column's numbers allow."""
        return self.column.kind if self.column is not None else None

    @property
    def decided(self) -> frozenset[str]:
        """The keys that have conditions."""
        return frozenset(condition.key for condition in self.conditions)

    @property
    def name(self) -> str:
        """The first name of the call."""
        return next((argument for argument in self.call.arguments if isinstance(argument, str)), "")


@dataclass(frozen=True, slots=True)
class GraphEvidence:
    """A question and the results of its calls; `today` is the day of asking, if known."""

    asked: Asked
    readings: tuple[Reading, ...]
    today: dt.date | None

    @property
    def text(self) -> str:
        """The question with masked names."""
        return self.asked.text


def read_case(
    question: str, domain: Domain, program: Program, results: Sequence[Result], today: dt.date | None
) -> GraphEvidence | None:
    """The evidence, or None if a call failed or may have missed something."""
    if len(results) != len(program.statements) or not keeps_dates(question, program):
        return None
    if any(result.status is not Status.OK or result.partial for result in results):
        return None
    tables, readings = load_schema(domain).tables, list[Reading]()
    for statement, result in zip(program.statements, results, strict=True):
        if isinstance(statement, Call):
            table = tables[statement.table]
            key = statement.select or table.default_key
            column = table.column(key) if key else None
            found = result.values, result.rows, statement.count
            readings.append(Reading(statement, statement.conditions, table, column, *found))
        elif readings:
            readings[-1] = _refined(readings[-1], statement, result, tables)
        else:
            return None
    split = tuple(part for reading in readings for part in _by_entity(reading))
    return GraphEvidence(ask(question, domain, program), split, today)


def differing(readings: Sequence[Reading]) -> list[str] | None:
    """The names in which otherwise equal calls differ, or None if the calls differ in more."""
    first = readings[0]
    by_place = list(zip_longest(*(reading.call.arguments for reading in readings)))
    different = [names for names in by_place if any(name != names[0] for name in names)]
    if len(different) != 1 or any(_apart_from_names(reading) != _apart_from_names(first) for reading in readings):
        return None
    names = [name for name in different[0] if isinstance(name, str)]
    return names if len(set(names)) == len(readings) else None


def _apart_from_names(reading: Reading) -> tuple[object, ...]:
    return reading.call.table, reading.key, reading.conditions, reading.counted, reading.averaged


def amount(asked: Asked, reading: Reading) -> str | None:
    """The one number or date of a reading as a formula: a value, a count, a mean or a sum; None if unsure."""
    column = reading.column
    values = [value for value in reading.values if value is not None]
    if reading.counted or reading.averaged:
        return plain_number(values[0]) if len(values) == 1 else None
    if column is None or column.type not in NUMBERS | {Type.DATE, Type.YEAR}:
        return None
    written = [text for value in values if (text := _formula(value, column)) is not None]
    if len(written) != len(values) or not written:
        return None
    return written[0] if len(written) == 1 else _together(asked, column, written)


def _together(asked: Asked, column: Column, written: Sequence[str]) -> str | None:
    """The formula for the mean or sum of several numbers."""
    if column.type not in NUMBERS:
        return None
    if AVERAGE.search(asked.text):
        return f"(({' + '.join(written)}) / {len(written)})"
    summable = TOTAL.search(asked.text) or column.kind is NumberKind.AMOUNT
    return f"({' + '.join(written)})" if summable else None


def value_of(formula: str) -> Computed | None:
    """The value of a formula, or None."""
    try:
        return evaluate(formula)
    except ExpressionError:
        return None


def worked_out(formula: str, unit: str = "") -> Derived | None:
    """The value of a formula as an answer; `unit` follows a plain number."""
    value = value_of(formula)
    if value is None or isinstance(value, CalendarDate):
        return None
    said = in_words(value)
    if unit and isinstance(value, Quantity) and not value.unit.name:
        said = f"{said} {unit}"
    return Derived(said, f"computed {shown(formula)} = {said}")


def shown(formula: str) -> str:
    """A formula for the trace; a long one is cut and followed by its value."""
    value = value_of(formula)
    if len(formula) <= _MOST_SHOWN or value is None:
        return formula
    return f"{formula[:_MOST_SHOWN].rsplit(' ', 2)[0]} + ...) = {in_words(value)}"


def plain_number(value: Value) -> str | None:
    """A number without exponent; None for other values and for numbers that formulas do not allow."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    number = Decimal(repr(value))
    if not number.is_finite() or abs(number) >= _LARGEST:
        return None
    return format(number.quantize(1) if number == number.to_integral_value() else number, "f")


def _formula(value: Value, column: Column) -> str | None:
    if column.type is Type.DATE:
        return str(value) if re.fullmatch(r"[0-9]{4}(?:-[0-9]{2}-[0-9]{2})?", str(value)) else None
    number = plain_number(value)
    if number is None or column.type is not Type.MONEY:
        return f"{number} {column.unit}" if number is not None and column.unit in _UNITS else number
    return f"-${number[1:]}" if number.startswith("-") else f"${number}"


def _refined(reading: Reading, statement: Sort | Average, result: Result, tables: Mapping[str, Table]) -> Reading:
    if isinstance(statement, Average):
        return replace(reading, values=result.values, averaged=True)
    table, rows_of = reading.table, reading.column.rows_of if reading.column else None
    if rows_of:
        table = tables[rows_of]
    column = table.column(statement.select) if statement.select else None
    return replace(
        reading,
        conditions=reading.conditions + statement.conditions,
        table=table,
        column=column,
        values=result.values,
        rows=result.rows,
        counted=statement.count,
    )


def _by_entity(reading: Reading) -> list[Reading]:
    """Split the rows of a call over a list of names into one reading per name. Shared rows stay one reading."""
    place = next((i for i, argument in enumerate(reading.call.arguments) if isinstance(argument, tuple)), None)
    names = reading.call.arguments[place] if place is not None else ()
    entities = list(dict.fromkeys(row.entity for row in reading.rows))
    if place is None or not isinstance(names, tuple) or reading.counted or len(names) != len(entities):
        return [reading]
    parts = []
    for name, entity in zip(names, entities, strict=True):
        rows = tuple(row for row in reading.rows if row.entity == entity)
        arguments = (*reading.call.arguments[:place], name, *reading.call.arguments[place + 1 :])
        cells = [row.cells.get(reading.key) for row in rows]
        values = tuple(cell for cell in cells if cell is not None and not isinstance(cell, tuple))
        parts.append(replace(reading, call=replace(reading.call, arguments=arguments), rows=rows, values=values))
    return parts
