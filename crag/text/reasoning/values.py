"""Reads and writes quantities and dates. Numbers are exact fractions, rounded only when written."""

import datetime as dt
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

from crag.text.matching import CURRENCIES, MAGNITUDES, MONTH_GROUP, PERCENT, PLAIN, UNITS, Unit, month_number

MAX_DIGITS = 30
"""Longer numbers are not quantities."""
SMALLEST_GROUPED = 10_000
"""Smaller whole numbers get no thousands separator: they may be years."""
MAX_DECIMALS = 12
"""Of a number close to zero; others have two."""

_CENT = Fraction(1, 100)
_SINGULARS = {"feet": "foot", "inches": "inch", "centuries": "century"}

_NUMBER = re.compile(
    r"""
    (?P<digits>
        [0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?    # "1,234.5"; not "1,2345"
      | [0-9]+(?:\.[0-9]+)?
      | \.[0-9]+
    )
    (?P<magnitude>[ -]?(?:thousand|million|billion|trillion)\b)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SHORT_MAGNITUDE = re.compile(r" ?(?:k|mn|m|bn|b)\b", re.IGNORECASE)
"""Only after a currency: "5m" alone can be metres."""

# One group for each unit: `u0` for the first in `UNITS`, and so on.
_UNIT = re.compile(
    r"[ -]?(?:" + "|".join(f"(?P<u{index}>{spellings})" for index, (spellings, _) in enumerate(UNITS)) + ")",
    re.IGNORECASE,
)

_ISO_SHAPE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATES = (
    # 2019-03-01; not a part of 2019-03-01-05
    re.compile(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?![0-9-])"),
    # March 1st, 2019
    re.compile(MONTH_GROUP + r" (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,? (?P<year>[0-9]{4})\b", re.IGNORECASE),
    # 1st of March 2019
    re.compile(
        r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?: of)? " + MONTH_GROUP + r",? (?P<year>[0-9]{4})\b", re.IGNORECASE
    ),
    # March 2019; not March alone
    re.compile(MONTH_GROUP + r",? (?P<year>[0-9]{4})\b", re.IGNORECASE),
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
        text = f"{self.year:04}"
        for part in (self.month, self.day):
            if part is not None:
                text += f"-{part:02}"
        return text


Value = Quantity | CalendarDate | bool
"""The value of a formula; a bool is "yes" or "no"."""


@dataclass(frozen=True, slots=True)
class ReadValue:
    """A value in a text that ends at offset `end`; `grouped`: it has thousands separators."""

    value: Quantity | CalendarDate
    end: int
    grouped: bool = False


# --- reading ----------------------------------------------------------------------------------------------------------
def read_value(text: str, start: int = 0) -> ReadValue | None:
    """The longest quantity or date that starts at `start`, or None.

    >>> in_words(read_value("$1.5bn in all").value)
    '$1,500,000,000'
    """
    return _read_date(text, start) or _read_quantity(text, start)


def _read_date(text: str, start: int) -> ReadValue | None:
    for pattern in _DATES:
        match = pattern.match(text, start)
        if match is None:
            continue

        groups = match.groupdict()
        year = int(groups["year"])
        month = month_number(groups["month"])
        day = int(groups["day"]) if groups.get("day") else None
        try:
            dt.date(year, month, day or 1)
        except ValueError:
            continue
        return ReadValue(CalendarDate(year, month, day), match.end())
    return None


def _read_quantity(text: str, start: int) -> ReadValue | None:
    if _ISO_SHAPE.match(text, start):  # a day that does not exist
        return None

    currency = CURRENCIES.get(text[start : start + 1])
    match = _NUMBER.match(text, start + (1 if currency else 0))
    if match is None or len(match["digits"]) > MAX_DIGITS:
        return None
    number = Fraction(match["digits"].replace(",", ""))
    end = match.end()

    magnitude = (match["magnitude"] or "").strip(" -").casefold()
    if currency is not None and not magnitude:
        # "$5m" and "$1.5bn"
        short = _SHORT_MAGNITUDE.match(text, end)
        if short:
            magnitude = short.group().strip().casefold()
            end = short.end()
    number *= Fraction(MAGNITUDES.get(magnitude, 1))

    unit = currency or PLAIN
    unit_match = _UNIT.match(text, end) if currency is None else None
    if unit_match and unit_match.lastgroup:
        index = int(unit_match.lastgroup.removeprefix("u"))
        _, unit = UNITS[index]
        end = unit_match.end()

    if text[end : end + 1].isalnum():  # "7th", "3d": the beginning of a word, not a number
        return None
    return ReadValue(Quantity(number, unit), end, grouped="," in match["digits"])


# --- writing ----------------------------------------------------------------------------------------------------------
def in_words(value: Value) -> str:
    """The value as an answer: "yes", "2019-03-01", "$1,250.50", "12.5%", "3 days" or "0.0341"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, CalendarDate):
        return str(value)

    unit = value.unit
    if unit in CURRENCIES.values():
        sign = "-" if value.number < 0 else ""
        return f"{sign}{unit.name}{_write_money(abs(value.number))}"

    digits = _write_short(value.number)
    if unit is PERCENT:
        return f"{digits}%"

    name = unit.name
    if digits == "1":
        name = _SINGULARS.get(name, name.removesuffix("s"))
    return f"{digits} {name}".strip()


def _write_money(amount: Fraction) -> str:
    """Two decimals; less than a cent (the price of some shares) like any small number."""
    if 0 < amount < _CENT:
        return _write_short(amount)
    decimals = 0 if amount.denominator == 1 else 2
    return _write_rounded(amount, decimals, group=True)


def _write_short(number: Fraction) -> str:
    """Two decimals, or four digits of a number below 1, without trailing zeros."""
    group = abs(number) >= SMALLEST_GROUPED
    if number.denominator == 1:
        return _write_rounded(number, 0, group=group)

    decimals = 2
    while decimals < MAX_DECIMALS and abs(number) * 10**decimals < 1_000 and abs(number) < 1:
        decimals += 1
    return _write_rounded(number, decimals, group=group).rstrip("0").rstrip(".")


def _write_rounded(number: Fraction, decimals: int, *, group: bool) -> str:
    # `quantize` fails if a result has more digits than the context.
    with localcontext(prec=60):
        exact = Decimal(number.numerator) / Decimal(number.denominator)
        rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{rounded:,f}" if group else f"{rounded:f}"
