"""The music tables."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from crag.graph.conditions import year_range
from crag.graph.context import MOST_ROWS, LookupContext, TableQuery, name_list
from crag.graph.endpoints import request
from crag.graph.results import Cell, MeaninglessCallError, NotFoundError, Row
from crag.text.dates import Calendar
from crag.text.matching import best_match

_GRAMMY_YEARS = range(1957, 2020)
"""The only years of the server; a Grammy year is the year before the ceremony."""

_SONG = {key: f"/music/get_song_{key}" for key in ("author", "release_date", "release_country")}
_PERSON = {
    "birth_place": "/music/get_artist_birth_place",
    "birth_date": "/music/get_artist_birth_date",
    "lifespan": "/music/get_lifespan",
    "members": "/music/get_members",
}
_GRAMMY_PERSON = {key: f"/music/grammy_get_{key}_by_artist" for key in ("award_count", "award_date")}
_GRAMMY_YEAR = {
    "best_new_artist": "/music/grammy_get_best_artist_by_year",
    "song_of_the_year": "/music/grammy_get_best_song_by_year",
    "album_of_the_year": "/music/grammy_get_best_album_by_year",
}
_CONCERT = re.compile(r"\d{4}-\d\d-\d\d\b")
_LOWEST_RANK = 100
_MOST_RANKS = 40
_BILLBOARD = ("rank", "rank_last_week", "top_position", "weeks_in_chart")


def get_person(context: LookupContext, query: TableQuery) -> list[Row]:
    """The artist; asks only the endpoints of the keys that are read. Works have dates only if dates are read."""
    artist = find_artist(context, query.name("an artist"))
    read = _read(context, query, _PERSON, artist)
    cells: dict[str, Cell] = {"name": artist, **read}
    if "lifespan" in cells:
        cells["lifespan"] = tuple(day for day in read["lifespan"] or () if day) or None
    if "members" in cells:
        cells["members"] = tuple(sorted(read["members"] or ())) or None
    if "music" in query.keys:
        cells["music"] = _works(context, artist, dated="release_date" in query.keys)
    if len(cells) > 1 and all(value is None for key, value in cells.items() if key != "name"):
        raise NotFoundError(f'the graph knows nothing of this kind about the artist "{artist}"')
    return [Row(artist, cells)]


def get_song(context: LookupContext, query: TableQuery) -> list[Row]:
    """The song; asks only the endpoints of the keys that are read."""
    song = find_song(context, query.name("a song"))
    return [Row(song, {"name": song, **_read(context, query, _SONG, song)})]


def get_grammy_person(context: LookupContext, query: TableQuery) -> list[Row]:
    """Number and years of an artist's Grammys. The server counts rows that contain the name, so case matters.

    The table of awards has its own spellings and may have artists that the table of artists lacks.
    """
    (artist, *_), unknown = _spellings(context, query.name("an artist"), find_artist)
    cells = _read(context, query, _GRAMMY_PERSON, artist)
    if unknown is not None and not any(cells.values()):
        raise unknown  # an unknown artist is not an artist without awards
    if "award_date" in cells:
        cells["award_date"] = tuple(sorted(cells["award_date"] or ()))
    return [Row(artist, cells)]


def get_grammy_song(context: LookupContext, query: TableQuery) -> list[Row]:
    """Number of a song's Grammys, for the first spelling that has any."""
    spellings, unknown = _spellings(context, query.name("a song"), find_song)
    for song in dict.fromkeys(spellings):
        count = context.ask("/music/grammy_get_award_count_by_song", query=song)
        if count:
            return [Row(song, {"award_count": count})]
    if unknown is not None:
        raise unknown
    return [Row(spellings[0], {"award_count": 0})]


def get_grammy_year(context: LookupContext, query: TableQuery) -> list[Row]:
    """The winners of the general fields of one year."""
    allowed = year_range(query.conditions)
    text = str(allowed[0]) if query.names[0] is None and allowed and len(allowed) == 1 else query.name("a year")
    span = context.resolve(text, Calendar.CIVIL).range
    if span is None or span.first.year != span.last.year:
        raise MeaninglessCallError(f'"{text}" is no year')
    year = span.first.year
    if year not in _GRAMMY_YEARS:
        raise NotFoundError(f"the graph has the Grammy Awards of {_GRAMMY_YEARS[0]} to {_GRAMMY_YEARS[-1]} only")
    if not query.keys:
        query = replace(query, whole=True)
    read = _read(context, query, _GRAMMY_YEAR, year)
    cells: dict[str, Cell] = {key: tuple(winners or ()) or None for key, winners in read.items()}
    return [Row(f"the {year} Grammy Awards", cells)]


