"""The rule for gold answers that say that there is none: "nan", "none", "not available"."""

import re

from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision, numbers_not_in
from crag.evaluation.judge.reading import read_quantities

_NO_VALUES = frozenset({"nan", "n/a", "na", "none", "null", "unknown", "not available", "i don't know", "nobody"})
SAYS_NO_VALUE = re.compile(
    r"\b(?:nan|n/a|none|null|no|not|never|nobody|unknown|unavailable|undefined|lacks)\b"
    r"|n't\b|(?<![\d.,])0(?![.,]?\d|\s?%)"
)
# "no idea" has the word "no", but does not say that there is none
_CLUELESS = re.compile(r"\bno (?:idea|clue)\b|\bnot (?:sure|certain)\b|n't (?:know|sure|certain)\b")
_HAS_NONE = re.compile(
    r"\b(?:ha[sd]|have|had|got|(?:is|are|was|were)|won|scored|made)\s(?:no|never|none)\b"
    r"|(?:n't|\bnot|\bnever)\s(?:\w{1,20}\s){0,2}any\b"
)
_NOT_ONE = re.compile(r"\bnot\s(?:a\ssingle|even|so\smuch\sas)\s(?:1\b|one\b|an?\b)")
_DATING_YEAR = re.compile(r"\b(?:in|of|since|by|until|during|before|after) (?:[a-z]+ )?\d{4}\b(?![.,]\d)")
"""A year that only dates the answer: "none as of 2024"."""


def no_value(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer such as "nan": the prediction must also say that there is no value."""
    is_none = claim.gold_reading.plain.strip(" .") in _NO_VALUES
    if not is_none and not _counts_none(claim):
        return None
    if _CLUELESS.search(claim.prediction_reading.plain):
        return None  # an abstention, not the answer that there is no value
    if says_none(claim):
        return True, "the gold answer is that there is none, the prediction agrees"
    return False, "the gold answer is that there is none, the prediction names one"


def _counts_none(claim: ReadClaim) -> bool:
    """Whether a question for a count has a gold answer in words that there are none: "she has no children"."""
    gold = claim.gold_reading
    return "how many" in claim.asked and not gold.quantities and _HAS_NONE.search(gold.plain) is not None


def says_none(claim: ReadClaim) -> bool:
    """The prediction says that there is none and adds no number to the question's, unlike "12, not 10"."""
    text = _NOT_ONE.sub("none", claim.prediction_reading.plain)
    if _CLUELESS.search(text) or not SAYS_NO_VALUE.search(text):
        return False

    # "none as of 2024" adds no number, "12, not 10" does
    new_numbers = numbers_not_in(read_quantities(_DATING_YEAR.sub(" ", text)), claim.query_numbers)
    return all(number.value == 0 for number in new_numbers)
