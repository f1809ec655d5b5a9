"""Rules for numbers, pairs of numbers, measures, dates, and missing values."""

import re
from dataclasses import replace
from difflib import SequenceMatcher

from crag.evaluation.judge.base import ReadClaim, RuleDecision, numbers_not_in, sentences
from crag.text.matching import (
    MAGNITUDES,
    Number,
    content,
    count_listed,
    normalise_text,
    read_dates,
    read_numbers,
    same_number,
    stem,
    tokens,
    without_dates,
    words,
)

_MONTHS = re.compile(r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b")
_UNIT_WORDS = frozenset(
    words(
        "year month week day hour minute second mile kilometer km meter metre foot feet inch pound dollar usd "
        "us euro people percent million billion trillion thousand hundred time old award movie film album "
        "song game title share win championship goal member kg lb per cent thousand point bce bc ad"
    )
)
_NO_VALUES = frozenset({"nan", "n/a", "na", "none", "null", "unknown", "not available", "i don't know", "nobody"})
_SAYS_NO_VALUE = re.compile(
    r"\b(?:nan|n/a|none|null|no|not|never|nobody|unknown|unavailable|undefined|lacks)\b"
    r"|n't\b|(?<![\d.,])0(?![.,]?\d|\s?%)"
)
_CLUELESS = re.compile(r"\bno (?:idea|clue)\b|\bnot (?:sure|certain)\b|n't (?:know|sure|certain)\b")
_DATING_YEAR = re.compile(r"\b(?:in|of|since|by|until|during|before|after) (?:[a-z]+ )?\d{4}\b(?![.,]\d)")
"""A year that only dates the answer: "none as of 2024"."""
_ASKS_DATE = re.compile(r"^when\b|\b(?:what|which) (?:exact )?(?:date|day)\b|\bbirthday\b")
_ASKS_PART = re.compile(r"\b(?:what|which) (?P<part>year|month)\b")
_ASKS_MAGNITUDE = re.compile(r"\b(?:in|many) (?P<word>thousand|million|billion|trillion)s?\b")
_ABOUT = re.compile(r"\b(?:about|around|approximately|approx|roughly|nearly|almost|over|more than|some|circa)\b|~")
_PART_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;|,\s(?!\d{3}\b)|\b(?:while|whereas|and|but|compared|from|up)\b")
"""What divides a sentence into parts about one year each; not the comma of "1, 204"."""
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
_COUNTED = re.compile(
    r"\bhow (?:(?:many|much) (?P<noun>[a-z]+)|(?P<measure>long|far|tall|high|wide|deep|heavy|fast|old))\b"
)
"""What a question counts or measures."""
_UNITS_OF = {
    "old": frozenset(words("year month day")),
    "long": frozenset(words("mile kilometer km meter metre foot feet inch hour minute second day week month year")),
}
_UNITS = _UNITS_OF["long"] | frozenset(words("mph kph kmh kg lb pound ton tonne"))


def no_value(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer such as "nan": the prediction must also say that there is no value."""
    if normalise_text(claim.gold).strip(" .") not in _NO_VALUES:
        return None
    if _says_none(claim):
        return True, "the gold answer is that there is none, the prediction agrees"
    return False, "the gold answer is that there is none, the prediction names one"


def _says_none(claim: ReadClaim) -> bool:
    """The prediction says that there is none and adds no number to the question's, unlike "12, not 10"."""
    text = normalise_text(claim.prediction)
    if _CLUELESS.search(text) or not _SAYS_NO_VALUE.search(text):
        return False
    new_numbers = numbers_not_in(read_numbers(_DATING_YEAR.sub(" ", text)), read_numbers(claim.query))
    return all(number.value == 0 for number in new_numbers)


def same_date(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a whole date: the prediction must have the same day, in any notation."""
    gold_dates = read_dates(claim.gold)
    rest = claim.not_asked(tokens(without_dates(claim.gold)))
    if len(gold_dates) != 1 or (rest and not _ASKS_DATE.search(claim.asked)):
        return None

    gold_date = min(gold_dates)
    day = gold_date.isoformat()
    dates = read_dates(claim.prediction)
    asked_part = _ASKS_PART.search(claim.asked)
    if not dates and asked_part:
        part = day[:4] if asked_part["part"] == "year" else stem(f"{gold_date:%B}".lower())
        is_there = part in claim.prediction_tokens
        return is_there, f"the question asks for the {asked_part['part']} of {day}: {'' if is_there else 'not '}there"

    if not dates and not claim.prediction_numbers:
        return False, f"the prediction holds no date, the gold answer is {day}"
    if gold_date in dates:
        return True, f"the prediction holds {day}"
    return False, f"the prediction does not hold {day}"


# --- numbers ----------------------------------------------------------------------------------------------------------


def same_quantity(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a number: the number that the prediction answers must be the same, at most rounded.

    Not an answer: numbers in the question, years beside other numbers, and numbers for another year than the
    question's. Of several numbers, those of the first sentence with any and the last one count as the answer.
    """
    gold = _find_gold_number(claim)
    if gold is None:
        return None

    agreement = _agree_without_number(claim, gold)
    if agreement:
        return True, agreement

    candidates = _find_answer_numbers(claim, gold)
    if not candidates:
        return False, f"the prediction holds no number, the gold answer is {gold.value:g}"
    if claim.asks_for_number and not gold.year_like and count_listed(claim.prediction) > gold.value > 0:
        return False, f"the gold answer is {gold.value:g}, but the prediction lists more"

    answers = candidates
    if not gold.year_like:
        answers = [*_first_sentence_numbers(claim.prediction, candidates), candidates[-1]]
    agreement = _describe_agreement(claim, gold, answers)
    if agreement:
        return True, agreement
    return False, f"the gold answer is {gold.value:g}, the prediction says {answers[0].value:g}"


def _agree_without_number(claim: ReadClaim, gold: Number) -> str | None:
    """In what a prediction agrees that says the number otherwise: a year by a day of it, 0 by "none"."""
    if gold.year_like and any(day.year == gold.value for day in read_dates(claim.prediction)):
        return f"the prediction holds a day of {gold.value:g}"
    if gold.value == 0 and _says_none(claim):
        return "both say that there are none"
    return None


def _first_sentence_numbers(text: str, candidates: list[Number]) -> list[Number]:
    """The candidates in the first sentence that has any."""
    for sentence in sentences(text):
        numbers = [number for number in read_numbers(sentence) if number in candidates]
        if numbers:
            return numbers
    return candidates[:1]


def _find_answer_numbers(claim: ReadClaim, gold: Number) -> list[Number]:
    """The numbers of the prediction that can be its answer."""
    query_numbers = read_numbers(claim.query)
    candidates = numbers_not_in(claim.prediction_numbers, query_numbers)
    if any(same_number(gold, number) for number in query_numbers):
        # The answer is a number of the question: only numbers in names are no answers.
        candidates = read_numbers(_without_numbered_names(claim))
    if gold.year_like:
        return candidates

    counts = [number for number in candidates if not number.year_like and (gold.ordinal or not number.ordinal)]
    return _of_asked_year(claim, counts or candidates)


def _without_numbered_names(claim: ReadClaim) -> str:
    """The prediction without the numbers of names in the question, such as "Ligue 1", in any spelling."""
    asked_names = [(match["name"], match["number"]) for match in _NUMBERED_NAME.finditer(normalise_text(claim.query))]

    def drop_number(match: re.Match[str]) -> str:
        for name, number in asked_names:
            if match["number"] == number and _is_similar(match["name"], name):
                return match["name"]
        return match[0]

    return _NUMBERED_NAME.sub(drop_number, normalise_text(claim.prediction))


def _is_similar(first: str, second: str) -> bool:
    return SequenceMatcher(None, first, second, autojunk=False).ratio() > 0.7


def _describe_agreement(claim: ReadClaim, gold: Number, answers: list[Number]) -> str | None:
    """In what the numbers agree; None if they do not."""
    is_approximate = _ABOUT.search(normalise_text(f"{claim.gold} {claim.prediction}"))
    if any(same_number(gold, answer) or (is_approximate and _nearly_equal(gold, answer)) for answer in answers):
        return f"both say {gold.value:g}"

    magnitude = _ASKS_MAGNITUDE.search(claim.asked)
    if magnitude:
        # If the question asks for millions, a bare 3 means 3 million.
        scale = MAGNITUDES[magnitude["word"]]
        for answer in answers:
            if same_number(gold, replace(answer, value=scale * answer.value, step=scale * answer.step)):
                return f"both say {gold.value:g}, the prediction in the units of the question"

    if len(claim.gold_numbers) > 1 and not numbers_not_in(claim.gold_numbers, claim.prediction_numbers):
        return "the prediction holds all numbers of the gold answer"
    return None


def _nearly_equal(gold: Number, answer: Number) -> bool:
    """A rounded whole number above 100 may be off by 1 %; a year or an amount of money may not."""
    if gold.year_like or gold.percent or gold.ordinal or gold.currency or gold.step < 1 or abs(gold.value) < 100:
        return False
    return abs(gold.value - answer.value) <= 0.01 * abs(gold.value)


def _of_asked_year(claim: ReadClaim, candidates: list[Number]) -> list[Number]:
    """Without the numbers that the prediction gives for another year than the question's."""
    asked_years = {number.value for number in read_numbers(claim.query) if number.year_like}
    if not asked_years:
        return candidates

    of_other_years: list[Number] = []
    for part in _PART_OF_SENTENCE.split(claim.prediction):
        numbers = read_numbers(part)
        years = {number.value for number in numbers if number.year_like}
        if years and not years & asked_years:
            of_other_years += numbers
    return [number for number in candidates if number not in of_other_years] or candidates


# --- the number in a gold answer --------------------------------------------------------------------------------------


def _find_gold_number(claim: ReadClaim) -> Number | None:
    """The number that the gold answer gives; None if the answer is something else."""
    if not claim.gold_numbers or _MONTHS.search(claim.gold.lower()):
        return None

    names = [token for token in content(claim.gold_tokens) if not token[0].isdigit() and token not in _UNIT_WORDS]
    if len(claim.gold_numbers) == 1 and not names:
        return claim.gold_numbers[0]

    counted = _find_counted(claim)
    if counted:
        return counted

    new_numbers = numbers_not_in(claim.gold_numbers, read_numbers(claim.query))
    if not new_numbers:
        return None
    if claim.asks_for_number:
        without_years = [number for number in new_numbers if not number.year_like]
        return without_years[0] if without_years else new_numbers[0]

    # A sentence that adds words too may answer by them.
    new_names = [name for name in names if name in claim.new_in_gold]
    return new_numbers[0] if len(new_numbers) == 1 and not new_names else None


def _find_counted(claim: ReadClaim) -> Number | None:
    """Of several numbers in the gold answer, the one beside the unit that the question asks for."""
    question = _COUNTED.search(normalise_text(claim.query))
    if question is None or len(claim.gold_numbers) < 2:
        return None

    units = {stem(question["noun"])} if question["noun"] else _UNITS_OF.get(question["measure"], _UNITS)
    for match in _NUMBER_AND_NEXT.finditer(normalise_text(claim.gold)):
        if units.intersection(map(stem, match["next"].split())):
            numbers = read_numbers(match["number"])
            return numbers[0] if numbers else None
    return None
