"""Answers that name several possibilities: a gold answer may offer them, a prediction may not leave them open."""

import re
from datetime import date
from itertools import pairwise

from agents.matching import STOP_WORDS, Number, normalise, placed_dates, read_dates, read_numbers, same_number
from evaluation.judge.case import Case, Finding

_LONGEST = 7
"""Words of an alternative; longer ones are clauses of a sentence."""

_SLASH = re.compile(r"(?<=[^\W\d_]{3})/(?=[^\W\d_]{3}|\d)|(?<=\d{4})/(?=\d{1,2} [^\W\d_]{3}|[^\W\d_]{3})")
_SPACED_SLASH = re.compile(r"\s+/\s+")
_WORD_OR = re.compile(r"(?i)\s+or\s+")
_SUBSTANTIAL = re.compile(r"[^\W\d_]{3}")
_TITLE_CASE = re.compile(r"[A-Z][a-z]")
_ASKS_PERSON = re.compile(r"\bwho(?:se|m)?\b")
_ASKS_KIND = re.compile(
    r"\b(?:what|which) (?!(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b)[a-z]"
)
_WORKS = re.compile(
    r"\b(?:films?|movies?|songs?|albums?|singles?|tracks?|hits?|records?|bands?|groups?|shows?|series|sitcoms?|episodes?"
    r"|books?|novels?|plays?|musicals?|operas?|poems?|games?|comics?|documentar(?:y|ies)|titles?|names?|brands?)\b"
)
"""Kinds of things whose own name may hold an "or" or a slash."""


def alternatives(query: str, gold: str) -> list[str]:
    """The gold answer, and each of the answers that it offers itself: "soccer / football", "grey or silver".

    A name such as "Truth or Dare" or "Face/Off" offers none. As most gold answers are in lower case, an "or" parts
    them only where both sides have numbers, end in the same word or are full names of persons, or where the question
    names a kind of thing ("which metal") that is no work with a title. A slash between longer sides always does.
    """
    for divider, parts_here in ((_SPACED_SLASH, _spaced_slash_parts), (_SLASH, _slash_parts), (_WORD_OR, _or_parts)):
        parts = [part.strip() for part in divider.split(gold.strip())]
        if len(parts) > 1 and all(0 < len(part.split()) <= _LONGEST for part in parts) and parts_here(query, parts):
            return [gold, *parts]
    return [gold]


def _spaced_slash_parts(_query: str, parts: list[str]) -> bool:
    return all(map(_SUBSTANTIAL.search, parts))


def _slash_parts(query: str, parts: list[str]) -> bool:
    if not all(map(_SUBSTANTIAL.search, parts)):
        return False
    if any(len(part.split()) > 1 for part in parts):
        return True
    return not any(map(_TITLE_CASE.match, parts[1:])) and _asks_for_plain_kind(query)


def _or_parts(query: str, parts: list[str]) -> bool:
    if all(map(read_numbers, parts)) or all(map(read_dates, parts)):
        return True
    if not all(map(_SUBSTANTIAL.search, parts)):
        return False
    if _ASKS_PERSON.search(query.lower()) and all(len(part.split()) > 1 for part in parts):
        return True
    if any(map(_TITLE_CASE.match, parts[1:])):
        return False
    same_head = len({part.lower().split()[-1].strip(".") for part in parts}) == 1
    return same_head or _asks_for_plain_kind(query)


def _asks_for_plain_kind(query: str) -> bool:
    return bool(_ASKS_KIND.search(query.lower())) and not _WORKS.search(query.lower())


def left_open(case: Case) -> Finding | None:
    """A prediction "X or Y" where only one of two numbers or dates is the gold answer's, or "yes and no".

    Not where the question or the gold answer has an "or" itself.
    """
    if re.search(r"\bor\b", f"{case.query} {case.gold}".lower()):
        return None
    said = normalise(case.prediction)
    if _ONE_OF_TWO.match(normalise(case.gold)) and _BOTH_OF_TWO.match(said):
        return Finding(False, "the prediction says both yes and no")
    for first, second in pairwise(_OR.split(said)):
        if _one_is_gold(case, first, second):
            return Finding(False, "the prediction leaves the gold answer and another one open")
    return None


_ONE_OF_TWO = re.compile(r"\W*(?:yes|no)\b")
_BOTH_OF_TWO = re.compile(r"\W*(?:both )?(?:yes (?:and|or) no|no (?:and|or) yes)\s*(?:[.,;:!(-]|$)")
_OR = re.compile(r",?\s+or\s+(?:(?:in|on|at|about|around|maybe|perhaps|possibly|even|the)\s+){0,2}")
_UNIT = r"(?: (?:percent|per cent|hundred|thousand|(?:m|b|tr)illion))?(?: (?P<unit>[a-z]+))?"
_NUMBER_BEFORE = re.compile(rf"\d[^\s\d]{{0,2}}{_UNIT}$")
_NUMBER_AFTER = re.compile(rf"[-$€£¥]?\d[\d.,]*(?:st|nd|rd|th|%)?{_UNIT}")


def _one_is_gold(case: Case, before: str, after: str) -> bool:
    """The first part ends with a date or number, the second begins with another, and just one of both is gold."""
    days = _date_in(before, at_end=True), _date_in(after, at_end=False)
    if days[0] and days[1]:
        wanted = read_dates(case.gold)
        return (days[0] in wanted) is not (days[1] in wanted)
    pair = _number_pair(before, after)
    if pair is None or same_number(*pair):
        return False
    asked = read_numbers(case.query)
    wanted_numbers = [one for one in case.gold_numbers if not any(same_number(one, said) for said in asked)]
    first, second = (any(same_number(one, said) for one in wanted_numbers) for said in pair)
    return first is not second


def _date_in(text: str, *, at_end: bool) -> date | None:
    found = placed_dates(text)
    return next((one.day for one in found if (one.end == len(text) if at_end else one.start == 0)), None)


def _number_pair(before: str, after: str) -> tuple[Number, Number] | None:
    """The numbers on both sides; None for one in two units, "5 miles or 8 km"."""
    first, second = _NUMBER_BEFORE.search(before), _NUMBER_AFTER.match(after)
    if first is None or second is None:
        return None
    units = [unit for unit in (first["unit"], second["unit"]) if unit and unit not in STOP_WORDS]
    if len({unit.rstrip("s") for unit in units}) > 1:
        return None
    told = read_numbers(before), read_numbers(after)
    return (told[0][-1], told[1][0]) if told[0] and told[1] else None
