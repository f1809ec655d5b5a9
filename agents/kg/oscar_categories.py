"""Oscar categories as people say them ("best director") and as the Academy's table writes them ("DIRECTING").

The names changed over the years; `oscar_categories.toml` lists what has always been the same award.
"""

import functools
import re
import tomllib
from pathlib import Path

_FILLER = frozenset(
    {"best", "the", "an", "a", "for", "in", "of", "oscar", "oscars", "academy", "award", "awards", "achievement"}
    | {"performance", "by", "outstanding", "category", "prize"}
)


@functools.cache
def _groups() -> tuple[frozenset[str], ...]:
    data = tomllib.loads((Path(__file__).parent / "oscar_categories.toml").read_text(encoding="utf-8"))
    return tuple(frozenset(map(_essence, names)) for names in data["groups"])


def same_category(asked: str, official: str) -> bool:
    """Whether an asked category means the official one; a category of no group is compared by its words."""
    one, other = _essence(asked), _essence(official)
    if one == other:
        return True
    groups = _groups_of(one)
    if groups and not _groups_of(other):  # a division of an award: "DIRECTING (Comedy Picture)"
        names = (name for group in groups for name in _groups()[group])
        return any(other.startswith(f"{name} ") for name in names)
    if groups:
        return bool(groups & _groups_of(other))
    return bool(one) and set(one.split()) <= set(other.split())


@functools.lru_cache(maxsize=1024)
def _essence(text: str) -> str:
    """The telling words in their order: without "best", brackets, hyphens and case."""
    words = re.findall(r"[a-z]+", text.casefold())
    return " ".join(word for word in words if word not in _FILLER)


@functools.lru_cache(maxsize=1024)
def _groups_of(essence: str) -> frozenset[int]:
    return frozenset(place for place, group in enumerate(_groups()) if essence in group)
