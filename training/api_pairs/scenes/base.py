"""What all scenes share: how a name is drawn, spelled and dated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from random import Random
from typing import Any

from training.api_pairs.graph import Graph
from training.api_pairs.wording import Gap, slip

NAME_SLIP_RATE = 0.03
"""Names with a slip of the keyboard, which the calls copy: the executor forgives one."""
_LEAST_LETTERS = 4

_ASKED_ON = {
    "movie": ((2024, 3, 19), (2024, 3, 19), (2024, 3, 13), (2024, 3, 5), (2024, 3, 10), (2024, 3, 17)),
    "finance": ((2024, 2, 28), (2024, 2, 28), (2024, 2, 28), (2024, 3, 5), (2024, 3, 12)),
    "music": ((2024, 3, 21), (2024, 3, 21), (2024, 3, 13), (2024, 3, 5)),
    "sports": ((2024, 3, 15), (2024, 3, 15), (2024, 3, 27), (2024, 3, 13)),
    "open": ((2024, 2, 28), (2024, 2, 26), (2024, 3, 10), (2024, 3, 11), (2024, 3, 17)),
}
"""Days around those on which CRAG's questions were asked."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Gaps that belong together; `asked_at` where the words for a day depend on it.

    `names` are the entities by gap, the most important first, each by the one name that tells it from others. `plain`
    has for a gap that is spelled in another way (a slip, a company's name for its ticker) what the graph surely knows
    it by: the programs of both must give the same.
    """

    gaps: dict[str, Gap]
    names: Mapping[str, str] = field(default_factory=dict)
    asked_at: datetime | None = None
    plain: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw from a graph."""

    graph: Graph
    rng: Random
    has: str = ""

    def one(self, choices: Sequence[Any]) -> Any:  # noqa: ANN401 - any table's record
        """One of some; None of none."""
        return self.rng.choice(choices) if choices else None

    def known(self, choices: Sequence[Any], weights: Sequence[float]) -> Any:  # noqa: ANN401
        """One of some, those of greater weight more often; None of none."""
        return self.rng.choices(choices, weights)[0] if choices else None

    def two(self, choices: Sequence[Any]) -> list[Any]:
        """Two different ones, or an empty list."""
        return self.rng.sample(choices, 2) if len(choices) > 1 else []


SceneFiller = Callable[[Draw], Scene | None]


def same(text: object) -> Gap:
    """A gap that reads the same in question and calls."""
    return Gap(str(text), str(text))


def name_gap(name: str) -> Gap:
    """A name as people type it: lower case."""
    return same(" ".join(name.lower().split()))


def scene(draw: Draw, names: dict[str, str], **gaps: Gap) -> Scene:
    """A scene of entities by gap, the most important first; now and then one of them is misspelled."""
    filled = {gap: name_gap(name) for gap, name in names.items()}
    plain = {}
    for gap, spelled in list(filled.items()):
        *rest, last = spelled.asked.rsplit(" ", 1)
        if rest and len(last) > _LEAST_LETTERS and last.isalpha() and draw.rng.random() < NAME_SLIP_RATE:
            plain[gap] = spelled.called
            filled[gap] = same(" ".join([*rest, slip(last, draw.rng)]))
    return Scene(filled | gaps, {gap: name_gap(name).called for gap, name in names.items()}, plain=plain)


def asking_time(domain: str, rng: Random) -> datetime:
    """A moment at which a question of that domain might have been asked, Pacific time."""
    day = datetime(*rng.choice(_ASKED_ON[domain]))
    hour = rng.choice((7, 7, 8)) if domain == "finance" else rng.choice((9, 10, 12, 16, 23))
    return day + timedelta(hours=hour, minutes=rng.randrange(60), seconds=rng.randrange(60))


def moment(day: date, rng: Random) -> datetime:
    """A moment in the morning of a day."""
    return datetime(day.year, day.month, day.day, rng.choice((7, 8, 9)), rng.randrange(60), rng.randrange(60))


def written_out(day: date, rng: Random) -> str:
    """A day as people write it."""
    return rng.choice(
        (
            f"{day:%B} {day.day}, {day.year}",
            f"{day:%b} {day.day} {day.year}".lower(),
            f"{day:%B} {day.day:02d}, {day.year}",
            day.isoformat(),
            f"{day:%B} {day.day} {day.year}",
        )
    ).lower()
