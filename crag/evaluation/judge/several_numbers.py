"""Rules for several numbers and times of day: scores, ratios, ranges, seasons, counts of several things."""

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from crag.evaluation.judge.beside_numbers import ORDINARY_WORDS, find_alternatives, other_words
from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision, numbers_not_in
from crag.evaluation.judge.reading import (
    AnswerQuantity,
    AnswerReading,
    Series,
    numbers_in_order,
    same_clock,
    same_series,
)
from crag.evaluation.judge.reading.units import in_base_unit, units_at
from crag.text.matching import Unit, stem, words

_ORDINARY_WORDS_OF_SERIES = ORDINARY_WORDS | frozenset(
    words(
        "season final score result aged age range ratio odds victory defeat loss lead record vote pm am oclock draw "
        "half past win won beat defeated ended finished game match star"
    )
)
"""The same beside a series or a time of day: "won 3-1" names nobody."""
_WON = frozenset(words("won win beat victory"))
_LOST = frozenset(words("lost loss lose defeat defeated"))
_ASKS_TIME = re.compile(r"\b(?:what|which|at what|the) time\b|\bwhen\b|\bo'?clock\b")
_ASKS_SERIES = re.compile(r"\b(?:scores?|scoreline|results?|record|odds|ratio|which season|what season)\b")
_SAYS_RANGE = re.compile(r"\b(?:rang(?:e|es|ed|ing)|var(?:y|ies|ied|ying))\b")
_SINCE = re.compile(r"\s{0,9}since (?P<year>\d{4})[\s.]{0,9}")
_SHARE_ERROR = 1e-4
# "8.5/10" may be written as 8.5, but "3/4" is not 3
_RATING_SCALES = frozenset({5, 10, 100})
_INCHES_PER_FOOT = 12
_INCH = Unit("inches", "length", Fraction(254, 10_000))
_HALF_A_CENTIMETRE = 0.0051
"""In metres; whoever converts a height rounds to whole centimetres."""
_COUNT_OF = re.compile(r"(?<![\w.,])(?P<number>\d{1,9})\s(?P<thing>[a-z]{3,30})\b")
"""3 gold"""
_COUNT_AFTER = re.compile(r"\b(?P<thing>[a-z]{3,30}):?\s(?P<number>\d{1,9})(?![\w,.:/-]*\d)")
"""Orle 3"""


