"""Reads numbers in texts, with magnitude words, currency and percent, and compares them."""

import re
from dataclasses import dataclass, replace

from crag.text.matching.dates import without_dates

MAGNITUDES = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "mln": 1e6, "m": 1e6, "mm": 1e6,
    "billion": 1e9, "bn": 1e9, "bln": 1e9, "b": 1e9, "trillion": 1e12, "tn": 1e12, "t": 1e12,
}  # fmt: skip
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<sign>-(?=[\d.$]))?(?P<currency>[$€£¥])?\s?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)"
    r"(?:\s?(?P<percent>%|percent\b|per cent\b)"
    r"|(?:\s|-)?(?P<word>hundred|thousand|million|billion|trillion|mn|mln|bn|bln|tn)\b|(?P<currency_letter>m)\b|(?P<letter>[kbt]|mm)\b)?"
    r"(?P<ordinal>st|nd|rd|th)?(?![\d])"
)


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
        plain = not (self.percent or self.currency or self.ordinal or self.grouped)
        return plain and self.step == 1 and 1000 <= self.value <= 2100


def read_numbers(text: str) -> list[Number]:
    """The numbers of a text in order, without list numbering and whole dates."""
    return [_number(match) for match in _NUMBER.finditer(without_dates(text))]


def _number(match: re.Match[str]) -> Number:
    digits = match["digits"].replace(",", "")
    decimals = len(digits.partition(".")[2])
    letter = match["letter"] or (match["currency_letter"] if match["currency"] else None)  # "180m" can be metres
    scale = MAGNITUDES.get(match["word"] or letter or "", 1.0)
    sign = -1 if match["sign"] else 1
    return Number(
        value=sign * float(digits) * scale,
        step=scale * 10.0**-decimals,
        percent=bool(match["percent"]),
        currency=bool(match["currency"]),
        ordinal=bool(match["ordinal"]),
        grouped="," in match["digits"],
    )


def same_number(gold: Number, found: Number) -> bool:
    """Whether they are equal, or one is the other rounded, less than 2 % away (shares: 5 %); % may be missing."""
    if gold.percent != found.percent and (gold.currency or found.currency):
        return False
    if gold.percent and not found.percent and abs(found.value) < 1 <= abs(gold.value):
        found = replace(found, value=100 * found.value, step=100 * found.step)  # a share, 0.12 for 12 %
    difference = abs(gold.value - found.value)
    if difference <= 1e-9 * max(1.0, abs(gold.value)):
        return True
    if gold.year_like or (gold.step == 1 and found.step == 1):
        return False
    limit = 0.05 if gold.percent and found.percent else 0.02
    return difference < 0.5 * max(gold.step, found.step) and difference <= limit * abs(gold.value)
