"""A small arithmetic language: lark parses it, exact fractions and dates compute it; formulas are never run as code.

A value is a number with its unit or a date (see `read_value`); "5 feet 11 inches" is one quantity.
"""

import datetime as dt
import re
from collections.abc import Iterator
from functools import cache
from typing import cast

from lark import Lark, Token, UnexpectedInput

from crag.text.reasoning.arithmetic import COMPARISONS, LIST_FUNCTIONS, TIME_UNITS, arithmetic
from crag.text.reasoning.values import ExpressionError, Quantity, ReadValue, Value, read_value

MAX_FORMULA_CHARACTERS = 4_000

GRAMMAR = """
?start: sum | sum COMPARISON sum -> compare
?sum: product | sum "+" product -> add | sum "-" product -> subtract
?product: factor | product "*" factor -> multiply | product "/" factor -> divide | product "of" factor -> part
?factor: VALUE -> value | "-" factor -> negative | "(" start ")" | call
?call: UNIT "between" sum "and" sum -> between
    | "difference" "between" sum "and" sum -> difference
    | "ratio" _OPEN sum _SEPARATOR sum ")" -> divide | "ratio" "of" sum "to" sum -> divide
    | "percent" "change" _OPEN sum _SEPARATOR sum ")" -> change | "percent" "change" "from" sum "to" sum -> change
    | "age" _OPEN sum _SEPARATOR sum ")" -> age | "age" "on" sum "born" sum -> age_on
    | LIST _OPEN sum (_SEPARATOR sum)* ")" -> of_list
    | LIST "of"? sum ((_SEPARATOR | _SEPARATOR? "and") sum)+ -> of_list
%declare VALUE COMPARISON UNIT LIST _OPEN _SEPARATOR
"""
"""`_OPEN` is the bracket of a function's arguments, "(" any other one."""

_SYMBOL_NAMES = {
    "+": "PLUS",
    "-": "MINUS",
    "*": "STAR",
    "/": "SLASH",
    "(": "LPAR",
    ")": "RPAR",
    ",": "_SEPARATOR",
    ";": "_SEPARATOR",
}
"""Symbol -> lark's name of it."""
_SYNONYMS = {
    "−": "-", "–": "-", "minus": "-",
    "×": "*", "·": "*", "x": "*", "times": "*",
    "÷": "/",
    "plus": "+",
    "percentage": "percent",
}  # fmt: skip
_FUNCTIONS_WITH_BRACKETS = frozenset({*LIST_FUNCTIONS, "ratio", "change", "age"})

_TOKEN = re.compile(
    r"""
    >= | <= | == | !=
    | [-+*/()<>=,;×÷·−–]
    | [a-z]+
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TODAY = re.compile(r"\btoday\b", re.IGNORECASE)

_COMPOUND_DIMENSIONS = frozenset({"length", "weight", "time", "calendar"})
"""Measures that people write in two units: "5 feet 11 inches"."""


def evaluate(text: str, today: dt.date | None = None) -> Value:
    """The value of a formula; `today` is the meaning of that word.

    Raises ExpressionError: the text is not a formula, or has no value.

    >>> from crag.text.reasoning import in_words
    >>> in_words(evaluate("5 feet 11 inches + 1 inch"))
    '6 feet'
    """
    if len(text) > MAX_FORMULA_CHARACTERS:
        raise ExpressionError(f"a formula has at most {MAX_FORMULA_CHARACTERS:,} characters")
    if today:
        text = _TODAY.sub(str(today), text)

    # Tokens are fed one by one, because a whole date or quantity is a single token.
    parsing = _parser().parse_interactive("")
    try:
        for token in _read_tokens(text):
            parsing.feed_token(token)
        return cast("Value", parsing.feed_eof())  # type: ignore[no-untyped-call]
    except UnexpectedInput as error:
        rest = text[error.pos_in_stream or 0 :]
        raise ExpressionError(f"not a formula from {rest[:20]!r} on") from None


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", transformer=arithmetic)


def _read_tokens(text: str) -> Iterator[Token]:
    """The tokens of a formula; a quantity or a date is one token."""
    position = 0
    brackets: list[bool] = []  # of each open bracket, whether it holds a function's arguments
    previous_word = ""

    while position < len(text):
        if text[position].isspace():
            position += 1
            continue

        reading = _read_value_with_parts(text, position)
        if reading:
            # "sum(1,200)" could be one number or two.
            if reading.grouped and any(brackets):
                raise ExpressionError("does the comma separate thousands or items?")
            yield Token("VALUE", reading.value, start_pos=position)
            position = reading.end
            previous_word = ""
            continue

        match = _TOKEN.match(text, position)
        written = match[0].casefold() if match else text[position]
        word = _SYNONYMS.get(written, written)
        kind = _token_kind(word)
        if word == "(":
            brackets.append(previous_word in _FUNCTIONS_WITH_BRACKETS)
            if brackets[-1]:
                kind = "_OPEN"
        elif word == ")" and brackets:
            brackets.pop()

        yield Token(kind, word, start_pos=position)
        # An unknown character is a token of its own, which the parser refuses.
        position = match.end() if match else position + 1
        previous_word = word


def _token_kind(word: str) -> str:
    """The grammar's name of the token; an unknown word gets a name that the parser refuses."""
    if word in TIME_UNITS:
        return "UNIT"
    if word in LIST_FUNCTIONS:
        return "LIST"
    if word in COMPARISONS:
        return "COMPARISON"
    return _SYMBOL_NAMES.get(word, word.upper())


def _read_value_with_parts(text: str, start: int) -> ReadValue | None:
    """The quantity or date at `start`; a length, weight or time with the smaller unit after it."""
    reading = read_value(text, start)
    if reading is None or not isinstance(reading.value, Quantity):
        return reading
    value = reading.value
    if value.unit.dimension not in _COMPOUND_DIMENSIONS:
        return reading

    rest = text[reading.end :]
    part = read_value(text, len(text) - len(rest.lstrip()))
    if part is None or not isinstance(part.value, Quantity) or part.value.unit.dimension != value.unit.dimension:
        return reading

    total = Quantity(value.number + part.value.within(value.unit).number, value.unit)
    return ReadValue(total, part.end, reading.grouped or part.grouped)
