"""Units of money, time, length and weight, and how they are written."""

from dataclasses import dataclass
from fractions import Fraction


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
    (r"inch(?:es)?\b", Unit("inches", "length", Fraction(254, 10_000))),
    (r"feet\b|foot\b|ft\b", Unit("feet", "length", Fraction(3_048, 10_000))),
    (r"yards?\b|yds?\b", Unit("yards", "length", Fraction(9_144, 10_000))),
    (r"miles?\b|mi\b", Unit("miles", "length", Fraction(1_609_344, 1_000))),
    (r"milligrams?\b|mg\b", Unit("mg", "weight", Fraction(1, 1_000_000))),
    (r"kilograms?\b|kilos?\b|kgs?\b", Unit("kg", "weight")),
    (r"grams?\b|g\b", Unit("g", "weight", Fraction(1, 1_000))),
    (r"tonnes?\b|metric tons?\b", Unit("tonnes", "weight", Fraction(1_000))),
    (r"pounds?\b|lbs?\b", Unit("pounds", "weight", Fraction(45_359_237, 100_000_000))),
    (r"ounces?\b|oz\b", Unit("ounces", "weight", Fraction(45_359_237, 1_600_000_000))),
)
"""The spellings of each unit, in lower case. The sizes of foot, mile and pound are exact (agreement of 1959)."""
