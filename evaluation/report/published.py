"""Published scores, for the report's ruler and docs/leaderboard.md: each of other questions and another judge."""

from typing import NamedTuple


class Published(NamedTuple):
    """A system's score, the CRAG tasks that it is of, and who measured it on what."""

    system: str
    score: float
    tasks: tuple[int, ...]
    source: str


_DB3 = "db3, section 1: the organisers' final evaluation"
STARTER_KIT = "the starter kit's RAG baseline"
PUBLISHED = (
    Published(STARTER_KIT, -0.466, (1, 2, 3), "Yuan et al., arXiv 2408.05141: CRAG's public test"),
    Published("NEC", 0.087, (1, 2, 3), "NEC, table 4: 1,335 questions, pages alone"),
    Published("db3, first in task 1", 0.284, (1,), _DB3),
    Published("db3, first in task 2", 0.427, (2,), _DB3),
    Published("db3, first in task 3", 0.478, (3,), _DB3),
)
"""WeKnow-RAG's paper is at hand in a summary without figures."""
