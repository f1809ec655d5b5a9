"""Fillers about artists, songs, the Grammys and the charts."""

from datetime import date

from training.api_pairs.fillers.base import (
    Draw,
    Filler,
    Filling,
    filling,
    moment,
    named,
    same,
    written_out,
)
from training.api_pairs.graph import Record
from training.api_pairs.templates import Gap

_FIRST_YEAR = 2024
"""The year in which CRAG's questions were asked."""
_PRIZES = {
    "best_new_artist": "best new artist",
    "song_of_the_year": "song of the year",
    "album_of_the_year": "album of the year",
}


def _artists(draw: Draw) -> list[Record]:
    if draw.has == "lifespan":
        return [one for one in draw.graph.artists if one.get("end_date") and not one.get("members")]
    return [artist for artist in draw.graph.artists if not draw.has or artist.get(draw.has)]


def _singles(draw: Draw) -> list[str]:
    return [one["name"] for one in _artists(draw) if not one.get("members")]


def _artist(draw: Draw) -> Filling:
    artist = draw.one([one for one in _artists(draw) if not one.get("members")])
    others = [one["name"] for one in draw.graph.artists if one is not artist]
    other = draw.one(others) if others else artist["name"]
    past = same(draw.rng.choice((2012, 2016, 2019, 2022)))
    return filling(draw, {"artist": artist["name"], "artist2": other}, past_year=past)


def _bands(draw: Draw) -> list[str]:
    """Artists with several members; a member of another artist is a person."""
    bands = [one["name"] for one in _artists(draw) if len(one.get("members") or ()) > 1]
    people = {member for band in draw.graph.artists for member in band.get("members") or ()}
    return [band for band in bands if band not in people]


def _years_of(draw: Draw, artist: Record) -> list[int]:
    dates = (draw.graph.songs.get(song, {}).get("date") or "" for song in artist["works"])
    return [int(day[:4]) for day in dates if day[:4].isdigit()]


def _works(draw: Draw) -> Filling:
    artist = draw.one([one for one in draw.graph.artists if one["works"]])
    year = draw.one(_years_of(draw, artist))
    span = {"before": same(year - draw.rng.randint(1, 5)), "after": same(year + draw.rng.randint(1, 5))}
    return filling(draw, {"artist": artist["name"]}, year=same(year), **span)


def _works_of_two(draw: Draw) -> Filling:
    one, other = draw.several([one for one in draw.graph.artists if len(one["works"]) > 4])
    year = draw.one(sorted(set(_years_of(draw, one)) & set(_years_of(draw, other))))
    return filling(draw, {"artist": one["name"], "artist2": other["name"]}, year=same(year))


def _songs(draw: Draw) -> list[str]:
    return [song for song, facts in draw.graph.songs.items() if facts.get(draw.has)]


def _song(draw: Draw) -> Filling:
    song = draw.one(_songs(draw))
    year = (draw.graph.songs[song].get("date") or "2000")[:4]
    return filling(draw, {"song": song}, year=same(year))


def _grammy_artists(draw: Draw) -> list[str]:
    names = {award["artist"] for award in draw.graph.grammys if award.get("artist")}
    return sorted(name for name in names if len(name) < 30 and not any(mark in name for mark in ',&;/("'))


def _edition(year: int) -> Gap:
    """The ordinal number of the Grammys of a year; those of 1958 were the first."""
    number = year - 1957
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return same(f"{number}{ending}")


def _grammy_artist(draw: Draw) -> Filling:
    artist = draw.one(_grammy_artists(draw))
    year = draw.rng.randint(2010, 2019)
    return filling(draw, {"artist": artist}, year=same(year), edition=_edition(year))


def _grammy_songs(draw: Draw) -> list[str]:
    kinds = ("song of the year", "record of the year")
    songs = [award["nominee"] for award in draw.graph.grammys if award["category"].lower() in kinds]
    return sorted({one for one in songs if one and '"' not in one and len(one) < 50})


def _grammy_year(draw: Draw) -> Filling:
    year = draw.one(sorted({award["year"] for award in draw.graph.grammys}))
    return Filling({"year": same(year), "edition": _edition(year)})


def _grammy_years(draw: Draw) -> Filling:
    first = _grammy_year(draw)
    year = int(first.gaps["year"].called) + 1
    prize, said = draw.rng.choice(list(_PRIZES.items()))
    more = {"year2": same(year), "edition2": _edition(year), "prize": same(prize), "prize_said": same(said)}
    return Filling(first.gaps | more)


def _chart(draw: Draw) -> Filling:
    song = draw.one(sorted(draw.graph.charts))
    day = date.fromisoformat(draw.rng.choice(draw.graph.charts[song]))
    gap = Gap(written_out(day, draw.rng), day.isoformat())
    asked_at = moment(day, draw.rng) if day.year >= _FIRST_YEAR else None
    rank = same(draw.rng.choice((1, 1, 1, 2, 3, 5)))
    return filling(draw, {"song": song}, asked_at, day=gap, rank=rank)


FILLERS: dict[str, Filler] = {
    "artist": _artist,
    "two artists": named("artist", _singles, 2),
    "band": named("band", _bands),
    "two bands": named("band", _bands, 2),
    "works": _works,
    "works of two": _works_of_two,
    "song": _song,
    "two songs": named("song", _songs, 2),
    "grammy artist": _grammy_artist,
    "two grammy artists": named("artist", _grammy_artists, 2),
    "grammy song": named("song", _grammy_songs),
    "grammy year": _grammy_year,
    "grammy years": _grammy_years,
    "chart": _chart,
}
