"""Answers with the graph's value without asking a model, if it is exactly what the question asks for.

Small models garble even a single fact. Comparisons, yes or no and arithmetic are left to the other rules and, if the
preset lets it read facts, to the model.
"""

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from statistics import fmean

from crag.graph.conditions import as_number
from crag.graph.derive.near_misses import asks_for_other, counts_others
from crag.graph.derive.readings import BIRTH_KEYS, END_OF_LIFE, Reading, RuleInputs
from crag.graph.masked_question import AVERAGE, HOW_MANY, TOTAL, YES_OR_NO, meant_rows
from crag.graph.results import Value
from crag.graph.schema import Column, Match, Type
from crag.graph.wording import readable

MAX_VALUES = 12
"""Longer lists do not fit into an answer."""

_NEEDS_THOUGHT = re.compile(
    r"""
    \b(?:
        more | less | fewer | older | younger | earlier | later | longer | shorter       # a comparison
      | larger | smaller | bigger | higher | lower | better | worse
      | difference | differ | compared? | versus | vs | both | than | percent(?:age)?
      | until | before | after | since | between | at\ the\ time                         # another date
      | how\ old | age | times | how\ long\ ago                                          # a calculation
      | half\ of | (?:can|could)\ i\ (?:buy|get|afford|purchase)
      | in\ (?:euros?|pounds|yen|rupees|yuan)
      | day\ of\ the\ week | weekday | (?:what|which)\ (?:month|decade|century)           # a part of a date
      | first\ (?:word|letter)
      | other\ than | besides | except                                                   # a negation
    )\b
    """,
    re.VERBOSE,
)
_WHEN = re.compile(
    r"""
    \bwhen\b
  | \b(?: what | which | on\ what | on\ which )\ (?:day|date)\b
  | \bdate\b
  | \bbirthda[ty]e?\b                    # "birthdate" too
    """,
    re.VERBOSE,
)
_YEAR = re.compile(r"\b(?:what|which) year\b")
_NAME = re.compile(r"\b(?:name|named|called|title)\b")
_WHO = re.compile(r"\bwho(?:se|m)?\b")

_LIST_TYPES = frozenset({Type.TEXTS, Type.YEARS, Type.ROWS})
_MOMENT_TYPES = frozenset({Type.DATE, Type.YEAR, Type.YEARS})
_ASKS_FOR_MOMENT = ("when", "on what", "on which", "what year", "which year")

_CENT = Decimal("0.01")


def value_itself(inputs: RuleInputs, reading: Reading) -> str | None:
    """The values in words if they answer the question by themselves, else None."""
    question = inputs.masked.core
    column = reading.column
    if not _asks_for_values(question) or not _means_the_rows(inputs, reading) or asks_for_other(inputs, reading):
        return None
    if reading.averaged:
        return _write_values(reading.values, column)
    if reading.counted:
        return None if counts_others(inputs, reading) else _write_count(reading, question)
    if column is None or not reading.values or not _kind_fits(column, question):
        return None

    values = _combined_values(reading, column, question)
    if len(values) > MAX_VALUES:
        return None
    # "What year": 1975 of "1975-06-20"
    if column.type is Type.DATE and _YEAR.search(question):
        values = tuple(str(value)[:4] for value in values)
    return _write_values(values, column)


# --- what the question asks for ---------------------------------------------------------------------------------------
def _asks_for_values(question: str) -> bool:
    offers_a_choice = " or " in question and not question.startswith("when")
    return not (offers_a_choice or YES_OR_NO.search(question) or _NEEDS_THOUGHT.search(question))


def _means_the_rows(inputs: RuleInputs, reading: Reading) -> bool:
    """Whether the question means exactly the rows found."""
    return reading.averaged or meant_rows(inputs.masked, reading.rows, reading.filtered_keys) == reading.rows


def _is_other_end_of_life(key: str, question: str) -> bool:
    """Whether the values may be the beginning of a life and the question asks for its end."""
    # A life span has both; `values.life_span` takes the one that is meant
    return key == "lifespan" or (key in BIRTH_KEYS and bool(END_OF_LIFE.search(question)))


def _kind_fits(column: Column, question: str) -> bool:
    """Whether a value of that type can answer the question."""
    is_number = column.type.is_number
    is_moment = column.type in _MOMENT_TYPES

    if HOW_MANY.search(question):
        return is_number
    if _is_other_end_of_life(column.name, question):
        return False
    # Nobody is a number or a date
    if _WHO.match(question) and (is_number or is_moment):
        return False
    if _WHEN.search(question) or _YEAR.search(question):
        return is_moment or not question.startswith(_ASKS_FOR_MOMENT)
    if column.name == "name" and column.match is not Match.NAME:  # the name of an article, which is in the question
        return bool(_NAME.search(question))
    return column.type is not Type.FLAG and column.name not in {"summary", "result"}


# --- values -----------------------------------------------------------------------------------------------------------
def _combined_values(reading: Reading, column: Column, question: str) -> tuple[Value, ...]:
    """The values; rows of several days become their total or average if the question means it."""
    if len(reading.values) < 2 or isinstance(reading.take, int) or column.type in _LIST_TYPES:
        return reading.values
    aggregate = _aggregate(reading.values, column, question)
    # Several rows that the call did not ask to list are no answer unless they are combined
    if aggregate or reading.take is None:
        return aggregate
    return reading.values


def _aggregate(values: Sequence[Value], column: Column, question: str) -> tuple[Value, ...]:
    """Sum or average of the values if the question asks for one, else nothing."""
    numbers = [number for number in map(as_number, values) if number is not None]
    if not column.type.is_number or not numbers:
        return ()

    # Rounded, because sums of decimal fractions have stray digits: 0.30000000000000004.
    if AVERAGE.search(question):
        return (round(fmean(numbers), 9),)
    if TOTAL.search(question):
        return (round(sum(numbers), 9),)
    return ()


# --- writing ----------------------------------------------------------------------------------------------------------
def _write_count(reading: Reading, question: str) -> str | None:
    """The count; zero only if the table is complete."""
    number = reading.values[0]
    is_sure = number or reading.table.complete
    if not is_sure or not HOW_MANY.search(question):
        return None
    return str(number)


def _write_values(values: Sequence[Value], column: Column | None) -> str | None:
    """The values as an answer: numbers keep their unit; cents and ratios have two digits, as prices are quoted."""
    is_numeric = column is not None and column.type.is_number
    texts: list[str] = []
    for value in values:
        rounded = _two_digits(value) if is_numeric and isinstance(value, float) else value
        texts.append(readable(rounded, column))

    # A value that several rows share is said once
    distinct_texts = dict.fromkeys(texts)
    return ", ".join(distinct_texts) or None


def _two_digits(value: float) -> float:
    """Neither numbers that would become 0 nor those too large for `Decimal` are rounded."""
    if not 0.005 <= abs(value) < 1e20:
        return value
    return float(Decimal(repr(value)).quantize(_CENT, ROUND_HALF_UP))
