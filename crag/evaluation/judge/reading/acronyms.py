"""Acronyms and the names that they stand for: NBA and National Basketball Association, LA and Los Angeles."""

import re
from collections.abc import Iterator, Sequence

from crag.text.matching import position_of, tokens, words

_SMALL_WORDS = frozenset(words("of the and for de la"))
"""Words of a name that give no initial."""
_ACRONYM = re.compile(r"\s{0,9}(?P<letters>[A-Za-z](?:\.?\s?[A-Za-z]){1,5})\.?\s{0,9}")
_CAPITALISED = r"[A-Z][\w'’]{1,40}"
_NAME_OF_SEVERAL_WORDS = re.compile(
    rf"{_CAPITALISED}(?:(?:\s|-)(?:(?:of|the|and|for|de)\s){{0,2}}{_CAPITALISED}){{1,7}}"
)
_LONGEST_NAME = 7
"""Tokens; of a longer answer no acronym is made."""


def names_by_acronym(gold: str, prediction: str) -> bool:
    """Whether the prediction has the gold name with an acronym for some of its words, or the words of a gold acronym.

    >>> names_by_acronym("los angeles lakers", "The LA Lakers won."), names_by_acronym("nba", "Nebraska Bar Guild")
    (True, False)
    """
    return _has_acronym(gold, prediction) or _spells_acronym(gold, prediction)


def _has_acronym(gold: str, prediction: str) -> bool:
    """Whether the prediction is the gold name but for some words that it gives by their initials."""
    gold_tokens = tokens(gold)
    predicted = tokens(prediction)
    if not 1 < len(gold_tokens) <= _LONGEST_NAME:
        return False

    for start, end in _runs(len(gold_tokens)):
        initials = _initials(gold_tokens[start:end])
        if initials not in predicted or not _is_in_capitals(initials, prediction):
            continue
        position = predicted.index(initials)
        in_full = (*predicted[:position], *gold_tokens[start:end], *predicted[position + 1 :])
        if position_of(gold_tokens, in_full) >= 0:
            return True
    return False


def _runs(length: int) -> Iterator[tuple[int, int]]:
    """Start and end of every part of two words or more."""
    for start in range(length - 1):
        for end in range(start + 2, length + 1):
            yield start, end


def _initials(parts: Sequence[str]) -> str:
    """The initials of a name's words; empty if one of them is a number."""
    if not all(part.isalpha() for part in parts):
        return ""
    return "".join(part[0] for part in parts if part not in _SMALL_WORDS)


def _is_in_capitals(initials: str, text: str) -> bool:
    """Whether the text has the letters as an acronym, LA or L.A., and not as a word."""
    if len(initials) < len("LA"):
        return False
    letters = r"\.?".join(initials.upper())
    return re.search(rf"(?<![\w.]){letters}\.?(?!\w)", text) is not None


def _spells_acronym(gold: str, prediction: str) -> bool:
    """Whether the gold answer is nothing but an acronym and the prediction has a name with these initials."""
    acronym = _ACRONYM.fullmatch(gold)
    if acronym is None:
        return False
    letters = re.sub(r"[.\s]", "", acronym["letters"])
    # Two small letters are a word more often
    if len(letters) < len("NBA") and not letters.isupper():
        return False

    for match in _NAME_OF_SEVERAL_WORDS.finditer(prediction):
        initials = "".join(word[0] for word in re.split(r"[\s-]", match[0]) if word not in _SMALL_WORDS)
        # The first word may be an article: "The National Basketball Association"
        if letters.upper() in {initials, initials[1:]}:
            return True
    return False
