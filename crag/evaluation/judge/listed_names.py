"""Texts that list several names, where the gold answer is one of them or all."""

import re

from crag.evaluation.judge.read_claim import ReadClaim, first_sentence
from crag.evaluation.judge.reading.name_series import name_series
from crag.text.matching import recall, split_list, tokens

LONGEST_NAME = 4
"""Tokens."""
_NAMES_WITHOUT_AND = 4
_ASKS_PLACE = re.compile(r"\bwhere\b|\b(?:city|town|village|country|state|county|province|region|place|location)\b")
_ARTICLE = re.compile(r"(?:an?|the)\b", re.IGNORECASE)
_BEFORE_LAST = re.compile(r"\s(?:and|&)\s", re.IGNORECASE)


def is_one_of_several(claim: ReadClaim) -> bool:
    """The first sentence answers by a series of names, "A, B and C ...", that includes the gold answer."""
    for names in name_series(first_sentence(claim.prediction)):
        if any(recall(claim.gold_tokens, name) == 1.0 for name in names):
            return True
    return _is_item_of_bare_list(claim)


def _is_item_of_bare_list(claim: ReadClaim) -> bool:
    """Whether the prediction is nothing but names, "ann lee, bo chan and cy dean", and the gold answer one of them.

    "Orle, Kessa, Varn" is a place, and "ann lee, actress, writer and director" one person: without "and" there must be
    four names or more, and each must have two words if the gold answer has.
    """
    items = [tokens(item) for item in split_list(claim.prediction.strip(" ."))]
    if claim.gold_tokens not in items or "," in claim.gold:
        return False
    if not is_list_of_names(claim.prediction) and (len(items) < _NAMES_WITHOUT_AND or _ASKS_PLACE.search(claim.asked)):
        return False
    fewest = min(2, len(claim.gold_tokens))
    return all(fewest <= len(item) <= LONGEST_NAME for item in items)


def is_list_of_names(text: str) -> bool:
    """Whether a text lists names, as "A, B and C" does, but not "Oslo, Norway" or "A, a film about B and C"."""
    items = [item.strip() for item in split_list(text)]
    are_short = all(0 < len(tokens(item)) <= LONGEST_NAME and not _ARTICLE.match(item) for item in items)
    return len(items) > 2 and are_short and _BEFORE_LAST.search(text) is not None
