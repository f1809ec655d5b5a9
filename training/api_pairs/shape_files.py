"""The shapes of programs and the wordings in which people ask for them, as the files of `shapes/` have them."""

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from agents.kg.trainable import Domain
from training.api_pairs.wording import FOLDER, Wording, gaps_of, sentence_frames

_FIELDS = {"about", "has", "weight", "calls", "source"}


_OTHERWISE_SAID = {"day", "days", "day2", "date", "month", "year", "prize", "key"}
"""Gaps that wordings have in another form, such as ``{in_month}``."""


class ShapeError(ValueError):
    """A file of shapes cannot be used; the message names the shape."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A program with gaps and its wordings.

    `about` is the scene that fills the gaps and `has` what the scene's record must hold; `weight` is its share among
    the shapes of its domain. `source` is "synthetic", or "near_miss" or "none" for what no table answers.
    """

    name: str
    domain: Domain
    about: str
    has: str
    weight: float
    calls: str
    source: str
    wordings: tuple[Wording, ...]


@cache
def load_shapes(domain: Domain) -> tuple[Shape, ...]:
    """The shapes of a domain.

    Raises:
        ShapeError: a field is unknown, a wording is of no known kind, or a gap of the calls stands in no wording.
    """
    data = tomllib.loads((FOLDER / f"{domain}.toml").read_text(encoding="utf-8"))
    return tuple(_shape(domain, number, entry) for number, entry in enumerate(data["shape"], start=1))


def _shape(domain: Domain, number: int, entry: dict[str, Any]) -> Shape:
    name = f"{domain} {number} ({entry.get('about')})"
    kinds = [field for field in entry if field not in _FIELDS]
    if unknown := set(kinds) - set(sentence_frames()):
        raise ShapeError(f"{name}: no such kind of wording: {', '.join(sorted(unknown))}")
    wordings = tuple(Wording(kind, text) for kind in kinds for text in entry[kind])
    if not wordings:
        raise ShapeError(f"{name}: there is no wording")
    calls = entry.get("calls", "None").strip()
    if calls == "None" and "source" not in entry:
        raise ShapeError(f"{name}: without calls it must say its source")
    said = gaps_of(" ".join(wording.text for wording in wordings))
    if not gaps_of(calls) <= said | _OTHERWISE_SAID:
        raise ShapeError(f"{name}: a gap of the calls stands in no wording")
    return Shape(
        name,
        domain,
        entry["about"],
        entry.get("has", ""),
        float(entry.get("weight", 1)),
        calls,
        entry.get("source", "synthetic"),
        wordings,
    )


@cache
def words() -> dict[str, dict[str, Any]]:
    """The word lists of ``words.toml``."""
    return tomllib.loads((FOLDER / "words.toml").read_text(encoding="utf-8"))
