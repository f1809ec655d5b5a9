"""Rules for numbers, measures, several numbers, times of day, dates, and missing values."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from crag.evaluation.judge.base import ReadClaim, RuleDecision, numbers_not_in
from crag.evaluation.judge.reading import (
    Clock,
    Quantity,
    Reading,
    Series,
    numbers_in_order,
    read_quantities,
    same_bound,
    same_clock,
    same_quantity,
    same_series,
)
from crag.evaluation.judge.reading.quantities import SCALES
from crag.evaluation.judge.reading.units import asked_units, in_base_unit, units_at
from crag.text.matching import content, count_listed, stem, tokens, words

_MONTHS = re.compile(r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b")
_UNIT_WORDS = frozenset(
    words(
        "year month week day hour minute second mile kilometer km meter metre foot feet inch inche pound dollar usd "
        "us euro people percent million billion trillion thousand hundred time old award movie film album "
        "song game title share win championship goal member kg lb per cent thousand point bce bc ad c ca circa "
        "least most fewer less under above below minimum maximum loss profit net gain drop fall fell rose rise decline "
        "after before prior later earlier exceed exceeding excess upward beyond "
        "decrease increase up down lower higher century lost bps crore lakh"
    )
)
"""Words beside a number that are no names."""
# "won 3-1" has no name beside the series
_SERIES_WORDS = _UNIT_WORDS | frozenset(
    words(
        "season final score result aged age range ratio odds victory defeat loss lead record vote pm am oclock draw "
        "half past win won beat defeated ended finished game match"
    )
)
"""The same beside a series or a time of day."""
_NO_VALUES = frozenset({"nan", "n/a", "na", "none", "null", "unknown", "not available", "i don't know", "nobody"})
_SAYS_NO_VALUE = re.compile(
    r"\b(?:nan|n/a|none|null|no|not|never|nobody|unknown|unavailable|undefined|lacks)\b"
    r"|n't\b|(?<![\d.,])0(?![.,]?\d|\s?%)"
)
# "no idea" has the word "no", but does not say that there is none
_CLUELESS = re.compile(r"\bno (?:idea|clue)\b|\bnot (?:sure|certain)\b|n't (?:know|sure|certain)\b")
_DATING_YEAR = re.compile(r"\b(?:in|of|since|by|until|during|before|after) (?:[a-z]+ )?\d{4}\b(?![.,]\d)")
"""A year that only dates the answer: "none as of 2024"."""
_ASKS_DATE = re.compile(r"^when\b|\b(?:what|which) (?:exact )?(?:date|day)\b|\bbirthday\b")
_ASKS_PART = re.compile(r"\b(?:what|which) (?P<part>year|month)\b")
_ASKS_TIME = re.compile(r"\b(?:what|which|at what|the) time\b|\bwhen\b|\bo'?clock\b")
_ASKS_LIMIT = re.compile(
    r"""
    \b(?: minimum | maximum | max | min | limit | legal | required? | requires | need(?:s|ed)? | must | allowed
        | capacity | can | hold | at\ least | at\ most
        | (?:voting|drinking|driving|working|retirement)\ age )\b
    """,
    re.VERBOSE,
)
"""A question whose answer is a limit: "at least 18" answers it by 18."""
_ASKS_SERIES = re.compile(r"\b(?:scores?|scoreline|results?|record|odds|ratio|which season|what season)\b")
_SAYS_ABOUT = re.compile(r"\b(?:about|around|approximately|approx|roughly|nearly|almost|some|circa)\b|~")
_ALTERNATIVE = re.compile(r"\s?[(/;]\s?|\s?\bor\s|\s?=\s?")
"""What stands between two values of one quantity: "324 m (1,063 ft)"."""
_ASKS_MAGNITUDE = re.compile(r"\b(?:in|many) (?P<word>thousand|million|billion|trillion)s?\b")
_ABOUT = re.compile(r"\b(?:about|around|approximately|approx|roughly|nearly|almost|over|more than|some|circa)\b|~")
_PART_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;|,\s(?!\d{3}\b)|\b(?:while|whereas|and|but|compared|from|up)\b")
"""What divides a sentence into parts about one year each; not the comma of "1, 204"."""
# Four letters or more: "by 3" and "the 3" are no names
_NUMBERED_NAME = re.compile(r"\b(?P<name>[a-z]{4,})[\s-](?P<number>\d+)(?![\w.,]*\d)")
"""A name with a number, "ligue 1"; not the first digits of "about 1,204"."""
_NUMBER_AND_NEXT = re.compile(
    r"""
    (?<![\w.,])(?P<number>\d[\d,]*(?:\.\d+)?(?:\s(?:thousand|million|billion))?)
    # The next one or two words; "one of" counts nothing.
    (?=\s?-?(?P<next>(?!of\b)[a-z]+(?:\s[a-z]+)?))
    """,
    re.VERBOSE,
)
_SHARE_ERROR = 1e-4
# "8.5/10" may be written as 8.5, but "3/4" is not 3
_RATING_SCALES = frozenset({5, 10, 100})
_COUNT_OF = re.compile(r"(?<![\w.,])(?P<number>\d{1,9})\s(?P<thing>[a-z]{3,30})\b")
"""3 gold"""
_COUNT_AFTER = re.compile(r"\b(?P<thing>[a-z]{3,30}):?\s(?P<number>\d{1,9})(?![\w,.:/-]*\d)")
"""Orle 3"""
_SENTENCE_EDGE = re.compile(r"(?<=[.!?])\s+|\n+")
_COUNTED = re.compile(
    r"\bhow (?:(?:many|much) (?P<noun>[a-z]+)|(?P<measure>long|far|tall|high|wide|deep|heavy|fast|old))\b"
)
"""What a question counts or measures."""
# "old" is a time, "long" a time or a length; the other words ask for any of `_UNITS`
_UNITS_OF = {
    "old": frozenset(words("year month day")),
    "long": frozenset(words("mile kilometer km meter metre foot feet inch hour minute second day week month year")),
}
_UNITS = _UNITS_OF["long"] | frozenset(words("mph kph kmh kg lb pound ton tonne"))


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
    text = claim.prediction_reading.plain
    if _CLUELESS.search(text) or not _SAYS_NO_VALUE.search(text):
        return False

    # "none as of 2024" adds no number, "12, not 10" does
    new_numbers = numbers_not_in(read_quantities(_DATING_YEAR.sub(" ", text)), claim.query_numbers)
    return all(number.value == 0 for number in new_numbers)


def same_date(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a whole date: the prediction must have the same day, in any notation."""
    gold_dates = claim.gold_reading.dates
    rest = claim.not_asked(tokens(claim.gold_reading.undated))
    # Words beside the date can be the answer, unless the question asks for a date
    if len(gold_dates) != 1 or (rest and not _ASKS_DATE.search(claim.asked)):
        return None

    gold_date = min(gold_dates)
    day = gold_date.isoformat()
    dates = claim.prediction_reading.dates
    asked_part = _ASKS_PART.search(claim.asked)
    if not dates and asked_part:
        # "which year?" is answered by the year of the gold date
        part = day[:4] if asked_part["part"] == "year" else stem(f"{gold_date:%B}".lower())
        is_there = part in claim.prediction_tokens
        return is_there, f"the question asks for the {asked_part['part']} of {day}: {'' if is_there else 'not '}there"

    if not dates and not claim.prediction_numbers:
        return False, f"the prediction holds no date, the gold answer is {day}"
    if gold_date in dates:
        return True, f"the prediction holds {day}"
    return False, f"the prediction does not hold {day}"


