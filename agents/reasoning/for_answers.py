"""Computes an answer that is a formula, such as "2021 - 1985".

Scores ("110-98"), seasons, dates, telephone numbers, measures ("2 x 4 x 6") and titles ("2 + 2 = 5") look like formulas
and stay unchanged. A text is a formula only if it starts with "=", or is followed by a roughly correct result, or has
words such as "days between" or "% of", or consists only of values and spaced operators. It must not look like a score,
a span of years, a mark out of ten, a measure, or the same length in two units.
"""

import datetime as dt
import re
from dataclasses import dataclass
from fractions import Fraction

from agents.matching import PERCENT, PLAIN
from agents.reasoning.expression import evaluate
from agents.reasoning.values import CalendarDate, ExpressionError, Quantity, Value, in_words, read_value

MOST_CHARACTERS = 300
"""Longer answers are sentences."""
LARGEST_SLIP = Fraction(1, 10)
"""How far a model's result may differ from the computed one, as a share; a larger difference means something else."""

_OPERATOR_WORDS = re.compile(
    r"^\W*(?:(?:days|weeks|months|years|difference) between\b|percent(?:age)? change\b|ratio of\b|age(?: on\b|\()"
    r"|(?:sum|total|average|mean|min(?:imum)?|max(?:imum)?|count)(?: of\b|\()"
    r"|[0-9][0-9.,]* ?(?:%|percent|per cent) of\b)",
    re.IGNORECASE,
)
_SPACED_OPERATOR = re.compile(r" [-+*/x×÷−–] ")
_UNSPACED_OPERATOR = re.compile(r"(?<! )[+*×÷/−–]|[+*×÷/−–](?! )|[0-9)]-|-(?=\()|[<>]")
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TWO_PLAIN = re.compile(r"(?P<left>[0-9][0-9.,]*) (?P<operator>[-+−–/]) (?P<right>[0-9][0-9.,]*)")
_ONLY_DIFFERENCES = re.compile(r"[0-9]+(?: [-−–/] [0-9]+){2,}")
_ONE_DIFFERENCE = re.compile(r"[^+*/×÷−–]+? - [^+*/×÷−–]+")
_PRODUCT = re.compile(r" [x×] ")
_SIDES = re.compile(r" ([-−–/÷]) ")
_MEASURES = frozenset({"length", "weight", "time", "calendar"})
_EQUALS = re.compile(r"\s*(?<![<>!=])=(?!=)\s*")
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Computation:
    """The result of a formula: the answer, the formula, and a sentence for the trace."""

    text: str
    expression: str
    explanation: str


def computed(text: str, today: dt.date | None = None) -> Computation | None:
    """The value of an answer that is a formula; None for other answers.

    "2021 - 1985 = 35 years" is such an answer too: the value is recomputed and keeps the written unit.
    """
    formula = text.strip().rstrip(".").rstrip()
    if not formula or len(formula) > MOST_CHARACTERS or "\n" in formula:
        return None
    announced = formula.startswith("=")
    formula, *results = _EQUALS.split(formula.lstrip("= "))
    if not _is_formula(formula, announced=announced or bool(results)):
        return None
    value = _value_of(formula, today)
    if value is None:
        return None
    if not (announced or results) and _is_otherwise_said(formula, value, today):
        return None
    if results:
        fitting = _as_written(value, _written(results[-1], today))
        if fitting is None and not announced:
            return None
        value = value if fitting is None else fitting
    said = in_words(value)
    return Computation(said, formula, f"computed {formula} = {said}")


def _is_formula(text: str, *, announced: bool) -> bool:
    if announced:
        return bool(_OPERATOR_WORDS.search(text) or re.search(r"[-+*/×÷−–<>]| x ", _ISO_DATE.sub("", text).lstrip("-")))
    if _OPERATOR_WORDS.search(text):
        return True
    if not _SPACED_OPERATOR.search(text) or _UNSPACED_OPERATOR.search(_ISO_DATE.sub("date", text)):
        return False
    if _ONLY_DIFFERENCES.fullmatch(text) or _PRODUCT.search(text):
        return False
    two = _TWO_PLAIN.fullmatch(text)
    return two is None or _cannot_be_read_otherwise(two["left"], two["operator"], two["right"])


def _cannot_be_read_otherwise(left: str, operator: str, right: str) -> bool:
    """For two plain numbers only a later year minus an earlier one is surely a difference: "3 - 1" may be a score."""
    return operator not in {"/", "+"} and bool(_YEAR.fullmatch(left) and _YEAR.fullmatch(right)) and left > right


def _is_otherwise_said(formula: str, value: Value, today: dt.date | None) -> bool:
    """Whether values with "-" or "/" between them are a span, or one measure in two units: "6 feet / 183 cm"."""
    if isinstance(value, Quantity) and value.number < 0 and _ONE_DIFFERENCE.fullmatch(formula):
        return True  # "$5 - $10" and "march 1, 2020 - march 5, 2020"
    parts = _SIDES.split(formula)
    sides = [_value_of(side, today) for side in parts[::2]]
    return any(
        isinstance(left, Quantity)
        and isinstance(right, Quantity)
        and left.unit.dimension == right.unit.dimension
        and (left.unit != right.unit or (operator in "/÷" and left.unit.dimension in _MEASURES))
        for left, operator, right in zip(sides, parts[1::2], sides[1:], strict=False)
    )


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
    return next((reading for reading in readings if _about(reading.number, written.number)), None)


def _about(computed_number: Fraction, written_number: Fraction) -> bool:
    return abs(computed_number - written_number) <= LARGEST_SLIP * abs(computed_number)
