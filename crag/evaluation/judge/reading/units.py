"""Units and currencies of quantities: how they are written, and conversion inside one dimension.

Builds on the units that questions calculate with (`crag.text.matching.units`) and adds area, volume, speed, memory,
power, pressure, temperature and more currencies. Not pint: its registry takes 0.7 s to start, 300 times a verdict.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from crag.text.matching import CURRENCIES, PERCENT, UNITS, YEARS, Unit

CELSIUS = Unit("°C", "temperature")
FAHRENHEIT = Unit("°F", "temperature")
KELVIN = Unit("K", "temperature")
# Placeholders with several meanings: see `_OTHER_MEANINGS`
_LETTER_M = Unit("m?", "length")
_ONE_STROKE = Unit("'", "length", Fraction(3_048, 10_000))
_TWO_STROKES = Unit('"', "length", Fraction(254, 10_000))
_ANGLE = Unit("degrees", "angle")
POUNDS_STERLING = CURRENCIES["£"]

_FOREIGN = {
    "C$": ("c$", "ca$", "cad", "canadian dollar"),
    "A$": ("a$", "au$", "aud", "australian dollar"),
    "NZ$": ("nz$", "nzd", "new zealand dollar"),
    "HK$": ("hk$", "hkd", "hong kong dollar"),
    "S$": ("s$", "sgd", "singapore dollar"),
    "R$": ("r$", "brl", "brazilian real", "reais"),
    "CN¥": ("cny", "rmb", "yuan", "renminbi"),
    "CHF": ("chf", "swiss franc"),
    "₩": ("₩", "krw", "korean won"),
    "₽": ("₽", "ruble", "rouble"),
    "SEK": ("sek", "swedish krona", "swedish kronor"),
    "NOK": ("nok", "norwegian krone", "norwegian kroner"),
    "DKK": ("dkk", "danish krone", "danish kroner"),
    "MX$": ("mx$", "mxn", "mexican peso"),
    "ZAR": ("zar", "rand"),
    "AED": ("aed", "dirham"),
    "SAR": ("sar", "riyal"),
    "₺": ("₺", "turkish lira"),
    "₫": ("₫", "vnd", "vietnamese dong", "dong"),
    "฿": ("฿", "thb", "baht"),
    "PLN": ("pln", "zl", "zloty", "polish zloty"),
    "CZK": ("czk", "czech koruna", "koruna"),
    "HUF": ("huf", "forint"),
    "₪": ("₪", "ils", "shekel"),
    "₱": ("₱", "php", "philippine peso"),
    "IDR": ("idr", "rupiah"),
    "MYR": ("myr", "ringgit"),
    "NT$": ("nt$", "twd", "taiwan dollar"),
    "₦": ("₦", "ngn", "naira"),
    "₴": ("₴", "uah", "hryvnia"),
    "EGP": ("egp", "egyptian pound"),
    "KES": ("kes", "kenyan shilling"),
    "PKR": ("pkr", "pakistani rupee"),
    "ARS": ("ars", "argentine peso"),
}
_FOREIGN_UNITS = {name: Unit(name, f"money in {name}") for name in _FOREIGN}
# Of the foreign forms only codes and signs: nobody writes "swiss franc 5"
_FOREIGN_PREFIXES: dict[str, Unit] = {}
for _name, _forms in _FOREIGN.items():
    _FOREIGN_PREFIXES |= {form: _FOREIGN_UNITS[_name] for form in _forms if len(form) <= 3}
_PREFIXES = {
    "us$": CURRENCIES["$"], "usd": CURRENCIES["$"], "eur": CURRENCIES["€"], "gbp": POUNDS_STERLING,
    "jpy": CURRENCIES["¥"], "inr": CURRENCIES["₹"], "rs": CURRENCIES["₹"], "rs.": CURRENCIES["₹"],
    **CURRENCIES,
    **_FOREIGN_PREFIXES,
}  # fmt: skip
"""What comes before an amount of money, in lower case."""

CURRENCY_BEFORE = "|".join(re.escape(form) for form in sorted(_PREFIXES, key=len, reverse=True))
"""The alternatives of a pattern."""


def _words(*forms: str) -> str:
    return "|".join(rf"{re.escape(form)}s?\b" if form[-1].isalpha() else re.escape(form) for form in forms)


_THOUSANDS = (("", ""), ("kilo", "k"), ("mega", "m"), ("giga", "g"), ("tera", "t"))
"""Word and letter of each power of a thousand."""


def _multiples(word: str, symbol: str, dimension: str, *, powers: range) -> list[tuple[str, Unit]]:
    """The patterns and units of a unit's multiples. `word` is a pattern, `symbol` what is written for it."""
    multiples: list[tuple[str, Unit]] = []
    for power in powers:
        prefix, letter = _THOUSANDS[power]
        pattern = rf"{prefix}{word}\b|{letter}{symbol.lower()}\b"
        multiples.append((pattern, Unit(f"{letter}{symbol}", dimension, Fraction(1_000**power))))
    return multiples


