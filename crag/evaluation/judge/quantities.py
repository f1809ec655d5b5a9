"""Rules for numbers, pairs of numbers, measures, dates, and missing values."""

import re
from dataclasses import replace
from difflib import SequenceMatcher

from crag.evaluation.judge.base import ReadClaim, RuleDecision, not_among, sentences
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
_TIME_GIVEN = re.compile(r"\b(?:in|of|since|by|until|during|before|after) (?:[a-z]+ )?\d{4}\b(?![.,]\d)")
"""A year that only dates the answer: "none as of 2024"."""
_ASKS_DATE = re.compile(r"^when\b|\b(?:what|which) (?:exact )?(?:date|day)\b|\bbirthday\b")
_ASKS_PART = re.compile(r"\b(?:what|which) (?P<part>year|month)\b")
_ASKS_MAGNITUDE = re.compile(r"\b(?:in|many) (?P<word>thousand|million|billion|trillion)s?\b")
_ABOUT = re.compile(r"\b(?:about|around|approximately|approx|roughly|nearly|almost|over|more than|some|circa)\b|~")
_PART_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;|,\s(?!\d{3}\b)|\b(?:while|whereas|and|but|compared|from|up)\b")
_NUMBERED_NAME = re.compile(r"\b(?P<name>[a-z]{4,})[\s-](?P<number>\d+)(?![\w.,]*\d)")
_NUMBER_AND_NEXT = re.compile(
    r"(?<![\w.,])(?P<number>\d[\d,]*(?:\.\d+)?(?:\s(?:thousand|million|billion))?)"
    r"(?=\s?-?(?P<next>(?!of\b)[a-z]+(?:\s[a-z]+)?))"
)
"""A number and the next one or two words; "one of" counts nothing."""
_COUNTED = re.compile(
    r"\bhow (?:(?:many|much) (?P<noun>[a-z]+)|(?P<measure>long|far|tall|high|wide|deep|heavy|fast|old))\b"
)
_UNITS_OF = {
    "old": frozenset(words("year month day")),
    "long": frozenset(words("mile kilometer km meter metre foot feet inch hour minute second day week month year")),
}
_UNITS = _UNITS_OF["long"] | frozenset(words("mph kph kmh kg lb pound ton tonne"))


