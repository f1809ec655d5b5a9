"""The results of a question's calls, as one reading per entity."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from math import isfinite

from crag.graph.language import Average, Call, Condition, Program, Sort, Take
from crag.graph.masked_question import AVERAGE, TOTAL, MaskedQuestion, keeps_dates, mask_names
from crag.graph.results import Result, Row, Status, Value
from crag.graph.schema import Column, Domain, NumberKind, Table, Type, load_schema
from crag.text.matching import CURRENCIES
from crag.text.reasoning import CalendarDate, ExpressionError, Quantity, arithmetic, in_words

DATE_TYPES = frozenset({Type.DATE, Type.YEAR})

BIRTH_KEYS = frozenset({"birthday", "birth_date"})
"""Keys of the day on which a life or a band began."""
BEGIN_OF_LIFE = re.compile(
    r"""
    \b(?:
        start(?:ed)? | beg[iau]n | form(?:ed)? | found(?:ed)? | (?:come|came)\ together | active\ since   # of a band
      | born | birth
    )\b
    """,
    re.VERBOSE,
)
END_OF_LIFE = re.compile(
    r"""
    \b(?:
        end(?:ed)? | stop(?:ped)? | split | disband(?:ed)? | br(?:eak|oke)\ up | until                    # of a band
      | die[ds]? | dead | deaths? | pass(?:ed)?\ away
    )\b
    """,
    re.VERBOSE,
)

_NUMBER_LIMIT = 10**25
"""Larger values are no counts or amounts."""
_DOLLARS = CURRENCIES["$"]
_YEAR_OR_DAY = re.compile(r"([0-9]{4})(?:-([0-9]{2})-([0-9]{2}))?")

Amount = Quantity | CalendarDate
"""A number with its unit, or a date."""


@dataclass(frozen=True, slots=True)
class CallResults:
    """A question, its program of calls, and the result of each statement; `today` is the day of asking, if known."""

    question: str
    domain: Domain
    program: Program
    results: Sequence[Result]
    today: dt.date | None = None


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
    def filtered_keys(self) -> frozenset[str]:
        """The keys with conditions: the rows are filtered by them already."""
        return frozenset(condition.key for condition in self.conditions)

    @property
    def requested_name(self) -> str:
        """The first name of the call, as the call writes it, or an empty string."""
        for argument in self.call.arguments:
            if isinstance(argument, str):
                return argument
        return ""


@dataclass(frozen=True, slots=True)
class RuleInputs:
    """What rules derive an answer from: a question and the results of its calls.

    `today` is the day of asking, if known.
    """

    masked: MaskedQuestion
    readings: tuple[Reading, ...]
    today: dt.date | None

    @property
    def question(self) -> str:
        """The question in lower case with masked names."""
        return self.masked.text

    @property
    def is_yes_or_no(self) -> bool:
        """Whether the question asks for yes or no."""
        return self.masked.is_yes_or_no

    @property
    def by_entity(self) -> "RuleInputs":
        """The same inputs with a reading for each name of a list."""
        readings: list[Reading] = []
        for reading in self.readings:
            readings += _split_by_entity(reading)
        return replace(self, readings=tuple(readings))


# --- from results to readings -----------------------------------------------------------------------------------------
def read_inputs(calls: CallResults) -> RuleInputs | None:
    """The question and its readings, or None if a call failed or may have missed something."""
    # A program that stopped early, or calls about another day than the question.
    statements = calls.program.statements
    if len(calls.results) != len(statements) or not keeps_dates(calls.question, calls.program):
        return None
    if any(result.status is not Status.OK or result.partial for result in calls.results):
        return None

    tables = load_schema(calls.domain).tables
    readings: list[Reading] = []
    for statement, result in zip(statements, calls.results, strict=True):
        if isinstance(statement, Average):
            readings[-1] = replace(readings[-1], values=result.values, averaged=True)
        elif isinstance(statement, Sort):
            readings[-1] = _read_sort(
                statement,
                result,
                readings[-1],
                tables,
            )
        else:
            readings.append(_read_call(statement, result, tables))

    masked = mask_names(calls.question, calls.domain, calls.program)
    return RuleInputs(masked, tuple(readings), calls.today)


def _read_call(call: Call, result: Result, tables: Mapping[str, Table]) -> Reading:
    table = tables[call.table]
    key = call.select or table.default_key
    return Reading(
        call=call,
        conditions=call.conditions,
        table=table,
        column=table.column(key) if key else None,
        values=result.values,
        rows=result.rows,
        take=call.take,
        counted=call.count,
    )


def _read_sort(
    sort: Sort,
    result: Result,
    previous: Reading,
    tables: Mapping[str, Table],
) -> Reading:
    """The sorted reading; if the previous statement selected rows of another table, it works on that table."""
    table = previous.table
    if previous.column and previous.column.rows_of:
        table = tables[previous.column.rows_of]

    return Reading(
        call=previous.call,
        # The rows have met the call's conditions already
        conditions=previous.conditions + sort.conditions,
        table=table,
        column=table.column(sort.select) if sort.select else None,
        values=result.values,
        rows=result.rows,
        take=sort.take,
        counted=sort.count,
    )


def _split_by_entity(reading: Reading) -> list[Reading]:
    """Split the rows of a call over a list of names into one reading per name. Shared rows stay one reading."""
    arguments = reading.call.arguments
    list_positions = [position for position, argument in enumerate(arguments) if isinstance(argument, tuple)]
    # One count over several names cannot be divided among them
    if not list_positions or reading.counted:
        return [reading]

    position = list_positions[0]
    names = arguments[position]
    entities = list(dict.fromkeys(row.entity for row in reading.rows))
    # Rows that the names share, or a name without rows: no row can be assigned to a name
    if not isinstance(names, tuple) or len(names) != len(entities):
        return [reading]

    # Rows come in the order of the list, so names and entities are in the same order.
    parts: list[Reading] = []
    for name, entity in zip(names, entities, strict=True):
        single_arguments = (*arguments[:position], name, *arguments[position + 1 :])
        call = replace(reading.call, arguments=single_arguments)
        rows = tuple(row for row in reading.rows if row.entity == entity)
        values = plain_values(rows, reading.key)
        parts.append(replace(reading, call=call, rows=rows, values=values))
    return parts


def plain_values(rows: Sequence[Row], key: str) -> tuple[Value, ...]:
    """The rows' values under the key, without missing values and lists."""
    cells = [row.cells.get(key) for row in rows]
    return tuple(cell for cell in cells if cell is not None and not isinstance(cell, tuple))