_PER_HOUR = r"(?:\s?/\s?h(?:r|our)?\b|\sper\shour\b|\san\shour\b|/hr?\b)"
_PER_SECOND = r"(?:\s?/\s?s(?:ec)?\b|\sper\ssecond\b|\sa\ssecond\b)"
_SQUARE = r"(?:sq\.?|square)\s"
_CUBIC = r"(?:cu\.?|cubic)\s"

_LONGER: tuple[tuple[str, Unit], ...] = (
    # Speed
    (rf"(?:kilomet(?:er|re)s?|kms?){_PER_HOUR}|km/?h\b|kph\b|kmph\b", Unit("km/h", "speed", Fraction(1_000, 3_600))),
    (rf"(?:miles?|mi){_PER_HOUR}|mph\b", Unit("mph", "speed", Fraction(1_609_344, 3_600_000))),
    (rf"(?:met(?:er|re)s?|m){_PER_SECOND}", Unit("m/s", "speed")),
    (rf"(?:kilomet(?:er|re)s?|km){_PER_SECOND}", Unit("km/s", "speed", Fraction(1_000))),
    (r"knots?\b|kn\b", Unit("knots", "speed", Fraction(1_852, 3_600))),
    # Area
    (rf"{_SQUARE}(?:kilomet(?:er|re)s?|km)\b|km2\b|km\^2", Unit("km²", "area", Fraction(1_000_000))),
    (rf"{_SQUARE}(?:met(?:er|re)s?|m)\b|m2\b|m\^2", Unit("m²", "area")),
    (rf"{_SQUARE}(?:miles?|mi)\b|mi2\b", Unit("sq mi", "area", Fraction(2_589_988_110_336, 1_000_000))),
    (rf"{_SQUARE}(?:feet|foot|ft)\b|ft2\b", Unit("sq ft", "area", Fraction(9_290_304, 100_000_000))),
    (r"hectares?\b|ha\b", Unit("ha", "area", Fraction(10_000))),
    (r"acres?\b", Unit("acres", "area", Fraction(40_468_564_224, 10_000_000))),
    # Volume
    (r"(?:cubic\s(?:met(?:er|re)s?|m)|m3)\b", Unit("m³", "volume", Fraction(1_000))),
    (r"millilit(?:er|re)s?\b|ml\b", Unit("ml", "volume", Fraction(1, 1_000))),
    (r"lit(?:er|re)s?\b|l\b", Unit("litres", "volume")),
    (r"(?:us\s)?gallons?\b|gal\b", Unit("gallons", "volume", Fraction(3_785_411_784, 1_000_000_000))),
    (r"quarts?\b", Unit("quarts", "volume", Fraction(946_352_946, 1_000_000_000))),
    (r"pints?\b", Unit("pints", "volume", Fraction(473_176_473, 1_000_000_000))),
    (r"fl(?:uid)?\.?\s(?:ounces?|oz)\b", Unit("fluid ounces", "volume", Fraction(295_735_295_625, 10_000_000_000_000))),
    (r"barrels?\b|bbls?\b", Unit("barrels", "volume", Fraction(158_987_294_928, 1_000_000_000))),
    (rf"{_CUBIC}(?:feet|foot|ft)\b|ft3\b", Unit("cu ft", "volume", Fraction(28_316_846_592, 1_000_000_000))),
    (rf"{_CUBIC}(?:inch(?:es)?|in)\b|in3\b", Unit("cu in", "volume", Fraction(16_387_064, 1_000_000_000))),
    (rf"{_CUBIC}(?:centimet(?:er|re)s?|cm)\b|cm3\b|cc\b", Unit("cm³", "volume", Fraction(1, 1_000))),
    (rf"{_CUBIC}(?:kilomet(?:er|re)s?|km)\b|km3\b", Unit("km³", "volume", Fraction(10**12))),
    # Pressure, consumption, food
    (r"pounds?\sper\ssquare\sinch\b|psi\b", Unit("psi", "pressure", Fraction(6_894_757, 1_000))),
    (r"bar\b", Unit("bar", "pressure", Fraction(100_000))),
    (r"kilopascals?\b|kpa\b", Unit("kPa", "pressure", Fraction(1_000))),
    (r"miles\sper\s(?:us\s)?gallon\b|mpg\b", Unit("mpg", "distance per volume")),
    (r"(?:kilo)?calories?\b|k?cals?\b", Unit("kcal", "food energy")),
    # Temperature, after `normalise_text` wrote "°C" out
    (r"degrees?\s(?:celsius|centigrade|c\b)|celsius\b|centigrade\b|c\b", CELSIUS),
    (r"degrees?\s(?:fahrenheit|f\b)|fahrenheit\b|f\b", FAHRENHEIT),
    (r"kelvins?\b|degrees?\skelvin\b|k\b", KELVIN),
    (r"degrees?\b|°", _ANGLE),
    # Memory
    *_multiples("bytes?", "b", "memory", powers=range(1, 5)),
    # Power, energy, frequency, voltage
    *_multiples("watts?", "w", "watt", powers=range(4)),
    *_multiples("hertzs?", "hz", "hertz", powers=range(4)),
    *_multiples("volts?", "v", "volt", powers=range(4)),
    (r"horsepower\b|hp\b|bhp\b", Unit("hp", "watt", Fraction(7_457, 10))),
    *_multiples("watt[ -]?hours?", "Wh", "energy", powers=range(5)),
    # Length and weight beside those of `UNITS`
    (r"nautical\smiles?\b|nmi\b", Unit("nautical miles", "length", Fraction(1_852))),
    (r"light[ -]years?\b|ly\b", Unit("light years", "length", Fraction(9_460_730_472_580_800))),
    (r"astronomical\sunits?\b|au\b", Unit("au", "length", Fraction(149_597_870_700))),
    (r"nanomet(?:er|re)s?\b|nm\b", Unit("nm", "length", Fraction(1, 1_000_000_000))),
    (r"fortnights?\b", Unit("fortnights", "time", Fraction(14 * 86_400))),
    (r"stone\b|st\b", Unit("stone", "weight", Fraction(635_029_318, 100_000_000))),
    (r"tons?\b", Unit("tons", "weight", Fraction(1_000))),
    # Shares
    (r"basis\spoints?\b|bps\b", Unit("basis points", "percent", Fraction(1, 100))),
    (r"percentage\spoints?\b", PERCENT),
    # Money
    *((_words(*forms), _FOREIGN_UNITS[name]) for name, forms in _FOREIGN.items()),
    (r"pesos?\b", Unit("pesos", "money in pesos")),
    (r"(?:us\s|american\s)dollars?\b", CURRENCIES["$"]),
    (r"cents?\b", Unit("cents", CURRENCIES["$"].dimension, Fraction(1, 100))),
    (r"pence\b", Unit("pence", POUNDS_STERLING.dimension, Fraction(1, 100))),
    (r"pounds?\ssterling\b|british\spounds?\b|gbp\b|£", POUNDS_STERLING),
    (r"yen\b|jpy\b|¥", CURRENCIES["¥"]),
    (r"(?:indian\s)?rupees?\b|inr\b|rs\b|₹", CURRENCIES["₹"]),
    (r"\$", CURRENCIES["$"]),
    (r"€", CURRENCIES["€"]),
    # A letter or sign with several meanings
    (r"m\b", _LETTER_M),
    ("'", _ONE_STROKE),
    ('"', _TWO_STROKES),
)  # fmt: skip
"""Looked for before `UNITS`, as "miles per hour" begins with a unit of length."""

