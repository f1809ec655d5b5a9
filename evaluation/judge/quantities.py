"""Rules for answers that are dates or numbers."""

import re

from evaluation.judge.case import Case, Finding
from evaluation.judge.dates import dates, without_dates
from evaluation.judge.numbers import Number, numbers, same_number
from evaluation.judge.text import clean, content, found_in, tokens, words

_MONTHS = re.compile(r"\b(?:january|february|march|april|june|july|august|september|october|november|december)\b")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_PART = r"(?P<number>\d+(?:\.\d+)?)[\s-]?(?P<unit>hours?|hrs?|minutes?|mins?|seconds?|secs?)\b"
_TIME_PART = re.compile(_PART)
_PART_UNNAMED = _PART.replace("?P<number>", "?:").replace("?P<unit>", "?:")
_TIME = re.compile(rf"{_PART_UNNAMED}(?:,?\s+(?:and\s+)?{_PART_UNNAMED})*")
_NONE = re.compile(r"\b(?:no|none|never|not|nobody)\b|n't\b")
_ASKS_DATE = re.compile(r"^when\b|\b(?:what|which) (?:exact )?(?:date|day)\b|\bbirthday\b")
_UNIT_WORDS = frozenset(
    words(
        "year month week day hour minute second mile kilometer km meter metre foot feet inch pound dollar usd "
        "us euro people percent million billion trillion thousand hundred time old award movie film album "
        "song game title share win championship goal member kg lb per cent thousand point bce bc ad"
    )
)


def same_date(case: Case) -> Finding | None:
    """A gold answer that is a whole date: the prediction must hold the same day, in any notation."""
    wanted = dates(case.gold)
    rest = [token for token in content(tokens(without_dates(case.gold))) if not found_in(token, case.query_tokens)]
    if len(wanted) != 1 or (rest and not _ASKS_DATE.search(case.query.lower())):
        return None
    found = dates(case.prediction)
    day = next(iter(wanted)).isoformat()
    if not found and not case.prediction_numbers:
        return Finding(False, f"the prediction holds no date, the gold answer is {day}")
    return Finding(wanted <= found, f"the prediction {'holds' if wanted <= found else 'does not hold'} {day}")


def same_duration(case: Case) -> Finding | None:
    """A gold answer of hours, minutes and seconds: the prediction must come to the same time within 1 %."""
    wanted, rest = durations(case.gold)
    if len(wanted) != 1 or any(token not in case.query_tokens for token in content(tokens(rest))):
        return None
    found, _ = durations(case.prediction)
    if not found:
        return None
    same = any(abs(seconds - wanted[0]) <= 0.01 * wanted[0] for seconds in (found[0], found[-1]))
    return Finding(same, f"the gold answer is {wanted[0]:g} seconds, the prediction says {found[0]:g}")


def durations(text: str) -> tuple[list[float], str]:
    """Times in seconds, parts that stand together added up, and the text without them."""
    cleaned = clean(text)
    found = [
        sum(float(part["number"]) * _SECONDS[part["unit"][0]] for part in _TIME_PART.finditer(whole[0]))
        for whole in _TIME.finditer(cleaned)
    ]
    return found, _TIME.sub(" ", cleaned)


def same_quantity(case: Case) -> Finding | None:
    """A gold answer that is a number: the prediction's own number must be the same, rounded at most.

    The prediction's own number is not one that the question says already, nor a year beside other numbers. Of several,
    those of the first sentence that has any, and the very last, are taken as its answer.
    """
    key = _gold_number(case)
    if key is None:
        return None
    asked = numbers(case.query)
    found = [number for number in case.prediction_numbers if not any(same_number(number, said) for said in asked)]
    if any(same_number(key, said) for said in asked):
        found = case.prediction_numbers
    if not key.year_like:
        found = [number for number in found if not number.year_like and (key.ordinal or not number.ordinal)] or found
    if key.year_like and any(day.year == key.value for day in dates(case.prediction)):
        return Finding(True, f"the prediction holds a day of {key.value:g}")
    if key.value == 0 and _NONE.search(clean(case.prediction)):
        return Finding(True, "both say that there are none")
    if not found:
        return Finding(False, f"the prediction holds no number, the gold answer is {key.value:g}")
    answers = found if key.year_like else [*_of_first_sentence(case, found), found[-1]]
    if any(same_number(key, number) for number in answers):
        return Finding(True, f"both say {key.value:g}")
    return Finding(False, f"the gold answer is {key.value:g}, the prediction says {answers[0].value:g}")


def _of_first_sentence(case: Case, found: list[Number]) -> list[Number]:
    for sentence in case.sentences:
        here = [number for number in numbers(sentence) if number in found]
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
    asked = numbers(case.query)
    told = [number for number in case.gold_numbers if not any(same_number(number, said) for said in asked)]
    new_words = [word for word in named if word in case.new_in_gold]
    if case.asks_for_number and any(not number.year_like for number in told):
        told = [number for number in told if not number.year_like]
    if told and (case.asks_for_number or (len(told) == 1 and not new_words)):
        return told[0]
    return None
