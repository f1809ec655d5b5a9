"""The results of a question's calls, as one reading per entity."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from math import isfinite

from crag.graph.language import Average, Call, Condition, Program, Take
from crag.graph.masked_question import AVERAGE, TOTAL, MaskedQuestion, keeps_dates, mask_names
from crag.graph.results import Result, Row, Status, Value
from crag.graph.schema import Column, Domain, NumberKind, Table, Type, load_schema
from crag.text.matching import CURRENCIES
from crag.text.reasoning import CalendarDate, ExpressionError, Quantity, arithmetic, in_words

NUMBERS = frozenset({Type.NUMBER, Type.MONEY})
_LARGEST = 10**25
_DOLLARS = CURRENCIES["$"]
_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{2})-([0-9]{2}))?")

Amount = Quantity | CalendarDate
"""A number with its unit, or a date."""


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
    take: Take = None
    counted: bool = False
    averaged: bool = False

    @property
    def key(self) -> str:
        """The name of the column, or an empty string."""
        return self.column.name if self.column is not None else ""

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

    asked: MaskedQuestion
    readings: tuple[Reading, ...]
    today: dt.date | None

    @property
    def text(self) -> str:
        """The question with masked names."""
        return self.asked.text

    @property
    def by_entity(self) -> "GraphEvidence":
        """The same evidence with a reading for each name of a list."""
        return replace(self, readings=tuple(part for reading in self.readings for part in _by_entity(reading)))


def read_case(
    question: str, domain: Domain, program: Program, results: Sequence[Result], today: dt.date | None = None
) -> GraphEvidence | None:
    """The evidence, or None if a call failed or may have missed something."""
    if len(results) != len(program.statements) or not keeps_dates(question, program):
        return None
    if any(result.status is not Status.OK or result.partial for result in results):
        return None
    tables, readings = load_schema(domain).tables, list[Reading]()
    for statement, result in zip(program.statements, results, strict=True):
        if isinstance(statement, Average):
            readings[-1] = replace(readings[-1], values=result.values, averaged=True)
            continue
        if isinstance(statement, Call):
            call, conditions, table = statement, statement.conditions, tables[statement.table]
            key = statement.select or table.default_key
        else:
            before = readings.pop()
            call, conditions, key = before.call, before.conditions + statement.conditions, statement.select
            table = tables[before.column.rows_of] if before.column and before.column.rows_of else before.table
        column = table.column(key) if key else None
        given = result.values, result.rows, statement.take, statement.count
        readings.append(Reading(call, conditions, table, column, *given))
    return GraphEvidence(mask_names(question, domain, program), tuple(readings), today)


def differing(readings: Sequence[Reading]) -> list[str] | None:
    """The names in which otherwise equal calls differ, or None if the calls differ in more."""
    by_place = list(zip_longest(*(reading.call.arguments for reading in readings)))
    different = [names for names in by_place if any(name != names[0] for name in names)]
    apart = {(each.call.table, each.key, each.conditions, each.counted, each.averaged) for each in readings}
    if len(different) != 1 or len(apart) != 1:
        return None
    names = [name for name in different[0] if isinstance(name, str)]
    return names if len(set(names)) == len(readings) else None


def amount(asked: MaskedQuestion, reading: Reading) -> Amount | None:
    """The one number or date of a reading: a value, a count, a mean or a sum; None if unsure."""
    column = reading.column
    values = [value for value in reading.values if value is not None]
    if reading.counted or reading.averaged:
        number = exact(values[0]) if len(values) == 1 else None
        return Quantity(number) if number is not None else None
    amounts = [_amount(value, column) for value in values] if column is not None else []
    known = [each for each in amounts if each is not None]
    if column is None or not known or len(known) != len(amounts):
        return None
    numbers = [each for each in known if isinstance(each, Quantity)]
    if len(known) == 1 or len(numbers) != len(known):
        return known[0] if len(known) == 1 else None
    total = sum((each.number for each in numbers), Fraction(0))
    if AVERAGE.search(asked.text):
        return Quantity(total / len(numbers), numbers[0].unit)
    summable = TOTAL.search(asked.text) or column.kind is NumberKind.AMOUNT
    return Quantity(total, numbers[0].unit) if summable else None


def _amount(value: Value, column: Column) -> Amount | None:
    if column.type in {Type.DATE, Type.YEAR}:
        day = _DAY.fullmatch(str(value))
        return CalendarDate(*(int(part) for part in day.groups() if part)) if day else None
    number = exact(value) if column.type in NUMBERS else None
    if number is None:
        return None
    return Quantity(number, _DOLLARS) if column.type is Type.MONEY else Quantity(number)


def exact(value: Value) -> Fraction | None:
    """A number as it is written; None for other values and for numbers too large to be one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    number = Fraction(repr(value))
    return number if abs(number) < _LARGEST else None


def order(one: Amount, other: Amount) -> int | None:
    """1 if the first exceeds the other, -1 if it is less, 0; None if they cannot be compared."""
    try:
        return arithmetic.compare(one, ">", other) - arithmetic.compare(one, "<", other)
    except ExpressionError:
        return None


def time_between(one: CalendarDate, other: CalendarDate, unit: str) -> Quantity | None:
    """Days, weeks (with a fraction), whole months or whole years; None if one date is too vague for the unit."""
    try:
        return arithmetic.between(unit, one, other)
    except ExpressionError:
        return None


def answer(value: Amount, how: str, unit: str = "") -> Derived:
    """An amount as an answer; `unit` follows a plain number."""
    text = with_unit(value, unit)
    return Derived(text, f"{how} = {text}")


def with_unit(value: Amount, unit: str = "") -> str:
    """An amount in words; `unit` follows a plain number."""
    plain = isinstance(value, Quantity) and not value.unit.name
    return f"{in_words(value)} {unit}" if unit and plain else in_words(value)


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
