"""Names that stand in a series: "Ann Lee, Bo Chan and Cy Dean"."""

import re
from collections.abc import Iterator

from crag.text.matching import content, tokens

_CAPITAL = r"[A-Z][\w.'’-]{0,60}"
_NAME_WORDS = rf"(?:{_CAPITAL}|of|the|de|van|von)(?:\s{{1,9}}(?:{_CAPITAL}|of|the|de|van|von)){{0,4}}"
"""Up to five words that begin with a capital, or join such words: "Vincent van Gogh"."""
_SERIES_OF_NAMES = re.compile(
    rf"(?:^|(?P<lead>\b(?:by|is|are|was|were|in|:)\s))(?P<series>{_NAME_WORDS}(?:,\s{{1,9}}{_NAME_WORDS}){{0,20}}"
    rf",?\s{{1,9}}(?:and|&)\s{{1,9}}{_NAME_WORDS})"
)
"""Names at the beginning, or after a verb, "by" or "in": "A, B and C"."""
_BETWEEN_NAMES = re.compile(r",\s{0,9}(?:(?:and|&)\s{1,9})?|\s{1,9}(?:and|&)\s{1,9}")
_LONGEST_NAME = 6
"""Tokens; the last name of a series may run on into the sentence."""


def name_series(text: str) -> Iterator[list[tuple[str, ...]]]:
    """The series of two names or more in a text, as tokens.

    >>> list(name_series("It was founded by Ann Lee and Bo Chan."))
    [[('ann', 'lee'), ('bo', 'chan')]]
    """
    for match in _SERIES_OF_NAMES.finditer(text):
        # "Acme & Co." names one
        names = [name for name in map(tokens, _BETWEEN_NAMES.split(match["series"])) if content(name)]
        if not names:
            continue
        # "A, B and C of the old mill won": the pattern cannot see where C ends
        names[-1] = names[-1][:_LONGEST_NAME]
        if len(names) > 1:
            yield names
