"""The 38 endpoints of the CRAG mock API: the shape of each result, and how asking can fail.

Paths and shapes are those of the official server (facebookresearch/CRAG, `mock_api/server.py` and `mock_api/cragapi/`).
"There is no such thing" is null, an empty list, 0, or a pair of nulls, depending on the endpoint.
"""

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Argument: TypeAlias = str | int | None
"""The value of a request's field."""


class KgError(Exception):
    """A call gave no result: nothing is known, which never means "there is no such thing".

    The message names the endpoint and the reason.
    """


class KgRequestError(KgError):
    """The request is wrong (404, 405, 422): asking again does not help."""


class KgReplyError(KgError):
    """The reply cannot be used: an error status such as 500, not JSON, cut short, too deep, too large, wrong shape.

    The same call would get the same reply, so the batch remembers it.
    """


class KgBusyError(KgError):
    """502, 503 or 504: the server may be back in a moment."""


class KgUnreachableError(KgError):
    """No whole reply: connection refused or lost, or no time left to ask."""


class KgTimeoutError(KgUnreachableError):
    """No whole reply in the time that the call had."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call: an endpoint's path and the fields of its body. Equal requests get one answer per batch."""

    endpoint: str
    payload: tuple[tuple[str, Argument], ...] = ()


def request(endpoint: str, **payload: Argument) -> Request:
    """The call of `endpoint` with these fields; the order of the fields does not matter."""
    return Request(endpoint, tuple(sorted(payload.items())))


_Check: TypeAlias = Callable[[object], bool]


@dataclass(frozen=True, slots=True)
class ResultShape:
    """What `result` may be, in words for error messages and as a check."""

    description: str
    fits: _Check


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_null(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _list_of(check: _Check) -> _Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _object_of(check: _Check) -> _Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _pair_of(check: _Check) -> _Check:
    return lambda value: isinstance(value, list) and len(value) == 2 and all(map(check, value))


def _or_null(check: _Check) -> _Check:
    return lambda value: value is None or check(value)


_TEXT = ResultShape("a text", _is_text_or_null)
_NUMBER = ResultShape("a number", _or_null(_is_number))
_COUNT = ResultShape("a number", _is_number)
_YEARS = ResultShape("a list of whole numbers", _list_of(_is_integer))
_FOUND_NAMES = ResultShape("a list of texts", _list_of(_is_text))
_NAMES = ResultShape("a list of texts", _or_null(_list_of(_is_text)))
_RECORD = ResultShape("an object", _or_null(_is_object))
_FOUND_RECORDS = ResultShape("a list of objects", _list_of(_is_object))
# Prices: time -> row. Games: column -> {row key -> value}.
_OBJECT_OF_RECORDS = ResultShape("an object of objects", _or_null(_object_of(_is_object)))
# NaN becomes null in `transport`.
_OBJECT_OF_NUMBERS = ResultShape("an object of numbers", _or_null(_object_of(_or_null(_is_number))))
_SONGS_AND_ARTISTS = ResultShape("a list of songs and one of artists", _pair_of(_or_null(_list_of(_is_text))))
_BIRTH_AND_DEATH = ResultShape("two texts, either of which may be null", _pair_of(_is_text_or_null))

ENDPOINTS: Mapping[str, ResultShape] = {
    "/open/search_entity_by_name": _FOUND_NAMES,
    "/open/get_entity": _RECORD,
    "/movie/get_person_info": _FOUND_RECORDS,
    "/movie/get_movie_info": _FOUND_RECORDS,
    "/movie/get_year_info": _RECORD,
    "/movie/get_movie_info_by_id": _RECORD,
    "/movie/get_person_info_by_id": _RECORD,
    "/finance/get_company_name": _FOUND_NAMES,
    "/finance/get_ticker_by_name": _TEXT,
    "/finance/get_price_history": _OBJECT_OF_RECORDS,
    "/finance/get_detailed_price_history": _OBJECT_OF_RECORDS,
    "/finance/get_dividends_history": _OBJECT_OF_NUMBERS,
    "/finance/get_market_capitalization": _NUMBER,
    "/finance/get_eps": _NUMBER,
    "/finance/get_pe_ratio": _NUMBER,
    "/finance/get_info": _RECORD,
    "/music/search_artist_entity_by_name": _FOUND_NAMES,
    "/music/search_song_entity_by_name": _FOUND_NAMES,
    "/music/get_billboard_rank_date": _SONGS_AND_ARTISTS,
    "/music/get_billboard_attributes": _TEXT,
    "/music/grammy_get_best_artist_by_year": _NAMES,
    "/music/grammy_get_best_song_by_year": _NAMES,
    "/music/grammy_get_best_album_by_year": _NAMES,
    "/music/grammy_get_award_count_by_artist": _COUNT,
    "/music/grammy_get_award_count_by_song": _COUNT,
    "/music/grammy_get_award_date_by_artist": _YEARS,
    "/music/grammy_get_all_awarded_artists": _FOUND_NAMES,
    "/music/get_artist_birth_place": _TEXT,
    "/music/get_artist_birth_date": _TEXT,
    "/music/get_members": _NAMES,
    "/music/get_lifespan": _BIRTH_AND_DEATH,
    "/music/get_song_author": _TEXT,
    "/music/get_song_release_country": _TEXT,
    "/music/get_song_release_date": _TEXT,
    "/music/get_artist_all_works": _NAMES,
    "/sports/soccer/get_games_on_date": _OBJECT_OF_RECORDS,
    "/sports/nba/get_games_on_date": _OBJECT_OF_RECORDS,
    "/sports/nba/get_play_by_play_data_by_game_ids": _OBJECT_OF_RECORDS,
}


def check_shape(endpoint: str, result: Json) -> None:
    """Raise `KgReplyError` unless the result has the endpoint's shape. Keys of objects may be any."""
    shape = ENDPOINTS[endpoint]
    if not shape.fits(result):
        raise KgReplyError(f"{endpoint}: the result should be {shape.description}, but it is {reprlib.repr(result)}")
