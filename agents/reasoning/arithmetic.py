"""Arithmetic on quantities and dates; all functions raise only `ExpressionError`."""

import calendar
import datetime as dt
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from agents.matching import DAYS, MONTHS, PERCENT, PLAIN, WEEKS, YEARS, Unit
from agents.reasoning.values import CalendarDate, ExpressionError, Quantity, Value

LARGEST = Fraction(10**30)
"""Larger numbers, and fractions with more digits than its square, are refused."""

COMPARISONS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}


def add(left: Value, right: Value, sign: int = 1) -> Value:
    """The sum, or the difference if `sign` is -1: quantities of one dimension, dates and durations."""
    if isinstance(left, CalendarDate) and isinstance(right, CalendarDate) and sign < 0:
        return Quantity(Fraction((_exact(left) - _exact(right)).days), DAYS)
    if isinstance(left, CalendarDate) and isinstance(right, Quantity):
        return _moved(left, right, sign)
    if isinstance(left, Quantity) and isinstance(right, Quantity) and left.unit.dimension == right.unit.dimension:
        return _checked(Quantity(left.number + sign * right.within(left.unit).number, left.unit))
    raise ExpressionError(f"{_kind(left)} and {_kind(right)} cannot be added or subtracted")


def multiply(left: Value, right: Value) -> Quantity:
    """The product of two values, at most one with a unit; a percentage is a hundredth."""
    one, other = _scalar(left), _scalar(right)
    if one.unit is not PLAIN and other.unit is not PLAIN:
        raise ExpressionError(f"{_kind(left)} and {_kind(right)} cannot be multiplied")
    return _checked(Quantity(one.number * other.number, other.unit if one.unit is PLAIN else one.unit))


def divide(left: Value, right: Value) -> Quantity:
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
    return _checked(Quantity(one / other, unit))


def negative(value: Value) -> Quantity:
    """The negated value."""
    if not isinstance(value, Quantity):
        raise ExpressionError(f"{_kind(value)} has no negative")
    return Quantity(-value.number, value.unit)


def compare(left: Value, symbol: str, right: Value) -> bool:
    """Whether a comparison of `COMPARISONS` holds."""
    return COMPARISONS[symbol](*_comparable(left, right))


def percent_change(before: Value, after: Value) -> Quantity:
    """The change from `before` to `after` in percent of `before`."""
    if isinstance(before, Quantity) and before.number < 0:
        raise ExpressionError("a percent change of a negative number is meaningless")
    share = divide(add(after, before, -1), before)
    return _checked(Quantity(share.number * 100, PERCENT))


def total(values: Sequence[Value]) -> Value:
    """The sum."""
    return functools.reduce(add, values)


def average(values: Sequence[Value]) -> Value:
    """The arithmetic mean."""
    return divide(total(values), Quantity(Fraction(len(values))))


def extreme(values: Sequence[Value], *, largest: bool) -> Value:
    """The largest or smallest value; for dates the latest or earliest."""
    best = values[0]
    for value in values[1:]:
        if compare(value, ">" if largest else "<", best):
            best = value
    return best


def between(unit: Unit, one: Value, other: Value) -> Quantity:
    """Days, weeks (with a fraction), whole months or whole years between two dates, in either order.

    A plain number is a year. If one date is only a year, the years are subtracted.
    """
    first, last = sorted((as_date(one), as_date(other)), key=lambda d: (d.year, d.month or 0, d.day or 0))
    if unit.dimension == DAYS.dimension:
        days = Quantity(Fraction((_exact(last) - _exact(first)).days), DAYS)
        return days.within(unit) if unit in {DAYS, WEEKS} else days
    if first.month is None or last.month is None:
        if unit is not YEARS:
            raise ExpressionError("months cannot be counted between years")
        return Quantity(Fraction(last.year - first.year), YEARS)
    months = (last.year - first.year) * 12 + last.month - first.month
    if first.day is not None and last.day is not None and last.day < first.day:
        months -= 1
    return Quantity(Fraction(months // 12), YEARS) if unit is YEARS else Quantity(Fraction(months), MONTHS)


def age(born: Value, on: Value) -> Quantity:
    """The age in whole years on a date, which must not be before the birth."""
    if compare(as_date(born), ">", as_date(on)):
        raise ExpressionError("nobody has an age before birth")
    return between(YEARS, born, on)


def as_date(value: Value) -> CalendarDate:
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
    try:
        days = duration.size / DAYS.size
        if duration.unit.dimension == DAYS.dimension and days.denominator == 1:
            day = _exact(date) + dt.timedelta(days=int(sign * days))
            return CalendarDate(day.year, day.month, day.day)
        if duration.unit.dimension == MONTHS.dimension and duration.size % (1 if date.month else 12) == 0:
            months = date.year * 12 + (date.month or 1) - 1 + sign * int(duration.size)
            year, month = divmod(months, 12)
            moved = dt.date(year, month + 1, 1)
            last = min(date.day, calendar.monthrange(year, month + 1)[1]) if date.day else None
            return CalendarDate(moved.year, moved.month if date.month else None, last)
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
    """Two values as comparable numbers."""
    if isinstance(left, Quantity) and isinstance(right, Quantity) and left.unit.dimension == right.unit.dimension:
        return left.size, right.size
    if isinstance(left, CalendarDate) or isinstance(right, CalendarDate):
        one, other = as_date(left), as_date(right)
        if one.month is None or other.month is None:
            return Fraction(one.year), Fraction(other.year)
        if one.day is None or other.day is None:
            return Fraction(one.year * 12 + one.month), Fraction(other.year * 12 + other.month)
        return Fraction(_exact(one).toordinal()), Fraction(_exact(other).toordinal())
    raise ExpressionError(f"{_kind(left)} and {_kind(right)} cannot be compared")


def _scalar(value: Value) -> Quantity:
    if not isinstance(value, Quantity):
        raise ExpressionError(f"{_kind(value)} cannot be multiplied or divided")
    return Quantity(value.number / 100) if value.unit is PERCENT else value


def _checked(value: Quantity) -> Quantity:
    if abs(value.number) > LARGEST or value.number.denominator > LARGEST**2:
        raise ExpressionError("the number is too large")
    return value


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "a yes or no"
    if isinstance(value, CalendarDate):
        return "a date"
    return f"a number of {value.unit.name}" if value.unit is not PLAIN else "a plain number"
