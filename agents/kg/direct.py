"""Answers with the graph's value without asking a model, if it is exactly what the question asks for.

Small models garble even a single fact. Comparisons, yes or no and arithmetic are left to the model.
"""

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from statistics import fmean

from agents.kg.conditions import as_number
from agents.kg.language import Average, Call, Program, Sort
from agents.kg.masked_question import AVERAGE, HOW_MANY, TOTAL, YES_OR_NO, Asked, ask, keeps_dates, meant_rows
from agents.kg.results import Result, Row, Status, Value
from agents.kg.schema import Column, Domain, Match, Type, load_schema
from agents.kg.verbalise import readable

MOST_VALUES = 12
"""Longer lists do not fit into an answer."""
COMPLETE = frozenset({"get_movie_person_oscar"})
"""Complete tables. In other tables a count of 0 may only mean that the graph knows little."""

_NEEDS_THOUGHT = re.compile(
    r"\b(?:more|less|fewer|older|younger|earlier|later|longer|shorter|larger|smaller|bigger|higher|lower|better|worse"
    r"|difference|differ|compared?|versus|vs|both|than|percent(?:age)?|until|before|after|since|between|at the time"
    r"|how old|age|times|how long ago|other than|besides|except)\b"
)
_LISTS = {Type.TEXTS, Type.YEARS, Type.ROWS}
_YEAR = re.compile(r"\b(?:what|which) year\b")
_WHEN = re.compile(r"\bwhen\b|\b(?:what|which|on what|on which) (?:day|date)\b|\bdate\b|\bbirthda[ty]e?\b")
_NAME = re.compile(r"\b(?:name|named|called|title)\b")
_WHO = re.compile(r"\bwho(?:se|m)?\b")


def direct_answer(question: str, domain: Domain, program: Program, results: Sequence[Result]) -> str | None:
    """The values in words if they answer the question by themselves, else None."""
    asked = ask(question, domain, program)
    text = asked.core
    if not _simple(program) or not keeps_dates(question, program) or not _sure(asked, program, results):
        return None
    values, statement, column = results[-1].values, program.statements[-1], _column(domain, program)
    if isinstance(statement, Average):
        return _said(values, column)
    if statement.count:
        first = program.statements[0]
        is_sure = values[0] or (isinstance(first, Call) and first.table in COMPLETE)
        return str(values[0]) if is_sure and HOW_MANY.search(text) else None
    if column is None or not values or not _kind_fits(column, text):
        return None
    if len(values) > 1 and not isinstance(statement.take, int) and column.type not in _LISTS:
        together = _aggregate(values, column, text)  # rows of several days: the question means their total or average
        values = together if together or statement.take is None else values
    if column.type is Type.DATE and _YEAR.search(text):
        values = tuple(str(value)[:4] for value in values)
    return _said(values, column) if len(values) <= MOST_VALUES else None


def _sure(asked: Asked, program: Program, results: Sequence[Result]) -> bool:
    """Whether all calls succeeded, the question asks for values, and it means exactly the rows found."""
    if any(result.status is not Status.OK or result.partial for result in results):
        return False
    offers_a_choice = " or " in asked.core and not asked.core.startswith("when")
    if offers_a_choice or YES_OR_NO.search(asked.core) or _NEEDS_THOUGHT.search(asked.core):
        return False
    given = [statement for statement in program.statements if not isinstance(statement, Average)]
    decided = {condition.key for statement in given for condition in statement.conditions}
    return meant_rows(asked, results[-1].rows, decided) == results[-1].rows


def _simple(program: Program) -> bool:
    """Whether the program is one call, followed only by sorts and an average."""
    first, *others = program.statements or (None,)
    return isinstance(first, Call) and all(isinstance(other, Sort | Average) for other in others)


def _column(domain: Domain, program: Program) -> Column | None:
    """The key that the program selects."""
    tables = load_schema(domain).tables
    call = program.statements[0]
    table = tables[call.table] if isinstance(call, Call) else None
    column: Column | None = None
    for statement in program.statements:
        if isinstance(statement, Average) or table is None:
            continue
        key = statement.select or (table.default_key if isinstance(statement, Call) else None)
        column = table.column(key) if key else None
        if column is not None and column.rows_of:
            table = tables[column.rows_of]
    return column


def _kind_fits(column: Column, text: str) -> bool:
    """Whether a value of that type can answer the question."""
    number = column.type in {Type.NUMBER, Type.MONEY}
    moment = column.type in {Type.DATE, Type.YEAR, Type.YEARS}
    if HOW_MANY.search(text):
        return number
    if _WHO.match(text) and (number or moment):
        return False
    if _WHEN.search(text) or _YEAR.search(text):
        return moment or not text.startswith(("when", "on what", "on which", "what year", "which year"))
    if column.name == "name" and column.match is not Match.NAME:  # the name of an article, which is in the question
        return bool(_NAME.search(text))
    return column.type is not Type.FLAG and column.name not in {"summary", "result"}


def _aggregate(values: Sequence[Value], column: Column, text: str) -> tuple[Value, ...]:
    """Sum or average of the values if the question asks for one, else nothing."""
    numbers = [number for number in map(as_number, values) if number is not None]
    if column.type not in {Type.NUMBER, Type.MONEY} or not numbers:
        return ()
    if AVERAGE.search(text):
        return (round(fmean(numbers), 9),)
    return (round(sum(numbers), 9),) if TOTAL.search(text) else ()


def _said(values: Sequence[Value], column: Column | None) -> str | None:
    """The values as an answer: numbers keep their unit; cents and ratios have two digits, as prices are quoted."""
    numeric = column is not None and column.type in {Type.NUMBER, Type.MONEY}
    shown = [
        readable(_two_digits(value) if numeric and isinstance(value, float) else value, column)
        for value in values
        if not isinstance(value, Row)
    ]
    return ", ".join(dict.fromkeys(shown)) or None


def _two_digits(value: float) -> float:
    """Neither numbers that would become 0 nor those too large for `Decimal` are rounded."""
    is_rounded = 0.005 <= abs(value) < 1e20
    return float(Decimal(repr(value)).quantize(Decimal("0.01"), ROUND_HALF_UP)) if is_rounded else value
