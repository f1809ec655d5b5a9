"""Teams under all their names: the graph knows each by one exact spelling only and answers null to any other."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from agents.kg.names import best_match, normalise_name

League = Literal["soccer", "nba"]
_CLUB_WORDS = frozenset({"fc", "cf", "afc", "ac", "as", "sc", "rc", "ud", "sv", "vfl", "vfb", "tsg", "ssc", "1"})


def team_spelling(name: str, league: League) -> tuple[str, bool]:
    """How the graph spells a team, and whether the team is known; an unknown one is returned as it is written.

    Nicknames and cities count where they belong to one team only ("knicks", "manchester utd", but not "manchester").
    """
    known = _spellings(league)
    wanted = _essence(name)
    if wanted in known:
        return known[wanted], True
    names = sorted(known)
    match = best_match(wanted, names, floor=0.86)
    if match is None:
        return name.strip(), False
    return known[names[match.position]], True


@cache
def _spellings(league: League) -> dict[str, str]:
    """Every unambiguous normalised name -> the graph's spelling."""
    teams: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "teams.toml").read_text("utf-8"))[league]
    found: dict[str, str] = {}
    parts: dict[str, set[str]] = {}
    for spelling, others in teams.items():
        found |= dict.fromkeys(map(_essence, (spelling, *others)), spelling)
        if league == "nba":
            city, nickname = spelling.rsplit(" ", 1)
            if spelling == "Portland Trail Blazers":
                city, nickname = "Portland", "Trail Blazers"
            city = city.replace("LA", "Los Angeles")
            for part in (city, nickname):
                parts.setdefault(_essence(part), set()).add(spelling)
    for part, owners in parts.items():
        if len(owners) == 1:
            found.setdefault(part, next(iter(owners)))
    return found


def _essence(name: str) -> str:
    """The normalised name without "FC" and its like, nor a possessive s."""
    words = normalise_name(name.removesuffix("'s").removesuffix("\u2019s")).split()
    return " ".join(word for word in words if word not in _CLUB_WORDS) or normalise_name(name)
