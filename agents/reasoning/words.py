"""Values of formulas as people write them in an answer."""

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

from agents.reasoning.arithmetic import Value
from agents.reasoning.quantities import CURRENCIES, PERCENT, CalendarDate, Quantity

SMALLEST_GROUPED = 10_000
"""Smaller whole numbers have no thousands separator: they may be years."""


def in_words(value: Value) -> str:
    """The value as text: "yes", "2019-03-01", "$1,250.50", "12.5%", "3 days" or "0.0341" and the like."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, CalendarDate):
        return str(value)
    unit = value.unit
    if unit in CURRENCIES.values():
        whole = value.number.denominator == 1
        digits = _digits(abs(value.number), 0 if whole else 2, group=True)
        return f"{'-' if value.number < 0 else ''}{unit.name}{digits}"
    digits = _shortened(value)
    if unit is PERCENT:
        return f"{digits}%"
    name = unit.name[:-1] if digits == "1" and unit.name.endswith("s") else unit.name
    return f"{digits} {name}".strip()


def _shortened(value: Quantity) -> str:
    """Two decimals, or four digits of a number below 1, without zeros at the end."""
    number = value.number
    if number.denominator == 1:
        return _digits(number, 0, group=abs(number) >= SMALLEST_GROUPED)
    decimals = 2
    while decimals < 12 and abs(number) * 10**decimals < 1_000 and abs(number) < 1:
        decimals += 1
    text = _digits(number, decimals, group=abs(number) >= SMALLEST_GROUPED)
    return text.rstrip("0").rstrip(".")


def _digits(number: Fraction, decimals: int, *, group: bool) -> str:
    with localcontext(prec=60):
        exact = Decimal(number.numerator) / Decimal(number.denominator)
        rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{rounded:,f}" if group else f"{rounded:f}"
