"""Scenes of the encyclopedia."""

from training.api_pairs.scenes.base import Draw, Scene, SceneFiller, scene


def _titles(draw: Draw) -> list[str]:
    """Titles of articles whose info box has one of the keys."""
    keys = [key for key in draw.has.split("|") if key]
    titles = [title for title, box in draw.graph.articles if not keys or any(box.get(key) for key in keys)]
    return [title for title in titles if len(title) <= 60 and '"' not in title]


def _article(draw: Draw) -> Scene | None:
    title = draw.one(_titles(draw))
    return scene(draw, {"title": title}) if title else None


def _two(draw: Draw) -> Scene | None:
    titles = draw.two(_titles(draw))
    return scene(draw, {"title": titles[0], "title2": titles[1]}) if titles else None


SCENES: dict[str, SceneFiller] = {"article": _article, "two articles": _two}
