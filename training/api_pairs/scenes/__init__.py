"""What a question is about: each scene draws entities, years and days that belong together from a graph.

A scene gives the gaps of a shape, or None where the draw came to nothing; whether the program finds anything is for
the executor to say.
"""

from training.api_pairs.scenes.base import Draw, Scene, SceneFiller
from training.api_pairs.scenes.finance import SCENES as FINANCE
from training.api_pairs.scenes.movie import SCENES as MOVIE
from training.api_pairs.scenes.music import SCENES as MUSIC
from training.api_pairs.scenes.nothing import SCENES as NOTHING
from training.api_pairs.scenes.open import SCENES as OPEN
from training.api_pairs.scenes.sports import SCENES as SPORTS

SCENES: dict[str, SceneFiller] = MOVIE | FINANCE | MUSIC | SPORTS | OPEN | NOTHING

__all__ = ["SCENES", "Draw", "Scene", "SceneFiller"]
