"""Reads the quantities of an answer: numbers with their sign, unit or currency, era and bound."""

import re
from dataclasses import replace
from itertools import product

from crag.evaluation.judge.reading.answer_quantity import AnswerQuantity
from crag.evaluation.judge.reading.beside_quantities import LOOK_BACK, with_context
from crag.evaluation.judge.reading.patterns import any_of
from crag.evaluation.judge.reading.units import CURRENCY_BEFORE, UnitsInText, currency_before, is_money, units_at
from crag.text.matching import MAGNITUDES, PERCENT, Unit

# "m" stands for a million only beside a currency: see `currency_letter` below
SCALES = {
    **MAGNITUDES,
    "lakh": 1e5,
    "lac": 1e5,
    "crore": 1e7,
    "cr": 1e7,
    "quadrillion": 1e15,
    "mil": 1e6,
    "mio": 1e6,
    "bil": 1e9,
    "trn": 1e12,
}

_NUMBER = re.compile(
    rf"""
    (?<![\w.,])                                  # not inside a word or a number: "b2", "1.2.3"
    (?P<sign>[-+](?=[\d.$€£¥₹]))?                # not the hyphen of "1929-1941", which follows a digit
    (?P<currency>{CURRENCY_BEFORE})?
    \s?
    (?P<inner_sign>(?<=[$€£¥₹])-)?               # "$-5"
    (?P<digits>
        \d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?         # "1,234.5"
      | \d{{1,2}}(?:,\d{{2}})+,\d{{3}}           # "1,50,000", as India writes it
      | \d*\.\d+
      | \d+
    )
    (?:e(?P<exponent>[+-]?\d{{1,2}})\b)?         # "3.2e5"
    (?:
        \s?(?P<percent> % | percent\b | per\ cent\b )
      | (?:\s|-)?(?P<word> hundred | thousand | lakh | lac | crore | million | billion | trillion | quadrillion
                         | mn | mln | mio | mil | bn | bln | bil | tn | trn | cr )s?\b
        (?: \s(?P<second_word> thousand | lakh | crore | million | billion | trillion )s?\b )?   # "2 lakh crore"
      | \s?(?P<currency_letter>mm?)\b            # a million after a currency only: "180m" can be metres
      | (?P<letter> [kbt] )\b
    )?
    (?P<ordinal>st|nd|rd|th)?
    (?![\d])                                     # not the first digits of a longer number
    """,
    re.VERBOSE,
)

_SUPERLATIVE = any_of(
    "most best greatest largest biggest highest oldest longest top finest richest fastest tallest earliest youngest "
    "strongest"
)
_ONE_OF_THE_BEST = re.compile(rf"\sof\s(?:[\w'’]{{1,20}}\s){{1,4}}?{_SUPERLATIVE}\b")
_ONE_ANOTHER = re.compile(r"\sanother\b")
_BEFORE_ONE = re.compile(r"\b(?:no|any|every|each|this|that|which|another|other|last|first|next|new|old|the)\s$")
_AFTER_ONE = re.compile(
    r"\s?(?:$|[.,;:!?)])|\s(?:who|whom|that|which|with|was|is|has|had|did|does|knows|can|could|else|to|from|in)\b"
)
"""What stands around a "one" that counts nothing: "the last one was"."""
_LONGEST_JOINT = 5
"""Characters between two parts of a measure: ", and "."""
_JOINS_PARTS = re.compile(r"\.?\s?(?:,|and\b|-|)\s?")
_FEET = frozenset({"feet", "'"})
_INCHES_PER_FOOT = 12
_INCHES = re.compile(r"""\s?(?:in\b\.?|")|(?=\W|$)""")
"""The ending of 11 in "6 ft 11 in", `6'11"` and "six foot eleven"."""


def read_quantities(text: str) -> list[AnswerQuantity]:
    """The quantities of a text from `plain_text` in order. Its whole dates must be gone.

    >>> [(quantity.value, quantity.units[0].name) for quantity in read_quantities("5 ft 11 in or $-2 million")]
    [(71.0, 'inches'), (-2000000.0, '$')]
    """
    matches = [match for match in _NUMBER.finditer(text) if not _is_pronoun(text, match)]
    # Parts are joined last, as the inches of "6 ft 11" get their unit from the feet
    quantities = [_read_quantity(text, match) for match in matches]
    return _join_parts(text, quantities)


def _is_pronoun(text: str, match: re.Match[str]) -> bool:
    """Whether a 1 was a pronoun: "no one", "the last one", "one of the most famous singers"."""
    if match[0] != "1":
        return False
    if _ONE_OF_THE_BEST.match(text, match.end()) or _ONE_ANOTHER.match(text, match.end()):
        return True
    before = text[max(0, match.start() - LOOK_BACK) : match.start()]
    return _BEFORE_ONE.search(before) is not None and _AFTER_ONE.match(text, match.end()) is not None


