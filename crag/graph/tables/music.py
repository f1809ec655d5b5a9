"""The music tables. Most keys have an endpoint of their own, so only those of the requested keys are asked."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from crag.graph.conditions import allowed_numbers, digits_as_number
from crag.graph.context import MAX_ROWS, LookupContext, TableQuery, quote_names
from crag.graph.endpoints import build_request
from crag.graph.results import UNKNOWN_END, Cell, MeaninglessCallError, NotFoundError, Row
from crag.graph.spelling import search_names
from crag.text.dates import Calendar
from crag.text.matching import best_title_match

_GRAMMY_YEARS = range(1957, 2020)
"""The only years of the server; a Grammy year is the year before the ceremony."""

_SONG_ENDPOINTS = {key: f"/music/get_song_{key}" for key in ("author", "release_date", "release_country")}
_PERSON_ENDPOINTS = {
    "birth_place": "/music/get_artist_birth_place",
    "birth_date": "/music/get_artist_birth_date",
    "lifespan": "/music/get_lifespan",
    "members": "/music/get_members",
}
_GRAMMY_PERSON_ENDPOINTS = {key: f"/music/grammy_get_{key}_by_artist" for key in ("award_count", "award_date")}
_GRAMMY_YEAR_ENDPOINTS = {
    "best_new_artist": "/music/grammy_get_best_artist_by_year",
    "song_of_the_year": "/music/grammy_get_best_song_by_year",
    "album_of_the_year": "/music/grammy_get_best_album_by_year",
}
"""Key of a table -> its endpoint."""

_GUESTS_OR_EDITION = re.compile(
    r"""
    \s{0,9}
    (?: [(\[](?:feat|ft|featuring|with)\b[^)\]]{1,80}[)\]]
      | \b(?:feat|ft|featuring)\b.{1,80}
      | (?: -\s | [(\[] ) (?:\d{4}\s)?(?:digital(?:ly)?\s)?remaster(?:ed)?\b [^)\]]{0,40} [)\]]?
    )
    \s{0,9}$
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""The end of "Kestrel (feat. Ann Lee)" and "Kestrel - 2014 Remaster". A live recording is another one."""
_CONCERT = re.compile(r"\d{4}-\d\d-\d\d\b")
_LOWEST_RANK = 100
_MAX_RANKS = 40
_BILLBOARD_KEYS = ("rank", "rank_last_week", "top_position", "weeks_in_chart")


# --- artists and songs ------------------------------------------------------------------------------------------------


def get_person(context: LookupContext, query: TableQuery) -> list[Row]:
    """The artist; asks only the endpoints of the keys that are read. Works have dates only if dates are read."""
    artist = find_artist(context, query.require_name("an artist"))
    values = _read_keys(
        context,
        query,
        _PERSON_ENDPOINTS,
        artist,
    )

    # Lists become tuples; an empty one means unknown.
    cells: dict[str, Cell] = dict(values)
    if "lifespan" in values:
        cells["lifespan"] = _read_lifespan(values["lifespan"] or ())
    if "members" in values:
        members = sorted(values["members"] or ())
        cells["members"] = tuple(members) or None
    if "music" in query.keys:
        cells["music"] = _works(context, artist, dated="release_date" in query.keys)

    if cells and all(value is None for value in cells.values()):
        raise NotFoundError(f'the graph knows nothing of this kind about the artist "{artist}"')
    return [Row(artist, {"name": artist, **cells})]


def _read_lifespan(ends: Sequence[str | None]) -> tuple[str, ...] | None:
    """Begin and end; an end that the graph does not know is "unknown", so that the other keeps its place."""
    if not any(ends):
        return None
    return tuple(day or UNKNOWN_END for day in ends)


def get_song(context: LookupContext, query: TableQuery) -> list[Row]:
    """The song; asks only the endpoints of the keys that are read."""
    song = find_song(context, query.require_name("a song"))
    values = _read_keys(
        context,
        query,
        _SONG_ENDPOINTS,
        song,
    )
    return [Row(song, {"name": song, **values})]


def _works(context: LookupContext, artist: str, *, dated: bool) -> tuple[Row, ...]:
    """The artist's works, each with its date if dates are wanted (one request per work).

    Concert recordings, whose titles begin with a day, come last, in case the question has no requests left.
    """
    titles = context.ask("/music/get_artist_all_works", query=artist) or ()
    works: list[str] = list(dict.fromkeys(titles))[:MAX_ROWS]

    dates: dict[str, str | None] = {}
    if dated:
        concerts_last = sorted(works, key=lambda title: bool(_CONCERT.match(title)))
        replies = context.ask_all("/music/get_song_release_date", concerts_last)
        dates = dict(zip(concerts_last, replies, strict=True))

        # Unreadable records have a remark already.
        undated = sum(not dates[title] for title in works) - context.unread
        if undated > 0:
            context.remark(f"the release date of {undated:,} of {len(works):,} works is unknown")

    rows: list[Row] = []
    for title in works:
        cells: dict[str, Cell] = {"name": title, "release_date": dates.get(title)}
        rows.append(Row(artist, cells))
    return tuple(rows)


# --- Grammy Awards ----------------------------------------------------------------------------------------------------


def get_grammy_person(context: LookupContext, query: TableQuery) -> list[Row]:
    """Number and years of an artist's Grammys. The server counts rows that contain the name, so case matters.

    The table of awards has its own spellings and may have artists that the table of artists lacks.
    """
    spellings, not_found = _award_spellings(context, query.require_name("an artist"), find_artist)
    artist = spellings[0]
    cells = _read_keys(
        context,
        query,
        _GRAMMY_PERSON_ENDPOINTS,
        artist,
    )
    if not_found is not None and not any(cells.values()):
        raise not_found  # an unknown artist is not an artist without awards

    if "award_date" in cells:
        cells["award_date"] = tuple(sorted(cells["award_date"] or ()))
    return [Row(artist, cells)]


def get_grammy_song(context: LookupContext, query: TableQuery) -> list[Row]:
    """Number of a song's Grammys, for the first spelling that has any."""
    spellings, not_found = _award_spellings(context, query.require_name("a song"), find_song)
    for song in dict.fromkeys(spellings):
        count = context.ask("/music/grammy_get_award_count_by_song", query=song)
        if count:
            return [Row(song, {"award_count": count})]

    if not_found is not None:
        raise not_found
    return [Row(spellings[0], {"award_count": 0})]


