"""Mentions: names in a question that are looked up in the tables; and the years that the question is about."""

import re
from dataclasses import dataclass

from crag.core.contracts import Query

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_CEREMONY = re.compile(
    r"""
    \b(?P<number>\d{1,3})(?:st|nd|rd|th)
    (?:\ annual)?
    \ (?P<prize>academy|oscar|grammy)    # any ending: "oscars", "academy awards"
    """,
    re.VERBOSE,
)
_YEAR_BEFORE_FIRST_CEREMONY = {"academy": 1928, "oscar": 1928, "grammy": 1958}
"""Year of the ceremony minus its number, right from the 6th Academy Awards (1934) and the 3rd Grammys (1961) on."""
_YEARS_AGO = {"this year": 0, "last year": 1, "previous year": 1}


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as the question or a model writes it, and the domain in whose tables it is looked up."""

    text: str
    domain: str


def find_years(query: Query) -> tuple[int, ...]:
    """The years that a question names: as a number, or as "this year" and "last year".

    The number of a ceremony ("the 80th Academy Awards") is exact: then its year counts alone.
    """
    text = query.text.lower()
    ceremonies: dict[int, None] = {}
    for match in _CEREMONY.finditer(text):
        year_before_first = _YEAR_BEFORE_FIRST_CEREMONY[match["prize"]]
        ceremonies[year_before_first + int(match["number"])] = None
    if ceremonies:
        return tuple(ceremonies)

    years = dict.fromkeys(map(int, _YEAR.findall(text)))
    if query.asked_at is not None:
        for words, ago in _YEARS_AGO.items():
            if words in text:
                years[query.asked_at.year - ago] = None
    return tuple(years)
