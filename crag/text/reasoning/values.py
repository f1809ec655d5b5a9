"""Reads and writes quantities and dates. Numbers are exact fractions, rounded only when written."""

import datetime as dt
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

from crag.text.matching import CURRENCIES, MAGNITUDES, MONTH, PERCENT, PLAIN, UNITS, Unit, month_number

MOST_DIGITS = 30
"""Longer numbers are not quantities."""
SMALLEST_GROUPED = 10_000
"""Smaller whole numbers get no thousands separator: they may be years."""

_CENT = Fraction(1, 100)
_SINGULARS = {"feet": "foot", "inches": "inch", "centuries": "century"}
_NUMBER = re.compile(
    r"(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
    r"(?P<magnitude>[ -]?(?:thousand|million|billion|trillion)\b)?",
    re.IGNORECASE,
)
_SHORT_MAGNITUDE = re.compile(r" ?(?:k|mn|m|bn|b)\b", re.IGNORECASE)
_UNIT = re.compile(
    r"[ -]?(?:" + "|".join(f"(?P<u{place}>{words})" for place, (words, _) in enumerate(UNITS)) + ")", re.IGNORECASE
)
_ISO_SHAPE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?![0-9-])",
        MONTH + r" (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,? (?P<year>[0-9]{4})\b",
        r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?: of)? " + MONTH + r",? (?P<year>[0-9]{4})\b",
        MONTH + r",? (?P<year>[0-9]{4})\b",
    )
)


class ExpressionError(ValueError):
    """A formula that has no value; the message says why."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit."""

    number: Fraction
    unit: Unit = PLAIN

    @property
    def size(self) -> Fraction:
        """The number in the base unit of its dimension."""
        return self.number * self.unit.size

    def within(self, unit: Unit) -> "Quantity":
        """The quantity in another unit of the same dimension."""
        return Quantity(self.size / unit.size, unit)


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A day, or a whole month (`day` is None), or a whole year (`month` is None too)."""

    year: int
    month: int | None = None
    day: int | None = None

    @property
    def exact(self) -> dt.date | None:
        """The day, if it is exact."""
        return dt.date(self.year, self.month, self.day) if self.month and self.day else None

    def __str__(self) -> str:
        parts = [f"{self.year:04}", *(f"{part:02}" for part in (self.month, self.day) if part is not None)]
        return "-".join(parts)


Value = Quantity | CalendarDate | bool
"""The value of a formula; a bool is "yes" or "no"."""


@dataclass(frozen=True, slots=True)
class ReadValue:
    """A value in a text that ends at offset `end`; `grouped`: it has thousands separators."""

    value: Quantity | CalendarDate
    end: int
    grouped: bool = False


def read_value(text: str, start: int = 0) -> ReadValue | None:
    """The longest quantity or date that starts at `start`, or None."""
    return _read_date(text, start) or _read_quantity(text, start)


def _read_date(text: str, start: int) -> ReadValue | None:
    for pattern in _DATES:
        found = pattern.match(text, start)
        if found is None:
            continue
        parts = found.groupdict()
        month, day = month_number(parts["month"]), int(parts["day"]) if parts.get("day") else None
        try:
            dt.date(int(parts["year"]), month, day or 1)
        except ValueError:
            continue
        return ReadValue(CalendarDate(int(parts["year"]), month, day), found.end())
    return None


def _read_quantity(text: str, start: int) -> ReadValue | None:
    if _ISO_SHAPE.match(text, start):  # a day that does not exist
        return None
    currency = CURRENCIES.get(text[start : start + 1])
    found = _NUMBER.match(text, start + (1 if currency else 0))
    if found is None or len(found["digits"]) > MOST_DIGITS:
        return None
    number, end = Fraction(found["digits"].replace(",", "")), found.end()
    magnitude = (found["magnitude"] or "").strip(" -").casefold()
    if currency is not None and not magnitude and (short := _SHORT_MAGNITUDE.match(text, end)):
        magnitude, end = short.group().strip().casefold(), short.end()
    number *= Fraction(MAGNITUDES.get(magnitude, 1))
    unit = currency or PLAIN
    if currency is None and (named := _UNIT.match(text, end)) and named.lastgroup:
        unit, end = UNITS[int(named.lastgroup[1:])][1], named.end()
    if text[end : end + 1].isalnum():  # "7th", "3d": the beginning of a word, not a number
        return None
    return ReadValue(Quantity(number, unit), end, grouped="," in found["digits"])


def in_words(value: Value) -> str:
    """The value as an answer: "yes", "2019-03-01", "$1,250.50", "12.5%", "3 days" or "0.0341"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, CalendarDate):
        return str(value)
    unit = value.unit
    if unit in CURRENCIES.values():
        return f"{'-' if value.number < 0 else ''}{unit.name}{_money(abs(value.number))}"
    digits = _shortened(value.number)
    if unit is PERCENT:
        return f"{digits}%"
    name = _SINGULARS.get(unit.name, unit.name.removesuffix("s")) if digits == "1" else unit.name
    return f"{digits} {name}".strip()


def _money(amount: Fraction) -> str:
    """Two decimals; less than a cent (the price of some shares) like any small number."""
    if 0 < amount < _CENT:
        return _shortened(amount)
    return _digits(amount, 0 if amount.denominator == 1 else 2, group=True)


def _shortened(number: Fraction) -> str:
    """Two decimals, or four digits of a number below 1, without trailing zeros."""
    group = abs(number) >= SMALLEST_GROUPED
    if number.denominator == 1:
        return _digits(number, 0, group=group)
    decimals = 2
    while decimals < 12 and abs(number) * 10**decimals < 1_000 and abs(number) < 1:
        decimals += 1
    return _digits(number, decimals, group=group).rstrip("0").rstrip(".")


def _digits(number: Fraction, decimals: int, *, group: bool) -> str:
    with localcontext(prec=60):
        exact = Decimal(number.numerator) / Decimal(number.denominator)
        rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{rounded:,f}" if group else f"{rounded:f}"
