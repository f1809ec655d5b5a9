"""Which number a gold answer gives, where it has several or is a sentence."""

import re

from crag.evaluation.judge.beside_numbers import ORDINARY_WORDS, find_alternatives, other_words
from crag.evaluation.judge.read_claim import ReadClaim, numbers_not_in
from crag.evaluation.judge.reading import AnswerQuantity
from crag.text.matching import stem, words

_MONTHS = re.compile(r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b")
_NUMBER_AND_NEXT = re.compile(
    r"""
    (?<![\w.,])(?P<number>\d+(?:,\d{2,3})*(?:\.\d+)?(?:\s(?:thousand|million|billion))?)
    # The next one or two words; "one of" counts nothing.
    (?=\s?-?(?P<next>(?!of\b)[a-z]+(?:\s[a-z]+)?))
    """,
    re.VERBOSE,
)
_TITLE = re.compile(r'(?<!\d)"[^"]{1,80}"(?!\w)')
COUNTED = re.compile(
    r"""
    \bhow\ (?:
        (?:many|much)\ (?P<noun>(?!(?:will|would|can|could|did|do|does|is|are|was|were|has|have|had)\b)[a-z]+)
      | (?P<measure>long|far|tall|high|wide|deep|heavy|fast|old)
    )\b
    """,
    re.VERBOSE,
)
"""What a question counts or measures."""
_UNITS_OF = {
    "old": frozenset(words("year month day")),
    "long": frozenset(words("mile kilometer km meter metre foot feet inch hour minute second day week month year")),
}
"""The units that "how old" and "how long" ask for: a time; a time or a length."""
_ANY_UNIT = _UNITS_OF["long"] | frozenset(words("mph kph kmh kg lb pound ton tonne"))
"""The units that "how far", "how heavy" and the like may ask for."""


def find_gold_number(claim: ReadClaim) -> AnswerQuantity | None:
    """The number that the gold answer gives; None if the answer is something else."""
    if not claim.gold_numbers or _MONTHS.search(claim.gold.lower()):
        return None

    # An answer without names is its number
    names = other_words(claim.gold_reading, claim.gold_reading.quantities) - ORDINARY_WORDS
    if not names and (len(claim.gold_numbers) == 1 or len(find_alternatives(claim, claim.gold_numbers[0])) > 1):
        return claim.gold_numbers[0]

    counted = _find_counted(claim)
    if counted:
        return counted

    # A sentence repeats the numbers of the question
    new_numbers = numbers_not_in(_without_titles(claim), claim.query_numbers)
    if not new_numbers:
        return None
    if claim.asks_for_number:
        without_years = [number for number in new_numbers if not number.year_like]
        return without_years[0] if without_years else new_numbers[0]

    # A sentence that adds words too may answer by them.
    new_names = [name for name in names if name in claim.new_in_gold]
    return new_numbers[0] if len(new_numbers) == 1 and not new_names else None


def _find_counted(claim: ReadClaim) -> AnswerQuantity | None:
    """Of several numbers in the gold answer, the one beside the unit that the question asks for."""
    question = COUNTED.search(claim.query_reading.plain)
    if question is None or len(claim.gold_numbers) < 2:
        return None

    units = {stem(question["noun"])} if question["noun"] else _UNITS_OF.get(question["measure"], _ANY_UNIT)
    candidates = _without_titles(claim)
    for match in _NUMBER_AND_NEXT.finditer(claim.gold_reading.undated):
        numbers = [number for number in candidates if number.start <= match.start() < number.end]
        if numbers and units.intersection(map(stem, match["next"].split())):
            return numbers[0]
    return None


def _without_titles(claim: ReadClaim) -> list[AnswerQuantity]:
    """The numbers of the gold answer without those in quoted titles, unless it has no others."""
    titles = [match.span() for match in _TITLE.finditer(claim.gold_reading.undated)]
    outside = [number for number in claim.gold_numbers if not any(start <= number.start < end for start, end in titles)]
    return outside or claim.gold_numbers