def get_billboard(context: LookupContext, query: TableQuery) -> list[Row]:
    """A song's rank in the chart of a day, or the songs at the allowed ranks of a day."""
    name, day = query.names[0], _chart_day(context, query.names[1])
    if name is None:
        return _at_ranks(context, year_range(query.conditions, "rank") or range(1, 2), day)
    song = find_song(context, name)
    day = day or _chart_day(context, "today")
    asked = list(filter(query.reads, _BILLBOARD))
    endpoint = "/music/get_billboard_attributes"
    found = context.ask_each([request(endpoint, date=day, attribute=key, song_name=song) for key in asked])
    read = dict(zip(asked, found, strict=True))
    if read and all(value is None for value in read.values()):
        raise NotFoundError(f'"{song}" is not in the Billboard Hot 100 of {day}')
    cells: dict[str, Cell] = {key: int(said) if str(said).isdecimal() else said for key, said in read.items()}
    return [Row(f"{song} in the Billboard Hot 100 of {day}", {"song": song, **cells})]


def _find(context: LookupContext, name: str, *, what: str, probe: str) -> str:
    """The graph's spelling; raises `NotFoundError`. The search drops common words: "The Band" is tried as written."""
    found = context.ask(f"/music/search_{what}_entity_by_name", query=name)
    match = best_match(name, found)
    if match is not None:
        best = str(found[match.position])
        if not match.exact:
            context.remark(f'"{name}" is read as the {what} "{best}"')
            return best
        # Names that differ in case or accents are different entries. A lower-case question does not mean "hello".
        preferred = (name, _capitalised(name)) if name != name.lower() else (_capitalised(name),)
        return next((spelling for spelling in preferred if spelling in found), best)
    for spelling in dict.fromkeys((_capitalised(name), name, name.upper())):
        known = context.ask(probe, query=spelling)
        if known not in (None, [None, None]):
            return spelling
    raise NotFoundError(f'the graph has no {what} "{name}"; nearest: {name_list(found)}')


find_artist = partial(_find, what="artist", probe="/music/get_lifespan")
find_song = partial(_find, what="song", probe="/music/get_song_release_date")


def _spellings(
    context: LookupContext, name: str, find: Callable[[LookupContext, str], str]
) -> tuple[list[str], NotFoundError | None]:
    """Spellings that the table of awards may have, and the fault of the search."""
    try:
        return [find(context, name), _capitalised(name)], None
    except NotFoundError as error:
        return [_capitalised(name), name], error


def _read(context: LookupContext, query: TableQuery, endpoints: Mapping[str, str], name: str | int) -> dict[str, Any]:
    """The result for each key that is read, asked concurrently; None, with a remark, if the call failed."""
    asked = {key: request(endpoint, query=name) for key, endpoint in endpoints.items() if query.reads(key)}
    return dict(zip(asked, context.ask_each(list(asked.values())), strict=True))


def _works(context: LookupContext, artist: str, *, dated: bool) -> tuple[Row, ...]:
    """The artist's works, each with its date if dates are wanted (one HTTP call per work).

    Concert recordings, whose titles begin with a day, come last, in case the question has no calls left.
    """
    works = list(dict.fromkeys(context.ask("/music/get_artist_all_works", query=artist) or ()))[:MOST_ROWS]
    dates: dict[str, str | None] = {}
    if dated:
        order = sorted(works, key=lambda work: bool(_CONCERT.match(work)))
        dates = dict(zip(order, context.ask_all("/music/get_song_release_date", order), strict=True))
        undated = sum(not dates[work] for work in works) - context.unread
        if undated > 0:
            context.remark(f"the release date of {undated:,} of {len(works):,} works is unknown")
    return tuple(Row(artist, {"name": work, "release_date": dates.get(work)}) for work in works)


def _at_ranks(context: LookupContext, allowed: range, day: str | None) -> list[Row]:
    """The songs at the allowed ranks of a day, or of all days (the server does not name the day)."""
    ranks = [rank for rank in allowed if 1 <= rank <= _LOWEST_RANK]
    if len(ranks) > _MOST_RANKS:
        context.remark(f"only the first {_MOST_RANKS} of {len(ranks)} ranks were looked at")
    ranks = ranks[:_MOST_RANKS]
    chart = f"the Billboard Hot 100 of {day}" if day else "the Billboard Hot 100"
    found = context.ask_each([request("/music/get_billboard_rank_date", rank=rank, date=day) for rank in ranks])
    return [
        Row(f"rank {rank} of {chart}", {"song": song, "artist": artist, "rank": rank})
        for rank, (songs, artists) in zip(ranks, (pair or ((), ()) for pair in found), strict=True)
        for song, artist in zip(songs or (), artists or (), strict=False)
    ]


def _chart_day(context: LookupContext, text: str | None) -> str | None:
    if text is None:
        return None
    span = context.resolve(text, Calendar.CIVIL).range
    return (span.last if span is not None else context.asked_at.date()).isoformat()


def _capitalised(name: str) -> str:
    """Each word capitalised, as the tables spell titles and names."""
    return " ".join(word[:1].upper() + word[1:] for word in name.split())
