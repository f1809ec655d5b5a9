"""Units, and lengths, weights and times with units."""

import re
from dataclasses import dataclass
from fractions import Fraction

from agents.matching.words import normalise


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its name after a number, its dimension, and its size in the dimension's base unit.

    Units of one dimension convert into each other. Months and years have their own dimension, "calendar", since their
    lengths vary. So has each currency.
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
INCHES = Unit("inches", "length", Fraction(254, 10_000))
TONNES = Unit("tonnes", "weight", Fraction(1_000))
CURRENCIES = {symbol: Unit(symbol, f"money in {symbol}") for symbol in "$£€¥₹"}

UNITS: tuple[tuple[str, Unit], ...] = (
    (r"%|percent\b|per cent\b", PERCENT),
    (r"us dollars?\b|dollars?\b|usd\b", CURRENCIES["$"]),
    (r"euros?\b|eur\b", CURRENCIES["€"]),
    (r"seconds?\b|secs?\b", Unit("seconds", "time")),
    (r"minutes?\b|mins?\b", Unit("minutes", "time", Fraction(60))),
    (r"hours?\b|hrs?\b", Unit("hours", "time", Fraction(3_600))),
    (r"days?\b", DAYS),
    (r"weeks?\b", WEEKS),
    (r"months?\b", MONTHS),
    (r"years?\b|yrs?\b", YEARS),
    (r"decades?\b", Unit("decades", "calendar", Fraction(120))),
    (r"centur(?:y|ies)\b", Unit("centuries", "calendar", Fraction(1_200))),
    (r"millimet(?:er|re)s?\b|mm\b", Unit("mm", "length", Fraction(1, 1_000))),
    (r"centimet(?:er|re)s?\b|cm\b", Unit("cm", "length", Fraction(1, 100))),
    (r"kilomet(?:er|re)s?\b|kms?\b", Unit("km", "length", Fraction(1_000))),
    (r"met(?:er|re)s?\b|m\b", Unit("m", "length")),
    (r"inch(?:es)?\b", INCHES),
    (r"feet\b|foot\b|ft\b", Unit("feet", "length", Fraction(3_048, 10_000))),
    (r"yards?\b|yds?\b", Unit("yards", "length", Fraction(9_144, 10_000))),
    (r"miles?\b|mi\b", Unit("miles", "length", Fraction(1_609_344, 1_000))),
    (r"milligrams?\b|mg\b", Unit("mg", "weight", Fraction(1, 1_000_000))),
    (r"kilograms?\b|kilos?\b|kgs?\b", Unit("kg", "weight")),
    (r"grams?\b|g\b", Unit("g", "weight", Fraction(1, 1_000))),
    (r"tonnes?\b|metric tons?\b", TONNES),
    (r"pounds?\b|lbs?\b", Unit("pounds", "weight", Fraction(45_359_237, 100_000_000))),
    (r"ounces?\b|oz\b", Unit("ounces", "weight", Fraction(45_359_237, 1_600_000_000))),
)
"""The spellings of each unit, in lower case. The sizes of foot, mile and pound are exact (agreement of 1959)."""

_MEASURED = tuple(
    (written, unit)
    for written, unit in (*UNITS, (r"in\b", INCHES), (r"t\b", TONNES))
    if unit.dimension in {"length", "weight", "time", "calendar"} and unit.name not in {"decades", "centuries"}
)
"""Without decades and centuries: writers round them."""
_MEAN_MONTH = Fraction(2_629_800)
"""Seconds in a twelfth of 365.25 days."""
_MEASURE = re.compile(
    r"(?<![\w.,])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)[\s-]?(?:"
    + "|".join(f"(?P<u{place}>{written})" for place, (written, _) in enumerate(_MEASURED))
    + ")"
)
_FEET_AND_INCHES = re.compile(
    r"(?<![\w.])(\d)\s?-?(?:'|ft\.?|feet|foot)[\s-]*(\d{1,2})\s?-?(?:\"|''|in\b|inch(?:es)?\b)?"
)
_HOURS_AND_MINUTES = re.compile(r"(?<![\w.])(\d+)\s?(?:hours?|hrs?|h),?\s+(?:and\s+)?(\d+)\s?(?:minutes?|mins?|m)\b")


@dataclass(frozen=True, slots=True)
class Measure:
    """An amount in the base unit of its dimension; `step` is the value of its last written digit."""

    dimension: str
    unit: Unit
    value: float
    step: float


def read_measures(text: str) -> list[Measure]:
    """The lengths, weights and times of a text in order; a month has its mean length.

    Feet with inches are one length, hours with minutes one time.
    """
    joined = _FEET_AND_INCHES.sub(lambda found: f"{12 * int(found[1]) + int(found[2])} inches", normalise(text))
    joined = _HOURS_AND_MINUTES.sub(lambda found: f"{60 * int(found[1]) + int(found[2])} minutes", joined)
    return [_measure(found) for found in _MEASURE.finditer(joined)]


def _measure(found: re.Match[str]) -> Measure:
    unit = _MEASURED[int((found.lastgroup or "u0")[1:])][1]
    calendar = unit.dimension == "calendar"
    size = float(unit.size * (_MEAN_MONTH if calendar else 1))
    digits = found["number"].replace(",", "")
    decimals = len(digits.partition(".")[2])
    return Measure("time" if calendar else unit.dimension, unit, float(digits) * size, size * 10.0**-decimals)


def same_measure(one: Measure, other: Measure) -> bool:
    """Whether they differ by at most 1 % of the first, or by half of a last written digit and at most 3 %."""
    difference = abs(one.value - other.value)
    rounded = difference <= 0.5 * max(one.step, other.step) and difference <= 0.03 * one.value
    return one.dimension == other.dimension and (rounded or difference <= 0.01 * one.value)
