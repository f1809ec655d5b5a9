"""Computes an answer that is a formula with "=", such as "= 2021 - 1985" or "2021 - 1985 = 35 years".

Only "=" announces a formula: scores ("110-98"), seasons, spans of years, telephone numbers and measures ("2 x 4 x 6")
look like formulas and stay unchanged.
"""

import datetime as dt
import re
from fractions import Fraction
from typing import NamedTuple

from crag.text.matching import PERCENT, PLAIN
from crag.text.reasoning.expression import evaluate
from crag.text.reasoning.values import CalendarDate, ExpressionError, Quantity, Value, in_words, read_value

MAX_ANSWER_CHARACTERS = 300
"""Longer answers are sentences."""
LARGEST_SLIP = Fraction(1, 10)
"""How far a model's result may differ from the computed one, as a share; a larger difference means something else."""

_EQUALS = re.compile(
    r"""
    \s{0,9}
    (?<![<>!=])=(?!=)    # not "<=", "!=" or "=="
    \s*
    """,
    re.VERBOSE,
)


class Computation(NamedTuple):
    """The result of a formula, and a sentence for the trace."""

    text: str
    explanation: str


def computed(text: str, today: dt.date | None = None) -> Computation | None:
    """The value of an answer that is a formula with "="; None for other answers.

    A result that the model wrote after "=" is computed again and keeps its unit. Without "=" in front it must be
    roughly right: "2 + 2 = 5" is a title.

    >>> computed("2021 - 1985 = 35 years").text
    '36 years'
    """
    answer = text.strip().rstrip(".").rstrip()
    if len(answer) > MAX_ANSWER_CHARACTERS or "\n" in answer or "=" not in answer:
        return None

    # "= 2 + 3 = 5" gives the formula "2 + 3" and the results ["5"].
    formula, *results = _EQUALS.split(answer.lstrip("= "))
    value = _evaluate_or_none(formula, today)
    if value is None or _is_single_value(formula):
        return None

    value_in_unit = None
    if results:
        model_result = _read_result(results[-1], today)
        value_in_unit = _convert_to_unit_of(model_result, value)
    if value_in_unit is None and not answer.startswith("="):
        return None

    result = in_words(value if value_in_unit is None else value_in_unit)
    return Computation(result, f"computed {formula} = {result}")


def _evaluate_or_none(text: str, today: dt.date | None) -> Value | None:
    try:
        return evaluate(text, today)
    except ExpressionError:
        return None


def _is_single_value(formula: str) -> bool:
    """Whether there is nothing to compute."""
    value = read_value(formula)
    return value is not None and value.end == len(formula)


def _read_result(result: str, today: dt.date | None) -> Value | None:
    """The model's own result; words after the value, as in "35 wins", are ignored."""
    value = _evaluate_or_none(result, today)
    if value is not None:
        return value
    beginning = read_value(result)
    return beginning.value if beginning else None


def _convert_to_unit_of(model_result: Value | None, value: Value) -> Value | None:
    """The computed value in the unit of the model's result; None if the two cannot mean the same."""
    if isinstance(value, CalendarDate) and isinstance(model_result, CalendarDate):
        return value if value.year == model_result.year else None
    if not isinstance(value, Quantity) or not isinstance(model_result, Quantity):
        return None

    for reading in _readings_in_unit_of(model_result, value):
        if abs(reading.number - model_result.number) <= LARGEST_SLIP * abs(reading.number):
            return reading
    return None


def _readings_in_unit_of(model_result: Quantity, value: Quantity) -> list[Quantity]:
    unit = model_result.unit
    if value.unit.dimension == unit.dimension:
        return [value.within(unit)]
    if value.unit is PLAIN and unit is PERCENT:  # "3 / 4 = 75%", "1 + 2 = 3%"
        return [Quantity(value.number, PERCENT), Quantity(value.number * 100, PERCENT)]
    if value.unit is PLAIN:
        return [Quantity(value.number, unit)]
    if unit is PLAIN:
        return [value]
    return []
