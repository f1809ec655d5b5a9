"""Names of Oscar categories, in common use ("best director") and in the Academy's table ("DIRECTING")."""

import functools
import itertools
import re
import tomllib
from pathlib import Path

from crag.text.matching.words import words

_FILLER = frozenset(
    words(
        "best the an a for in of oscar oscars academy award awards achievement performance by outstanding category "
        "prize"
    )
)
_DATA = tomllib.loads(Path(__file__).with_name("oscar_categories.toml").read_text(encoding="utf-8"))
_GROUPS: tuple[tuple[str, ...], ...] = tuple(tuple(group) for group in _DATA["groups"])
"""Names of the same award in each group: the Academy changed them over the years."""
_TITLES: dict[str, str] = _DATA["titles"]

_LATIN_WORD = re.compile(r"[a-z]+")


def same_category(category: str, official: str) -> bool:
    """Whether a requested category is the official one; a category of no group is compared by its words.

    >>> same_category("best director", "DIRECTING")
    True
    """
    requested = _essence(category)
    existing = _essence(official)
    if requested == existing:
        return True

    requested_groups = _groups_with(requested)
    existing_groups = _groups_with(existing)
    if requested_groups and not existing_groups:
        return _is_division(existing, requested_groups)
    if requested_groups:
        return bool(requested_groups & existing_groups)
    # In no group: the official name must have all the requested words.
    return bool(requested) and set(requested.split()) <= set(existing.split())


def category_title(official: str) -> str | None:
    """The common name of an award with an unclear official name: "Best Director" for "DIRECTING"."""
    return _TITLES.get(_essence(official))


def other_category_names(award: str) -> list[str]:
    """Other names of the same award: "best director" gives "best directing" and "best direction"."""
    essence = _essence(award)
    names: list[str] = []
    for group in sorted(_groups_with(essence)):
        names += group
    return [f"best {name}" for name in names if name != essence]


def _is_division(essence: str, groups: frozenset[tuple[str, ...]]) -> bool:
    """Whether it is a division of an award of the groups: "DIRECTING (Comedy Picture)"."""
    return any(essence.startswith(f"{name} ") for name in itertools.chain(*groups))


@functools.lru_cache(maxsize=1024)
def _essence(category: str) -> str:
    """The distinguishing words in order: without "best", brackets, hyphens and case."""
    written = _LATIN_WORD.findall(category.casefold())
    return " ".join(word for word in written if word not in _FILLER)


@functools.lru_cache(maxsize=1024)
def _groups_with(essence: str) -> frozenset[tuple[str, ...]]:
    return frozenset(group for group in _GROUPS if essence in group)
