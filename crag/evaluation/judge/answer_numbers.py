"""Which numbers of a prediction can be its answer."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from crag.evaluation.judge.read_claim import ReadClaim, numbers_not_in
from crag.evaluation.judge.reading import AnswerQuantity, same_quantity

_PART_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;|,\s(?!\d{3}\b)|\b(?:while|whereas|and|but|compared|from|up)\b")
"""What divides a sentence into parts about one year each; not the comma of "1, 204"."""
# Four letters or more: "by 3" and "the 3" are no names
_NUMBERED_NAME = re.compile(r"\b(?P<name>[a-z]{4,})[\s-](?P<number>\d+)(?![\w.,]*\d)")
"""A name with a number, "ligue 1"; not the first digits of "about 1,204"."""
_SENTENCE_EDGE = re.compile(r"(?<=[.!?])\s+|\n+")
_TERM = r"\(?[$€£¥]?\d[\d.,]{0,20}%?\)?"
_TERMS = re.compile(rf"(?:{_TERM}\s?[-+×x*/÷]\s?){{1,9}}{_TERM}\s?=\s?(?=[-$€£¥]?\d)")
"""What stands before the sign "=" of a calculation."""
_ASKS_COUNT = re.compile(r"\bhow many\b")
_RANK_BEFORE = re.compile(r"(?:\b(?:number|no\.?|nr\.?)\s|#)$")


def first_sentence_numbers(text: str, candidates: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """The candidates in the first sentence that has any."""
    for start, end in _split_spans(_SENTENCE_EDGE, text):
        numbers = [number for number in candidates if start <= number.start < end]
        if numbers:
            return numbers
    return candidates[:1]


def _split_spans(separator: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the parts of a text between the separators."""
    start = 0
    for match in separator.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


def find_answer_numbers(claim: ReadClaim, gold: AnswerQuantity) -> list[AnswerQuantity]:
    """The numbers of the prediction that can be its answer."""
    # Numbers of the question are only repeated, not answered
    candidates = numbers_not_in(claim.prediction_numbers, claim.query_numbers)
    if any(same_quantity(gold, number) for number in claim.query_numbers):
        # The answer is a number of the question: only numbers in names are no answers.
        candidates = _without_numbered_names(claim)
    candidates = _without_terms(claim, candidates)
    if gold.year_like:
        return candidates
    if _ASKS_COUNT.search(claim.asked):
        candidates = _without_ranks(claim, candidates)

    # Years and ordinals only count if there is nothing else
    counts = [number for number in candidates if not number.year_like and (gold.ordinal or not number.ordinal)]
    return _of_asked_year(claim, counts or candidates)


def _without_ranks(claim: ReadClaim, candidates: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """The numbers without those of "a number 1 hit", which counts nothing."""
    text = claim.prediction_reading.undated
    return [number for number in candidates if not _RANK_BEFORE.search(text[: number.start])]


def _without_terms(claim: ReadClaim, candidates: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """The numbers without those that are only calculated with: 48 of "12 × 4 = 48"."""
    terms = [match.span() for match in _TERMS.finditer(claim.prediction_reading.undated)]
    # A number may begin with the blank before it
    return [
        number for number in candidates if not any(start <= number.start and number.end <= end for start, end in terms)
    ]


def _without_numbered_names(claim: ReadClaim) -> list[AnswerQuantity]:
    """The numbers of the prediction but those of names in the question, such as "Ligue 1", in any spelling."""
    asked_names = [(match["name"], match["number"]) for match in _NUMBERED_NAME.finditer(claim.query_reading.plain)]
    in_names: set[int] = set()
    for match in _NUMBERED_NAME.finditer(claim.prediction_reading.undated):
        for name, number in asked_names:
            if match["number"] == number and _is_similar(match["name"], name):
                in_names.add(match.start("number"))
    return [number for number in claim.prediction_numbers if not in_names.intersection(range(number.start, number.end))]


def _is_similar(first: str, second: str) -> bool:
    # A slightly misspelt name still counts
    return SequenceMatcher(None, first, second, autojunk=False).ratio() > 0.7


def _of_asked_year(claim: ReadClaim, candidates: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """Without the numbers that the prediction gives for another year than the question's."""
    asked_years = {number.value for number in claim.query_numbers if number.year_like}
    if not asked_years:
        return candidates

    # "12 in 2019 and 15 in 2020": a part with another year is about that year
    of_other_years: list[AnswerQuantity] = []
    for start, end in _split_spans(_PART_OF_SENTENCE, claim.prediction_reading.undated):
        numbers = [number for number in claim.prediction_numbers if start <= number.start < end]
        years = {number.value for number in numbers if number.year_like}
        if years and not years & asked_years:
            of_other_years += numbers
    return [number for number in candidates if number not in of_other_years] or candidates
