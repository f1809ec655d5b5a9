"""What stands beside the numbers of a text: names, units, and the same quantity in another unit."""

import re
from collections.abc import Iterable
from itertools import pairwise

from crag.evaluation.judge.read_claim import ReadClaim
from crag.evaluation.judge.reading import AnswerQuantity, AnswerReading, Clock, Series
from crag.text.matching import content, tokens, words

ORDINARY_WORDS = frozenset(
    words(
        "year month week day hour minute second mile kilometer km meter metre foot feet inch inche pound dollar usd "
        "us euro people percent million billion trillion thousand hundred time old award movie film album "
        "song game title share win championship goal member kg lb per cent thousand point bce bc ad c ca circa "
        "least most fewer less under above below minimum maximum loss profit net gain drop fall fell rose rise decline "
        "after before prior later earlier exceed exceeding excess upward beyond "
        "decrease increase up down lower higher century lost bps crore lakh number since utc gmt"
    )
)
"""Words that stand beside any number, such as units, and name nothing."""
_ALTERNATIVE = re.compile(r"\s?[(/;]\s?|\s?\bor\s|\s?=\s?")
"""What stands between two values of one quantity: "324 m (1,063 ft)"."""


_LABELS = re.compile(
    r"\b(?:(?P<open>open(?:s|ed|ing)?)|(?P<close>clos(?:e[sd]?|ing))|(?P<high>high(?:est)?)|(?P<low>low(?:est)?)"
    r"|(?P<born>born|birth)|(?P<died>die[ds]?|death))\b"
)
"""What a price of a day or a year of a life can be."""
_CHANGED_FROM = re.compile(
    r"\b(?:up|down|higher|lower|risen|rose|rise|fell|fallen|fall|grew|grown|growth|dropped|drop|climbed|increased?|decreased?"
    r"|declined?|went|changed?|compared)\s(?:\w{1,12}\s)?from\s(?:about\s|around\s)?$"
)
_ASKS_EARLIER = re.compile(r"\b(?:from|before|previous(?:ly)?|earlier|prior|last|used to|originally)\b")
_CLAUSE_EDGE = re.compile(r"(?<=[a-z])[.;]\s|,\s|\b(?:and|while|whereas|but)\b|\n")


def of_asked_label(claim: ReadClaim, candidates: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """The numbers without those of another label than the question's: "opened at $12" for the closing price."""
    asked = {match.lastgroup for match in _LABELS.finditer(claim.asked)}
    if len(asked) != 1:
        return candidates

    text = claim.prediction_reading.undated
    edges = [0, *(match.end() for match in _CLAUSE_EDGE.finditer(text)), len(text)]
    of_other_label: list[AnswerQuantity] = []
    for start, end in pairwise(edges):
        labels = {match.lastgroup for match in _LABELS.finditer(text, start, end)}
        if labels and not labels & asked:
            of_other_label += [number for number in candidates if start <= number.start < end]
    return [number for number in candidates if number not in of_other_label]


def without_earlier_levels(claim: ReadClaim, candidates: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """The numbers without those from which something changed, "up from 11 %", if there are others."""
    if _ASKS_EARLIER.search(claim.asked):
        return candidates
    text = claim.prediction_reading.undated
    levels = [number for number in candidates if not _CHANGED_FROM.search(text[: number.start])]
    return levels or candidates


def other_words(reading: AnswerReading, parts: Iterable[Series | Clock | AnswerQuantity]) -> set[str]:
    """The telling words of a text outside of the given parts, its numbers or times."""
    return set(content(tokens(_without_parts(reading.undated, parts))))


def _without_parts(text: str, parts: Iterable[Series | Clock | AnswerQuantity]) -> str:
    pieces: list[str] = []
    end = 0
    for part in parts:
        pieces.append(text[end : part.start])
        end = part.end
    return " ".join([*pieces, text[end:]])


def find_alternatives(claim: ReadClaim, gold: AnswerQuantity) -> list[AnswerQuantity]:
    """The gold quantity, and others beside it in brackets: 324 m (1,063 ft)."""
    alternatives = [gold]
    text = claim.gold_reading.undated
    # A chain: each must stand directly beside one that is already taken
    for first, second in zip(claim.gold_numbers, claim.gold_numbers[1:], strict=False):
        is_same_kind = bool(first.units and second.units)
        if first in alternatives and is_same_kind and _ALTERNATIVE.fullmatch(text[first.end : second.start]):
            alternatives.append(second)
    return alternatives
