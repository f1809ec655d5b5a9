"""Searches a name in the spellings that the graph may have: "beyonce" as "beyoncé", "spider man" as "spiderman".

The official server compares whole words. It drops ASCII signs ("AC/DC" is "acdc") but keeps accents, so "beyonce"
finds nothing where the graph writes "Beyoncé". Any word of a query is enough for a hit, so one query can ask for many
spellings.
"""

import unicodedata
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from typing import Any

from crag.graph.context import LookupContext
from crag.graph.results import KgError
from crag.text.matching import normalise_name, similarity, transcribed, without_marks

MOST_SPELLINGS = 48
"""Words of a query; the official server scans all its names for each."""
SAME_SPELLED = 0.99
"""The least similarity of two spellings of one name."""

_MARKED = {
    "a": "áäàâãåāă", "c": "çčć", "d": "đď", "e": "éèêëěę", "g": "ğ", "i": "íïîìı", "l": "ł",
    "n": "ñńň", "o": "öóøôõòőō", "r": "ř", "s": "šşśș", "t": "țţ", "u": "üúùûůūű", "y": "ýÿ", "z": "žżź",
}  # fmt: skip
"""Letter -> the same letter with a mark, in names of the world the more frequent first."""
_DIGRAPHS = {"ss": "ß", "ae": "äæ", "oe": "öøœ", "ue": "ü", "aa": "å"}
"""Two letters that are typed for one."""


def search_names(
    context: LookupContext,
    endpoint: str,
    name: str,
    name_of: Callable[[Any], str] = str,
) -> list[Any]:
    """What the endpoint finds for a name; before it what has the name in another spelling, if nothing has it exactly.

    `name_of` gives the name of a result.
    """
    results = list(context.ask(endpoint, query=name))
    normalised = normalise_name(name)
    if any(normalise_name(name_of(result)) == normalised for result in results):
        return results

    try:
        respelled = context.ask(endpoint, query=" ".join(other_spellings(name)))
    except KgError:  # the results for the name as it is remain
        return results
    same = [result for result in respelled if similarity(name_of(result), name) >= SAME_SPELLED]
    other_results = [result for result in results if result not in same]
    return same + other_results


def other_spellings(name: str) -> list[str]:
    """The words of a name, then other spellings of them, the more probable first; at most `MOST_SPELLINGS`.

    >>> other_spellings("jay z")[:3]
    ['jay', 'z', 'jayz']
    """
    words = unicodedata.normalize("NFC", name.lower()).split()
    spellings = dict.fromkeys(words)

    # Written as one word, or with a hyphen, which the server drops.
    spellings |= dict.fromkeys(first + second for first, second in pairwise(words))
    for word in words:
        spellings |= dict.fromkeys([without_marks(word), transcribed(word)])
        spellings |= dict.fromkeys(part for part in word.replace("/", "-").split("-") if len(part) > 1)

    # All words take turns, or a long one would leave no room for the others.
    for level in range(max(map(len, _MARKED.values()))):
        for word in words:
            spellings |= dict.fromkeys(_mark_once(word, level))
        if level == 1:
            for word in words:
                spellings |= dict.fromkeys(_mark_twice(word))
    return list(spellings)[:MOST_SPELLINGS]


def _mark_once(word: str, level: int) -> Iterator[str]:
    """The word with a mark on one of its letters: the one at `level` of the marks that the letter can have."""
    for position, letter in enumerate(word):
        marked = _MARKED.get(letter, "")[level : level + 1]
        if marked:
            yield f"{word[:position]}{marked}{word[position + 1 :]}"

        single = _DIGRAPHS.get(word[position : position + 2], "")[level : level + 1]
        if single:
            yield f"{word[:position]}{single}{word[position + 2 :]}"


def _mark_twice(word: str) -> Iterator[str]:
    """The word with the most frequent mark on two of its letters: "dvořák"."""
    positions = [position for position, letter in enumerate(word) if letter in _MARKED]
    for first, second in combinations(positions, 2):
        letters = list(word)
        letters[first] = _MARKED[letters[first]][0]
        letters[second] = _MARKED[letters[second]][0]
        yield "".join(letters)