def get_grammy_year(context: LookupContext, query: TableQuery) -> list[Row]:
    """The winners of the general fields of one year."""
    year = _grammy_year(context, query)
    if year not in _GRAMMY_YEARS:
        raise NotFoundError(f"the graph has the Grammy Awards of {_GRAMMY_YEARS[0]} to {_GRAMMY_YEARS[-1]} only")

    if not query.keys:
        query = replace(query, whole=True)
    winners_by_key = _read_keys(
        context,
        query,
        _GRAMMY_YEAR_ENDPOINTS,
        year,
    )

    cells: dict[str, Cell] = {}
    for key, winners in winners_by_key.items():
        cells[key] = tuple(winners or ()) or None  # no winners: unknown
    return [Row(f"the {year} Grammy Awards", cells)]


def _grammy_year(context: LookupContext, query: TableQuery) -> int:
    """The year that the argument names or, without one, the only year that the conditions allow."""
    allowed = allowed_numbers(query.conditions, "year")
    if query.names[0] is None and allowed and len(allowed) == 1:
        expression = str(allowed[0])
    else:
        expression = query.require_name("a year")

    span = context.resolve(expression, Calendar.CIVIL).range
    if span is None or span.first.year != span.last.year:
        raise MeaninglessCallError(f'"{expression}" is not a year')
    return span.first.year


# --- the Billboard chart ----------------------------------------------------------------------------------------------


def get_billboard(context: LookupContext, query: TableQuery) -> list[Row]:
    """A song's rank in the chart of a day, or the songs at the allowed ranks of a day."""
    name = query.names[0]
    day = _chart_day(context, query.names[1])
    if name is None:
        # Without a condition on the rank the top of the chart is meant
        ranks = allowed_numbers(query.conditions, "rank") or range(1, 2)
        return _songs_at_ranks(context, ranks, day)

    song = find_song(context, name)
    if day is None:
        day = _chart_day(context, "today")

    # One request for each attribute.
    keys = [key for key in _BILLBOARD_KEYS if query.reads(key)]
    endpoint = "/music/get_billboard_attributes"
    requests = [build_request(endpoint, date=day, attribute=key, song_name=song) for key in keys]
    replies = context.ask_each(requests)
    values = dict(zip(keys, replies, strict=True))
    if values and all(value is None for value in values.values()):
        raise NotFoundError(f'"{song}" is not in the Billboard Hot 100 of {day}')

    cells: dict[str, Cell] = {"song": song}
    for key, value in values.items():
        cells[key] = digits_as_number(value)
    return [Row(f"{song} in the Billboard Hot 100 of {day}", cells)]


