"""Compares names: normalisation, similarity, short forms; and names of Oscar categories."""

import functools
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz import fuzz

from crag.core.text import clean
from crag.text.matching.words import without_marks

SIMILARITY_FLOOR = 0.82
"""Less similar names are different."""
MARGIN = 0.04
"""Required lead of an inexact match over the next different name."""

_APOSTROPHES = re.compile(r"['’‘`´]")
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_NOT_A_WORD = re.compile(r"[\W_]+")
_ARTICLE = re.compile(r"(?:the|an?) (?=.)")
_ROMAN = {"ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
_DIGITS = re.compile(r"\d+")
_OTHER_NUMBER = 0.8

_KIND_OF_SHARE = re.compile(
    r"\s{1,9}(class [a-z]|series [a-z]|common (stock|shares?)|ordinary shares?|american depositary (shares?|receipts?)"
    r"|depositary shares?|subordinate voting shares?|capital stock|adss?|adrs?|units?|warrants?|rights?|new)$"
)
_LEGAL_FORM = re.compile(
    r"(\s{1,9}and)?\s{1,9}(inc|incorporated|corp|corporation|co|company|ltd|limited|plc|llc|lp|sa|nv|ag|se)$"
)
_KIND_OF_FIRM = re.compile(r"\s{1,9}(holdings?|group|com)$")


@dataclass(frozen=True, slots=True)
class NameMatch:
    """The position of the best candidate, its similarity (0 to 1), and whether both are equal when normalised."""

    position: int
    similarity: float
    exact: bool


def plain_name(name: str) -> str:
    """Lower-case words and numbers with single spaces: no accents, apostrophes or punctuation; ``&`` is ``and``."""
    return _NOT_A_WORD.sub(" ", _APOSTROPHES.sub("", without_marks(name)).replace("&", " and ")).strip()


def without_article(name: str) -> str:
    """A plain name without leading ``the``, ``a`` or ``an``, unless nothing else is left."""
    return _ARTICLE.sub("", name, count=1) if _ARTICLE.match(name) else name


def without_possessive(text: str) -> str:
    """The text without ``'s`` at the ends of words."""
    return _POSSESSIVE.sub("", text)


def normalise_name(name: str) -> str:
    """The plain name without leading article, Roman numerals as digits; without letters or digits ("÷") unchanged."""
    plain = without_article(" ".join(_ROMAN.get(word, word) for word in plain_name(clean(name)).split()))
    return plain or " ".join(without_marks(clean(name)).split())


def similarity(left: str, right: str) -> float:
    """The similarity of two names, from 0 to 1; 1 if and only if their normalised texts are equal.

    Different numbers lower it: a film's sequels may differ in nothing else.
    """
    one, other = normalise_name(left), normalise_name(right)
    if one == other:
        return 1.0
    if not one or not other:
        return 0.0
    alike = min(0.99, max(fuzz.ratio(one, other), fuzz.token_sort_ratio(one, other)) / 100)
    return alike if sorted(_DIGITS.findall(one)) == sorted(_DIGITS.findall(other)) else alike * _OTHER_NUMBER


def best_match(wanted: str, candidates: Sequence[str], *, floor: float = SIMILARITY_FLOOR) -> NameMatch | None:
    """The best candidate, or None if none is similar enough or two different ones are nearly equal.

    Word search such as BM25 does not allow typos, and its first hit is often a longer or shorter name, so its hits are
    ranked again here. Among equally similar candidates the first wins: put the better known first.
    """
    scored = [(similarity(wanted, candidate), -position) for position, candidate in enumerate(candidates)]
    best, place = max(scored, default=(0.0, 0))
    if not scored or best < floor:
        return None
    winner = normalise_name(candidates[-place])
    runner_up = max((score for score, other in scored if normalise_name(candidates[-other]) != winner), default=0.0)
    if best < 1.0 and best - runner_up < MARGIN:
        return None
    return NameMatch(-place, best, exact=best == 1.0)


def same_name(left: str, right: str) -> bool:
    """Whether two texts name the same entity: equal when normalised, or one typo apart in a longer name."""
    return similarity(left, right) >= 0.92


def contains_words(text: str, wanted: str) -> bool:
    """Whether `text` contains the words of `wanted` in a row."""
    return f" {normalise_name(wanted)} " in f" {normalise_name(text)} "


def spellings(name: str) -> set[str]:
    """The plain forms of a name for search: with and without article, and without a possessive ``'s``.

    "Schindler's List" is found as "schindlers list" and "schindler list", "the film's" as "film".
    """
    forms = {plain_name(name), plain_name(without_possessive(name))}
    return (forms | {without_article(form) for form in forms}) - {""}


def company_names(name: str) -> Iterator[str]:
    """A company's plain name, and the name without share class, legal form, and "group" or "holdings".

    Stock lists write "Example Group Inc. Class A Common Stock" for "Example".
    """
    current = plain_name(name)
    yield current
    for ending in (_KIND_OF_SHARE, _LEGAL_FORM, _KIND_OF_FIRM, _LEGAL_FORM):
        shorter = current
        while (cut := ending.sub("", shorter)) != shorter:
            shorter = cut
        if shorter != current:
            current = shorter
            yield current


# --- Oscar categories in common use ("best director") and in the Academy's table ("DIRECTING") ------------------------

_FILLER = frozenset(
    {"best", "the", "an", "a", "for", "in", "of", "oscar", "oscars", "academy", "award", "awards", "achievement"}
    | {"performance", "by", "outstanding", "category", "prize"}
)
_DATA = tomllib.loads(Path(__file__).with_name("oscar_categories.toml").read_text(encoding="utf-8"))
_GROUPS: tuple[tuple[str, ...], ...] = tuple(map(tuple, _DATA["groups"]))
"""Names of the same award in each group: the Academy changed them over the years."""


def same_category(asked: str, official: str) -> bool:
    """Whether a requested category is the official one; a category of no group is compared by its words."""
    one, other = _essence(asked), _essence(official)
    if one == other:
        return True
    groups = _groups_of(one)
    if groups and not _groups_of(other):  # a division of an award: "DIRECTING (Comedy Picture)"
        return any(other.startswith(f"{name} ") for group in groups for name in group)
    if groups:
        return bool(groups & _groups_of(other))
    return bool(one) and set(one.split()) <= set(other.split())


def category_title(official: str) -> str | None:
    """The common name of an award with an unclear official name: "Best Director" for "DIRECTING"."""
    title: str | None = _DATA["titles"].get(_essence(official))
    return title


def other_category_names(award: str) -> list[str]:
    """Other names of the same award: "best director" gives "best directing" and "best direction"."""
    names = [name for group in sorted(_groups_of(_essence(award))) for name in group]
    return [f"best {name}" for name in names if name != _essence(award)]


@functools.lru_cache(maxsize=1024)
def _essence(text: str) -> str:
    """The distinguishing words in order: without "best", brackets, hyphens and case."""
    words = re.findall(r"[a-z]+", text.casefold())
    return " ".join(word for word in words if word not in _FILLER)


@functools.lru_cache(maxsize=1024)
def _groups_of(essence: str) -> frozenset[tuple[str, ...]]:
    return frozenset(group for group in _GROUPS if essence in group)
