"""Name similarity on top of the server's word search.

The search is BM25 over whole words: it forgives no typo, and its first hit is often a longer or shorter name ("Lord of
the Rings" finds "Rings" first). So its hits are ranked again by similarity, and only a clearly best one counts.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from agents.text import clean

SIMILARITY_FLOOR = 0.82
"""Names below it are different names."""

MARGIN = 0.04
"""Required lead of an inexact hit over the next different name."""

_ROMAN = {"ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
_WORDS = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
_OTHER_NUMBER = 0.8


@dataclass(frozen=True, slots=True)
class Match:
    """The place of the best candidate, how alike its name is (0 to 1), and whether both are the same when folded."""

    position: int
    similarity: float
    exact: bool


def fold(name: str) -> str:
    """The name without case, accents, punctuation and leading article; "&" is "and", Roman numerals are digits.

    A name without a single letter or digit ("÷", "!!!") stays as it is.
    """
    plain = unicodedata.normalize("NFKD", clean(name).replace("&", " and "))
    plain = "".join(character for character in plain if not unicodedata.combining(character)).casefold()
    plain = plain.replace("'", "").replace("\u2019", "")
    words = [_ROMAN.get(word, word) for word in _WORDS.findall(plain)]
    if len(words) > 1 and words[0] in {"the", "a", "an"}:
        words = words[1:]
    return " ".join(words) or " ".join(plain.split())


def similarity(left: str, right: str) -> float:
    """How alike two names are, from 0 to 1; 1 exactly when they fold to the same text.

    Different numbers lower it: the sequels of a film differ by nothing else.
    """
    one, other = fold(left), fold(right)
    if one == other:
        return 1.0
    if not one or not other:
        return 0.0
    alike = min(0.99, max(fuzz.ratio(one, other), fuzz.token_sort_ratio(one, other)) / 100)
    return alike if sorted(_DIGITS.findall(one)) == sorted(_DIGITS.findall(other)) else alike * _OTHER_NUMBER


def best_match(wanted: str, candidates: Sequence[str], *, floor: float = SIMILARITY_FLOOR) -> Match | None:
    """The candidate that is meant, or None where none is alike enough or two different ones are nearly equal.

    Among candidates of equal similarity the first one wins, so that callers put the better known ones in front.
    """
    scored = [(similarity(wanted, candidate), position) for position, candidate in enumerate(candidates)]
    if not scored:
        return None
    best, position = max(scored, key=lambda pair: (pair[0], -pair[1]))
    if best < floor:
        return None
    winner = fold(candidates[position])
    runner_up = max((score for score, i in scored if fold(candidates[i]) != winner), default=0.0)
    if best < 1.0 and best - runner_up < MARGIN:
        return None
    return Match(position, best, exact=best == 1.0)


def same_name(left: str, right: str) -> bool:
    """Whether two texts name the same entity: equal when folded, or one typo apart in a longer name."""
    return similarity(left, right) >= 0.92


def contains_words(text: str, wanted: str) -> bool:
    """Whether the words of `wanted` stand in `text` next to each other."""
    return f" {fold(wanted)} " in f" {fold(text)} "
