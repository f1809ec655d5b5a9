"""The rule for gold answers that are a number or a measure."""

import re
from dataclasses import replace
from itertools import pairwise

from crag.evaluation.judge.answer_numbers import find_answer_numbers, first_sentence_numbers
from crag.evaluation.judge.beside_numbers import (
    find_alternatives,
    of_asked_label,
    without_earlier_levels,
)
from crag.evaluation.judge.gold_numbers import COUNTED, find_gold_number
from crag.evaluation.judge.no_value import SAYS_NO_VALUE, says_none
from crag.evaluation.judge.parts_of_wholes import is_end_of_range, without_whole
from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision, numbers_not_in
from crag.evaluation.judge.reading import (
    AnswerQuantity,
    Bound,
    same_bound,
    same_quantity,
)
from crag.evaluation.judge.reading.quantities import SCALES
from crag.evaluation.judge.reading.same_quantities import YEARS_OF_DECADE
from crag.evaluation.judge.reading.units import CELSIUS, asked_units
from crag.evaluation.judge.several_numbers import says_otherwise
from crag.text.matching import count_listed, stem

_ASKS_LIMIT = re.compile(
    r"""
    \b(?: minimum | maximum | max | min | limit | legal | required? | requires | need(?:s|ed)? | must | allowed
        | capacity | can | hold | at\ least | at\ most
        | (?:voting|drinking|driving|working|retirement)\ age )\b
    """,
    re.VERBOSE,
)
"""A question whose answer is a limit: "at least 18" answers it by 18."""
_ABOUT = r"about|around|approximately|approx|roughly|nearly|almost|some|circa"
_SAYS_ABOUT = re.compile(rf"\b(?:{_ABOUT})\b|~")
_SAYS_ABOUT_OR_OVER = re.compile(rf"\b(?:{_ABOUT}|over|more than)\b|~")
_LARGE_STEP = 1_000
"""From here on the last written digit of a number is one of thousands or millions."""
_ASKS_MAGNITUDE = re.compile(r"\b(?:in|many) (?P<word>thousand|million|billion|trillion)s?\b")
_PER_TIME = re.compile(
    r"\d[\w.,]{0,20}(?:\s[a-z]{2,15})?(?:\s(?:per|an?|each|every)\s|\s?/\s?)"
    r"(?P<time>second|minute|hour|day|week|month|year|sec|min|hr|h|wk|mo|yr)\b"
)
_EACH = re.compile(r"\b(?:each|every|per|apiece)\b")
_OF_EACH = re.compile(
    r"\A\D{0,60}\d[\d.,]{0,20}\s(?:[a-z]{2,20}\s){0,2}(?:from|in|of|for|by|on|at)\s(?:each|every)\s(?P<thing>[a-z]{2,20})"
)
_SHORT_TIMES = {"sec": "second", "min": "minute", "hr": "hour", "h": "hour", "wk": "week", "mo": "month", "yr": "year"}
_OR = re.compile(r"\bor\b(?:\s(?:perhaps|maybe|possibly|about|in))?")


def _names_single(claim: ReadClaim) -> bool:
    """Whether the prediction has no number and names the counted thing with "a": "it won an oscar"."""
    counted = COUNTED.search(claim.query_reading.plain)
    if counted is None or not counted["noun"] or claim.prediction_numbers:
        return False
    thing = re.escape(counted["noun"].removesuffix("s"))
    text = claim.prediction_reading.plain
    is_denied = SAYS_NO_VALUE.search(text) is not None
    return not is_denied and re.search(rf"\b(?:an?|a single|only one)\s{thing}\b", text) is not None