# --- several numbers --------------------------------------------------------------------------------------------------


def several_numbers(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a time of day or several numbers: the prediction must have the same, in order.

    Compares the types clock, series (scores, ratios, ranges, seasons) and counts of several things.
    """
    return _same_time_of_day(claim) or _same_series(claim) or _same_counts(claim) or _same_list(claim)


def _same_time_of_day(claim: ReadClaim) -> RuleDecision | None:
    clocks = claim.gold_reading.clocks
    if len(clocks) != 1 or _other_words(claim.gold_reading, clocks) - _SERIES_WORDS:
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
    if _says_otherwise(gold, claim.prediction_numbers):
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
    if has_more_numbers or reading.dates or _other_words(reading, [series]) - _SERIES_WORDS:
        return None
    return series


def _is_of_kind(series: Series, gold: Series) -> bool:
    """Whether both are seasons or neither is."""
    return series.is_season is gold.is_season or (gold.is_season and series.is_short_season)


def _name_others(claim: ReadClaim, gold: Series, answers: Iterable[Series]) -> bool:
    """Whether both name somebody beside the numbers, and nobody in common: "Orle won 3-1" and "Tann won 3-1"."""
    gold_names = _other_words(claim.gold_reading, [gold]) - _SERIES_WORDS
    predicted_names = _other_words(claim.prediction_reading, answers) - _SERIES_WORDS
    # Names of the question tell nothing apart
    gold_names.difference_update(claim.query_tokens)
    predicted_names.difference_update(claim.query_tokens)
    return bool(gold_names and predicted_names) and not gold_names & predicted_names


def _in_words(series: Series) -> str:
    return series.separator.join(f"{number:g}" for number in series.numbers)


def _have_same_unit(claim: ReadClaim, gold: Series, answer: Series) -> bool:
    """Whether the units after two ranges are the same, if both have one."""
    gold_units, _ = units_at(claim.gold_reading.undated, gold.end)
    answer_units, _ = units_at(claim.prediction_reading.undated, answer.end)
    return not gold_units or not answer_units or bool(set(gold_units) & set(answer_units))


def _says_otherwise(series: Series, numbers: Iterable[Quantity]) -> bool:
    """Whether one of the numbers is the share 3/4 or the duration 2:05 in another form."""
    return any(
        _is_share(series, number) or _is_duration(series, number) or _is_rating(series, number) for number in numbers
    )


def _is_rating(series: Series, number: Quantity) -> bool:
    """Whether the number is the 8.5 of 8.5/10."""
    is_rating = series.separator == "/" and len(series.numbers) == 2 and series.numbers[1] in _RATING_SCALES
    return is_rating and not number.units and number.step < 1 and number.value == series.numbers[0]


def _is_share(series: Series, number: Quantity) -> bool:
    if series.share is None:
        return False
    value = number.value / 100 if number.percent else number.value
    # "67 %" is 2/3 rounded to its last written digit
    step = number.step / 100 if number.percent else number.step
    difference = abs(value - series.share)
    return difference < _SHARE_ERROR or (number.step < 1 and difference <= 0.5 * step)


def _is_duration(series: Series, number: Quantity) -> bool:
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
    if has_date or _other_words(reading, reading.quantities) - _UNIT_WORDS:
        return None

    # "324 m (1,063 ft)" is one number written twice
    if len(_find_alternatives(claim, numbers[0])) > 1:
        return None

    if len(reading.series) > 1:
        expected = [series.numbers for series in reading.series]
        # Sets of a match must be in order, and may be followed by others
        predicted = [series.numbers for series in claim.prediction_reading.series]
        is_same = expected == predicted[: len(expected)]
    else:
        is_same = not numbers_not_in(numbers, claim.prediction_numbers)
    return is_same, f"the prediction holds {'all' if is_same else 'not all'} numbers of the gold answer"


def _read_counts(reading: Reading, pattern: re.Pattern[str]) -> set[tuple[str, str]]:
    """Numbers of a text, each with the thing that is counted."""
    return {(match["number"], stem(match["thing"])) for match in pattern.finditer(reading.undated)}


def _other_words(reading: Reading, parts: Iterable[Series | Clock | Quantity]) -> set[str]:
    """The telling words of a text outside of its parts."""
    return set(content(tokens(_without_parts(reading.undated, parts))))


def _without_parts(text: str, parts: Iterable[Series | Clock | Quantity]) -> str:
    pieces: list[str] = []
    end = 0
    for part in parts:
        pieces.append(text[end : part.start])
        end = part.end
    return " ".join([*pieces, text[end:]])


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

    candidates = _find_answer_numbers(claim, gold)
    if not candidates:
        return False, f"the prediction holds no number, the gold answer is {gold.value:g}"

    # "how many?" answered by "3: A, B, C and D" contradicts itself
    if claim.asks_for_number and not gold.year_like and count_listed(claim.prediction) > gold.value > 0:
        return False, f"the gold answer is {gold.value:g}, but the prediction lists more"

    # A year may stand anywhere; of other numbers those that a reader takes for the answer
    answers = candidates
    if not gold.year_like:
        answers = [*_first_sentence_numbers(claim.prediction_reading.undated, candidates), candidates[-1]]
    for alternative in _find_alternatives(claim, gold):
        agreement = _describe_agreement(claim, _in_asked_unit(claim, alternative), answers)
        if agreement:
            return True, agreement
    return (
        False,
        f"the gold answer is {gold.value:g}, the prediction says {answers[0].value:g}{_difference(gold, answers[0])}",
    )


def _difference(gold: Quantity, answer: Quantity) -> str:
    """What differs if the numbers do not."""
    if gold.value != answer.value:
        return ""
    if gold.era != answer.era:
        return " of another era"
    if gold.bound is not answer.bound:
        return " with another bound"
    return " in another unit"


def _find_alternatives(claim: ReadClaim, gold: Quantity) -> list[Quantity]:
    """The gold quantity, and others beside it in brackets: 324 m (1,063 ft)."""
    alternatives = [gold]
    text = claim.gold_reading.undated
    # A chain: each must stand directly beside one that is already taken
    for first, second in zip(claim.gold_numbers, claim.gold_numbers[1:], strict=False):
        is_same_kind = bool(first.units and second.units)
        if first in alternatives and is_same_kind and _ALTERNATIVE.fullmatch(text[first.end : second.start]):
            alternatives.append(second)
    return alternatives


def _in_asked_unit(claim: ReadClaim, gold: Quantity) -> Quantity:
    """A gold number without a unit has the question's: "how many miles is it?"."""
    if gold.units or gold.year_like or gold.ordinal:
        return gold
    return replace(gold, units=asked_units(claim.asked))


def _agree_without_number(claim: ReadClaim, gold: Quantity) -> str | None:
    """In what a prediction agrees that says the number otherwise: a year by a day of it, 0 by "none"."""
    if gold.year_like and any(day.year == gold.value for day in claim.prediction_reading.dates):
        return f"the prediction holds a day of {gold.value:g}"

    # "she has never won" for 0
    if gold.value == 0 and _says_none(claim):
        return "both say that there are none"
    if any(_says_otherwise(series, [gold]) for series in claim.prediction_reading.series):
        return f"the prediction holds {gold.value:g} as a share or a duration"
    return None


def _first_sentence_numbers(text: str, candidates: list[Quantity]) -> list[Quantity]:
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


def _find_answer_numbers(claim: ReadClaim, gold: Quantity) -> list[Quantity]:
    """The numbers of the prediction that can be its answer."""
    # Numbers of the question are only repeated, not answered
    candidates = numbers_not_in(claim.prediction_numbers, claim.query_numbers)
    if any(same_quantity(gold, number) for number in claim.query_numbers):
        # The answer is a number of the question: only numbers in names are no answers.
        candidates = _without_numbered_names(claim)
    if gold.year_like:
        return candidates

    # Years and ordinals only count if there is nothing else
    counts = [number for number in candidates if not number.year_like and (gold.ordinal or not number.ordinal)]
    return _of_asked_year(claim, counts or candidates)


def _without_numbered_names(claim: ReadClaim) -> list[Quantity]:
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


def _describe_agreement(claim: ReadClaim, gold: Quantity, answers: list[Quantity]) -> str | None:
    """In what the numbers agree; None if they do not."""
    # "about" on either side: the gold answer can be the rounded one
    is_about = bool(_ABOUT.search(f"{claim.gold_reading.plain} {claim.prediction_reading.plain}"))
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
    gold: Quantity,
    answer: Quantity,
    *,
    is_about: bool,
) -> bool:
    """Whether value, sign, unit, era and bound agree."""
    if not same_quantity(gold, answer) and not (is_about and _nearly_equal(gold, answer)):
        return False
    asks_limit = bool(_ASKS_LIMIT.search(claim.asked))
    is_approximate = bool(_SAYS_ABOUT.search(claim.gold_reading.plain))
    return same_bound(gold, answer, asks_limit=asks_limit, is_approximate=is_approximate)