def several_numbers(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a time of day or several numbers: the prediction must have the same, in order.

    Compares the types clock, series (scores, ratios, ranges, seasons) and counts of several things.
    """
    return (
        _same_open_span(claim)
        or _same_time_of_day(claim)
        or _same_series(claim)
        or _same_counts(claim)
        or _same_list(claim)
    )


def _same_open_span(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer such as "2005-present", read as "since 2005": a span that ends is another one."""
    gold = _SINCE.fullmatch(claim.gold_reading.plain)
    if gold is None:
        return None
    for series in claim.prediction_reading.series:
        if series.is_season and series.numbers[0] == float(gold["year"]):
            return False, f"the gold answer goes on, the prediction ends in {series.numbers[1]:g}"
    return None


def _same_time_of_day(claim: ReadClaim) -> RuleDecision | None:
    clocks = claim.gold_reading.clocks
    if len(clocks) != 1 or other_words(claim.gold_reading, clocks) - _ORDINARY_WORDS_OF_SERIES:
        return None
    is_bare = bool(claim.gold_reading.series)  # 7:30 can be a score or a duration
    if is_bare and not clocks[0].is_sure and not _ASKS_TIME.search(claim.asked):
        return None

    answers = claim.prediction_reading.clocks
    # Without a time of day the numbers may agree in another way: see the later rules
    if not answers:
        return None
    if any(same_clock(clocks[0], answer) for answer in answers):
        return True, "both say the same time of day"
    return False, "the prediction says another time of day"


def _same_series(claim: ReadClaim) -> RuleDecision | None:
    gold = _find_gold_series(claim)
    if gold is None:
        return None

    answers = [series for series in claim.prediction_reading.series if _is_of_kind(series, gold)]
    if answers:
        return _compare_series(claim, gold, answers)

    numbers = _in_words(gold)
    # No series of this kind: 3/4 may be written as 0.75 or 75 %
    if says_otherwise(gold, claim.prediction_numbers):
        return True, f"the prediction says {numbers} as one number"
    is_in_order = numbers_in_order(gold, claim.prediction_reading.plain)
    return is_in_order, f"the prediction {'holds' if is_in_order else 'does not hold'} {numbers} in order"


def _compare_series(claim: ReadClaim, gold: Series, answers: Sequence[Series]) -> RuleDecision:
    """Compares with the first and the last series: "1-1 at half-time, 3-1 in the end"."""
    numbers = _in_words(gold)
    # A text gives its answer at the beginning or in the end
    first_and_last = (answers[0], answers[-1])
    is_same = any(same_series(gold, series) and _have_same_unit(claim, gold, series) for series in first_and_last)
    if not is_same:
        return False, f"the gold answer is {numbers}, the prediction says {_in_words(answers[0])}"
    if _has_other_outcome(claim, gold, answers):
        return False, f"both say {numbers}, but one won and the other lost"
    if _name_others(claim, gold, answers):
        return False, f"both say {numbers}, but of others"
    return True, f"both say {numbers}"


def _find_gold_series(claim: ReadClaim) -> Series | None:
    """The series that the gold answer is; None if it is something else or has more."""
    reading = claim.gold_reading
    if len(reading.series) != 1:
        return None
    series = reading.series[0]
    if _ASKS_SERIES.search(claim.asked) and not reading.dates:
        return series  # "Orle won 3-1" answers a question for the score by 3-1
    if claim.is_sentence:
        return None

    # A number outside the series can be what the question asks for
    has_more_numbers = any(number.start < series.start or number.start >= series.end for number in reading.quantities)
    if has_more_numbers or reading.dates:
        return None
    is_alone = not other_words(reading, [series]) - _ORDINARY_WORDS_OF_SERIES
    return series if is_alone or _SAYS_RANGE.search(reading.plain) else None


def _is_of_kind(series: Series, gold: Series) -> bool:
    """Whether both are seasons or neither is."""
    return series.is_season is gold.is_season or (gold.is_season and series.is_short_season)


def _name_others(claim: ReadClaim, gold: Series, answers: Iterable[Series]) -> bool:
    """Whether both name somebody beside the numbers, and nobody in common: "Orle won 3-1" and "Tann won 3-1"."""
    gold_names = other_words(claim.gold_reading, [gold]) - _ORDINARY_WORDS_OF_SERIES
    predicted_names = other_words(claim.prediction_reading, answers) - _ORDINARY_WORDS_OF_SERIES
    # A sentence about a range needs its words: "the rates range from 1 % to 3 %"
    if _SAYS_RANGE.search(claim.gold_reading.plain):
        return False
    # Names of the question tell nothing apart
    gold_names.difference_update(claim.query_tokens)
    predicted_names.difference_update(claim.query_tokens)
    return bool(gold_names and predicted_names) and not gold_names & predicted_names


def _has_other_outcome(claim: ReadClaim, gold: Series, answers: Iterable[Series]) -> bool:
    """Whether one says won and the other lost; not if they name teams, as one wins what the other loses."""
    gold_words = other_words(claim.gold_reading, [gold])
    predicted_words = other_words(claim.prediction_reading, answers)
    if gold_words - _ORDINARY_WORDS_OF_SERIES or predicted_words - _ORDINARY_WORDS_OF_SERIES - set(claim.query_tokens):
        return False
    for won, lost in ((_WON, _LOST), (_LOST, _WON)):
        if gold_words & won and predicted_words & lost and not (gold_words & lost or predicted_words & won):
            return True
    return False


def _in_words(series: Series) -> str:
    return series.separator.join(f"{number:g}" for number in series.numbers)


def _have_same_unit(claim: ReadClaim, gold: Series, answer: Series) -> bool:
    """Whether the units after two ranges are the same, if both have one."""
    gold_units, _ = units_at(claim.gold_reading.undated, gold.end)
    answer_units, _ = units_at(claim.prediction_reading.undated, answer.end)
    return not gold_units or not answer_units or bool(set(gold_units) & set(answer_units))


def says_otherwise(series: Series, numbers: Iterable[AnswerQuantity]) -> bool:
    """Whether one of the numbers is the share 3/4, the duration 2:05 or the height 6-9 in another form."""
    forms = (_is_share, _is_duration, _is_rating, _is_height)
    return any(is_form(series, number) for number in numbers for is_form in forms)


def _is_height(series: Series, number: AnswerQuantity) -> bool:
    """Whether the number is 6'9", which the NBA writes as 6-9."""
    if len(series.numbers) != 2 or series.separator != "-" or not number.units:
        return False
    feet, inches = series.numbers
    is_length = number.units[0].dimension == "length" and inches < _INCHES_PER_FOOT
    height = in_base_unit(_INCHES_PER_FOOT * feet + inches, _INCH)
    return is_length and abs(in_base_unit(number.value, number.units[0]) - height) < _HALF_A_CENTIMETRE


def _is_rating(series: Series, number: AnswerQuantity) -> bool:
    """Whether the number is the 8.5 of 8.5/10."""
    is_rating = series.separator == "/" and len(series.numbers) == 2 and series.numbers[1] in _RATING_SCALES
    return is_rating and not number.units and number.step < 1 and number.value == series.numbers[0]


def _is_share(series: Series, number: AnswerQuantity) -> bool:
    if series.share is None:
        return False
    value = number.value / 100 if number.percent else number.value
    # "67 %" is 2/3 rounded to its last written digit
    step = number.step / 100 if number.percent else number.step
    difference = abs(value - series.share)
    is_rounded = number.step < 1 and difference <= 0.5 * step
    if series.share >= 1:
        # Odds of 5/1 are not 5
        return is_rounded and not number.units
    return difference < _SHARE_ERROR or is_rounded


def _is_duration(series: Series, number: AnswerQuantity) -> bool:
    if not number.units or number.units[0].dimension != "time":
        return False
    return in_base_unit(number.value, number.units[0]) in series.seconds


def _same_counts(claim: ReadClaim) -> RuleDecision | None:
    """For counts of several things, "3 gold and 2 silver", each thing must have its number."""
    if claim.is_sentence or len(claim.gold_numbers) < 2:
        return None
    return _compare_counts(claim, _COUNT_OF) or _compare_counts(claim, _COUNT_AFTER)


def _compare_counts(claim: ReadClaim, pattern: re.Pattern[str]) -> RuleDecision | None:
    """Compares the numbers of each thing; None if one of the texts does not count the things by that pattern."""
    counts = _read_counts(claim.gold_reading, pattern)
    # Each thing once and each number beside a thing; else the pattern has misread the answer
    things = {thing for _, thing in counts}
    if not len(counts) == len(things) == len(claim.gold_numbers):
        return None

    predicted = _read_counts(claim.prediction_reading, pattern)
    # Things under other names cannot be compared
    if not things <= {thing for _, thing in predicted}:
        return None

    # More counts in the prediction do no harm
    is_same = counts <= predicted
    return is_same, f"the prediction counts {'the same' if is_same else 'other numbers of the same things'}"


def _same_list(claim: ReadClaim) -> RuleDecision | None:
    """For numbers and nothing else, "80 years and 120 days" or "6-4, 7-5": all of them, the series in order."""
    reading = claim.gold_reading
    numbers = claim.gold_numbers
    if claim.is_sentence or len(numbers) < 2 or reading.dates or "(" in claim.gold:
        return None

    # A year beside other numbers only dates them
    has_date = any(number.year_like for number in numbers) and not all(number.year_like for number in numbers)
    if has_date or other_words(reading, reading.quantities) - ORDINARY_WORDS:
        return None

    # "324 m (1,063 ft)" is one number written twice
    if len(find_alternatives(claim, numbers[0])) > 1:
        return None

    if len(reading.series) > 1:
        expected = [series.numbers for series in reading.series]
        # Sets of a match must be in order, and may be followed by others
        predicted = [series.numbers for series in claim.prediction_reading.series]
        is_same = expected == predicted[: len(expected)]
    else:
        is_same = not numbers_not_in(numbers, claim.prediction_numbers)
    return is_same, f"the prediction holds {'all' if is_same else 'not all'} numbers of the gold answer"


def _read_counts(reading: AnswerReading, pattern: re.Pattern[str]) -> set[tuple[str, str]]:
    """Numbers of a text, each with the thing that is counted."""
    return {(match["number"], stem(match["thing"])) for match in pattern.finditer(reading.undated)}