def names_that_differ(readings: Sequence[Reading]) -> list[str] | None:
    """The names in which otherwise equal calls differ, or None if the calls differ in more."""
    # Everything but the arguments must be equal.
    requests = set()
    for reading in readings:
        # What is asked, without of whom
        request = (reading.call.table, reading.key, reading.conditions, reading.counted, reading.averaged)
        requests.add(request)
    if len(requests) != 1:
        return None

    # Of the arguments exactly one differs, and it is a different name in every call.
    argument_lists = [reading.call.arguments for reading in readings]
    arguments_by_position = zip_longest(*argument_lists)
    differing = [arguments for arguments in arguments_by_position if len(set(arguments)) > 1]
    if len(differing) != 1:
        return None

    names = [name for name in differing[0] if isinstance(name, str)]
    if len(set(names)) != len(readings):
        return None
    return names


# --- amounts ----------------------------------------------------------------------------------------------------------
def read_amount(masked: MaskedQuestion, reading: Reading) -> Amount | None:
    """The one number or date of a reading: a value, a count, a mean or a sum; None if unsure."""
    values = [value for value in reading.values if value is not None]
    # A plain number, whatever the column holds
    if reading.counted or reading.averaged:
        number = exact_fraction(values[0]) if len(values) == 1 else None
        return Quantity(number) if number is not None else None

    column = reading.column
    if column is None or not values:
        return None
    amounts: list[Amount] = []
    for value in values:
        amount = _parse_value(value, column)
        # One unreadable value would make a sum or mean wrong
        if amount is None:
            return None
        amounts.append(amount)

    if len(amounts) == 1:
        return amounts[0]
    return _mean_or_sum(masked, amounts, column)


def _mean_or_sum(masked: MaskedQuestion, amounts: Sequence[Amount], column: Column) -> Quantity | None:
    """The mean or the sum of several numbers; None for dates, and if the question may mean neither."""
    quantities = [amount for amount in amounts if isinstance(amount, Quantity)]
    if len(quantities) != len(amounts):
        return None

    total = sum((quantity.number for quantity in quantities), Fraction(0))
    unit = quantities[0].unit
    if AVERAGE.search(masked.text):
        return Quantity(total / len(quantities), unit)
    # Amounts add up even if the question does not say "total"; prices and ratios do not
    if TOTAL.search(masked.text) or column.kind is NumberKind.AMOUNT:
        return Quantity(total, unit)
    return None


def _parse_value(value: Value, column: Column) -> Amount | None:
    """A value as its column means it: a date, dollars, a number; None for text and for what cannot be read."""
    if column.type in DATE_TYPES:
        # A year without a day stays vague: no day is invented for it
        match = _YEAR_OR_DAY.fullmatch(str(value))
        if match is None:
            return None
        year_month_day = [int(part) for part in match.groups() if part]
        return CalendarDate(*year_month_day)

    if not column.type.is_number:
        return None
    number = exact_fraction(value)
    if number is None:
        return None
    return Quantity(number, _DOLLARS) if column.type is Type.MONEY else Quantity(number)


def exact_fraction(value: Value) -> Fraction | None:
    """A number as it is written; None for other values and for numbers too large to be one."""
    # A bool is an int in Python: True would be 1
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not isfinite(value):
        return None

    # By its digits: 0.1 is a tenth, not the nearest binary fraction.
    number = Fraction(repr(value))
    if abs(number) >= _NUMBER_LIMIT:
        return None
    return number


def compare_amounts(first: Amount, second: Amount) -> int | None:
    """1 if the first exceeds the second, -1 if it is less, 0; None if they cannot be compared."""
    try:
        # 1 - 0, 0 - 0 or 0 - 1
        return arithmetic.compare(first, ">", second) - arithmetic.compare(first, "<", second)
    except ExpressionError:
        return None


def time_between(first: CalendarDate, second: CalendarDate, unit: str) -> Quantity | None:
    """The time between two dates, in the `unit`: "days", "weeks" (with a fraction), whole "months", whole "years".

    None if one of the dates is too vague for the unit.
    """
    try:
        return arithmetic.between(unit, first, second)
    except ExpressionError:
        return None


def derive_amount(value: Amount, how: str, unit: str = "") -> Derived:
    """An amount as an answer; `unit` follows a plain number."""
    text = write_amount(value, unit)
    return Derived(text, f"{how} = {text}")


def write_amount(value: Amount, unit: str = "") -> str:
    """An amount in words; `unit` follows a plain number."""
    is_plain = isinstance(value, Quantity) and not value.unit.name
    return f"{in_words(value)} {unit}" if unit and is_plain else in_words(value)