def same_amount(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a quantity: the prediction must answer the same, in any unit, at most rounded.

    Compares value, sign, unit, era and bound. Not an answer: numbers in the question, years beside other numbers, and
    numbers for another year than the question's. Of several numbers, those of the first sentence with any and the last
    one count as the answer.
    """
    gold = find_gold_number(claim)
    if gold is None:
        return None

    # Forms that give no number to compare: "none", a day of the year, a share
    agreement = _agree_without_number(claim, gold)
    if agreement:
        return True, agreement

    candidates = without_whole(claim, find_answer_numbers(claim, gold))
    candidates = without_earlier_levels(claim, of_asked_label(claim, candidates))
    if not candidates:
        return False, f"the prediction holds no number, the gold answer is {gold.value:g}"

    # "how many?" answered by "3: A, B, C and D" contradicts itself
    if claim.asks_for_number and not gold.year_like and count_listed(claim.prediction) > gold.value > 0:
        return False, f"the gold answer is {gold.value:g}, but the prediction lists more"

    # A year may stand anywhere; of other numbers those that a reader takes for the answer
    answers = candidates
    if not gold.year_like:
        answers = [*first_sentence_numbers(claim.prediction_reading.undated, candidates), candidates[-1]]
    return _compare_with_answers(claim, gold, answers)


def _compare_with_answers(claim: ReadClaim, gold: AnswerQuantity, answers: list[AnswerQuantity]) -> RuleDecision:
    """Compares the gold number, in all units that it is given in, with the numbers that are the prediction's answer."""
    if _names_other_rate(claim):
        return False, f"the gold answer is {gold.value:g} for another time"
    if _gives_part_of_each(claim):
        return False, f"the gold answer is {gold.value:g}, the prediction counts for each of several"
    if _leaves_open(claim, gold):
        return False, f"the prediction does not choose between {gold.value:g} and another number"
    for alternative in find_alternatives(claim, gold):
        agreement = _describe_agreement(claim, _in_asked_unit(claim, alternative), answers)
        if agreement:
            return True, agreement
    return (
        False,
        f"the gold answer is {gold.value:g}, the prediction says {answers[0].value:g}{_difference(gold, answers[0])}",
    )


def _leaves_open(claim: ReadClaim, gold: AnswerQuantity) -> bool:
    """Whether the prediction names the gold number "or" another one, "4 to 5" too; not "5 km or 3.1 miles"."""
    if is_end_of_range(claim, gold):
        return True
    # A choice that the question or the gold answer has too
    if _OR.search(claim.gold_reading.plain) or _OR.search(claim.asked):
        return False

    text = claim.prediction_reading.undated
    for first, second in pairwise(claim.prediction_numbers):
        if not _OR.fullmatch(text[first.end : second.start].strip()) or same_quantity(first, second):
            continue
        if same_quantity(gold, first) or same_quantity(gold, second):
            return True
    return False


def _difference(gold: AnswerQuantity, answer: AnswerQuantity) -> str:
    """What differs if the numbers do not."""
    if gold.value != answer.value:
        return ""
    if gold.era != answer.era:
        return " of another era"
    if gold.bound is not answer.bound:
        return " with another bound"
    return " in another unit"


def _in_asked_unit(claim: ReadClaim, gold: AnswerQuantity) -> AnswerQuantity:
    """A gold number without a unit has the question's: "how many miles is it?"."""
    if gold.units or gold.year_like or gold.ordinal:
        return gold
    return replace(gold, units=asked_units(claim.asked))


def _agree_without_number(claim: ReadClaim, gold: AnswerQuantity) -> str | None:
    """In what a prediction agrees that says the number otherwise: a year by a day of it, 0 by "none"."""
    years = YEARS_OF_DECADE if gold.decade else 1
    if gold.year_like and any(0 <= day.year - gold.value < years for day in claim.prediction_reading.dates):
        return f"the prediction holds a day of {gold.value:g}"

    # "she has never won" for 0
    if gold.value == 0 and not _is_on_a_scale(gold) and says_none(claim):
        return "both say that there are none"
    # "It won an award" for 1
    if gold.value == 1 and _names_single(claim):
        return "both say that there is one"
    if any(says_otherwise(series, [gold]) for series in claim.prediction_reading.series):
        return f"the prediction holds {gold.value:g} as a share or a duration"
    return None


def _is_on_a_scale(number: AnswerQuantity) -> bool:
    """Whether 0 is a point of a scale and does not mean none: 0 °C."""
    return any(unit.dimension == CELSIUS.dimension for unit in number.units)


def _names_other_rate(claim: ReadClaim) -> bool:
    """Whether both give their number for a time, and not for the same: "$15 per hour", "$15 a day"."""
    gold = {_in_full(match["time"]) for match in _PER_TIME.finditer(claim.gold_reading.plain)}
    predicted = {_in_full(match["time"]) for match in _PER_TIME.finditer(claim.prediction_reading.plain)}
    return bool(gold) and bool(predicted) and not gold & predicted


def _gives_part_of_each(claim: ReadClaim) -> bool:
    """Whether the prediction's only number counts for each of several, and nobody asked so: "16 from each league"."""
    match = _OF_EACH.search(claim.prediction_reading.plain)
    is_only_number = len(numbers_not_in(claim.prediction_numbers, claim.query_numbers)) == 1
    if match is None or not is_only_number or "how many" not in claim.asked or _EACH.search(claim.gold_reading.plain):
        return False
    return stem(match["thing"]) not in claim.query_tokens and not _EACH.search(claim.asked)


def _in_full(time: str) -> str:
    return _SHORT_TIMES.get(time, time)


def _describe_agreement(claim: ReadClaim, gold: AnswerQuantity, answers: list[AnswerQuantity]) -> str | None:
    """In what the numbers agree; None if they do not."""
    # "about" or "over" on either side: the gold answer can be the rounded one
    is_about = bool(_SAYS_ABOUT_OR_OVER.search(f"{claim.gold_reading.plain} {claim.prediction_reading.plain}"))
    if any(_agree(claim, gold, answer, is_about=is_about) for answer in answers):
        return f"both say {gold.value:g}"

    magnitude = _ASKS_MAGNITUDE.search(claim.asked)
    if magnitude:
        # If the question asks for millions, a bare 3 means 3 million.
        scale = SCALES[magnitude["word"]]
        for answer in answers:
            if same_quantity(gold, replace(answer, value=scale * answer.value, step=scale * answer.step)):
                return f"both say {gold.value:g}, the prediction in the units of the question"

    if len(claim.gold_numbers) > 1 and not numbers_not_in(claim.gold_numbers, claim.prediction_numbers):
        return "the prediction holds all numbers of the gold answer"
    return None


def _agree(
    claim: ReadClaim,
    gold: AnswerQuantity,
    answer: AnswerQuantity,
    *,
    is_about: bool,
) -> bool:
    """Whether value, sign, unit, era and bound agree."""
    if _is_just_over(gold, answer):
        return True
    if not same_quantity(gold, answer) and not (is_about and _nearly_equal(gold, answer)):
        return False
    asks_limit = bool(_ASKS_LIMIT.search(claim.asked))
    is_approximate = bool(_SAYS_ABOUT.search(claim.gold_reading.plain))
    return same_bound(gold, answer, asks_limit=asks_limit, is_approximate=is_approximate)


def _is_just_over(gold: AnswerQuantity, answer: AnswerQuantity) -> bool:
    """Whether the answer is the gold value cut off after its last written digit: "over $936 million"."""
    if answer.bound is not Bound.OVER or answer.step < _LARGE_STEP or gold.bound is not Bound.NONE:
        return False
    is_near = 0 < gold.value - answer.value < min(answer.step, 0.01 * gold.value)
    return is_near and same_quantity(gold, replace(answer, value=gold.value))


def _nearly_equal(gold: AnswerQuantity, answer: AnswerQuantity) -> bool:
    """A rounded whole number above 100 may be off by 1 %; a year or an amount of money may not."""
    if gold.year_like or gold.percent or gold.ordinal or gold.currency or gold.step < 1 or abs(gold.value) < 100:
        return False

    # Here no unit is converted, so they must be the same
    if gold.units and answer.units and not set(gold.units) & set(answer.units):
        return False
    return abs(gold.value - answer.value) <= 0.01 * abs(gold.value)
