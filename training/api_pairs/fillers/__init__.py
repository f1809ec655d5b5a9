"""Fillers for the gaps of a template: entities, years and days that fit together, drawn from a graph."""

from training.api_pairs.fillers.base import Draw, Filler, Filling, NothingToDrawError, asking_time, named, same
from training.api_pairs.fillers.finance import FILLERS as FINANCE
from training.api_pairs.fillers.finance import spoken_name
from training.api_pairs.fillers.movie import FILLERS as MOVIE
from training.api_pairs.fillers.music import FILLERS as MUSIC
from training.api_pairs.fillers.sports import FILLERS as SPORTS
from training.api_pairs.templates import words

__all__ = ["FILLERS", "Draw", "Filling", "NothingToDrawError", "asking_time", "spoken_name"]


def _titles(draw: Draw) -> list[str]:
    """Titles of encyclopedia articles whose info box has one of the keys."""
    keys = [key for key in draw.has.split("|") if key]
    titles = [title for title, box in draw.graph.articles if not keys or any(box.get(key) for key in keys)]
    return [title for title in titles if len(title) <= 60 and '"' not in title]


def _from_word_lists(topic: str) -> Filler:
    """A filler for questions that no graph can answer."""
    return lambda draw: Filling({gap: same(draw.one(choices)) for gap, choices in words()[topic].items()})


OPEN = {"article": named("title", _titles), "two articles": named("title", _titles, 2)}
WORDS = {topic: _from_word_lists(topic) for topic in ("theme", "money", "tune", "contest", "daily life")}
FILLERS: dict[str, Filler] = MOVIE | FINANCE | MUSIC | SPORTS | OPEN | WORDS
"""Fillers by the value of a template's field `about`."""
