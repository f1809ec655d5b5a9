"""The rule for questions that ask for a ticker: letters that are often words, "IT" and "ON", or articles, "BRK.A"."""

import re

from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision
from crag.text.matching import content

_ASKS_SYMBOL = re.compile(
    r"\b(?:what|which)(?:'s|\s(?:is|are|was))?\s(?:[\w'&.-]{1,30}\s){0,6}?(?:ticker|(?:stock|trading|exchange)\ssymbol)\b"
)
_ASKS_OWNER = re.compile(r"\b(?:what|which)\s(?:company|firm|stock|business|corporation)\b|\bwho\b")
"""A question about the company of a ticker."""
_SYMBOL = re.compile(r"\s{0,9}\$?(?P<base>[A-Za-z]{1,5})(?:[./ -](?P<share>[A-Za-z]{1,2}))?[\s.]{0,9}")


def same_symbol(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a ticker: the prediction must have it, and not only the same letters as a word."""
    gold = _SYMBOL.fullmatch(claim.gold)
    if gold is None or not _ASKS_SYMBOL.search(claim.asked) or _ASKS_OWNER.search(claim.asked):
        return None

    is_there = _find_symbol(gold["base"], gold["share"], claim.prediction)
    return is_there, f"the prediction {'holds' if is_there else 'does not hold'} the ticker {claim.gold.strip()}"


def _find_symbol(base: str, share: str | None, text: str) -> bool:
    """Whether the text has the ticker, its class behind any sign. A ticker that is also a word must be in capitals."""
    is_word = len(base) == 1 or not content([base.lower()])
    written = base.upper() if is_word else f"(?i:{base})"
    # "A company" begins with an article
    before = r"(?<![\w.$/-])\$?" + (r"(?!\A\w\s[a-z])" if is_word else "")
    after = rf"[./ -]?(?i:{share})(?!\w)" if share else r"(?!\w|[./-][A-Za-z]{1,2}\b)"
    return re.search(before + written + after, text) is not None
