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
        number=re.compile(r"\b(?:[5-9][0-9]{2}|1[0-9]{3}|20[0-9]{2})\b"),  # a year from 500 on, not a day
    ),
    # A brighter star has a smaller magnitude.
    _ComparedEntry(
        words=re.compile(r"\b(?:bright(?:er|est|ness))\b"),
        keys=re.compile(r"appmag_v"),
        number=re.compile(r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?"),
    ),
)

_ALTERNATIVES = re.compile(r"\b(?P<first>[a-z]+) or (?:a |an )?(?P<second>[a-z]+)\b")
_HOW_MANY_OF = re.compile(r"\bhow many (?:[a-z]+ )??(?P<things>[a-z]+)s\b")
_ROLE = re.compile(
    r"\b(?:publisher|developer|composer|architect|director|designer|owner|operator|currency|capital)s?\b"
)
_LOWER_CASE_WORD = re.compile(r"[a-z]+")
_MARKUP = re.compile(r"[{}*|=<>]|\blist\b")

_ASKS_FOR_DAY = ("when", "on what", "what day", "what date")
_RELEASED = re.compile(r"\b(?:released?|launch(?:ed)?)\b")
_OTHER_RELEASE = re.compile(r"\b(?:version|latest|last|newest|next)\b")
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
        match = pattern.search(_entry_text(reading.rows[0], key))
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
    alternatives = _ALTERNATIVES.search(inputs.question)
    if alternatives is None or not inputs.is_yes_or_no:
        return None

    article_type = _entry_text(reading.rows[0], "type")
    type_words = _LOWER_CASE_WORD.findall(article_type.casefold())
    offered_words = (alternatives["first"], alternatives["second"])
    fitting_words = [word for word in offered_words if word in type_words]
    # Both words or neither: the type does not decide
    if len(fitting_words) != 1:
        return None
    return Derived(fitting_words[0], f"the type is {article_type}")


def _number_of_things(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """For "how many stations": the number of a key such as `station_count`."""
    match = _HOW_MANY_OF.search(inputs.question)
    if match is None:
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
    roles: list[str] = _ROLE.findall(inputs.question)
    if len(roles) != 1 or inputs.masked.find_position(reading.requested_name) is None:
        return None
    # The question must ask for the role itself: "the publisher of"
    if not re.search(rf"\b(?:who|what|the)\b.*{roles[0]} (?:of|for|behind)\b", inputs.question):
        return None

    # A long value, or one with markup, is not a plain name.
    key = roles[0].removesuffix("s")
    value = _entry_text(reading.rows[0], key).strip(" ,;")
    if not 0 < len(value) <= MAX_ROLE_CHARACTERS or _MARKUP.search(value):
        return None
    return Derived(value, f"the {key} is {value}")


def _day_of_release(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """For "when was it released": the day (YYYY-MM-DD) of a first release, not of a version."""
    question = inputs.question
    if not question.startswith(_ASKS_FOR_DAY) or not _RELEASED.search(question):
        return None
    if _OTHER_RELEASE.search(question):
        return None
    if inputs.masked.find_position(reading.requested_name) is None:
        return None

    match = _START_DATE.match(_entry_text(reading.rows[0], "released"))
    if match is None:
        return None
    month = int(match["month"])
    day_of_month = int(match["day"])
    day = f"{match['year']}-{month:02}-{day_of_month:02}"
    return Derived(day, f"the day of release is {day}")


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
