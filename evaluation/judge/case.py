"""One gold answer against one prediction, with the views of the texts that several rules need."""

import functools
import re
from dataclasses import dataclass
from typing import NamedTuple

from agents.matching import Number, content, found_in, read_numbers, tokens


class Finding(NamedTuple):
    """What a rule decided, and why in half a sentence."""

    correct: bool
    why: str


@dataclass(frozen=True)
class Case:
    """`gold` is one of the texts that count as right."""

    query: str
    gold: str
    prediction: str

    @functools.cached_property
    def query_tokens(self) -> tuple[str, ...]:
        """The question as comparable tokens."""
        return tokens(self.query)

    @functools.cached_property
    def gold_tokens(self) -> tuple[str, ...]:
        """The gold answer as comparable tokens."""
        return tokens(self.gold)

    @functools.cached_property
    def prediction_tokens(self) -> tuple[str, ...]:
        """The prediction as comparable tokens."""
        return tokens(self.prediction)

    @functools.cached_property
    def new_in_gold(self) -> list[str]:
        """Content tokens of the gold answer that the question does not say already: what the answer really tells."""
        return [token for token in content(self.gold_tokens) if not found_in(token, self.query_tokens)]

    @functools.cached_property
    def new_in_prediction(self) -> list[str]:
        """Content tokens of the prediction that the question does not say already."""
        return [token for token in content(self.prediction_tokens) if not found_in(token, self.query_tokens)]

    @functools.cached_property
    def gold_numbers(self) -> list[Number]:
        """The numbers of the gold answer outside whole dates."""
        return read_numbers(self.gold)

    @functools.cached_property
    def prediction_numbers(self) -> list[Number]:
        """The numbers of the prediction outside whole dates."""
        return read_numbers(self.prediction)

    @functools.cached_property
    def is_sentence(self) -> bool:
        """The gold answer is a sentence that holds the answer, rather than the answer alone."""
        return len(self.gold_tokens) >= 6 and bool(_VERB.search(self.gold.lower()))

    @functools.cached_property
    def sentences(self) -> list[str]:
        """The sentences and lines of the prediction."""
        return [part for part in re.split(r"(?<=[.!?])\s+|\n+", self.prediction) if part.strip()]

    @functools.cached_property
    def asks_for_number(self) -> bool:
        """The question wants a number."""
        return bool(_ASKS_NUMBER.search(self.query.lower()))

    @functools.cached_property
    def asks_for_work(self) -> bool:
        """The question wants a thing with a title: a film, a song, a book."""
        return bool(_ASKS_WORK.search(self.query.lower()))

    @functools.cached_property
    def asks_yes_or_no(self) -> bool:
        """The question begins with a verb and offers no choice."""
        return bool(_ASKS_YES_NO.match(self.query.lower().strip())) and not re.search(r"\bor\b", self.query.lower())


_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|won|wins|holds?|held|released?|played|grossed|made|earned|starred|directed|"
    r"belongs?|became|founded|sold|scored|occurs?|includes?|refers?|means?)\b"
)
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
CLAUSE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|won|wins|holds?|released|played|became|made|directed|grossed|include[sd]?)\b"
)
"""The verb that divides a gold sentence into its subject and the rest."""
