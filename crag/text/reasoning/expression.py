"""A small arithmetic language: lark parses it, exact fractions and dates compute it; formulas are never run as code.

A value is a number with its unit or a date (see `read_value`); "5 feet 11 inches" is one quantity.
"""

import calendar
import datetime as dt
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, reduce
from typing import cast

from lark import Lark, Token, Transformer, UnexpectedInput, v_args

from crag.text.matching import DAYS, MONTHS, PERCENT, PLAIN, WEEKS, YEARS, Unit
from crag.text.reasoning.values import CalendarDate, ExpressionError, Quantity, ReadValue, Value, read_value

MOST_CHARACTERS = 4_000
LARGEST = Fraction(10**30)
"""Larger numbers, and fractions with more digits than its square, are refused."""

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
_COMPARISONS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le,
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_UNITS = {"days": DAYS, "weeks": WEEKS, "months": MONTHS, "years": YEARS}
_LISTS = {
    "sum": "sum", "total": "sum", "average": "average", "mean": "average", "max": "max", "maximum": "max",
    "min": "min", "minimum": "min", "count": "count",
}  # fmt: skip
_SYMBOLS = {"+": "PLUS", "-": "MINUS", "*": "STAR", "/": "SLASH", "(": "LPAR", ")": "RPAR"} | dict.fromkeys(
    ",;", "_SEPARATOR"
)
"""Symbol -> lark's name of it."""
_SYNONYMS = {
    "−": "-", "–": "-", "×": "*", "·": "*", "x": "*", "times": "*", "÷": "/", "plus": "+", "minus": "-",
    "percentage": "percent",
}  # fmt: skip
_TOKEN = re.compile(r">=|<=|==|!=|[-+*/()<>=,;×÷·−–]|[a-z]+", re.IGNORECASE)
_TODAY = re.compile(r"\btoday\b", re.IGNORECASE)
_SPLIT_MEASURES = frozenset({"length", "weight", "time", "calendar"})


def evaluate(text: str, today: dt.date | None = None) -> Value:
    """The value of a formula; `today` is the meaning of that word.
    Raises ExpressionError: the text is not a formula, or has no value.
    """
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(f"a formula has at most {MOST_CHARACTERS:,} characters")
    text = _TODAY.sub(str(today), text) if today else text
    parsing = _parser().parse_interactive("")
    try:
        for token in _tokens(text):
            parsing.feed_token(token)
        return cast("Value", parsing.feed_eof())  # type: ignore[no-untyped-call]
    except UnexpectedInput as error:
        raise ExpressionError(f"not a formula from {text[error.pos_in_stream or 0 :][:20]!r} on") from None


def _tokens(text: str) -> Iterator[Token]:
    at, brackets, before = 0, list[bool](), ""
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if read := _value_at(text, at):
            if read.grouped and any(brackets):
                raise ExpressionError("does the comma separate thousands or items?")
            yield Token("VALUE", read.value, start_pos=at)
            at, before = read.end, ""
            continue
        found = _TOKEN.match(text, at)
        word = found[0].casefold() if found else text[at]
        word = _SYNONYMS.get(word, word)
        kind = _SYMBOLS.get(word, "COMPARISON" if word in _COMPARISONS else word.upper())
        kind = "UNIT" if word in _UNITS else "LIST" if word in _LISTS else kind
        if word == "(":
            brackets.append(before in _LISTS or before in {"ratio", "change", "age"})
            kind = "_OPEN" if brackets[-1] else kind
        elif word == ")" and brackets:
            brackets.pop()
        yield Token(kind, word, start_pos=at)
        at, before = found.end() if found else at + 1, word


def _value_at(text: str, start: int) -> ReadValue | None:
    """The quantity or date there; a length, weight or time with the smaller units after it."""
    read = read_value(text, start)
    if read is None or not isinstance(read.value, Quantity) or read.value.unit.dimension not in _SPLIT_MEASURES:
        return read
    value, rest = read.value, text[read.end :]
    more = read_value(text, len(text) - len(rest.lstrip()))
    if more and isinstance(more.value, Quantity) and more.value.unit.dimension == value.unit.dimension:
        whole = Quantity(value.number + more.value.within(value.unit).number, value.unit)
        return ReadValue(whole, more.end, read.grouped or more.grouped)
    return read