_SHORTER: tuple[tuple[str, Unit], ...] = (
    (r"h\b", Unit("hours", "time", Fraction(3_600))),
    (r"s\b", Unit("seconds", "time")),
)
# Alternatives are tried in this order, so longer spellings must come first
_ALL = (*_LONGER, *UNITS, *_SHORTER)

_OTHER_MEANINGS = {
    "pounds": (POUNDS_STERLING,),
    "degrees": (CELSIUS, FAHRENHEIT),
    "tons": (Unit("short tons", "weight", Fraction(90_718_474, 100_000)),),
    "pesos": tuple(_FOREIGN_UNITS[name] for name in ("MX$", "₱", "ARS")),
    "m?": (Unit("minutes", "time", Fraction(60)),),
    "'": (Unit("minutes", "time", Fraction(60)),),
    '"': (Unit("seconds", "time"),),
}
"""More meanings of a unit's spelling: "20 pounds" can be money, "5 m" minutes, 4'20" a time."""

# The group's number leads back to the unit in `_ALL`
_UNIT = re.compile("|".join(f"(?P<u{index}>{spelling})" for index, (spelling, _) in enumerate(_ALL)))
_UNIT_AFTER = re.compile(r"[\s-]?")

_ASKS_AGE = re.compile(r"\bhow old\b|\bwhat age\b")
_ASKED_UNIT = re.compile(r"\b(?:how many|how much|in(?: how many)?)\s(?=[a-z°])")
"""What a unit follows in a question: "how many miles", "in kilometres"."""