def _nearly_equal(gold: Quantity, answer: Quantity) -> bool:
    """A rounded whole number above 100 may be off by 1 %; a year or an amount of money may not."""
    if gold.year_like or gold.percent or gold.ordinal or gold.currency or gold.step < 1 or abs(gold.value) < 100:
        return False

    # Here no unit is converted, so they must be the same
    if gold.units and answer.units and not set(gold.units) & set(answer.units):
        return False
    return abs(gold.value - answer.value) <= 0.01 * abs(gold.value)


def _of_asked_year(claim: ReadClaim, candidates: list[Quantity]) -> list[Quantity]:
    """Without the numbers that the prediction gives for another year than the question's."""
    asked_years = {number.value for number in claim.query_numbers if number.year_like}
    if not asked_years:
        return candidates

    # "12 in 2019 and 15 in 2020": a part with another year is about that year
    of_other_years: list[Quantity] = []
    for start, end in _split_spans(_PART_OF_SENTENCE, claim.prediction_reading.undated):
        numbers = [number for number in claim.prediction_numbers if start <= number.start < end]
        years = {number.value for number in numbers if number.year_like}
        if years and not years & asked_years:
            of_other_years += numbers
    return [number for number in candidates if number not in of_other_years] or candidates


# --- the number in a gold answer --------------------------------------------------------------------------------------


