"""A small arithmetic language with its own parser; formulas are never executed as code.

    comparison  = sum [(">" | "<" | ">=" | "<=" | "=" | "!=") sum]
    sum         = product {("+" | "-") product}
    product     = factor {("*" | "x" | "/" | "of") factor}        "of" and "percent of" after a percentage
    factor      = "-" factor | value {value} | call | "(" comparison ")"    "5 feet 11 inches" is one quantity
    call        = ("days" | "weeks" | "months" | "years") "between" sum "and" sum
                | "difference between" sum "and" sum | "ratio of" sum "to" sum
                | ("percent" | "percentage") "change from" sum "to" sum | "percent change (from, to)"
                | "age on" sum "born" sum | "age(born, on)"
                | ("min" | "max" | "average" | "sum" | "count") ("(" list ")" | ["of"] list)
    list        = sum {("," | ";" | "and") sum}

`value` is a number with its unit or a date (see `read_value`), or "today" if the caller gives the day.
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from agents.matching import DAYS, MONTHS, PERCENT, WEEKS, YEARS
from agents.reasoning import arithmetic
from agents.reasoning.arithmetic import COMPARISONS
from agents.reasoning.values import CalendarDate, ExpressionError, Quantity, Value, read_value

MOST_CHARACTERS = 4_000
MOST_DEPTH = 20
"""Maximum number of nested brackets, signs and calls."""

_BETWEEN = {"days": DAYS, "weeks": WEEKS, "months": MONTHS, "years": YEARS}
_LISTS: Mapping[str, Callable[[Sequence[Value]], Value]] = {
    "sum": arithmetic.total,
    "total": arithmetic.total,
    "average": arithmetic.average,
    "mean": arithmetic.average,
    "max": lambda values: arithmetic.extreme(values, largest=True),
    "maximum": lambda values: arithmetic.extreme(values, largest=True),
    "min": lambda values: arithmetic.extreme(values, largest=False),
    "minimum": lambda values: arithmetic.extreme(values, largest=False),
    "count": lambda values: Quantity(Fraction(len(values))),
}
_BLANK = re.compile(r"\s*")
_SYMBOL = re.compile(r">=|<=|==|!=|[-+*/()<>=,;×÷·−–]")
_WORD = re.compile(r"[a-z]+", re.IGNORECASE)
_SYNONYMS = {"−": "-", "–": "-", "×": "*", "·": "*", "x": "*", "times": "*", "÷": "/", "plus": "+", "minus": "-"}


def evaluate(text: str, today: dt.date | None = None) -> Value:
    """The value of a formula; `today` is the meaning of that word.

    Raises:
        ExpressionError: the text is not a formula, or has no value.
    """
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(f"a formula has at most {MOST_CHARACTERS:,} characters")
    reader = _Reader(text, today)
    value = reader.comparison()
    reader.end()
    return value


class _Reader:
    """Recursive descent over the text; `_at` is the offset of the unread rest."""

    def __init__(self, text: str, today: dt.date | None) -> None:
        self._text = text
        self._today = today
        self._at = 0
        self._depth = 0
        self._calls_with_brackets = 0

    def end(self) -> None:
        """Check that nothing is left."""
        self._skip()
        if self._at < len(self._text):
            raise self._unexpected("the end")

    def comparison(self) -> Value:
        left = self._sum()
        symbol = self._peek()
        if symbol not in COMPARISONS:
            return left
        self._take(symbol)
        return arithmetic.compare(left, symbol, self._sum())

    def _sum(self) -> Value:
        value = self._product()
        while (symbol := self._peek()) in {"+", "-"}:
            self._take(symbol)
            value = arithmetic.add(value, self._product(), 1 if symbol == "+" else -1)
        return value

    def _product(self) -> Value:
        value = self._factor()
        while (symbol := self._peek()) in {"*", "/", "of"}:
            if symbol == "of" and not (isinstance(value, Quantity) and value.unit is PERCENT):
                break
            self._take(symbol)
            other = self._factor()
            value = arithmetic.divide(value, other) if symbol == "/" else arithmetic.multiply(value, other)
        return value

    def _factor(self) -> Value:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise ExpressionError(f"more than {MOST_DEPTH} parts inside each other")
        try:
            return self._inner_factor()
        finally:
            self._depth -= 1

    def _inner_factor(self) -> Value:
        if self._accept("-"):
            return arithmetic.negative(self._factor())
        if self._accept("("):
            value = self.comparison()
            self._take(")")
            return value
        known = self._value()
        return self._call() if known is None else known

    def _value(self) -> Value | None:
        """The quantity or date at this position, including smaller units after it."""
        self._skip()
        read = read_value(self._text, self._at)
        if read is None:
            return None
        if read.grouped and self._calls_with_brackets:
            raise ExpressionError("does the comma separate thousands or items?")
        self._at = read.end
        value = read.value
        if isinstance(value, Quantity) and value.unit.dimension in {"length", "weight", "time", "calendar"}:
            self._skip()
            more = read_value(self._text, self._at)
            if more and isinstance(more.value, Quantity) and more.value.unit.dimension == value.unit.dimension:
                self._at = more.end
                return arithmetic.add(value, more.value)
        return value

    def _call(self) -> Value:
        word = self._peek()
        if word in _BETWEEN or word == "difference":
            return self._between(word)
        if word in {"percent", "percentage"}:
            self._take(word)
            self._take("change")
            return arithmetic.percent_change(*self._pair("from", "to"))
        if word == "ratio":
            self._take(word)
            return arithmetic.divide(*self._pair("of", "to"))
        if word == "age":
            self._take(word)
            on, born = self._pair("on", "born", reverse_in_brackets=True)
            return arithmetic.age(born, on)
        if word in _LISTS:
            self._take(word)
            return self._list_function(word)
        if word == "today" and self._today is not None:
            self._take(word)
            return CalendarDate(self._today.year, self._today.month, self._today.day)
        raise self._unexpected("a value")

    def _between(self, word: str) -> Value:
        self._take(word)
        self._take("between")
        one = self._sum()
        self._take("and")
        other = self._sum()
        if word in _BETWEEN:
            return arithmetic.between(_BETWEEN[word], one, other)
        larger, smaller = (one, other) if arithmetic.compare(one, ">=", other) else (other, one)
        return arithmetic.add(larger, smaller, -1)

    def _pair(self, first: str, second: str, *, reverse_in_brackets: bool = False) -> tuple[Value, Value]:
        """Two values after two words, or in brackets."""
        if self._accept("("):
            one, other = self._items_in_brackets(exactly=2)
            return (other, one) if reverse_in_brackets else (one, other)
        self._take(first)
        one = self._sum()
        self._take(second)
        return one, self._sum()

    def _list_function(self, word: str) -> Value:
        if self._accept("("):
            return _LISTS[word](self._items_in_brackets())
        self._accept("of")
        items = [self._sum()]
        while self._accept(",") or self._accept(";") or self._peek() == "and":
            self._accept("and")
            items.append(self._sum())
        if len(items) < 2:
            raise ExpressionError(f"{word} of one number")
        return _LISTS[word](items)

    def _items_in_brackets(self, exactly: int | None = None) -> list[Value]:
        """The items up to the closing bracket. "max(100,200)" is refused, since it may have one item or two."""
        self._calls_with_brackets += 1
        items = [self._sum()]
        while not self._accept(")"):
            if not self._accept(";"):
                self._take(",")
            items.append(self._sum())
        self._calls_with_brackets -= 1
        if exactly is not None and len(items) != exactly:
            raise ExpressionError(f"{exactly} values are wanted, not {len(items)}")
        return items

    def _skip(self) -> None:
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at

    def _next(self) -> tuple[str, int]:
        """The next symbol or word in plain form, and its end; empty at the end."""
        self._skip()
        found = _SYMBOL.match(self._text, self._at) or _WORD.match(self._text, self._at)
        token = found.group().casefold() if found else ""
        return _SYNONYMS.get(token, token), found.end() if found else self._at

    def _peek(self) -> str:
        return self._next()[0]

    def _accept(self, token: str) -> bool:
        word, end = self._next()
        if word == token:
            self._at = end
        return word == token

    def _take(self, token: str) -> None:
        if not self._accept(token):
            raise self._unexpected(f'"{token}"')

    def _unexpected(self, wanted: str) -> ExpressionError:
        found = self._text[self._at : self._at + 20] or "the end"
        return ExpressionError(f"expected {wanted}, found {found!r}")
