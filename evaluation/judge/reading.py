"""One gold answer against one prediction, with what several rules read from the two texts."""

import re
from typing import NamedTuple

from agents.matching import content, found_in, read_numbers, tokens

_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|won|wins|holds?|held|released?|played|grossed|made|earned|starred|directed|"
    r"belongs?|became|founded|sold|scored|occurs?|includes?|refers?|means?)\b"
)
CLAUSE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|won|wins|holds?|released|played|became|made|directed|grossed|include[sd]?)\b"
)
"""The verb that divides a gold sentence into its subject and the rest."""
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|old|long|tall|far|big|large|high|often|fast|heavy|wide|deep)\b"
    r"|\bwhat (?:is|was|were|are)? ?(?:the )?(?:[\w']+ ){0,3}(?:number|total|price|age|percentage|average|score"
    r"|market cap|ratio|population|budget|height|cost|amount|eps)\b"
)
_ASKS_WORK = re.compile(
    r"\b(?:what|which)(?: [\w-]+){0,3} "
    r"(?:films?|movies?|songs?|albums?|singles?|tracks?|hits?|shows?|series|books?|novels?|games?)\b"
)
_ASKS_YES_NO = re.compile(
    r"(?:so |hey |please |and |in [^,]+, )?"
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|am)\b"
)


class RuleDecision(NamedTuple):
    """What a rule decided, and why in half a sentence."""

    correct: bool
    why: str


class ReadClaim:
    """A question, one of the texts that count as right, and a prediction.

    Attributes:
        query, gold, prediction: The texts; `asked` is the question in lower case.
        query_tokens, gold_tokens, prediction_tokens: The texts as comparable tokens.
        new_in_gold, new_in_prediction: Content tokens that the question does not contain.
        gold_numbers, prediction_numbers: Numbers outside whole dates.
        is_sentence: The gold answer is a sentence that holds the answer, not the answer alone.
        asks_for_number, asks_for_work, asks_yes_or_no: What the question wants; a work has a title.
    """

    def __init__(self, query: str, gold: str, prediction: str) -> None:
        self.query, self.gold, self.prediction = query, gold, prediction
        self.asked = query.lower()
        self.query_tokens, self.gold_tokens, self.prediction_tokens = tokens(query), tokens(gold), tokens(prediction)
        self.new_in_gold = self.not_asked(self.gold_tokens)
        self.new_in_prediction = self.not_asked(self.prediction_tokens)
        self.gold_numbers, self.prediction_numbers = read_numbers(gold), read_numbers(prediction)
        self.is_sentence = len(self.gold_tokens) >= 6 and bool(_VERB.search(gold.lower()))
        self.asks_for_number = bool(_ASKS_NUMBER.search(self.asked))
        self.asks_for_work = bool(_ASKS_WORK.search(self.asked))
        self.asks_yes_or_no = bool(_ASKS_YES_NO.match(self.asked.strip())) and not re.search(r"\bor\b", self.asked)

    def not_asked(self, parts: tuple[str, ...]) -> list[str]:
        """The content tokens that the question does not contain."""
        return [token for token in content(parts) if not found_in(token, self.query_tokens)]


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text."""
    return [part for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip()]