class UnitsInText(NamedTuple):
    """The possible units of a number, none if none is named, and the end of their spelling in the text."""

    units: tuple[Unit, ...]
    end: int


def units_at(text: str, position: int) -> UnitsInText:
    """The possible units whose spelling begins at the position, after a blank or hyphen.

    >>> units_at("5 miles", 1)
    UnitsInText(units=(Unit(name='miles', dimension='length', size=Fraction(201168, 125)),), end=7)
    """
    # "5 miles", "5-mile" and "5miles"
    gap = _UNIT_AFTER.match(text, position)
    start = gap.end() if gap else position
    match = _UNIT.match(text, start)
    if match is None or match.lastgroup is None:
        return UnitsInText((), position)

    unit = _ALL[int(match.lastgroup.removeprefix("u"))][1]
    return UnitsInText((unit, *_OTHER_MEANINGS.get(unit.name, ())), match.end())


def currency_before(symbol: str) -> Unit:
    """The currency of a symbol or code before an amount."""
    return _PREFIXES[symbol]


def asked_units(question: str) -> tuple[Unit, ...]:
    """The units that a question asks for, "how many miles ..."; years for "how old"; empty if it names none."""
    if _ASKS_AGE.search(question):
        return (YEARS,)
    for match in _ASKED_UNIT.finditer(question):
        units, end = units_at(question, match.end())
        if units and end - match.end() > 1:  # a single letter is not a unit in a question
            return units
    return ()


def in_base_unit(value: float, unit: Unit) -> float:
    """The value in the base unit of its dimension: metres, kilograms, degrees Celsius.

    >>> in_base_unit(212, FAHRENHEIT)
    100.0
    """
    # Temperatures are the only units that differ by an offset, not only a factor
    if unit == FAHRENHEIT:
        return (value - 32) / 1.8
    if unit == KELVIN:
        return value - 273.15
    return value * float(unit.size)


def is_money(unit: Unit) -> bool:
    """Whether the unit is a currency or a part of one."""
    return unit.dimension.startswith("money")
