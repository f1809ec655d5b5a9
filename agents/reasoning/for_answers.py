"""A model that wrote a formula meant its value: "2021 - 1985" is an answer only after somebody has worked it out.

Scores ("110-98"), seasons, dates, telephone numbers and titles look like formulas. They are left alone: a text is a
formula only where it begins with "=", or has words such as "days between" or "% of", or consists of nothing but values
with operators between blanks, and cannot be a score, a span of years or a mark out of ten.
"""

import datetime as dt
import re
from dataclasses import dataclass

from agents.reasoning.arithmetic import Value
from agents.reasoning.errors import ExpressionError
from agents.reasoning.expression import evaluate
from agents.reasoning.quantities import PLAIN, Quantity
from agents.reasoning.words import in_words

MOST_CHARACTERS = 300
"""Longer answers are sentences."""

_OPERATOR_WORDS = re.compile(
    r"^\W*(?:(?:days|weeks|months|years|difference) between\b|percent(?:age)? change\b|ratio of\b|age(?: on\b|\()"
    r"|(?:sum|total|average|mean|min(?:imum)?|max(?:imum)?|count)(?: of\b|\()"
    r"|[0-9][0-9.,]* ?(?:%|percent|per cent) of\b)",
    re.IGNORECASE,
)
_SPACED_OPERATOR = re.compile(r" [-+*/x×÷−–] ")
_UNSPACED_OPERATOR = re.compile(r"(?<! )[+*×÷/−–]|[+*×÷/−–](?! )|[0-9)]-|-(?=\()|[<>]")
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TWO_PLAIN = re.compile(r"(?P<left>[0-9][0-9.,]*) (?P<operator>[-−–/x]) (?P<right>[0-9][0-9.,]*)")
_ONLY_DIFFERENCES = re.compile(r"[0-9]+(?: [-−–/] [0-9]+){2,}")
_ONE_DIFFERENCE = re.compile(r"[^+*/×÷−–]+? - [^+*/×÷−–]+")
_RESULT = re.compile(r"(?P<formula>.*\S) = (?P<result>[^=]+)")
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Computation:
    """What a formula came to: the answer, the formula that gave it, and a sentence for the trace."""

    text: str
    expression: str
    explanation: str


def computed(text: str, today: dt.date | None = None) -> Computation | None:
    """The value of an answer that is a formula; None for every other answer.

    "2021 - 1985 = 35 years" is such an answer too: the value is worked out anew and keeps the unit that was written.
    """
    formula = text.strip().rstrip(".").rstrip()
    if not formula or len(formula) > MOST_CHARACTERS or "\n" in formula:
        return None
    announced = formula.startswith("=")
    formula = formula.lstrip("= ")
    unit = ""
    if with_result := _RESULT.fullmatch(formula):
        formula, announced, unit = with_result["formula"], True, _unit_of(with_result["result"], today)
    if not _is_formula(formula, announced=announced):
        return None
    try:
        value = evaluate(formula, today)
    except ExpressionError:
        return None
    if not announced and isinstance(value, Quantity) and value.number < 0 and _ONE_DIFFERENCE.fullmatch(formula):
        return None  # "$5 - $10" and "march 1, 2020 - march 5, 2020" are spans
    said = in_words(value)
    if unit and isinstance(value, Quantity) and value.unit is PLAIN:
        said = f"{said} {unit}"
    return Computation(said, formula, f"computed {formula} = {said}")


def _is_formula(text: str, *, announced: bool) -> bool:
    if announced:
        return bool(_OPERATOR_WORDS.search(text) or re.search(r"[-+*/×÷−–<>]| x ", _ISO_DATE.sub("", text).lstrip("-")))
    if _OPERATOR_WORDS.search(text):
        return True
    if not _SPACED_OPERATOR.search(text) or _UNSPACED_OPERATOR.search(_ISO_DATE.sub("date", text)):
        return False
    if _ONLY_DIFFERENCES.fullmatch(text):
        return False
    two = _TWO_PLAIN.fullmatch(text)
    return two is None or _cannot_be_read_otherwise(two["left"], two["operator"], two["right"])


def _cannot_be_read_otherwise(left: str, operator: str, right: str) -> bool:
    """Of two plain numbers only a later year minus an earlier one is a difference for sure: "3 - 1" may be a score."""
    return operator not in {"/", "x"} and bool(_YEAR.fullmatch(left) and _YEAR.fullmatch(right)) and left > right


def _unit_of(result: str, today: dt.date | None) -> str:
    """The unit of the result that the model wrote itself, in its words."""
    value: Value
    try:
        value = evaluate(result, today)
    except ExpressionError:
        return ""
    return value.unit.name if isinstance(value, Quantity) else ""
