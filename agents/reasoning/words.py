"""Values of formulas as people write them in an answer."""

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

from agents.reasoning.arithmetic import Value
from agents.reasoning.quantities import CURRENCIES, PERCENT, CalendarDate

SMALLEST_GROUPED = 10_000
"""Smaller whole numbers have no thousands separator: they may be years."""

_CENT = Fraction(1, 100)
_SINGULARS = {"feet": "foot", "inches": "inch", "centuries": "century"}
"""Of the units whose plural is not the singular with an s."""


def in_words(value: Value) -> str:
    """The value as text: "yes", "2019-03-01", "$1,250.50", "12.5%", "3 days" or "0.0341" and the like."""
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
    """To the cent; less than a cent, as of the shares that trade for so little, as any small number."""
    if 0 < amount < _CENT:
        return _shortened(amount)
    return _digits(amount, 0 if amount.denominator == 1 else 2, group=True)


def _shortened(number: Fraction) -> str:
    """Two decimals, or four digits of a number below 1, without zeros at the end."""
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
