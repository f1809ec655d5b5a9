"""What the rules read: a question, a gold answer and a prediction in typed parts, and their sentences."""

import re
from html import unescape

from crag.evaluation.judge.reading import AnswerQuantity, read_answer, read_direction, same_quantity
from crag.evaluation.judge.reading.citations import without_citations
from crag.evaluation.judge.reading.numerals import write_numerals_as_in
from crag.evaluation.judge.reading.patterns import SENTENCE_EDGE
from crag.evaluation.judge.reading.short_forms import write_millions_of_count
from crag.text.matching import content, found_in

_SENTENCE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|won|wins|holds?|held|released?|played|grossed|made|earned|starred|directed|"
    r"belongs?|became|founded|sold|scored|occurs?|includes?|refers?|means?)\b"
)
"""A verb that makes a gold answer of six words or more a sentence."""
CLAUSE_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|won|wins|holds?|released|played|became|made|directed|grossed|include[sd]?)\b"
)
"""The verb that divides a gold sentence into subject and rest."""
_ASKS_NUMBER = re.compile(
    r"""
    \bhow\ (?:many|much|old|long|tall|far|big|large|high|often|fast|heavy|wide|deep)\b
    # "what is the average ticket price": up to three words before the quantity
    | \bwhat\ (?:is|was|were|are)?\ ?(?:the\ )?(?:[\w']+\ ){0,3}
      (?:number|total|price|age|percentage|average|score|market\ cap|ratio|population|budget|height|cost|amount|eps)\b
    """,
    re.VERBOSE,
)
_ASKS_COUNT = re.compile(
    r"""
    \bhow\ many\ (?! (?:square\ |cubic\ )? (?:m|mm|(?:kilo|centi|milli)?met(?:er|re)s?|miles?|minutes?|months?)\b )
    | \bwhat\ (?:is|was|were)\ (?:the\ )?(?:[\w']+\ ){0,3}
      (?:population|attendance|audience|viewership|readership|circulation)\b
    """,
    re.VERBOSE,
)
"""A question whose answer "2.5m" is no length, but a count."""
_ASKS_YES_NO = re.compile(
    r"""
    (?:so\ |hey\ |please\ |and\ |in\ [^,]{1,100},\ )?  # "in 2019, did ..."
    (?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|am)\b
    """,
    re.VERBOSE,
)

_AFTER_SENTENCE = re.compile(SENTENCE_EDGE + r"|\n+")

RuleDecision = tuple[bool, str]
"""Whether a rule finds the prediction right, and the reason in a short phrase."""


class ReadClaim:
    """A question, one right answer and a prediction, read into typed parts.

    `asked` is the question in lower case. `new_in_...` are content tokens that are not in the question. `..._numbers`
    are quantities without whole dates, with the sign that the question's direction gives ("how much did it fall?").
    `is_sentence`: the gold answer is a sentence that contains the answer.
    """

    def __init__(self, query: str, gold: str, prediction: str) -> None:
        self.query = query
        self.asked = query.lower()
        if _ASKS_COUNT.search(self.asked):
            gold, prediction = write_millions_of_count(gold), write_millions_of_count(prediction)
        gold, prediction = write_numerals_as_in(gold, prediction), write_numerals_as_in(prediction, gold)
        self.gold = gold

        self.query_reading = read_answer(query)
        self.gold_reading = read_answer(gold)
        self.prediction = self._without_citations(prediction)
        self.prediction_reading = read_answer(self.prediction)
        self.query_tokens = self.query_reading.tokens
        self.gold_tokens = self.gold_reading.tokens
        self.prediction_tokens = self.prediction_reading.tokens
        self.new_in_gold = self.not_asked(self.gold_tokens)
        self.new_in_prediction = self.not_asked(self.prediction_tokens)

        # "how much did it fall?" makes "5" and "-5" the same
        direction = read_direction(self.asked)
        self.query_numbers = self.query_reading.quantities
        self.gold_numbers = [number.towards(direction) for number in self.gold_reading.quantities]
        self.prediction_numbers = [number.towards(direction) for number in self.prediction_reading.quantities]

        # Short answers can have a verb too, as a title such as "Has Anybody Seen My Gal?"
        self.is_sentence = len(self.gold_tokens) >= 6 and bool(_SENTENCE_VERB.search(gold.lower()))
        self.asks_for_number = bool(_ASKS_NUMBER.search(self.asked))
        # "is it A or B?" begins like a question of yes or no
        self.asks_yes_or_no = bool(_ASKS_YES_NO.match(self.asked.strip())) and not re.search(r"\bor\b", self.asked)

    def _without_citations(self, prediction: str) -> str:
        """The prediction without citations such as "[1]", unless the answer looks like one: "The answer is [42]"."""
        bare = without_citations(unescape(prediction))
        lost_number = self.gold_reading.quantities and not read_answer(bare).quantities
        return prediction if lost_number or not bare else bare

    def not_asked(self, parts: tuple[str, ...]) -> list[str]:
        """The content tokens that are not in the question."""
        return [token for token in content(parts) if not found_in(token, self.query_tokens)]


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text."""
    return [part for part in _AFTER_SENTENCE.split(text) if part.strip()]


def first_sentence(text: str) -> str:
    """The sentence that answers; a prediction, or a passage that is judged like one, may go on to other things."""
    return _AFTER_SENTENCE.split(text.strip(), maxsplit=1)[0]


def numbers_not_in(numbers: list[AnswerQuantity], excluded: list[AnswerQuantity]) -> list[AnswerQuantity]:
    """The numbers that equal none of the excluded ones."""
    return [
        number for number in numbers if not any(same_quantity(number, excluded_number) for excluded_number in excluded)
    ]
