"""Arithmetic of quantities and dates: exact fractions, days of the calendar, no floating point."""

import calendar
import datetime as dt
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import cast

from lark import Token, Transformer, v_args

from crag.text.matching import DAYS, MONTHS, PERCENT, PLAIN, WEEKS, YEARS, Unit
from crag.text.reasoning.values import CalendarDate, ExpressionError, Quantity, Value

LARGEST_NUMBER = Fraction(10**30)
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
TIME_UNITS = {"days": DAYS, "weeks": WEEKS, "months": MONTHS, "years": YEARS}
"""Units in which the time between two dates is counted."""
LIST_FUNCTIONS = {
    "sum": "sum",
    "total": "sum",
    "average": "average",
    "mean": "average",
    "max": "max",
    "maximum": "max",
    "min": "min",
    "minimum": "min",
    "count": "count",
}
"""Name of a function of several values -> what it computes."""


@v_args(inline=True)
class Arithmetic(Transformer[Token, Value]):
    """The value of each rule of the grammar, as a function of values; raises only `ExpressionError`.

    >>> from crag.text.reasoning import in_words
    >>> in_words(arithmetic.between("days", CalendarDate(2019, 3, 1), CalendarDate(2020, 2, 11)))
    '347 days'
    """

    def value(self, token: Token) -> Value:
        """The value that the token was read as."""
        return cast("Value", token.value)

    def compare(self, left: Value, symbol: str, right: Value) -> bool:
        """Whether the comparison holds; `symbol` is a key of `COMPARISONS`."""
        return COMPARISONS[str(symbol)](*_comparable_numbers(left, right))

    def add(self, left: Value, right: Value, sign: int = 1) -> Value:
        """The sum: quantities of one dimension, dates and durations. Two dates can only be subtracted."""
        if isinstance(left, CalendarDate) and isinstance(right, CalendarDate) and sign < 0:
            return Quantity(Fraction((_exact_day(left) - _exact_day(right)).days), DAYS)
        if isinstance(left, CalendarDate) and isinstance(right, Quantity):
            return _move_date(left, right, sign)
        if isinstance(left, Quantity) and isinstance(right, Quantity) and _have_same_dimension(left, right):
            # In the unit of the first: "5 feet + 12 inches" is 6 feet.
            return _checked_quantity(left.number + sign * right.within(left.unit).number, left.unit)
        raise ExpressionError(f"{_kind(left)} and {_kind(right)} cannot be added or subtracted")

    def subtract(self, left: Value, right: Value) -> Value:
        """The difference with its sign; see `add`."""
        return self.add(left, right, -1)

    def difference(self, first: Value, second: Value) -> Value:
        """The larger value less the smaller one."""
        if self.compare(first, ">=", second):
            return self.subtract(first, second)
        return self.subtract(second, first)

    def multiply(self, left: Value, right: Value) -> Quantity:
        """The product of two values, at most one with a unit; a percentage is a hundredth."""
        first = _scalar(left)
        second = _scalar(right)
        if first.unit is not PLAIN and second.unit is not PLAIN:
            raise ExpressionError(f"{_kind(left)} and {_kind(right)} cannot be multiplied")

        unit = second.unit if first.unit is PLAIN else first.unit
        return _checked_quantity(first.number * second.number, unit)

    def part(self, share: Value, whole: Value) -> Quantity:
        """A percentage of a quantity: "45% of 200"."""
        if not (isinstance(share, Quantity) and share.unit is PERCENT):
            raise ExpressionError('only a percentage has "of" after it')
        return self.multiply(share, whole)

    def divide(self, left: Value, right: Value) -> Quantity:
        """The quotient by a plain number, or by a quantity of the same dimension, which gives a plain number."""
        if isinstance(left, Quantity) and isinstance(right, Quantity) and _have_same_dimension(left, right):
            # "6 feet / 24 inches" is 3, without a unit.
            dividend = Quantity(left.size)
            divisor = Quantity(right.size)
        else:
            dividend = _scalar(left)
            divisor = _scalar(right)
            if divisor.unit is not PLAIN:
                raise ExpressionError(f"{_kind(left)} cannot be divided by {_kind(right)}")

        if divisor.number == 0:
            raise ExpressionError("division by zero")
        return _checked_quantity(dividend.number / divisor.number, dividend.unit)

    def negative(self, value: Value) -> Quantity:
        """The quantity with the other sign."""
        if not isinstance(value, Quantity):
            raise ExpressionError(f"{_kind(value)} has no negative")
        return Quantity(-value.number, value.unit)

    def change(self, before: Value, after: Value) -> Quantity:
        """The change in percent of `before`."""
        if isinstance(before, Quantity) and before.number < 0:
            raise ExpressionError("a percent change of a negative number is meaningless")
        share = self.divide(self.subtract(after, before), before)
        return _checked_quantity(share.number * 100, PERCENT)

    def of_list(self, name: str, *values: Value) -> Value:
        """The sum, average, maximum, minimum or number of the values; the latest date is the largest."""
        function = LIST_FUNCTIONS[str(name)]
        count = Quantity(Fraction(len(values)))
        if function == "count":
            return count
        if function in {"max", "min"}:
            return self._extreme(">" if function == "max" else "<", values)

        total = reduce(self.add, values)
        return total if function == "sum" else self.divide(total, count)

    def _extreme(self, symbol: str, values: tuple[Value, ...]) -> Value:
        best = values[0]
        for value in values[1:]:
            if self.compare(value, symbol, best):
                best = value
        return best

    def between(self, unit_name: str, first: Value, second: Value) -> Quantity:
        """Days, weeks (with a fraction), whole months or whole years between two dates, in either order.

        A plain number is a year. If one date is only a year, the years are subtracted.
        """
        unit = TIME_UNITS[str(unit_name)]
        earlier, later = sorted((_as_date(first), _as_date(second)), key=_date_order)

        if unit.dimension == DAYS.dimension:
            days = (_exact_day(later) - _exact_day(earlier)).days
            return Quantity(Fraction(days), DAYS).within(unit)

        if earlier.month is None or later.month is None:
            if unit is not YEARS:
                raise ExpressionError("months cannot be counted between years")
            return Quantity(Fraction(later.year - earlier.year), YEARS)

        months = (later.year - earlier.year) * 12 + later.month - earlier.month
        if earlier.day is not None and later.day is not None and later.day < earlier.day:
            months -= 1  # the last month is not complete
        return Quantity(Fraction(months // 12 if unit is YEARS else months), unit)

    def age(self, birth: Value, day: Value) -> Quantity:
        """The age in whole years on a date, which must not be before the birth."""
        if self.compare(_as_date(birth), ">", _as_date(day)):
            raise ExpressionError("nobody has an age before birth")
        return self.between("years", birth, day)

    def age_on(self, day: Value, birth: Value) -> Quantity:
        """The same as `age`, in the order of "age on DAY born BIRTH"."""
        return self.age(birth, day)


arithmetic = Arithmetic()
"""The rules of the grammar as functions of values."""


# --- dates ------------------------------------------------------------------------------------------------------------
def _as_date(value: Value) -> CalendarDate:
    """A date; a plain whole number from 1 to 9999 is a year."""
    if isinstance(value, CalendarDate):
        return value
    if isinstance(value, Quantity) and value.unit is PLAIN and value.number.denominator == 1:
        year = int(value.number)
        if dt.MINYEAR <= year <= dt.MAXYEAR:
            return CalendarDate(year)
    raise ExpressionError(f"{_kind(value)} is not a date")


def _exact_day(date: CalendarDate) -> dt.date:
    if date.exact is None:
        raise ExpressionError(f"{date} is not a day")
    return date.exact


def _date_order(date: CalendarDate) -> tuple[int, int, int]:
    return (date.year, date.month or 0, date.day or 0)


def _move_date(date: CalendarDate, duration: Quantity, sign: int) -> CalendarDate:
    """A date some days, weeks, months or years later or earlier; February 29 becomes February 28."""
    days = duration.size / DAYS.size
    is_whole_days = duration.unit.dimension == DAYS.dimension and days.denominator == 1

    months_needed = 1 if date.month else 12  # a date that is only a year moves by whole years
    is_whole_months = duration.unit.dimension == MONTHS.dimension and duration.size % months_needed == 0

    try:
        if is_whole_days:
            day = _exact_day(date) + dt.timedelta(days=int(sign * days))
            return CalendarDate(day.year, day.month, day.day)
        if is_whole_months:
            return _move_months(date, sign * int(duration.size))
    except ExpressionError:  # a ValueError too, with a clear message
        raise
    except (ValueError, OverflowError) as error:
        raise ExpressionError("the date is out of range") from error
    raise ExpressionError(f"{_kind(duration)} is not a duration that a date can be moved by")


def _move_months(date: CalendarDate, count: int) -> CalendarDate:
    """Raises ValueError, OverflowError: the date is outside the calendar."""
    # Months since year 0, so that whole years carry over by division.
    months = date.year * 12 + (date.month or 1) - 1 + count
    first = dt.date(months // 12, months % 12 + 1, 1)
    if date.month is None:
        return CalendarDate(first.year)
    if date.day is None:
        return CalendarDate(first.year, first.month)

    _, days_in_month = calendar.monthrange(first.year, first.month)
    return CalendarDate(first.year, first.month, min(date.day, days_in_month))


# --- numbers ----------------------------------------------------------------------------------------------------------
def _comparable_numbers(left: Value, right: Value) -> tuple[Fraction, Fraction]:
    """Two values as comparable numbers; two dates by what both know: year, month or day."""
    if isinstance(left, Quantity) and isinstance(right, Quantity) and _have_same_dimension(left, right):
        return left.size, right.size
    if not isinstance(left, CalendarDate) and not isinstance(right, CalendarDate):
        raise ExpressionError(f"{_kind(left)} and {_kind(right)} cannot be compared")

    first = _as_date(left)
    second = _as_date(right)
    has_months = bool(first.month and second.month)
    has_days = has_months and bool(first.day and second.day)
    return _date_number(first, has_months, has_days), _date_number(second, has_months, has_days)


def _date_number(date: CalendarDate, has_months: bool, has_days: bool) -> Fraction:
    """A number that grows with the date; it is not a count of days."""
    number = date.year * 12 * 31
    if has_months:
        number += (date.month or 0) * 31
    if has_days:
        number += date.day or 0
    return Fraction(number)


def _have_same_dimension(left: Quantity, right: Quantity) -> bool:
    return left.unit.dimension == right.unit.dimension


def _scalar(value: Value) -> Quantity:
    """A quantity that can be multiplied; a percentage becomes a plain number."""
    if not isinstance(value, Quantity):
        raise ExpressionError(f"{_kind(value)} cannot be multiplied or divided")
    return Quantity(value.number / 100) if value.unit is PERCENT else value


def _checked_quantity(number: Fraction, unit: Unit) -> Quantity:
    # Sums, products and quotients pass here, so a formula cannot make numbers grow without end.
    if abs(number) > LARGEST_NUMBER or number.denominator > LARGEST_NUMBER**2:
        raise ExpressionError("the number is too large")
    return Quantity(number, unit)


def _kind(value: Value) -> str:
    """The kind of value in an error message."""
    if isinstance(value, bool):
        return "a yes or no"
    if isinstance(value, CalendarDate):
        return "a date"
    return f"a number of {value.unit.name}" if value.unit is not PLAIN else "a plain number"
