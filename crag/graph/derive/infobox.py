"""Answers from the info box of an encyclopedia article."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from crag.graph.derive.readings import Derived, Reading, RuleInputs
from crag.graph.results import Row
from crag.text.matching import contains_words, same_name
from crag.text.reasoning import Quantity

MAX_ROLE_CHARACTERS = 60
"""A longer entry is a list or a sentence."""


class _ComparedEntry(NamedTuple):
    """A kind of info-box entry that questions compare; the smallest number wins.

    `words` of the question ask for it, `keys` are those of the entry, `number` is the number in its text.
    """

    words: re.Pattern[str]
    keys: re.Pattern[str]
    number: re.Pattern[str]


_COMPARED_ENTRIES = (
    _ComparedEntry(
        words=re.compile(
            r"""
            \b(?:
                longer\ history | older | oldest | historical\ record
              | (?:founded|established|opened)\ (?:earlier|first)
            )\b
            """,
            re.VERBOSE,
        ),
        keys=re.compile(
            r"established(?:_date)?|founded|formation|foundation|opened|year_completed|inaugurated|consecration_year"
        ),
        # A year from 500 on, not a day, and not before Christ
        number=re.compile(r"\b(?:[5-9][0-9]{2}|1[0-9]{3}|20[0-9]{2})\b(?!\s?b\.?c)", re.IGNORECASE),
    ),
    # A brighter star has a smaller magnitude.
    _ComparedEntry(
        words=re.compile(r"\b(?:bright(?:er|est|ness))\b"),
        keys=re.compile(r"appmag_v"),
        number=re.compile(r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?"),
    ),
)

_ALTERNATIVES = re.compile(r"\b(?P<first>[a-z]+) or (?:a |an )?(?P<second>[a-z]+)\b")
_KIND = r"(?:the )?(?:[0-9]{4} )?(?:(?!(?:in|of|at|near|from|by|for|on|to|about)\b)[a-z-]+ ){0,3}"
"""What may stand before a name: "the 1982 maze game @0"."""
_HOW_MANY_OF = re.compile(
    # A word of praise narrows nothing: "towering minarets"
    r"\bhow many (?:[a-z]+(?:ing|ful|ous) )?(?P<things>[a-z]+)s(?: \([^()]{1,80}\))? "
    rf"(?:(?:does|do) {_KIND}(?P<owner>@[0-9]+) have|are (?:there )?(?:in|on|at) {_KIND}(?P<place>@[0-9]+))\W*$"
)
"""Not "did have" or "will have": the info box counts what is there now."""
_ROLE = re.compile(
    r"^(?P<before>.{0,120}\b)the (?:(?:main|current|present|official) )?"
    r"(?P<role>publisher|developer|composer|architect|director|designer|owner|operator|currency|capital)s? "
    rf"(?:of|for|behind) {_KIND}(?P<of>@[0-9]+)(?:\W*$|[.!?;])"
)
"""Not "the first owner of @0", "the art director of @0" or "the owner of @0 in 1990": the entry is the present one."""
_ASKS_MORE = re.compile(r"\b(?:of|how|where|when|why|not)\b|n't\b")
"""What asks for something about the holder of a role: "how old is the director of @0"."""
_LOWER_CASE_WORD = re.compile(r"[a-z]+")
_MARKUP = re.compile(r"[{}*|=<>]|\blist\b")

_WHEN = r"^(?:when|(?:on )?(?:what|which) (?:day|date)) "
_FIRST = r"(?:first|initially|originally|officially)"
_ASKS_FOR_RELEASE = re.compile(
    rf"{_WHEN}(?:"
    rf"(?:was|were|did) {_KIND}(?P<released>@[0-9]+) (?:{_FIRST} )?(?:released?|launch(?:ed)?)(?: {_FIRST})?"
    rf"|{_KIND}(?P<told>@[0-9]+) (?:was|were) (?:{_FIRST} )?(?:released|launched)(?: {_FIRST})?"
    rf"|was the (?:(?:first|initial|original|official) )?(?:release|launch) of {_KIND}(?P<launched>@[0-9]+)"
    r")\W*$"
)
"""Not "released in Japan", "re-released" or "when was the trailer of @0 released": the entry is the first release."""
_START_DATE = re.compile(
    r"""
    ^(?:start\ )?date (?:\ and\ age)? \ (?P<year>[0-9]{4}) \ (?P<month>[0-9]{1,2}) \ (?P<day>[0-9]{1,2})
    $    # not a date with an hour, or with a second date
    """,
    re.VERBOSE,
)


def compared_numbers(inputs: RuleInputs) -> list[Quantity] | None:
    """The compared number of each article, in the order of the readings; the smallest is the answer."""
    if not all(_is_requested_article(reading) for reading in inputs.readings):
        return None

    for entry in _COMPARED_ENTRIES:
        if not entry.words.search(inputs.question):
            continue

        # The first key of this kind that all articles have.
        for key in inputs.readings[0].rows[0].cells:
            if not entry.keys.fullmatch(key):
                continue
            numbers = _read_numbers(inputs.readings, key, entry.number)
            if numbers:
                return numbers
    return None


def _read_numbers(
    readings: Sequence[Reading],
    key: str,
    pattern: re.Pattern[str],
) -> list[Quantity] | None:
    """The number in this entry of each article, or None if an article has none."""
    numbers: list[Quantity] = []
    for reading in readings:
        # The encyclopedia writes the minus of typographers
        match = pattern.search(_entry_text(reading.rows[0], key).replace("−", "-"))
        if match is None:
            return None
        # Thousands separators: "1,250"
        digits = match.group().replace(",", "")
        numbers.append(Quantity(Fraction(digits)))
    return numbers


def infobox_entry(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The info-box entry that answers the question."""
    if not _is_requested_article(reading):
        return None
    for rule in (_one_of_two, _number_of_things, _role, _day_of_release):
        derived = rule(inputs, reading)
        if derived is not None:
            return derived
    return None