@v_args(inline=True)
class _Arithmetic(Transformer[Token, Value]):
    """The value of each rule of the grammar; raises only `ExpressionError`."""

    def value(self, token: Token) -> Value:
        return cast("Value", token.value)

    def compare(self, left: Value, symbol: str, right: Value) -> bool:
        return _COMPARISONS[str(symbol)](*_comparable(left, right))

    def add(self, left: Value, right: Value, sign: int = 1) -> Value:
        """The sum: quantities of one dimension, dates and durations. Two dates can only be subtracted."""
        if isinstance(left, CalendarDate) and isinstance(right, CalendarDate) and sign < 0:
            return Quantity(Fraction((_exact(left) - _exact(right)).days), DAYS)
        if isinstance(left, CalendarDate) and isinstance(right, Quantity):
            return _moved(left, right, sign)
        if isinstance(left, Quantity) and isinstance(right, Quantity) and left.unit.dimension == right.unit.dimension:
            return _checked(left.number + sign * right.within(left.unit).number, left.unit)
        raise ExpressionError(f"{_kind(left)} and {_kind(right)} cannot be added or subtracted")

    def subtract(self, left: Value, right: Value) -> Value:
        return self.add(left, right, -1)

    def difference(self, one: Value, other: Value) -> Value:
        """The larger value less the smaller one."""
        return self.subtract(one, other) if self.compare(one, ">=", other) else self.subtract(other, one)

    def multiply(self, left: Value, right: Value) -> Quantity:
        """The product of two values, at most one with a unit; a percentage is a hundredth."""
        one, other = _scalar(left), _scalar(right)
        if one.unit is not PLAIN and other.unit is not PLAIN:
            raise ExpressionError(f"{_kind(left)} and {_kind(right)} cannot be multiplied")
        return _checked(one.number * other.number, other.unit if one.unit is PLAIN else one.unit)

    def part(self, share: Value, whole: Value) -> Quantity:
        if not (isinstance(share, Quantity) and share.unit is PERCENT):
            raise ExpressionError('only a percentage has "of" after it')
        return self.multiply(share, whole)

    def divide(self, left: Value, right: Value) -> Quantity:
        """The quotient by a plain number, or by a quantity of the same dimension, which gives a plain number."""
        if isinstance(left, Quantity) and isinstance(right, Quantity) and left.unit.dimension == right.unit.dimension:
            one, other, unit = left.size, right.size, PLAIN
        else:
            dividend, divisor = _scalar(left), _scalar(right)
            if divisor.unit is not PLAIN:
                raise ExpressionError(f"{_kind(left)} cannot be divided by {_kind(right)}")
            one, other, unit = dividend.number, divisor.number, dividend.unit
        if other == 0:
            raise ExpressionError("division by zero")
        return _checked(one / other, unit)

    def negative(self, value: Value) -> Quantity:
        if not isinstance(value, Quantity):
            raise ExpressionError(f"{_kind(value)} has no negative")
        return Quantity(-value.number, value.unit)

    def change(self, before: Value, after: Value) -> Quantity:
        """The change in percent of `before`."""
        if isinstance(before, Quantity) and before.number < 0:
            raise ExpressionError("a percent change of a negative number is meaningless")
        return _checked(self.divide(self.subtract(after, before), before).number * 100, PERCENT)

    def of_list(self, name: str, *values: Value) -> Value:
        """The sum, average, maximum, minimum or number of the values; the latest date is the largest."""
        match _LISTS[str(name)]:
            case "count":
                return Quantity(Fraction(len(values)))
            case "max" | "min" as kind:
                symbol = ">" if kind == "max" else "<"
                return reduce(lambda best, value: value if self.compare(value, symbol, best) else best, values)
            case kind:
                total = reduce(self.add, values)
                return total if kind == "sum" else self.divide(total, Quantity(Fraction(len(values))))

    def between(self, word: str, one: Value, other: Value) -> Quantity:
        """Days, weeks (with a fraction), whole months or whole years between two dates, in either order.

        A plain number is a year. If one date is only a year, the years are subtracted.
        """
        unit = _UNITS[str(word)]
        first, last = sorted((_as_date(one), _as_date(other)), key=lambda d: (d.year, d.month or 0, d.day or 0))
        if unit.dimension == DAYS.dimension:
            return Quantity(Fraction((_exact(last) - _exact(first)).days), DAYS).within(unit)
        if first.month is None or last.month is None:
            if unit is not YEARS:
                raise ExpressionError("months cannot be counted between years")
            return Quantity(Fraction(last.year - first.year), YEARS)
        months = (last.year - first.year) * 12 + last.month - first.month
        if first.day is not None and last.day is not None and last.day < first.day:
            months -= 1
        return Quantity(Fraction(months // 12 if unit is YEARS else months), unit)

    def age(self, born: Value, on: Value) -> Quantity:
        """The age in whole years on a date, which must not be before the birth."""
        if self.compare(_as_date(born), ">", _as_date(on)):
            raise ExpressionError("nobody has an age before birth")
        return self.between("years", born, on)

    def age_on(self, on: Value, born: Value) -> Quantity:
        return self.age(born, on)


arithmetic = _Arithmetic()
"""The rules of the grammar as functions of values."""


@cache
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", transformer=arithmetic)


def _as_date(value: Value) -> CalendarDate:
    """A date; a plain whole number from 1 to 9999 is a year."""
    if isinstance(value, CalendarDate):
        return value
    if isinstance(value, Quantity) and value.unit is PLAIN and value.number.denominator == 1:
        year = int(value.number)
        if dt.MINYEAR <= year <= dt.MAXYEAR:
            return CalendarDate(year)
    raise ExpressionError(f"{_kind(value)} is no date")


def _moved(date: CalendarDate, duration: Quantity, sign: int) -> CalendarDate:
    """A date some days, weeks, months or years later or earlier; February 29 becomes February 28."""
    days = duration.size / DAYS.size
    try:
        if duration.unit.dimension == DAYS.dimension and days.denominator == 1:
            day = _exact(date) + dt.timedelta(days=int(sign * days))
            return CalendarDate(day.year, day.month, day.day)
        if duration.unit.dimension == MONTHS.dimension and duration.size % (1 if date.month else 12) == 0:
            months = date.year * 12 + (date.month or 1) - 1 + sign * int(duration.size)
            first = dt.date(months // 12, months % 12 + 1, 1)
            last = min(date.day, calendar.monthrange(first.year, first.month)[1]) if date.day else None
            return CalendarDate(first.year, first.month if date.month else None, last)
    except ExpressionError:  # a ValueError too, with a clear message
        raise
    except (ValueError, OverflowError) as error:
        raise ExpressionError("the date is out of range") from error
    raise ExpressionError(f"{_kind(duration)} is no duration that a date can be moved by")


def _exact(date: CalendarDate) -> dt.date:
    if date.exact is None:
        raise ExpressionError(f"{date} is no day")
    return date.exact


def _comparable(left: Value, right: Value) -> tuple[Fraction, Fraction]:
    """Two values as comparable numbers; two dates by what both know: year, month or day."""
    if isinstance(left, Quantity) and isinstance(right, Quantity) and left.unit.dimension == right.unit.dimension:
        return left.size, right.size
    if not isinstance(left, CalendarDate) and not isinstance(right, CalendarDate):
        raise ExpressionError(f"{_kind(left)} and {_kind(right)} cannot be compared")
    one, other = _as_date(left), _as_date(right)
    months, days = one.month and other.month, one.day and other.day
    first, second = (
        Fraction(date.year * 372 + (date.month or 0) * 31 * bool(months) + (date.day or 0) * bool(months and days))
        for date in (one, other)
    )
    return first, second


def _scalar(value: Value) -> Quantity:
    if not isinstance(value, Quantity):
        raise ExpressionError(f"{_kind(value)} cannot be multiplied or divided")
    return Quantity(value.number / 100) if value.unit is PERCENT else value


def _checked(number: Fraction, unit: Unit) -> Quantity:
    if abs(number) > LARGEST or number.denominator > LARGEST**2:
        raise ExpressionError("the number is too large")
    return Quantity(number, unit)


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "a yes or no"
    if isinstance(value, CalendarDate):
        return "a date"
    return f"a number of {value.unit.name}" if value.unit is not PLAIN else "a plain number"
