"""Words that were divided at the end of a line.

A hyphen at the end of a line was put there by the typesetter ("archi-/tect") or belongs to the word ("well-/known").
The file rarely tells which. What the same document writes elsewhere decides; then the form of the two parts. What is
left is joined without a hyphen, because typesetters divide far more words than they break at hyphens.
"""

import re
from collections.abc import Iterable

HYPHENS = "\u2010\u00ad-"
"""Hyphen-minus, hyphen, soft hyphen. The soft hyphen is always the typesetter's."""

_DIVIDED = re.compile(rf"(?<![^\s{HYPHENS}])([^\s{HYPHENS}]*+)([{HYPHENS}])$")
_LONGEST_WORD = 80
_CLOSE_DASH = re.compile(r"[^\s–—/][–—/]$")
"""A dash or a slash without a blank before it: 1914–/1918."""
_FIRST_WORD = re.compile(r"[\w'’-]+")
_COMPOUND = re.compile(r"\b\w++(?:[-\u2010]\w++)+")
_WORD = re.compile(r"[^\W\d_]+")
_WITHOUT_BLANKS = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uff60]{2}")
_HALF_OF_A_PAIR = {"and", "or", "to", "und", "et"}
"""Words that follow the first half of "two- and three-storey"."""
_FIRST_PARTS = {"well", "self", "ill", "half"}
"""Parts before the hyphens of compounds, unless a suffix follows: well-known, but wellness."""
_SUFFIXES = {"ness", "ish", "ing", "ly", "way"}
_TENS = {"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
_SECOND_PARTS = {
    "based", "born", "century", "famous", "known", "old", "speaking", "third", "thirds", "winning", "year",
}  # fmt: skip
"""Parts behind the hyphens of compounds: world-famous, nineteenth-century. No syllable of another word is so."""


class Hyphenation:
    """Joins the parts of divided words, with the words of the document as its dictionary.

    Example:
        hyphenation = Hyphenation(["The architect is well-known."])
        hyphenation.join("restored by the archi-", "tect in 1931")  # "restored by the architect in 1931"
        hyphenation.join("a well-", "known painter")  # "a well-known painter"
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: set[str] = set()
        self._compounds: set[str] = set()
        for text in texts:
            lower = text.lower()
            self._compounds.update(_COMPOUND.findall(lower))
            self._words.update(_WORD.findall(lower))

    def join(self, before: str, after: str) -> str:
        """Two lines of a paragraph as one: with a blank, or as one word where the first ends with a hyphen."""
        # A paragraph grows line by line, so only its end is looked at.
        end = before[-_LONGEST_WORD:]
        if _CLOSE_DASH.search(end) and after[:1].isalnum():
            return before + after
        divided = _DIVIDED.search(end)
        following = _FIRST_WORD.match(after)
        if divided is None or following is None or not divided[1]:
            return before + ("" if _is_chinese_or_japanese(before[-1:], after[:1]) else " ") + after

        first = divided[1]
        hyphen = divided[2]
        second = following[0]
        if hyphen == "\u00ad":
            return before[:-1] + after
        if second.lower() in _HALF_OF_A_PAIR:
            return f"{before} {after}"
        # A number that goes on: "12,-/400" is 12,400.
        if first[-1] in ",." and second[0].isdecimal():
            return before[:-1] + after
        in_capitals = end.isupper() and after.isupper()
        keeps_hyphen = self._keeps_hyphen(first, second.lower() if in_capitals else second, end)
        return (before if keeps_hyphen else before[:-1]) + after

    def _keeps_hyphen(self, first: str, second: str, before: str) -> bool:
        """Whether the hyphen belongs to the word."""
        first = re.split(r"[^\w'’]", first.lower())[-1]
        lower = second.lower()
        joined = first + lower
        if f"{first}-{lower}" in self._compounds:
            return True
        if joined in self._words:
            return False

        # Capitals and digits do not continue a word, single letters do not begin one: Anglo-Saxon, 1914-1918, e-mail.
        if not second[0].islower() or not first[-1:].isalpha() or len(first) == 1:
            return True
        # Parts of a longer compound: state-of-the-art.
        is_in_compound = "-" in second or before[: -len(first) - 1].endswith(tuple(HYPHENS))
        is_first_part = first in _TENS or (first in _FIRST_PARTS and lower not in _SUFFIXES)
        return is_in_compound or is_first_part or lower in _SECOND_PARTS


def _is_chinese_or_japanese(before: str, after: str) -> bool:
    """Whether both characters are of a script without blanks between its words."""
    return bool(_WITHOUT_BLANKS.fullmatch(before + after))
