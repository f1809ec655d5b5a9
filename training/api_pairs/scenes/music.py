"""Scenes of artists, songs, the Grammys and the charts."""

from datetime import date

from training.api_pairs.graph import Record
from training.api_pairs.scenes.base import Draw, Scene, SceneFiller, moment, same, scene, written_out
from training.api_pairs.wording import Gap

_FIRST_YEAR = 2024
"""CRAG's questions were asked in it."""
_PRIZES = {
    "best_new_artist": "best new artist",
    "song_of_the_year": "song of the year",
    "album_of_the_year": "album of the year",
}


def _artists(draw: Draw, has: str | None = None) -> list[Record]:
    key = draw.has if has is None else has
    if key == "lifespan":
        return [one for one in draw.graph.artists if one.get("end_date") and not one.get("members")]
    return [artist for artist in draw.graph.artists if not key or artist.get(key)]


def _artist(draw: Draw) -> Scene | None:
    artist = draw.one([one for one in _artists(draw) if not one.get("members")])
    if artist is None:
        return None
    others = [one["name"] for one in draw.graph.artists if one is not artist]
    other = draw.one(others) or artist["name"]
    past = same(draw.rng.choice((2012, 2016, 2019, 2022)))
    return scene(draw, {"artist": artist["name"], "artist2": other}, past_year=past)


def _two_artists(draw: Draw) -> Scene | None:
    pair = draw.two([one for one in _artists(draw) if not one.get("members")])
    return scene(draw, {"artist": pair[0]["name"], "artist2": pair[1]["name"]}) if pair else None


def _bands(draw: Draw) -> list[Record]:
    """Those with several members; whoever is a member of another one is a person with bands."""
    bands = [one for one in _artists(draw) if len(one.get("members") or ()) > 1]
    people = {member for band in draw.graph.artists for member in band.get("members") or ()}
    return [band for band in bands if band["name"] not in people]


def _band(draw: Draw) -> Scene | None:
    band = draw.one(_bands(draw))
    return scene(draw, {"band": band["name"]}) if band else None


def _two_bands(draw: Draw) -> Scene | None:
    pair = draw.two(_bands(draw))
    return scene(draw, {"band": pair[0]["name"], "band2": pair[1]["name"]}) if pair else None


def _years_of(draw: Draw, artist: Record) -> list[int]:
    dates = (draw.graph.songs.get(song, {}).get("date") or "" for song in artist["works"])
    return [int(day[:4]) for day in dates if day[:4].isdigit()]


def _works(draw: Draw) -> Scene | None:
    artist = draw.one([one for one in draw.graph.artists if one["works"]])
    years = _years_of(draw, artist) if artist else []
    if not artist or not years:
        return None
    year = draw.rng.choice(years)
    span = {"before": same(year - draw.rng.randint(1, 5)), "after": same(year + draw.rng.randint(1, 5))}
    return scene(draw, {"artist": artist["name"]}, year=same(year), **span)


def _works_of_two(draw: Draw) -> Scene | None:
    pair = draw.two([one for one in draw.graph.artists if len(one["works"]) > 4])
    if not pair:
        return None
    shared = sorted(set(_years_of(draw, pair[0])) & set(_years_of(draw, pair[1])))
    if not shared:
        return None
    year = same(draw.rng.choice(shared))
    return scene(draw, {"artist": pair[0]["name"], "artist2": pair[1]["name"]}, year=year)


def _songs(draw: Draw) -> list[str]:
    return [song for song, facts in draw.graph.songs.items() if facts.get(draw.has)]


def _song(draw: Draw) -> Scene | None:
    song = draw.one(_songs(draw))
    if song is None:
        return None
    year = (draw.graph.songs[song].get("date") or "2000")[:4]
    return scene(draw, {"song": song}, year=same(year))


def _two_songs(draw: Draw) -> Scene | None:
    pair = draw.two(_songs(draw))
    return scene(draw, {"song": pair[0], "song2": pair[1]}) if pair else None


def _grammy_artists(draw: Draw) -> list[str]:
    names = {award["artist"] for award in draw.graph.grammys if award.get("artist")}
    return sorted(name for name in names if len(name) < 30 and not any(mark in name for mark in ',&;/("'))


def _edition(year: int) -> str:
    """The Grammys are counted from the awards of 1958."""
    number = year - 1957
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _grammy_artist(draw: Draw) -> Scene | None:
    artist = draw.one(_grammy_artists(draw))
    if artist is None:
        return None
    year = draw.rng.randint(2010, 2019)
    return scene(draw, {"artist": artist}, year=same(year), edition=same(_edition(year)))


def _two_grammy_artists(draw: Draw) -> Scene | None:
    pair = draw.two(_grammy_artists(draw))
    return scene(draw, {"artist": pair[0], "artist2": pair[1]}) if pair else None


def _grammy_song(draw: Draw) -> Scene | None:
    kinds = ("song of the year", "record of the year")
    songs = [award["nominee"] for award in draw.graph.grammys if award["category"].lower() in kinds]
    song = draw.one(sorted({one for one in songs if one and '"' not in one and len(one) < 50}))
    return scene(draw, {"song": song}) if song else None


def _grammy_year(draw: Draw) -> Scene | None:
    years = sorted({award["year"] for award in draw.graph.grammys})
    year = draw.one(years)
    if year is None:
        return None
    return Scene({"year": same(year), "edition": same(_edition(year))})


def _grammy_years(draw: Draw) -> Scene | None:
    first = _grammy_year(draw)
    if first is None:
        return None
    year = int(first.gaps["year"].called) + 1
    prize, said = draw.rng.choice(list(_PRIZES.items()))
    more: dict[str, Gap] = {"year2": same(year), "edition2": same(_edition(year))}
    more |= {"prize": same(prize), "prize_said": same(said)}
    return Scene(first.gaps | more)


def _chart(draw: Draw) -> Scene | None:
    song = draw.one(sorted(draw.graph.charts))
    if song is None:
        return None
    day = date.fromisoformat(draw.rng.choice(draw.graph.charts[song]))
    gap = Gap(written_out(day, draw.rng), day.isoformat())
    asked_at = moment(day, draw.rng) if day.year >= _FIRST_YEAR else None
    rank = same(draw.rng.choice((1, 1, 1, 2, 3, 5)))
    found = scene(draw, {"song": song}, day=gap, rank=rank)
    return Scene(found.gaps, found.names, asked_at, found.plain)


SCENES: dict[str, SceneFiller] = {
    "artist": _artist,
    "two artists": _two_artists,
    "band": _band,
    "two bands": _two_bands,
    "works": _works,
    "works of two": _works_of_two,
    "song": _song,
    "two songs": _two_songs,
    "grammy artist": _grammy_artist,
    "two grammy artists": _two_grammy_artists,
    "grammy song": _grammy_song,
    "grammy year": _grammy_year,
    "grammy years": _grammy_years,
    "chart": _chart,
}
