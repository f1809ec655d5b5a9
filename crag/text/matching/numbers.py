"""Reads numbers in texts, with magnitude words, currency and percent, and compares them."""

import re
from dataclasses import dataclass, replace

from crag.text.matching.dates import without_dates

MAGNITUDES = {
    "hundred": 1e2,
    "thousand": 1e3, "k": 1e3,
    "million": 1e6, "mn": 1e6, "mln": 1e6, "m": 1e6, "mm": 1e6,
    "billion": 1e9, "bn": 1e9, "bln": 1e9, "b": 1e9,
    "trillion": 1e12, "tn": 1e12, "t": 1e12,
}  # fmt: skip

_NUMBER = re.compile(
    r"""
    (?<![\w.,])                                  # not inside a word or a number: "b2", "1.2.3"
    (?P<sign>-(?=[\d.$]))?                       # not the hyphen of "1929-1941", which follows a digit
    (?P<currency>[$€£¥])?
    \s?
    (?P<digits>
        \d{1,3}(?:,\d{3})+(?:\.\d+)?             # "1,234.5"
      | \d*\.\d+
      | \d+
    )
    (?:
        \s?(?P<percent> % | percent\b | per\ cent\b )
      | (?:\s|-)?(?P<word> hundred | thousand | million | billion | trillion | mn | mln | bn | bln | tn )\b
      | (?P<currency_letter>m)\b                 # a million after a currency only: "180m" can be metres
      | (?P<letter> [kbt] | mm )\b
    )?
    (?P<ordinal>st|nd|rd|th)?
    (?![\d])                                     # not the first digits of a longer number
    """,
    re.VERBOSE,
)

_EARLIEST_PLAUSIBLE_YEAR = 1000
_LATEST_PLAUSIBLE_YEAR = 2100
_NUMBER_TOLERANCE = 0.02
"""A rounded number differs from the exact one by less than this share of it."""
_PERCENTAGE_TOLERANCE = 0.05
"""The same for two percentages."""
_FLOAT_ERROR = 1e-9


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text. `step` is the value of its last written digit: 10 million for "1.23 billion".

    `ordinal`: written as 3rd; `grouped`: with thousands separators.
    """

    value: float
    step: float
    percent: bool = False
    currency: bool = False
    ordinal: bool = False
    grouped: bool = False

    @property
    def year_like(self) -> bool:
        """Whether it could be a calendar year."""
        is_plain = not (self.percent or self.currency or self.ordinal or self.grouped)
        return is_plain and self.step == 1 and _EARLIEST_PLAUSIBLE_YEAR <= self.value <= _LATEST_PLAUSIBLE_YEAR


def read_numbers(text: str) -> list[Number]:
    """The numbers of a text in order, without list numbering and whole dates.

    >>> [number.value for number in read_numbers("$1.9 billion in 3 years")]
    [1900000000.0, 3.0]
    """
    return [_parse_number(match) for match in _NUMBER.finditer(without_dates(text))]


def _parse_number(match: re.Match[str]) -> Number:
    digits = match["digits"].replace(",", "")
    decimals = len(digits.partition(".")[2])

    magnitude = match["word"] or match["letter"]
    if match["currency"] and match["currency_letter"]:
        magnitude = match["currency_letter"]
    scale = MAGNITUDES[magnitude] if magnitude else 1.0

    sign = -1 if match["sign"] else 1
    return Number(
        value=sign * float(digits) * scale,
        step=scale * 10.0**-decimals,
        percent=bool(match["percent"]),
        currency=bool(match["currency"]),
        ordinal=bool(match["ordinal"]),
        grouped="," in match["digits"],
    )


def same_number(gold: Number, answer: Number) -> bool:
    """Whether they are equal, or one is the other rounded, less than 2 % away (shares: 5 %); % may be missing."""
    if gold.percent != answer.percent and (gold.currency or answer.currency):
        return False

    # A share instead of a percentage: 0.12 for 12 %.
    if gold.percent and not answer.percent and abs(answer.value) < 1 <= abs(gold.value):
        answer = replace(answer, value=100 * answer.value, step=100 * answer.step)

    difference = abs(gold.value - answer.value)
    if difference <= _FLOAT_ERROR * max(1.0, abs(gold.value)):
        return True

    # Years and whole numbers are not rounded.
    if gold.year_like or (gold.step == 1 and answer.step == 1):
        return False
    tolerance = _PERCENTAGE_TOLERANCE if gold.percent and answer.percent else _NUMBER_TOLERANCE
    return difference < 0.5 * max(gold.step, answer.step) and difference <= tolerance * abs(gold.value)
