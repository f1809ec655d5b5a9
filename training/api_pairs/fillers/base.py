"""Shared by all fillers: drawing, spelling and dating names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from random import Random
from typing import TypeVar

from training.api_pairs.graph import Graph
from training.api_pairs.templates import Gap, slip

NAME_SLIP_RATE = 0.03
"""Share of names with a typo, which the calls copy: the executor tolerates one."""
_LEAST_LETTERS = 4

_ASKED_ON = {
    "movie": ((2024, 3, 19), (2024, 3, 19), (2024, 3, 13), (2024, 3, 5), (2024, 3, 10), (2024, 3, 17)),
    "finance": ((2024, 2, 28), (2024, 2, 28), (2024, 2, 28), (2024, 3, 5), (2024, 3, 12)),
    "music": ((2024, 3, 21), (2024, 3, 21), (2024, 3, 13), (2024, 3, 5)),
    "sports": ((2024, 3, 15), (2024, 3, 15), (2024, 3, 27), (2024, 3, 13)),
    "open": ((2024, 2, 28), (2024, 2, 26), (2024, 3, 10), (2024, 3, 11), (2024, 3, 17)),
}
"""Days close to those on which CRAG's questions were asked."""
Choice = TypeVar("Choice")


class NothingToDrawError(LookupError):
    """The graph has nothing for this template or this draw."""


@dataclass(frozen=True, slots=True)
class Filling:
    """The gaps of one question; `asked_at` is set if the words for a day depend on it.

    `names` maps gaps to entities, the most important first, each by its unambiguous name. `plain` has the exact name of
    a gap with another spelling (a typo, a company's name instead of its ticker): both programs must give the same.
    """

    gaps: dict[str, Gap]
    names: Mapping[str, str] = field(default_factory=dict)
    asked_at: datetime | None = None
    plain: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw from a graph; drawn records must hold `has`. The methods raise `NothingToDrawError`."""

    graph: Graph
    rng: Random
    has: str = ""

    def one(self, choices: Sequence[Choice], weights: Sequence[float] | None = None) -> Choice:
        """One choice, by weight if weights are given."""
        if not choices:
            raise NothingToDrawError
        return self.rng.choices(choices, weights)[0] if weights else self.rng.choice(choices)

    def several(self, choices: Sequence[Choice], count: int = 2) -> list[Choice]:
        """`count` different choices."""
        if len(choices) < count:
            raise NothingToDrawError
        return self.rng.sample(choices, count)


Filler = Callable[[Draw], Filling]


def named(gap: str, choices: Callable[[Draw], Sequence[str]], count: int = 1) -> Filler:
    """A filler of one or two names: gaps ``film`` and ``film2``."""

    def fill(draw: Draw) -> Filling:
        names = [draw.one(choices(draw))] if count == 1 else draw.several(choices(draw), count)
        return filling(draw, dict(zip((gap, f"{gap}2"), names, strict=False)))

    return fill


def same(text: object) -> Gap:
    """A gap that reads the same in question and calls."""
    return Gap(str(text), str(text))


def name_gap(name: str) -> Gap:
    """A name as people type it: lower case."""
    return same(" ".join(name.lower().split()))


def filling(draw: Draw, names: dict[str, str], asked_at: datetime | None = None, /, **gaps: Gap) -> Filling:
    """The filling of entities by gap, the most important first; sometimes misspells one."""
    filled = {gap: name_gap(name) for gap, name in names.items()}
    plain = {}
    for gap, spelled in list(filled.items()):
        *rest, last = spelled.asked.rsplit(" ", 1)
        if rest and len(last) > _LEAST_LETTERS and last.isalpha() and draw.rng.random() < NAME_SLIP_RATE:
            plain[gap] = spelled.called
            filled[gap] = same(" ".join([*rest, slip(last, draw.rng)]))
    return Filling(filled | gaps, {gap: name_gap(name).called for gap, name in names.items()}, asked_at, plain)


def asking_time(domain: str, rng: Random) -> datetime:
    """A plausible time for a question of that domain, Pacific time."""
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
