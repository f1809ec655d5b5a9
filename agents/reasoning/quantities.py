"""Values as texts write them: numbers, money, percentages, lengths, weights, durations and dates.

Numbers are exact fractions, so that nothing is lost before the answer is rounded once, when it is said.
"""

import datetime as dt
import re
from dataclasses import dataclass
from fractions import Fraction

MOST_DIGITS = 30
"""Longer numbers are no quantities that a question asks about."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: what it is called after a number, what it measures, and its size in the base unit of that dimension.

    Units of one dimension convert into each other: feet into metres, weeks into days. Months and years do not become
    days, since not all are equally long, and each currency is a dimension of its own.
    """

    name: str
    dimension: str
    size: Fraction = Fraction(1)


PLAIN = Unit("", "plain")
PERCENT = Unit("%", "percent")
DAYS = Unit("days", "time", Fraction(86_400))
WEEKS = Unit("weeks", "time", Fraction(7 * 86_400))
MONTHS = Unit("months", "calendar")
YEARS = Unit("years", "calendar", Fraction(12))
CURRENCIES = {symbol: Unit(symbol, f"money in {symbol}") for symbol in "$£€¥₹"}

_UNITS: tuple[tuple[str, Unit], ...] = (
    (r"%|percent\b|per cent\b", PERCENT),
    (r"us dollars?\b|dollars?\b|usd\b", CURRENCIES["$"]),
    (r"euros?\b|eur\b", CURRENCIES["€"]),
    (r"seconds?\b|secs?\b", Unit("seconds", "time")),
    (r"minutes?\b|mins?\b", Unit("minutes", "time", Fraction(60))),
    (r"hours?\b|hrs?\b", Unit("hours", "time", Fraction(3_600))),
    (r"days?\b", DAYS),
    (r"weeks?\b", WEEKS),
    (r"months?\b", MONTHS),
    (r"years?\b", YEARS),
    (r"decades?\b", Unit("decades", "calendar", Fraction(120))),
    (r"centur(?:y|ies)\b", Unit("centuries", "calendar", Fraction(1_200))),
    (r"millimet(?:er|re)s?\b|mm\b", Unit("mm", "length", Fraction(1, 1_000))),
    (r"centimet(?:er|re)s?\b|cm\b", Unit("cm", "length", Fraction(1, 100))),
    (r"kilomet(?:er|re)s?\b|km\b", Unit("km", "length", Fraction(1_000))),
    (r"met(?:er|re)s?\b|m\b", Unit("m", "length")),
    (r"inch(?:es)?\b", Unit("inches", "length", Fraction(254, 10_000))),
    (r"feet\b|foot\b|ft\b", Unit("feet", "length", Fraction(3_048, 10_000))),
    (r"yards?\b|yds?\b", Unit("yards", "length", Fraction(9_144, 10_000))),
    (r"miles?\b|mi\b", Unit("miles", "length", Fraction(1_609_344, 1_000))),
    (r"milligrams?\b|mg\b", Unit("mg", "weight", Fraction(1, 1_000_000))),
    (r"kilograms?\b|kilos?\b|kg\b", Unit("kg", "weight")),
    (r"grams?\b|g\b", Unit("g", "weight", Fraction(1, 1_000))),
    (r"tonnes?\b|metric tons?\b", Unit("tonnes", "weight", Fraction(1_000))),
    (r"pounds?\b|lbs?\b", Unit("pounds", "weight", Fraction(45_359_237, 100_000_000))),
    (r"ounces?\b|oz\b", Unit("ounces", "weight", Fraction(45_359_237, 1_600_000_000))),
)
"""International units; the sizes of foot, mile and pound are those of the 1959 agreement, and exact."""

_MAGNITUDES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "k": 3, "m": 6, "mn": 6, "bn": 9, "b": 9}
_NUMBER = re.compile(
    r"(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
    r"(?P<magnitude>[ -]?(?:thousand|million|billion|trillion)\b)?",
    re.IGNORECASE,
)
_SHORT_MAGNITUDE = re.compile(r" ?(?:k|mn|m|bn|b)\b", re.IGNORECASE)
_UNIT = re.compile(
    r"[ -]?(?:" + "|".join(f"(?P<u{place}>{words})" for place, (words, _) in enumerate(_UNITS)) + ")", re.IGNORECASE
)
_MONTH_NAMES = (
    ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may",), ("june", "jun"),
    ("july", "jul"), ("august", "aug"), ("september", "sept", "sep"), ("october", "oct"), ("november", "nov"),
    ("december", "dec"),
)  # fmt: skip
_MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names}
_MONTH = r"(?P<month>" + "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True)) + r")\b\.?"
_ISO_SHAPE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?![0-9-])",
        _MONTH + r" (?P<day>[0-9]{1,2})(?:st|nd|rd|th)?,? (?P<year>[0-9]{4})\b",
        r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?(?: of)? " + _MONTH + r",? (?P<year>[0-9]{4})\b",
        _MONTH + r",? (?P<year>[0-9]{4})\b",
    )
)


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
        """The same in another unit of the same dimension."""
        return Quantity(self.size / unit.size, unit)


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A day, or a whole month (`day` is None), or a whole year (`month` is None too)."""

    year: int
    month: int | None = None
    day: int | None = None

    @property
    def exact(self) -> dt.date | None:
        """The day, where it is one."""
        return dt.date(self.year, self.month, self.day) if self.month and self.day else None

    def __str__(self) -> str:
        parts = [f"{self.year:04}", *(f"{part:02}" for part in (self.month, self.day) if part is not None)]
        return "-".join(parts)


@dataclass(frozen=True, slots=True)
class Read:
    """A value that stands in a text up to the character offset `end`; `grouped`: its thousands were separated."""

    value: Quantity | CalendarDate
    end: int
    grouped: bool = False


def read_value(text: str, start: int = 0) -> Read | None:
    """The quantity or date that begins just at `start`, as long as possible, or None."""
    return _read_date(text, start) or _read_quantity(text, start)


def _read_date(text: str, start: int) -> Read | None:
    for pattern in _DATES:
        found = pattern.match(text, start)
        if found is None:
            continue
        parts = found.groupdict()
        month = _MONTH_NUMBERS.get(parts["month"].casefold()) or int(parts["month"])
        date = CalendarDate(int(parts["year"]), month, int(parts["day"]) if parts.get("day") else None)
        try:
            dt.date(date.year, month, date.day or 1)
        except ValueError:
            continue
        return Read(date, found.end())
    return None


def _read_quantity(text: str, start: int) -> Read | None:
    if _ISO_SHAPE.match(text, start):  # of no day that there is, else it would have been read
        return None
    currency = CURRENCIES.get(text[start : start + 1])
    found = _NUMBER.match(text, start + (1 if currency else 0))
    if found is None or len(found["digits"]) > MOST_DIGITS:
        return None
    number, end = Fraction(found["digits"].replace(",", "")), found.end()
    magnitude = (found["magnitude"] or "").strip(" -").casefold()
    if currency is not None and not magnitude and (short := _SHORT_MAGNITUDE.match(text, end)):
        magnitude, end = short.group().strip().casefold(), short.end()
    number *= 10 ** _MAGNITUDES.get(magnitude, 0)
    unit = currency or PLAIN
    if currency is None and (named := _UNIT.match(text, end)) and named.lastgroup:
        unit, end = _UNITS[int(named.lastgroup[1:])][1], named.end()
    if text[end : end + 1].isalnum():  # "7th", "3d": not a number but the beginning of a word
        return None
    return Read(Quantity(number, unit), end, grouped="," in found["digits"])
