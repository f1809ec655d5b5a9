"""Answers with the graph's value without asking a model, if it is exactly what the question asks for.

Small models garble even a single fact. Comparisons, yes or no and arithmetic are left to the model.
"""

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from statistics import fmean

from crag.graph.conditions import as_number
from crag.graph.derive.readings import NUMBERS, GraphEvidence, Reading
from crag.graph.masked_question import AVERAGE, HOW_MANY, TOTAL, YES_OR_NO, meant_rows
from crag.graph.results import Row, Value
from crag.graph.schema import Column, Match, Type
from crag.graph.wording import readable

MOST_VALUES = 12
"""Longer lists do not fit into an answer."""

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


def value_itself(case: GraphEvidence, reading: Reading) -> str | None:
    """The values in words if they answer the question by themselves, else None."""
    text, values, column = case.asked.core, reading.values, reading.column
    if not _asks_for_values(text) or not _means_the_rows(case, reading):
        return None
    if reading.averaged:
        return _said(values, column)
    if reading.counted:
        is_sure = values[0] or reading.table.complete
        return str(values[0]) if is_sure and HOW_MANY.search(text) else None
    if column is None or not values or not _kind_fits(column, text):
        return None
    if len(values) > 1 and not isinstance(reading.take, int) and column.type not in _LISTS:
        together = _aggregate(values, column, text)  # rows of several days: the question means their total or average
        values = together if together or reading.take is None else values
    if column.type is Type.DATE and _YEAR.search(text):
        values = tuple(str(value)[:4] for value in values)
    return _said(values, column) if len(values) <= MOST_VALUES else None


def _asks_for_values(text: str) -> bool:
    offers_a_choice = " or " in text and not text.startswith("when")
    return not (offers_a_choice or YES_OR_NO.search(text) or _NEEDS_THOUGHT.search(text))


def _means_the_rows(case: GraphEvidence, reading: Reading) -> bool:
    """Whether the question means exactly the rows found."""
    return reading.averaged or meant_rows(case.asked, reading.rows, reading.decided) == reading.rows


def _kind_fits(column: Column, text: str) -> bool:
    """Whether a value of that type can answer the question."""
    number = column.type in NUMBERS
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
    if column.type not in NUMBERS or not numbers:
        return ()
    if AVERAGE.search(text):
        return (round(fmean(numbers), 9),)
    return (round(sum(numbers), 9),) if TOTAL.search(text) else ()


def _said(values: Sequence[Value], column: Column | None) -> str | None:
    """The values as an answer: numbers keep their unit; cents and ratios have two digits, as prices are quoted."""
    numeric = column is not None and column.type in NUMBERS
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