def no_value(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer such as "nan": the prediction must also say that there is no value."""
    if normalise_text(claim.gold).strip(" .") not in _NO_VALUES:
        return None
    none = _says_none(claim)
    return none, f"the gold answer is that there is none, the prediction {'agrees' if none else 'names one'}"


def _says_none(claim: ReadClaim) -> bool:
    """The prediction says that there is none and gives no number of its own, unlike "12, not 10"."""
    said = normalise_text(claim.prediction)
    if _CLUELESS.search(said) or not _SAYS_NO_VALUE.search(said):
        return False
    own = not_among(read_numbers(_TIME_GIVEN.sub(" ", said)), read_numbers(claim.query))
    return all(number.value == 0 for number in own)


def same_date(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a whole date: the prediction must have the same day, in any notation."""
    wanted = read_dates(claim.gold)
    rest = claim.not_asked(tokens(without_dates(claim.gold)))
    if len(wanted) != 1 or (rest and not _ASKS_DATE.search(claim.asked)):
        return None
    dates = read_dates(claim.prediction)
    day = min(wanted).isoformat()
    if not dates and (part := _ASKS_PART.search(claim.asked)):
        holds = (day[:4] if part["part"] == "year" else stem(f"{min(wanted):%B}".lower())) in claim.prediction_tokens
        return holds, f"the question asks for the {part['part']} of {day}: {'' if holds else 'not '}there"
    if not dates and not claim.prediction_numbers:
        return False, f"the prediction holds no date, the gold answer is {day}"
    return wanted <= dates, f"the prediction {'holds' if wanted <= dates else 'does not hold'} {day}"


def same_quantity(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a number: the prediction's own number must be the same, at most rounded.

    Not the prediction's own: numbers in the question, years beside other numbers, and numbers for another year than the
    question's. Of several numbers, those of the first sentence with any and the last one count as the answer.
    """
    key = _gold_number(claim)
    if key is None:
        return None
    has_day = key.year_like and any(day.year == key.value for day in read_dates(claim.prediction))
    if has_day or (key.value == 0 and _says_none(claim)):
        reason = f"the prediction holds a day of {key.value:g}" if has_day else "both say that there are none"
        return True, reason
    own = _own_numbers(claim, key)
    if not own:
        return False, f"the prediction holds no number, the gold answer is {key.value:g}"
    if claim.asks_for_number and not key.year_like and count_listed(claim.prediction) > key.value > 0:
        return False, f"the gold answer is {key.value:g}, but the prediction lists more"
    by_sentence = ([number for number in read_numbers(part) if number in own] for part in sentences(claim.prediction))
    answers = own if key.year_like else [*next(filter(None, by_sentence), own[:1]), own[-1]]
    if why := _meets(claim, key, answers):
        return True, why
    return False, f"the gold answer is {key.value:g}, the prediction says {answers[0].value:g}"


def _own_numbers(claim: ReadClaim, key: Number) -> list[Number]:
    asked = read_numbers(claim.query)
    own = not_among(claim.prediction_numbers, asked)
    if any(same_number(key, number) for number in asked):
        own = read_numbers(_without_numbered_names(claim))
    if key.year_like:
        return own
    own = [number for number in own if not number.year_like and (key.ordinal or not number.ordinal)] or own
    return _of_asked_year(claim, own)


def _without_numbered_names(claim: ReadClaim) -> str:
    """The prediction without the numbers of names in the question, such as "Ligue 1", in any spelling."""
    named = {(match["name"], match["number"]) for match in _NUMBERED_NAME.finditer(normalise_text(claim.query))}

    def repeats(match: re.Match[str]) -> bool:
        return any(
            match["number"] == number and SequenceMatcher(None, match["name"], name, autojunk=False).ratio() > 0.7
            for name, number in named
        )

    return _NUMBERED_NAME.sub(
        lambda match: match["name"] if repeats(match) else match[0], normalise_text(claim.prediction)
    )


def _meets(claim: ReadClaim, key: Number, answers: list[Number]) -> str | None:
    about = _ABOUT.search(normalise_text(f"{claim.gold} {claim.prediction}"))
    if any(same_number(key, number) or (about and _nearly(key, number)) for number in answers):
        return f"both say {key.value:g}"
    if magnitude := _ASKS_MAGNITUDE.search(claim.asked):  # if the question asks for millions, a bare 3 means 3 million
        scale = MAGNITUDES[magnitude["word"]]
        scaled = (replace(answer, value=scale * answer.value, step=scale * answer.step) for answer in answers)
        if any(same_number(key, answer) for answer in scaled):
            return f"both say {key.value:g}, the prediction in the units of the question"
    if len(claim.gold_numbers) > 1 and not not_among(claim.gold_numbers, claim.prediction_numbers):
        return "the prediction holds all numbers of the gold answer"
    return None


def _nearly(gold: Number, other: Number) -> bool:
    """A rounded whole number above 100 may be off by 1 %; a year or an amount of money may not."""
    if gold.year_like or gold.percent or gold.ordinal or gold.currency or gold.step < 1 or abs(gold.value) < 100:
        return False
    return abs(gold.value - other.value) <= 0.01 * abs(gold.value)


def _of_asked_year(claim: ReadClaim, own: list[Number]) -> list[Number]:
    """Without the numbers that the prediction gives for another year than the question's."""
    asked = {number.value for number in read_numbers(claim.query) if number.year_like}
    if not asked:
        return own
    other: list[Number] = []
    for part in _PART_OF_SENTENCE.split(claim.prediction):
        here = read_numbers(part)
        years = {number.value for number in here if number.year_like}
        if years and not years & asked:
            other += here
    return [number for number in own if number not in other] or own


def _gold_number(claim: ReadClaim) -> Number | None:
    if not claim.gold_numbers or _MONTHS.search(claim.gold.lower()):
        return None
    named = [token for token in content(claim.gold_tokens) if not token[0].isdigit() and token not in _UNIT_WORDS]
    if len(claim.gold_numbers) == 1 and not named:
        return claim.gold_numbers[0]
    new = not_among(claim.gold_numbers, read_numbers(claim.query))
    if counted := _counted(claim):
        return counted
    if claim.asks_for_number:
        new = [number for number in new if not number.year_like] or new
    new_words = [word for word in named if word in claim.new_in_gold]
    return new[0] if new and (claim.asks_for_number or (len(new) == 1 and not new_words)) else None


def _counted(claim: ReadClaim) -> Number | None:
    asked = _COUNTED.search(normalise_text(claim.query))
    if asked is None or len(claim.gold_numbers) < 2:
        return None
    units = {stem(asked["noun"])} if asked["noun"] else _UNITS_OF.get(asked["measure"], _UNITS)
    for match in _NUMBER_AND_NEXT.finditer(normalise_text(claim.gold)):
        if units.intersection(map(stem, match["next"].split())):
            return next(iter(read_numbers(match["number"])), None)
    return None
