"""Answers from the info box of an encyclopedia article."""

import re
from fractions import Fraction

from crag.graph.derive.readings import Derived, GraphEvidence, Reading
from crag.graph.results import Row
from crag.text.matching import contains_words, same_name
from crag.text.reasoning import Quantity

_FOUNDED = r"established(?:_date)?|founded|formation|foundation|opened|year_completed|inaugurated|consecration_year"
_COMPARED = (
    (r"longer history|older|oldest|(?:founded|established|opened) (?:earlier|first)|historical record", _FOUNDED),
    (r"bright(?:er|est|ness)", "appmag_v"),
)
"""Words of a question -> the entries whose smallest number is wanted: a brighter star has a smaller magnitude."""
_YEAR = re.compile(r"\b(?:[5-9][0-9]{2}|1[0-9]{3}|20[0-9]{2})\b")
_FIRST_NUMBER = re.compile(r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")
_ALTERNATIVES = re.compile(r"\b(?P<one>[a-z]+) or (?:a |an )?(?P<other>[a-z]+)\b")
_HOW_MANY_OF = re.compile(r"\bhow many (?:[a-z]+ )??(?P<things>[a-z]+)s\b")
_ROLE = re.compile(
    r"\b(?:publisher|developer|composer|architect|director|designer|owner|operator|currency|capital)s?\b"
)
_RELEASED = re.compile(r"\b(?:released?|launch(?:ed)?)\b")
_START_DATE = re.compile(r"^(?:start )?date(?: and age)? (?P<year>[0-9]{4}) (?P<month>[0-9]{1,2}) (?P<day>[0-9]{1,2})$")
_MARKUP = re.compile(r"[{}*|=<>]|\blist\b")


def compared_entry(case: GraphEvidence) -> list[Quantity] | None:
    """The compared number of each article; the smallest is wanted."""
    if not all(_is_the_article(reading) for reading in case.readings):
        return None
    for words, keys in _COMPARED:
        if not re.search(rf"\b(?:{words})\b", case.text):
            continue
        names = [key for key in case.readings[0].rows[0].cells if re.fullmatch(keys, key)]
        pattern = _YEAR if keys == _FOUNDED else _FIRST_NUMBER
        for name in names:
            found = [pattern.search(_cell(reading.rows[0], name)) for reading in case.readings]
            amounts = [Quantity(Fraction(match.group().replace(",", ""))) for match in found if match]
            if len(amounts) == len(case.readings):
                return amounts
    return None


def entry(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The info-box entry that answers the question."""
    if not _is_the_article(reading):
        return None
    rules = (_one_of_two, _number_of_things, _role, _day_of_release)
    return next((said for rule in rules if (said := rule(case, reading))), None)


def _one_of_two(case: GraphEvidence, reading: Reading) -> Derived | None:
    """For "is it private or public": the one of the two words that is in the article's type."""
    found = _ALTERNATIVES.search(case.text)
    if found is None or not case.asked.is_yes_or_no:
        return None
    kind = re.findall(r"[a-z]+", _cell(reading.rows[0], "type").casefold())
    named = [word for word in (found["one"], found["other"]) if word in kind]
    return Derived(named[0], f"the type is {_cell(reading.rows[0], 'type')}") if len(named) == 1 else None


def _number_of_things(case: GraphEvidence, reading: Reading) -> Derived | None:
    found = _HOW_MANY_OF.search(case.text)
    if found is None:
        return None
    for key in (f"{found['things']}_{word}" for word in ("quantity", "count", "number")):
        number = _cell(reading.rows[0], key)
        if number.isdecimal():
            return Derived(number, f"the {key.replace('_', ' ')} is {number}")
    return None


def _role(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The role that the question asks for, such as the publisher."""
    found = _ROLE.search(case.text)
    if found is None or len(_ROLE.findall(case.text)) != 1 or case.asked.place(reading.name) is None:
        return None
    if not re.search(rf"\b(?:who|what|the)\b.*{found.group()} (?:of|for|behind)\b", case.text):
        return None
    key = found.group().removesuffix("s")
    value = _cell(reading.rows[0], key).strip(" ,;")
    return Derived(value, f"the {key} is {value}") if 0 < len(value) <= 60 and not _MARKUP.search(value) else None


def _day_of_release(case: GraphEvidence, reading: Reading) -> Derived | None:
    if not case.text.startswith(("when", "on what", "what day", "what date")) or not _RELEASED.search(case.text):
        return None
    if case.asked.place(reading.name) is None or re.search(r"\b(?:version|latest|last|newest|next)\b", case.text):
        return None
    found = _START_DATE.match(_cell(reading.rows[0], "released"))
    if found is None:
        return None
    day = f"{found['year']}-{int(found['month']):02}-{int(found['day']):02}"
    return Derived(day, f"the day of release is {day}")


def _is_the_article(reading: Reading) -> bool:
    """Whether the article found has the requested name; the search may find another."""
    if reading.table.name != "get_open" or len(reading.rows) != 1:
        return False
    entity, name = reading.rows[0].entity, reading.name
    return same_name(entity, name) or contains_words(entity, name) or contains_words(name, entity)


def _cell(row: Row, key: str) -> str:
    cell = row.cells.get(key)
    return cell if isinstance(cell, str) else ""