def _songs_at_ranks(context: LookupContext, allowed: range, day: str | None) -> list[Row]:
    """The songs at the allowed ranks of a day, or of all days (the server does not name the day)."""
    ranks = [rank for rank in allowed if 1 <= rank <= _LOWEST_RANK]
    if len(ranks) > _MAX_RANKS:
        context.remark(f"only the first {_MAX_RANKS} of {len(ranks)} ranks were looked at")
        ranks = ranks[:_MAX_RANKS]

    endpoint = "/music/get_billboard_rank_date"
    requests = [build_request(endpoint, rank=rank, date=day) for rank in ranks]
    replies = context.ask_each(requests)

    chart = f"the Billboard Hot 100 of {day}" if day else "the Billboard Hot 100"
    rows: list[Row] = []
    for rank, reply in zip(ranks, replies, strict=True):
        # A failed request has no reply, and a remark already
        songs, artists = reply or ((), ())
        for song, artist in zip(songs or (), artists or (), strict=False):
            cells = {"song": song, "artist": artist, "rank": rank}
            rows.append(Row(f"rank {rank} of {chart}", cells))
    return rows


def _chart_day(context: LookupContext, expression: str | None) -> str | None:
    """The last day of a date expression, ``YYYY-MM-DD``; "latest" is the day of asking."""
    if expression is None:
        return None
    span = context.resolve(expression, Calendar.CIVIL).range
    day = span.last if span is not None else context.asked_at.date()
    return day.isoformat()


# --- names and keys ---------------------------------------------------------------------------------------------------


def _find(
    context: LookupContext,
    name: str,
    *,
    what: str,
    probe: str,
) -> str:
    """The graph's spelling of a name. The search drops common words, so "The Band" is also asked for as written.

    `what` is "artist" or "song", `probe` an endpoint that has something for every known name. Raises NotFoundError: the
    graph has no such name.
    """
    candidates = search_names(context, f"/music/search_{what}_entity_by_name", name)
    match = best_title_match(name, candidates)
    if match is not None:
        best = str(candidates[match.position])
        if match.exact:
            return _preferred_spelling(name, candidates) or best
        context.remark(f'"{name}" is read as the {what} "{best}"')
        return best

    # Without a search: whether the graph knows anything about the name in one of its likely spellings.
    spellings = (_capitalised(name), name, name.upper())
    for spelling in dict.fromkeys(spellings):
        reply = context.ask(probe, query=spelling)
        # The life span of an unknown artist is a pair of nulls, not null
        if reply not in (None, [None, None]):
            return spelling
    raise NotFoundError(f'the graph has no {what} "{name}"; nearest: {quote_names(candidates)}')


def _preferred_spelling(name: str, candidates: Iterable[str]) -> str | None:
    """Names that differ in case or accents are different entries. A lower-case question does not mean "hello"."""
    if name != name.lower() and name in candidates:
        return name
    capitalised = _capitalised(name)
    return capitalised if capitalised in candidates else None


find_artist = partial(_find, what="artist", probe="/music/get_lifespan")


def find_song(context: LookupContext, name: str) -> str:
    """The graph's spelling of a song, which may lack the guests and the edition that the name has.

    Raises NotFoundError: the graph has no such song.
    """
    try:
        return _find(context, name, what="song", probe="/music/get_song_release_date")
    except NotFoundError:
        title = _GUESTS_OR_EDITION.sub("", name)
        if title in ("", name):
            raise
        return _find(context, title, what="song", probe="/music/get_song_release_date")


def _award_spellings(
    context: LookupContext,
    name: str,
    find: Callable[[LookupContext, str], str],
) -> tuple[list[str], NotFoundError | None]:
    """Spellings that the table of awards may have, the likelier first; and the search's fault if it finds nothing."""
    capitalised = _capitalised(name)
    try:
        return [find(context, name), capitalised], None
    except NotFoundError as error:
        return [capitalised, name], error


def _read_keys(
    context: LookupContext,
    query: TableQuery,
    endpoints: Mapping[str, str],
    name: str | int,
) -> dict[str, Any]:
    """The result for each key that is read, asked concurrently; None, with a remark, if its request failed."""
    keys = [key for key in endpoints if query.reads(key)]
    requests = [build_request(endpoints[key], query=name) for key in keys]
    replies = context.ask_each(requests)
    return dict(zip(keys, replies, strict=True))


def _capitalised(name: str) -> str:
    """Each word capitalised, as the tables spell titles and names."""
    # `str.capitalize` would make the other letters lower case: "McCartney", "AC/DC".
    words = [word[:1].upper() + word[1:] for word in name.split()]
    return " ".join(words)
