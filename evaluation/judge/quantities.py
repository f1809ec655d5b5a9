"""Rules for answers that are numbers, pairs of numbers, or no value at all."""

import re
from dataclasses import replace
from difflib import SequenceMatcher

from agents.matching import (
    MAGNITUDES,
    Number,
    content,
    count_listed,
    normalise,
    read_dates,
    read_numbers,
    same_number,
    stem,
    words,
)
from evaluation.judge.case import Case, Finding

_MONTHS = re.compile(r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b")
_UNIT_WORDS = frozenset(
    words(
        "year month week day hour minute second mile kilometer km meter metre foot feet inch pound dollar usd "
        "us euro people percent million billion trillion thousand hundred time old award movie film album "
        "song game title share win championship goal member kg lb per cent thousand point bce bc ad"
    )
)


_PAIR = re.compile(r"(?<![\w.,-])(?P<first>\d+)\s*(?:-|to|until|and|through)\s*(?P<second>\d+)(?![\w,-]|\.\d)")


_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")


def same_pair(case: Case) -> Finding | None:
    """A gold answer that is a score or a span, 3-1 or 1968-1972: the prediction must hold both in that order."""
    gold = _PAIR.fullmatch(normalise(case.gold).strip(" ."))
    if gold is None:
        return None
    wanted = _whole_pair(gold)
    pairs = [_whole_pair(found) for found in _PAIR.finditer(normalise(case.prediction))]
    years = [int(year) for year in _YEAR.findall(case.prediction)]
    if min(wanted) > 999 and [year for year in years if year in wanted] == [*wanted]:
        return Finding(True, f"the prediction goes from {wanted[0]} to {wanted[1]}")
    if not pairs:
        return Finding(False, f"the gold answer is {gold[0]}, and the prediction holds no such pair")
    return Finding(wanted in pairs, f"the gold answer is {gold[0]}, the prediction says {'-'.join(map(str, pairs[0]))}")


def _whole_pair(found: re.Match[str]) -> tuple[int, int]:
    """Both numbers; the second of 1968-72 is 1972."""
    first, second = found["first"], found["second"]
    if len(first) == 4 and len(second) == 2:
        second = first[:2] + second
    return int(first), int(second)


def no_value(case: Case) -> Finding | None:
    """A gold answer that says that there is no value, such as "nan": the prediction must say so, too."""
    if normalise(case.gold).strip(" .") not in _NO_VALUES:
        return None
    said = _says_none(case)
    return Finding(
        said, f"the gold answer is that there is none, the prediction says {'so, too' if said else 'another'}"
    )


def _says_none(case: Case) -> bool:
    """The prediction says that there is none, and gives no number of its own besides: "12, not 10" gives one."""
    said = normalise(case.prediction)
    if _CLUELESS.search(said) or not _SAYS_NO_VALUE.search(said):
        return False
    asked = read_numbers(case.query)
    return all(
        number.value == 0 or any(same_number(number, one) for one in asked)
        for number in read_numbers(_TIME_GIVEN.sub(" ", said))
    )


_NO_VALUES = frozenset({"nan", "n/a", "na", "none", "null", "unknown", "not available", "i don't know", "nobody"})
_SAYS_NO_VALUE = re.compile(
    r"\b(?:nan|n/a|none|null|no|not|never|nobody|unknown|unavailable|undefined|lacks)\b"
    r"|n't\b|(?<![\d.,])0(?![.,]?\d|\s?%)"
)
_CLUELESS = re.compile(r"\bno (?:idea|clue)\b|\bnot (?:sure|certain)\b|n't (?:know|sure|certain)\b")
_TIME_GIVEN = re.compile(r"\b(?:in|of|since|by|until|during|before|after) (?:[a-z]+ )?\d{4}\b(?![.,]\d)")
"""A year that only says when: "none as of 2024"."""


def same_quantity(case: Case) -> Finding | None:
    """A gold answer that is a number: the prediction's own number must be the same, rounded at most.

    The prediction's own number is not one that the question says already, nor a year beside other numbers, nor one
    that it gives for another year than the question's. Of several, those of the first sentence that has any, and the
    very last, are taken as its answer.
    """
    key = _gold_number(case)
    if key is None:
        return None
    if why := _said_without_number(case, key):
        return Finding(True, why)
    found = _own_numbers(case, key)
    if not found:
        return Finding(False, f"the prediction holds no number, the gold answer is {key.value:g}")
    if case.asks_for_number and not key.year_like and count_listed(case.prediction) > key.value > 0:
        return Finding(False, f"the gold answer is {key.value:g}, but the prediction lists more")
    answers = found if key.year_like else [*_of_first_sentence(case, found), found[-1]]
    if why := _meets(case, key, answers):
        return Finding(True, why)
    return Finding(False, f"the gold answer is {key.value:g}, the prediction says {answers[0].value:g}")


def _said_without_number(case: Case, key: Number) -> str | None:
    if key.year_like and any(day.year == key.value for day in read_dates(case.prediction)):
        return f"the prediction holds a day of {key.value:g}"
    if key.value == 0 and _says_none(case):
        return "both say that there are none"
    return None


def _own_numbers(case: Case, key: Number) -> list[Number]:
    asked = read_numbers(case.query)
    found = [number for number in case.prediction_numbers if not any(same_number(number, said) for said in asked)]
    if any(same_number(key, said) for said in asked):
        found = read_numbers(_without_numbered_names(case))
    if key.year_like:
        return found
    found = [number for number in found if not number.year_like and (key.ordinal or not number.ordinal)] or found
    return _of_asked_year(case, found)


def _without_numbered_names(case: Case) -> str:
    """The prediction without the numbers that belong to a name of the question, such as "Ligue 1", however spelt."""
    named = {(found["name"], found["number"]) for found in _NUMBERED_NAME.finditer(normalise(case.query))}

    def repeats(found: re.Match[str]) -> bool:
        return any(
            found["number"] == number and SequenceMatcher(None, found["name"], name, autojunk=False).ratio() > 0.7
            for name, number in named
        )

    return _NUMBERED_NAME.sub(lambda found: found["name"] if repeats(found) else found[0], normalise(case.prediction))


_NUMBERED_NAME = re.compile(r"\b(?P<name>[a-z]{4,})[\s-](?P<number>\d+)(?![\w.,]*\d)")


def _meets(case: Case, key: Number, answers: list[Number]) -> str | None:
    """How one of the answers is the gold number, or None."""
    about = _ABOUT.search(normalise(f"{case.gold} {case.prediction}"))
    if any(same_number(key, number) or (about and _nearly(key, number)) for number in answers):
        return f"both say {key.value:g}"
    if any(same_number(key, number) for number in _in_units_of_question(case, answers)):
        return f"both say {key.value:g}, the prediction in the units of the question"
    gold = case.gold_numbers
    if len(gold) > 1 and all(any(same_number(one, said) for said in case.prediction_numbers) for one in gold):
        return "the prediction holds all numbers of the gold answer"
    return None


def _in_units_of_question(case: Case, found: list[Number]) -> list[Number]:
    """Where the question asks how many millions, a bare 3 means 3 million."""
    asked = _ASKS_MAGNITUDE.search(case.query.lower())
    if asked is None:
        return []
    scale = MAGNITUDES[asked["word"]]
    return [replace(number, value=scale * number.value, step=scale * number.step) for number in found]


_ASKS_MAGNITUDE = re.compile(r"\b(?:in|many) (?P<word>thousand|million|billion|trillion)s?\b")

_ABOUT = re.compile(r"\b(?:about|around|approximately|approx|roughly|nearly|almost|over|more than|some|circa)\b|~")


def _nearly(gold: Number, said: Number) -> bool:
    """A whole number above 100 that is given as a rough one may be off by 1 %; a year or money may not."""
    if gold.year_like or gold.percent or gold.ordinal or gold.currency or gold.step < 1 or abs(gold.value) < 100:
        return False
    return abs(gold.value - said.value) <= 0.01 * abs(gold.value)


def _of_asked_year(case: Case, found: list[Number]) -> list[Number]:
    """Without the numbers that the prediction gives for another year than the question asks for."""
    asked = {number.value for number in read_numbers(case.query) if number.year_like}
    if not asked:
        return found
    other: list[Number] = []
    for part in _PART_OF_SENTENCE.split(case.prediction):
        here = read_numbers(part)
        years = {number.value for number in here if number.year_like}
        if years and not years & asked:
            other += here
    return [number for number in found if number not in other] or found


_PART_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;|,\s(?!\d{3}\b)|\b(?:while|whereas|and|but|compared|from|up)\b")


def _of_first_sentence(case: Case, found: list[Number]) -> list[Number]:
    for sentence in case.sentences:
        here = [number for number in read_numbers(sentence) if number in found]
        if here:
            return here
    return found[:1]


def _gold_number(case: Case) -> Number | None:
    """The number that the gold answer is, or that it tells in a sentence to a question for a number."""
    if not case.gold_numbers or _MONTHS.search(case.gold.lower()):
        return None
    named = [token for token in content(case.gold_tokens) if not token[0].isdigit() and token not in _UNIT_WORDS]
    if len(case.gold_numbers) == 1 and not named:
        return case.gold_numbers[0]
    asked = read_numbers(case.query)
    told = [number for number in case.gold_numbers if not any(same_number(number, said) for said in asked)]
    new_words = [word for word in named if word in case.new_in_gold]
    if counted := _counted(case) or _asked_year(case, told):
        return counted
    if case.asks_for_number and any(not number.year_like for number in told):
        told = [number for number in told if not number.year_like]
    if told and (case.asks_for_number or (len(told) == 1 and not new_words)):
        return told[0]
    return None


def _asked_year(case: Case, told: list[Number]) -> Number | None:
    """The only year of a gold sentence to a question for a year."""
    years = {number.value: number for number in told if number.year_like}
    return next(iter(years.values())) if len(years) == 1 and _ASKS_YEAR.search(case.query.lower()) else None


_ASKS_YEAR = re.compile(r"\b(?:what|which) year\b")
_COUNTED = re.compile(
    r"\bhow (?:(?:many|much) (?P<noun>[a-z]+)|(?P<measure>long|far|tall|high|wide|deep|heavy|fast|old))\b"
)
_UNITS_OF = {
    "old": frozenset(words("year month day")),
    "long": frozenset(words("mile kilometer km meter metre foot feet inch hour minute second day week month year")),
}
_UNITS = _UNITS_OF["long"] | frozenset(words("mph kph kmh kg lb pound ton tonne"))


def _counted(case: Case) -> Number | None:
    """Of several numbers of a gold sentence, the first that stands before what the question counts: "how many races",
    "in 2023 he won 19 races"; "how long", "route 20 is 3,365 miles".
    """
    asked = _COUNTED.search(normalise(case.query))
    if asked is None or len(case.gold_numbers) < 2:
        return None
    units = {stem(asked["noun"])} if asked["noun"] else _UNITS_OF.get(asked["measure"], _UNITS)
    for found in _NUMBER_AND_NEXT.finditer(normalise(case.gold)):
        if units.intersection(map(stem, found["next"].split())):
            return next(iter(read_numbers(found["number"])), None)
    return None


_NUMBER_AND_NEXT = re.compile(
    r"(?<![\w.,])(?P<number>\d[\d,]*(?:\.\d+)?(?:\s(?:thousand|million|billion))?)"
    r"(?=\s?-?(?P<next>(?!of\b)[a-z]+(?:\s[a-z]+)?))"
)
"""A number and the one or two words that follow it; "one of" does not count anything."""
