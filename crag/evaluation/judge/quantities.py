"""Rules for a number or measure, a date, and missing values."""

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise

from crag.evaluation.judge.base import ReadClaim, RuleDecision, numbers_not_in
from crag.evaluation.judge.beside_numbers import (
    ORDINARY_WORDS,
    find_alternatives,
    of_asked_label,
    other_words,
    without_earlier_levels,
)
from crag.evaluation.judge.parts_of_wholes import is_end_of_range, without_whole
from crag.evaluation.judge.reading import (
    AnswerQuantity,
    Bound,
    read_quantities,
    same_bound,
    same_quantity,
)
from crag.evaluation.judge.reading.quantities import SCALES
from crag.evaluation.judge.reading.same_quantities import YEARS_OF_DECADE
from crag.evaluation.judge.reading.units import asked_units
from crag.evaluation.judge.several_numbers import says_otherwise
from crag.text.matching import count_listed, stem, words

_MONTHS = re.compile(r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b")
_NO_VALUES = frozenset({"nan", "n/a", "na", "none", "null", "unknown", "not available", "i don't know", "nobody"})
_SAYS_NO_VALUE = re.compile(
    r"\b(?:nan|n/a|none|null|no|not|never|nobody|unknown|unavailable|undefined|lacks)\b"
    r"|n't\b|(?<![\d.,])0(?![.,]?\d|\s?%)"
)
# "no idea" has the word "no", but does not say that there is none
_CLUELESS = re.compile(r"\bno (?:idea|clue)\b|\bnot (?:sure|certain)\b|n't (?:know|sure|certain)\b")
_NOT_ONE = re.compile(r"\bnot\s(?:a\ssingle|even|so\smuch\sas)\s(?:1\b|one\b|an?\b)")
_DATING_YEAR = re.compile(r"\b(?:in|of|since|by|until|during|before|after) (?:[a-z]+ )?\d{4}\b(?![.,]\d)")
"""A year that only dates the answer: "none as of 2024"."""
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
_PART_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;|,\s(?!\d{3}\b)|\b(?:while|whereas|and|but|compared|from|up)\b")
"""What divides a sentence into parts about one year each; not the comma of "1, 204"."""
# Four letters or more: "by 3" and "the 3" are no names
_NUMBERED_NAME = re.compile(r"\b(?P<name>[a-z]{4,})[\s-](?P<number>\d+)(?![\w.,]*\d)")
"""A name with a number, "ligue 1"; not the first digits of "about 1,204"."""
_NUMBER_AND_NEXT = re.compile(
    r"""
    (?<![\w.,])(?P<number>\d+(?:,\d{2,3})*(?:\.\d+)?(?:\s(?:thousand|million|billion))?)
    # The next one or two words; "one of" counts nothing.
    (?=\s?-?(?P<next>(?!of\b)[a-z]+(?:\s[a-z]+)?))
    """,
    re.VERBOSE,
)
_OR = re.compile(r"\bor\b(?:\s(?:perhaps|maybe|possibly|about|in))?")
_SENTENCE_EDGE = re.compile(r"(?<=[.!?])\s+|\n+")
_TITLE = re.compile(r'(?<!\d)"[^"]{1,80}"(?!\w)')
_ASKS_COUNT = re.compile(r"\bhow many\b")
_RANK_BEFORE = re.compile(r"(?:\b(?:number|no\.?|nr\.?)\s|#)$")
_COUNTED = re.compile(
    r"""
    \bhow\ (?:
        (?:many|much)\ (?P<noun>(?!(?:will|would|can|could|did|do|does|is|are|was|were|has|have|had)\b)[a-z]+)
      | (?P<measure>long|far|tall|high|wide|deep|heavy|fast|old)
    )\b
    """,
    re.VERBOSE,
)
"""What a question counts or measures."""
_UNITS_OF = {
    "old": frozenset(words("year month day")),
    "long": frozenset(words("mile kilometer km meter metre foot feet inch hour minute second day week month year")),
}
"""The units that "how old" and "how long" ask for: a time; a time or a length."""
_ANY_UNIT = _UNITS_OF["long"] | frozenset(words("mph kph kmh kg lb pound ton tonne"))
"""The units that "how far", "how heavy" and the like may ask for."""


def no_value(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer such as "nan": the prediction must also say that there is no value."""
    if claim.gold_reading.plain.strip(" .") not in _NO_VALUES:
        return None
    if _CLUELESS.search(claim.prediction_reading.plain):
        return None  # an abstention, not the answer that there is no value
    if _says_none(claim):
        return True, "the gold answer is that there is none, the prediction agrees"
    return False, "the gold answer is that there is none, the prediction names one"


def _says_none(claim: ReadClaim) -> bool:
    """The prediction says that there is none and adds no number to the question's, unlike "12, not 10"."""
    text = _NOT_ONE.sub("none", claim.prediction_reading.plain)
    if _CLUELESS.search(text) or not _SAYS_NO_VALUE.search(text):
        return False

    # "none as of 2024" adds no number, "12, not 10" does
    new_numbers = numbers_not_in(read_quantities(_DATING_YEAR.sub(" ", text)), claim.query_numbers)
    return all(number.value == 0 for number in new_numbers)


def _names_single(claim: ReadClaim) -> bool:
    """Whether the prediction has no number and names the counted thing with "a": "it won an oscar"."""
    counted = _COUNTED.search(claim.query_reading.plain)
    if counted is None or not counted["noun"] or claim.prediction_numbers:
        return False
    thing = re.escape(counted["noun"].removesuffix("s"))
    text = claim.prediction_reading.plain
    is_denied = _SAYS_NO_VALUE.search(text) is not None
    return not is_denied and re.search(rf"\b(?:an?|a single|only one)\s{thing}\b", text) is not None


# --- numbers ----------------------------------------------------------------------------------------------------------


def same_amount(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a quantity: the prediction must answer the same, in any unit, at most rounded.

    Compares value, sign, unit, era and bound. Not an answer: numbers in the question, years beside other numbers, and
    numbers for another year than the question's. Of several numbers, those of the first sentence with any and the last
    one count as the answer.
    """
    gold = _find_gold_number(claim)
    if gold is None:
        return None

    # Forms that give no number to compare: "none", a day of the year, a share
    agreement = _agree_without_number(claim, gold)
    if agreement:
        return True, agreement

    candidates = without_whole(claim, _find_answer_numbers(claim, gold))
    candidates = without_earlier_levels(claim, of_asked_label(claim, candidates))
    if not candidates:
        return False, f"the prediction holds no number, the gold answer is {gold.value:g}"

    # "how many?" answered by "3: A, B, C and D" contradicts itself
    if claim.asks_for_number and not gold.year_like and count_listed(claim.prediction) > gold.value > 0:
        return False, f"the gold answer is {gold.value:g}, but the prediction lists more"

    # A year may stand anywhere; of other numbers those that a reader takes for the answer
    answers = candidates
    if not gold.year_like:
        answers = [*_first_sentence_numbers(claim.prediction_reading.undated, candidates), candidates[-1]]
    return _compare_with_answers(claim, gold, answers)


def _compare_with_answers(claim: ReadClaim, gold: AnswerQuantity, answers: list[AnswerQuantity]) -> RuleDecision:
    """Compares the gold number, in all units that it is given in, with the numbers that are the prediction's answer."""
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
    if gold.value == 0 and _says_none(claim):
        return "both say that there are none"
    # "It won an award" for 1
    if gold.value == 1 and _names_single(claim):
        return "both say that there is one"
    if any(says_otherwise(series, [gold]) for series in claim.prediction_reading.series):
        return f"the prediction holds {gold.value:g} as a share or a duration"
    return None


def _first_sentence_numbers(text: str, candidates: list[AnswerQuantity]) -> list[AnswerQuantity]:
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


def _find_answer_numbers(claim: ReadClaim, gold: AnswerQuantity) -> list[AnswerQuantity]:
    """The numbers of the prediction that can be its answer."""
    # Numbers of the question are only repeated, not answered
    candidates = numbers_not_in(claim.prediction_numbers, claim.query_numbers)
    if any(same_quantity(gold, number) for number in claim.query_numbers):
        # The answer is a number of the question: only numbers in names are no answers.
        candidates = _without_numbered_names(claim)
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


# --- the number in a gold answer --------------------------------------------------------------------------------------


def _find_gold_number(claim: ReadClaim) -> AnswerQuantity | None:
    """The number that the gold answer gives; None if the answer is something else."""
    if not claim.gold_numbers or _MONTHS.search(claim.gold.lower()):
        return None

    # An answer without names is its number
    names = other_words(claim.gold_reading, claim.gold_reading.quantities) - ORDINARY_WORDS
    if not names and (len(claim.gold_numbers) == 1 or len(find_alternatives(claim, claim.gold_numbers[0])) > 1):
        return claim.gold_numbers[0]

    counted = _find_counted(claim)
    if counted:
        return counted

    # A sentence repeats the numbers of the question
    new_numbers = numbers_not_in(_without_titles(claim), claim.query_numbers)
    if not new_numbers:
        return None
    if claim.asks_for_number:
        without_years = [number for number in new_numbers if not number.year_like]
        return without_years[0] if without_years else new_numbers[0]

    # A sentence that adds words too may answer by them.
    new_names = [name for name in names if name in claim.new_in_gold]
    return new_numbers[0] if len(new_numbers) == 1 and not new_names else None


def _find_counted(claim: ReadClaim) -> AnswerQuantity | None:
    """Of several numbers in the gold answer, the one beside the unit that the question asks for."""
    question = _COUNTED.search(claim.query_reading.plain)
    if question is None or len(claim.gold_numbers) < 2:
        return None

    units = {stem(question["noun"])} if question["noun"] else _UNITS_OF.get(question["measure"], _ANY_UNIT)
    candidates = _without_titles(claim)
    for match in _NUMBER_AND_NEXT.finditer(claim.gold_reading.undated):
        numbers = [number for number in candidates if number.start <= match.start() < number.end]
        if numbers and units.intersection(map(stem, match["next"].split())):
            return numbers[0]
    return None


def _without_titles(claim: ReadClaim) -> list[AnswerQuantity]:
    """The numbers of the gold answer without those in quoted titles, unless it has no others."""
    titles = [match.span() for match in _TITLE.finditer(claim.gold_reading.undated)]
    outside = [number for number in claim.gold_numbers if not any(start <= number.start < end for start, end in titles)]
    return outside or claim.gold_numbers
