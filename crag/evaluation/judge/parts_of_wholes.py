"""Predictions that give a number among others: a part of a whole ("4 of 11"), or a range ("4 to 5")."""

import re

from crag.evaluation.judge.read_claim import ReadClaim
from crag.evaluation.judge.reading import AnswerQuantity, same_quantity

_ABOUT = r"(?:about\s|around\s|approximately\s|roughly\s|some\s|between\s|it\s(?:is|was)\s|there\s(?:are|were)\s)?"
_PART_OF_WHOLE = re.compile(
    rf"""
    \W{{0,3}} {_ABOUT}
    (?P<part>\d{{1,6}}) (?P<join>\s?/\s?|\s\(?(?:out\s)?of\s(?:the\s|its\s|his\s|her\s|their\s)?) (?P<whole>\d{{1,6}})
    \)?(?:\s[a-z]{{1,20}}){{0,3}}\W{{0,3}}
    """,
    re.VERBOSE,
)
_FEWEST_PARTS = 5
"""Of a whole that "3/5" counts; 2/3 and 3/4 are fractions."""
_ASKS_SHARE = re.compile(r"\b(?:shares?|fraction|proportion|percent\w*|ratio|probability|odds|chances?)\b")
_ASKS_SCORE = re.compile(r"\b(?:scores?|scoreline|results?|record|odds|ratio)\b")
_BEFORE_RANGE = re.compile(rf"\W{{0,3}}{_ABOUT}[$€£¥₹]?")


def without_whole(claim: ReadClaim, candidates: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """The numbers of a prediction without the whole of "4 of 11"; of a fraction such as "2/3" none is left."""
    text = claim.prediction_reading.undated
    match = _PART_OF_WHOLE.fullmatch(text)
    if match is None:
        return candidates

    parts = [number for number in candidates if number.start < match.end("part")]
    if "/" not in match["join"]:
        return parts
    whole = int(match["whole"])
    is_asked = any(number.value == whole for number in claim.query_numbers)
    is_count = is_asked or (whole >= _FEWEST_PARTS and not _ASKS_SHARE.search(claim.asked))
    return parts if is_count and int(match["part"]) <= whole else []


def is_end_of_range(claim: ReadClaim, gold: AnswerQuantity) -> bool:
    """Whether the prediction is a range of which the gold number is an end: "4 to 5" for 4."""
    if gold.year_like or _ASKS_SCORE.search(claim.asked):
        return False
    text = claim.prediction_reading.undated
    for series in claim.prediction_reading.series:
        is_rising = len(series.numbers) == 2 and series.separator == "-" and series.numbers[0] < series.numbers[1]
        if not is_rising or not _BEFORE_RANGE.fullmatch(text[: series.start]):
            continue
        ends = [number for number in claim.prediction_numbers if series.start <= number.start < series.end]
        return any(same_quantity(gold, end) for end in ends)
    return False
