"""Scenes of questions that are about nothing in a graph: words from lists."""

from training.api_pairs.scenes.base import Draw, Scene, SceneFiller, same
from training.api_pairs.shape_files import words


def _words(topic: str) -> SceneFiller:
    def fill(draw: Draw) -> Scene:
        return Scene({gap: same(draw.one(choices)) for gap, choices in words()[topic].items()})

    return fill


SCENES: dict[str, SceneFiller] = {topic: _words(topic) for topic in ("theme", "money", "tune", "contest", "daily life")}