def _find_gold_number(claim: ReadClaim) -> Quantity | None:
    """The number that the gold answer gives; None if the answer is something else."""
    if not claim.gold_numbers or _MONTHS.search(claim.gold.lower()):
        return None

    # An answer without names is its number
    names = _other_words(claim.gold_reading, claim.gold_reading.quantities) - _UNIT_WORDS
    if not names and (len(claim.gold_numbers) == 1 or len(_find_alternatives(claim, claim.gold_numbers[0])) > 1):
        return claim.gold_numbers[0]

    counted = _find_counted(claim)
    if counted:
        return counted

    # A sentence repeats the numbers of the question
    new_numbers = numbers_not_in(claim.gold_numbers, claim.query_numbers)
    if not new_numbers:
        return None
    if claim.asks_for_number:
        without_years = [number for number in new_numbers if not number.year_like]
        return without_years[0] if without_years else new_numbers[0]

    # A sentence that adds words too may answer by them.
    new_names = [name for name in names if name in claim.new_in_gold]
    return new_numbers[0] if len(new_numbers) == 1 and not new_names else None


def _find_counted(claim: ReadClaim) -> Quantity | None:
    """Of several numbers in the gold answer, the one beside the unit that the question asks for."""
    question = _COUNTED.search(claim.query_reading.plain)
    if question is None or len(claim.gold_numbers) < 2:
        return None

    units = {stem(question["noun"])} if question["noun"] else _UNITS_OF.get(question["measure"], _UNITS)
    for match in _NUMBER_AND_NEXT.finditer(claim.gold_reading.undated):
        if units.intersection(map(stem, match["next"].split())):
            numbers = [number for number in claim.gold_numbers if number.start <= match.start() < number.end]
            return numbers[0] if numbers else None
    return None
