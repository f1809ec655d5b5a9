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

MOST_CHARACTERS = 300
"""Longer answers are sentences."""
LARGEST_SLIP = Fraction(1, 10)
"""How far a model's result may differ from the computed one, as a share; a larger difference means something else."""

_EQUALS = re.compile(r"\s{0,9}(?<![<>!=])=(?!=)\s*")


class Computation(NamedTuple):
    """The result of a formula, and a sentence for the trace."""

    text: str
    explanation: str


def computed(text: str, today: dt.date | None = None) -> Computation | None:
    """The value of an answer that is a formula with "="; None for other answers.

    A result that the model wrote after "=" is computed again and keeps its unit. Without "=" in front it must be
    roughly right: "2 + 2 = 5" is a title.
    """
    answer = text.strip().rstrip(".").rstrip()
    if len(answer) > MOST_CHARACTERS or "\n" in answer or "=" not in answer:
        return None
    formula, *results = _EQUALS.split(answer.lstrip("= "))
    value, lone = _value_of(formula, today), read_value(formula)
    if value is None or (lone and lone.end == len(formula)):
        return None
    fitting = _as_written(value, _written(results[-1], today)) if results else None
    if fitting is None and not answer.startswith("="):
        return None
    result = in_words(value if fitting is None else fitting)
    return Computation(result, f"computed {formula} = {result}")


def _value_of(text: str, today: dt.date | None) -> Value | None:
    try:
        return evaluate(text, today)
    except ExpressionError:
        return None


def _written(result: str, today: dt.date | None) -> Value | None:
    """The model's own result; words after the value, as in "35 wins", are ignored."""
    value = _value_of(result, today)
    if value is None and (read := read_value(result)):
        return read.value
    return value


def _as_written(value: Value, written: Value | None) -> Value | None:
    """The computed value in the written unit; None if the two cannot mean the same."""
    if isinstance(value, CalendarDate) and isinstance(written, CalendarDate):
        return value if value.year == written.year else None
    if not isinstance(value, Quantity) or not isinstance(written, Quantity):
        return None
    readings = [value]
    if value.unit.dimension == written.unit.dimension:
        readings = [value.within(written.unit)]
    elif value.unit is PLAIN:
        readings = [Quantity(value.number, written.unit)]
        if written.unit is PERCENT:
            readings.append(Quantity(value.number * 100, PERCENT))
    elif written.unit is not PLAIN:
        return None
    near = (one for one in readings if abs(one.number - written.number) <= LARGEST_SLIP * abs(one.number))
    return next(near, None)
