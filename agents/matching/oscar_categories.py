"""Oscar categories in common use ("best director") and in the Academy's table ("DIRECTING").

The names changed over the years; `oscar_categories.toml` lists names of the same award.
"""

import functools
import re
import tomllib
from pathlib import Path

_FILLER = frozenset(
    {"best", "the", "an", "a", "for", "in", "of", "oscar", "oscars", "academy", "award", "awards", "achievement"}
    | {"performance", "by", "outstanding", "category", "prize"}
)


_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_GROUPS: tuple[tuple[str, ...], ...] = tuple(map(tuple, _DATA["groups"]))


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
