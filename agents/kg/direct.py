"""Where the graph gives just the value that was asked for, the value is the answer and no model has to repeat it.

Small models garble even a single fact. The rules are cautious: one call, the values of one key, of the kind that the
question's words ask for; everything else (comparisons, yes or no, arithmetic) is left to the model.
"""

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from statistics import fmean

from agents.kg.conditions import as_number
from agents.kg.language import Average, Call, Program, Sort
from agents.kg.results import Result, Row, Status, Value
from agents.kg.schema import Column, Domain, Type, load_schema
from agents.kg.verbalise import readable

MOST_VALUES = 12
"""Longer lists do not fit an answer."""
LEAST_SHOWN = 0.005
"""A smaller number would be rounded to nothing."""

_POLITE = re.compile(
    r"^(?:(?:hey|hi|please|so|and|well|i'm curious|tell me|do you (?:happen to )?know|would you happen to know"
    r"|(?:can|could|would|will|are) you (?:please |able to )?(?:tell|give|name|list|share|provide|say|let)"
    r"(?: me| us)?(?: know)?(?: with)?)[,:]? +)+"
)
_YES_OR_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should|if)\b|\bwhether\b|\bif\b"
)
_NEEDS_THOUGHT = re.compile(
    r"\b(?:more|less|fewer|older|younger|earlier|later|longer|shorter|larger|smaller|bigger|higher|lower|better|worse"
    r"|difference|differ|compared?|versus|vs|both|than|percent(?:age)?|until|before|after|since|between|at the time"
    r"|how old|age|times|how long ago|other than|besides|except)\b"
)
_TOTAL = re.compile(r"\b(?:total|combined|altogether|cumulative(?:ly)?|overall|sum)\b")
_AVERAGE = re.compile(r"\b(?:average|mean)\b")
_LISTS = {Type.TEXTS, Type.YEARS, Type.ROWS}
_HOW_MANY = re.compile(r"\bhow (?:many|much|often)\b|\bnumber of\b|\bamount of\b")
_YEAR = re.compile(r"\b(?:what|which) year\b")
_WHEN = re.compile(r"\bwhen\b|\b(?:what|which|on what|on which) (?:day|date)\b|\bdate\b|\bbirthda[ty]e?\b")
_WHO = re.compile(r"\bwho(?:se|m)?\b")


def direct_answer(question: str, domain: Domain, program: Program, results: Sequence[Result]) -> str | None:
    """The values in words where they answer the question by themselves, else None."""
    text = _POLITE.sub("", " ".join(question.lower().split()))
    if not _simple(program) or any(result.status is not Status.OK or result.partial for result in results):
        return None
    if _YES_OR_NO.search(text) or _NEEDS_THOUGHT.search(text) or " or " in text:
        return None
    values, statement, column = results[-1].values, program.statements[-1], _column(domain, program)
    if isinstance(statement, Average):
        return _said(values, column)
    if statement.count:
        return str(values[0]) if _HOW_MANY.search(text) else None
    if column is None or not values or not _kind_fits(column, text):
        return None
    if len(values) > 1 and statement.take is None and column.type not in _LISTS:
        values = _aggregate(values, column, text)  # rows of several days: the question is about them together
    return _said(_fitting(values, column, text), column) if 0 < len(values) <= MOST_VALUES else None


def _simple(program: Program) -> bool:
    """One call, and after it nothing but sorts and an average."""
    first, *others = program.statements or (None,)
    return isinstance(first, Call) and all(isinstance(other, Sort | Average) for other in others)


def _column(domain: Domain, program: Program) -> Column | None:
    """The key whose values the program gives."""
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
    """Whether a value of that type can be what the question's words ask for."""
    number = column.type in {Type.NUMBER, Type.MONEY}
    moment = column.type in {Type.DATE, Type.YEAR, Type.YEARS}
    if _HOW_MANY.search(text):
        return number
    if _WHO.match(text) and (number or moment):
        return False
    if _WHEN.search(text) or _YEAR.search(text):
        return moment or not text.startswith(("when", "on what", "on which", "what year", "which year"))
    return column.type is not Type.FLAG and column.name not in {"summary", "result"}


def _fitting(values: Sequence[Value], column: Column, text: str) -> tuple[Value, ...]:
    """The values as precise as the question asks: the year of a date where a year is asked for."""
    if column.type is Type.DATE and _YEAR.search(text):
        return tuple(str(value)[:4] for value in values)
    return tuple(values)


def _aggregate(values: Sequence[Value], column: Column, text: str) -> tuple[Value, ...]:
    """Sum or average of the values where the question asks for one, else nothing."""
    numbers = [number for number in map(as_number, values) if number is not None]
    if column.type not in {Type.NUMBER, Type.MONEY} or not numbers:
        return ()
    if _AVERAGE.search(text):
        return (round(fmean(numbers), 9),)
    return (round(sum(numbers), 9),) if _TOTAL.search(text) else ()


def _said(values: Sequence[Value], column: Column | None) -> str | None:
    """The values as an answer: no unit of a number is lost, cents and ratios have two digits as prices are quoted."""
    shown = [readable(_two_digits(value, column), column) for value in values if not isinstance(value, Row)]
    return ", ".join(dict.fromkeys(shown)) or None


def _two_digits(value: Value, column: Column | None) -> Value:
    kind = column.type if column else Type.TEXT
    if not isinstance(value, float) or kind not in {Type.NUMBER, Type.MONEY} or abs(value) < LEAST_SHOWN:
        return value
    return float(Decimal(repr(value)).quantize(Decimal("0.01"), ROUND_HALF_UP))
