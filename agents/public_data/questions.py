"""What is asked for: the mentions of entities in a question, and the years that tell namesakes apart."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agents.contracts import Query
from agents.deadline import Deadline

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_CEREMONY = re.compile(r"\b(\d{1,3})(?:st|nd|rd|th)(?: annual)? (academy|oscar|grammy)")
_BEFORE_FIRST = {"academy": 1928, "oscar": 1928, "grammy": 1958}
"""Year of the ceremony minus its number: the 7th Academy Awards (1935) and the 4th Grammys (1962) and all since."""
_RELATIVE = {"this year": 0, "last year": 1, "previous year": 1}


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as it stands in the question or as a model wrote it, and the domain in whose tables it is looked up."""

    text: str
    domain: str


class MentionFinder(Protocol):
    """Finds what a question is about."""

    def find(self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline) -> list[list[Mention]]:
        """The mentions of each question, in order; none where nothing was found or time ran out.

        `domains` are those that are known already: ``movie``, ``music``, ``finance`` or any other word.
        """


def years_of(query: Query) -> tuple[int, ...]:
    """The years that a question names: as a number, or as "this year" and "last year".

    The number of a ceremony ("the 80th Academy Awards") says it exactly: then its year counts alone.
    """
    text = query.text.lower()
    ceremonies = [_BEFORE_FIRST[prize] + int(number) for number, prize in _CEREMONY.findall(text)]
    if ceremonies:
        return tuple(dict.fromkeys(ceremonies))
    years = [int(year) for year in _YEAR.findall(text)]
    if query.asked_at is not None:
        years += [query.asked_at.year - back for words, back in _RELATIVE.items() if words in text]
    return tuple(dict.fromkeys(years))