def _read_quantity(text: str, match: re.Match[str]) -> AnswerQuantity:
    """The quantity of a match of `_NUMBER`, with what the words around it say."""
    # "1,50,000" and "150,000" are the same digits
    digits = match["digits"].replace(",", "")
    decimals = len(digits.partition(".")[2])
    scale = _read_scale(match)
    # Only four bare digits can be a decade: "1930s", but "1,930 s" are seconds
    may_be_decade = scale == 1 and match["digits"].isdigit() and len(digits) == 4
    units, end = _read_units(text, match, may_be_decade=may_be_decade)

    # "($1.25)" and "$(1.25)" are losses in accounts, "$40 million (€37 million)" is none.
    is_in_brackets = match.start() <= 1 and text[: match.start()] == "(" and text[end:].strip(" .") == ")"
    is_loss = bool(match["currency"]) and is_in_brackets
    is_negative = match["sign"] == "-" or bool(match["inner_sign"]) or is_loss
    value = float(digits) * scale

    # The last digit of "1.23 million" is worth 10,000: scale and decimals make the step
    quantity = AnswerQuantity(
        value=-value if is_negative else value,
        step=scale * 10.0**-decimals,
        units=units,
        signed=is_negative or bool(match["sign"]),
        ordinal=bool(match["ordinal"]),
        grouped="," in match["digits"],
        decade=may_be_decade and digits.endswith("0") and text[end : end + 1] == "s",
        start=match.start(),
        end=end,
    )
    return with_context(text, quantity)


def _read_scale(match: re.Match[str]) -> float:
    """By what the digits are multiplied: 1e12 for "2 lakh crore", 1e5 for "3e5"."""
    # "$75m" is money; without a currency the "m" is left for the units
    magnitude = match["word"] or match["letter"]
    if match["currency"] and match["currency_letter"]:
        magnitude = match["currency_letter"]

    scale = SCALES[magnitude] if magnitude else 1.0
    if match["second_word"]:
        scale *= SCALES[match["second_word"]]
    if match["exponent"]:
        scale *= 10.0 ** int(match["exponent"])
    return scale


def _read_units(text: str, match: re.Match[str], *, may_be_decade: bool) -> UnitsInText:
    """The possible units of a number, which end the number too: a currency before it, else what follows."""
    end = match.end()
    if match["percent"]:
        return UnitsInText((PERCENT,), end)
    if match["ordinal"] or (may_be_decade and text[end : end + 1] == "s"):
        return UnitsInText((), end)  # 3rd, the 1930s

    # Without a currency the letter is a unit: "75m tall".
    if match["currency_letter"] and not match["currency"]:
        end = match.start("currency_letter")
    following = units_at(text, end)
    if not match["currency"]:
        return following

    # "$5 dollars" names the currency twice.
    is_named_twice = bool(following.units) and is_money(following.units[0])
    return UnitsInText((currency_before(match["currency"]),), following.end if is_named_twice else end)


def _join_parts(text: str, quantities: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """The parts of a measure as one quantity: 5 ft 11 in, 2 hours and 5 minutes."""
    joined: list[AnswerQuantity] = []
    for quantity in quantities:
        if joined:
            # A joined measure can take a third part: hours, minutes, seconds
            whole = _join_pair(text, joined[-1], quantity)
            if whole is not None:
                joined[-1] = whole
                continue
        joined.append(quantity)
    return joined


def _join_pair(text: str, first: AnswerQuantity, second: AnswerQuantity) -> AnswerQuantity | None:
    """Both as one quantity in the smaller unit; None if they are no parts of one measure."""
    gap = text[first.end : second.start]
    if not first.units or len(gap) > _LONGEST_JOINT or not _JOINS_PARTS.fullmatch(gap):
        return None

    # "6 ft 11": the second number needs no unit of its own
    if not second.units:
        second = _in_inches(text, first.units[0], second)

    # An ambiguous unit such as m, metres or minutes, is settled by the unit beside it
    for whole_unit, part_unit in product(first.units, second.units):
        is_same_dimension = part_unit.dimension == whole_unit.dimension
        # A part is less than one of the larger unit: "2 hours 5 minutes".
        if is_same_dimension and second.value * part_unit.size < whole_unit.size:
            parts_in_whole = float(whole_unit.size / part_unit.size)
            value = parts_in_whole * first.value + second.value
            return replace(
                first,
                value=value,
                step=second.step,
                units=(part_unit,),
                end=second.end,
            )
    return None


def _in_inches(text: str, whole_unit: Unit, number: AnswerQuantity) -> AnswerQuantity:
    """A number after feet as inches if it can be: the 11 of "6 ft 11 in"; else as it is."""
    inches = _INCHES.match(text, number.end)
    if inches is None or whole_unit.name not in _FEET or number.value >= _INCHES_PER_FOOT:
        return number
    unit = Unit("inches", "length", whole_unit.size / _INCHES_PER_FOOT)
    return replace(number, units=(unit,), end=inches.end())
