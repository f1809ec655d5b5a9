"""Gold answers that offer several possibilities themselves: "soccer / football", "grey or silver"."""

import re

from agents.matching import read_dates, read_numbers

_LONGEST = 7
"""Words of an alternative; longer ones are clauses of a sentence."""
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
"""Things whose own name may contain an "or" or a slash."""


def alternatives(query: str, gold: str) -> list[str]:
    """The gold answer, and each of the answers that it offers.

    A name such as "Truth or Dare" or "Face/Off" offers none. As most gold answers are in lower case, an "or" parts
    them only where both sides have numbers, end in the same word or are full names of persons, or where the question
    names a kind of thing ("which metal") that is no work with a title. A slash between longer sides always does.
    """
    for divider, are_answers in _DIVIDERS:
        parts = [part.strip() for part in divider.split(gold.strip())]
        short = len(parts) > 1 and all(0 < len(part.split()) <= _LONGEST for part in parts)
        if short and are_answers(query.lower(), parts):
            return [gold, *parts]
    return [gold]


def _are_substantial(_asked: str, parts: list[str]) -> bool:
    return all(map(_SUBSTANTIAL.search, parts))


def _beside_slash(asked: str, parts: list[str]) -> bool:
    longer = any(len(part.split()) > 1 for part in parts)
    return _are_substantial(asked, parts) and (longer or _of_plain_kind(asked, parts))


def _beside_or(asked: str, parts: list[str]) -> bool:
    if all(map(read_numbers, parts)) or all(map(read_dates, parts)):
        return True
    persons = _ASKS_PERSON.search(asked) and all(len(part.split()) > 1 for part in parts)
    same_head = len({part.lower().split()[-1].strip(".") for part in parts}) == 1
    titles = any(map(_TITLE_CASE.match, parts[1:]))
    return _are_substantial(asked, parts) and bool(
        persons or (same_head and not titles) or _of_plain_kind(asked, parts)
    )


def _of_plain_kind(asked: str, parts: list[str]) -> bool:
    """The question names a kind of thing that is no work with a title, and no part looks like one."""
    titles = any(map(_TITLE_CASE.match, parts[1:]))
    return not titles and bool(_ASKS_KIND.search(asked)) and not _WORKS.search(asked)


_DIVIDERS = (
    (re.compile(r"\s+/\s+"), _are_substantial),
    (
        re.compile(r"(?<=[^\W\d_]{3})/(?=[^\W\d_]{3}|\d)|(?<=\d{4})/(?=\d{1,2} [^\W\d_]{3}|[^\W\d_]{3})"),
        _beside_slash,
    ),
    (re.compile(r"(?i)\s+or\s+"), _beside_or),
)