def _one_of_two(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """For "is it private or public": the one of the two words that is in the article's type."""
    # "Non-profit" has the word "profit"
    alternatives = _ALTERNATIVES.search(inputs.question.replace("non-", "non"))
    if alternatives is None or not inputs.masked.core.startswith(("is ", "are ")):
        return None  # "was it private" may be about another time

    article_type = _entry_text(reading.rows[0], "type")
    type_words = _LOWER_CASE_WORD.findall(article_type.casefold().replace("non-", "non"))
    offered_words = (alternatives["first"], alternatives["second"])
    fitting_words = [word for word in offered_words if word in type_words]
    # Both words or neither: the type does not decide
    if len(fitting_words) != 1:
        return None
    return Derived(fitting_words[0], f"the type is {article_type}")


def _number_of_things(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """For "how many stations": the number of a key such as `station_count`."""
    match = _HOW_MANY_OF.search(inputs.question)
    if match is None or not _is_about(inputs, reading, match):
        return None

    things = match["things"]
    for word in ("quantity", "count", "number"):
        number = _entry_text(reading.rows[0], f"{things}_{word}")
        # An entry such as "about 20" is no number
        if number.isdecimal():
            return Derived(number, f"the {things} {word} is {number}")
    return None


def _role(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The role that the question asks for, such as the publisher."""
    match = _ROLE.match(inputs.question)
    if match is None or inputs.is_yes_or_no or not _is_about(inputs, reading, match):
        return None
    if _ASKS_MORE.search(match["before"].replace("the name of", "")):
        return None

    # A long value, or one with markup, is not a plain name.
    key = match["role"]
    value = _entry_text(reading.rows[0], key).strip(" ,;")
    if not 0 < len(value) <= MAX_ROLE_CHARACTERS or _MARKUP.search(value):
        return None
    return Derived(value, f"the {key} is {value}")


def _day_of_release(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """For "when was it released": the day (YYYY-MM-DD) of a first release, not of a version."""
    match = _ASKS_FOR_RELEASE.search(inputs.question)
    if match is None or not _is_about(inputs, reading, match):
        return None

    date = _START_DATE.match(_entry_text(reading.rows[0], "released"))
    if date is None:
        return None
    day = f"{date['year']}-{int(date['month']):02}-{int(date['day']):02}"
    return Derived(day, f"the day of release is {day}")


def _is_about(inputs: RuleInputs, reading: Reading, match: re.Match[str]) -> bool:
    """Whether the mark in the match, in any of its groups, is that of the article."""
    return inputs.masked.mark(reading.requested_name) in match.groups()


def _is_requested_article(reading: Reading) -> bool:
    """Whether the article found has the requested name; the search may find another."""
    if reading.table.name != "get_open" or len(reading.rows) != 1:
        return False
    entity = reading.rows[0].entity
    name = reading.requested_name
    return same_name(entity, name) or contains_words(entity, name) or contains_words(name, entity)


def _entry_text(row: Row, key: str) -> str:
    """The entry if it is a string, else an empty one."""
    cell = row.cells.get(key)
    return cell if isinstance(cell, str) else ""
