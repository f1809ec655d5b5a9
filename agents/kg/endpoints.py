"""The 38 endpoints of the CRAG mock API as data: what each takes, what it gives, and how it says "there is none".

Paths, fields, shapes and miss values are those of the official server (facebookresearch/CRAG, `mock_api/server.py` and
`mock_api/cragapi/`). Misses differ from endpoint to endpoint: a list may be empty or null, a count 0, a pair all null.
"""

import enum
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from agents.kg.errors import KgReplyError, KgRequestError

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Argument: TypeAlias = str | int | tuple[str, ...] | None
"""The value of a request's field; a list of texts is a tuple, so that requests can be keys of a cache."""


class Field(enum.Enum):
    """What a request's field holds. The server never turns an int into a text: a year as 1992 for "1992" is a 422."""

    TEXT = "a text"
    INTEGER = "a whole number, or its digits as a text"
    OPTIONAL_TEXT = "a text or null"
    TEXTS = "a tuple of texts"


class Shape(enum.Enum):
    """What stands in `result` when something was found."""

    NAMES = "a list of texts"
    TEXT = "a text"
    NUMBER = "a number"
    YEARS = "a list of whole numbers"
    RECORD = "an object"
    RECORDS = "a list of objects"
    OBJECT_OF_RECORDS = "an object of objects"
    """Prices: time -> row. Games: column -> {row key -> value}."""
    OBJECT_OF_NUMBERS = "an object of numbers"
    SONGS_AND_ARTISTS = "a list of songs and a list of their artists"
    BIRTH_AND_DEATH = "two texts, either of which may be null"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint: `fields` of the request by name, `shape` of the result, `misses` that all mean "there is none"."""

    path: str
    fields: Mapping[str, Field]
    shape: Shape
    misses: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One call: an endpoint's path and the fields of its body. Equal requests get one answer per batch."""

    endpoint: str
    payload: tuple[tuple[str, Argument], ...] = ()


def request(endpoint: str, **payload: Argument | list[str]) -> Request:
    """The call of `endpoint` with these fields, in one canonical form: equal calls are equal requests.

    Fields that may be null and are not given are null. Nothing is refused here; see `check_request`.
    """
    known = ENDPOINTS[endpoint].fields if endpoint in ENDPOINTS else {}
    whole = {name: None for name, field in known.items() if field is Field.OPTIONAL_TEXT} | payload
    return Request(endpoint, tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in sorted(whole.items())))


def check_request(call: Request) -> None:
    """Raise `KgRequestError` where the server could only answer 404 or 422: such a call is not worth sending."""
    endpoint = ENDPOINTS.get(call.endpoint)
    if endpoint is None:
        raise KgRequestError(f"{call.endpoint}: there is no such endpoint")
    payload = dict(call.payload)
    if payload.keys() != endpoint.fields.keys():
        found, wanted = ", ".join(payload) or "none", ", ".join(endpoint.fields) or "none"
        raise KgRequestError(f"{call.endpoint}: the request has the fields {found}; it takes {wanted}")
    for name, field in endpoint.fields.items():
        if not _FITS_FIELD[field](payload[name]):
            raise KgRequestError(f"{call.endpoint}: the field {name!r} is {payload[name]!r}, it takes {field.value}")


def is_miss(endpoint: str, result: Json) -> bool:
    """True where this result of the endpoint means that the graph has no such thing. KeyError: unknown endpoint.

    An empty dividends history counts, although there the company is known and paid none. Two misses have no result at
    all and arrive as errors: `get_year_info` outside `YEARS_WITH_INFO`, and whatever holds NaN, are a status 500.
    """
    return any(result == miss and type(result) is type(miss) for miss in ENDPOINTS[endpoint].misses)


def check_shape(endpoint: str, result: Json) -> None:
    """Raise `KgReplyError` unless the result is a miss or of the endpoint's shape. Keys of objects may be any."""
    shape = ENDPOINTS[endpoint].shape
    if not (is_miss(endpoint, result) or _HAS_SHAPE[shape](result)):
        raise KgReplyError(f"{endpoint}: the result should be {shape.value}, but it is {reprlib.repr(result)}")


YEARS_WITH_INFO = range(1990, 2022)
"""The years that `/movie/get_year_info` knows; the server fails with 500 on any other, and on what is no number."""
GRAMMY_YEARS = range(1957, 2020)
"""The Grammy endpoints answer null outside; a year is the one before the ceremony."""

_QUERY_TEXT = {"query": Field.TEXT}
_QUERY_INTEGER = {"query": Field.INTEGER}
_GAMES_OF_DAY = {"date": Field.TEXT, "team_name": Field.OPTIONAL_TEXT}
_BILLBOARD_ATTRIBUTE = {"date": Field.TEXT, "attribute": Field.TEXT, "song_name": Field.TEXT}
_EMPTY: tuple[Json, ...] = ([],)
_NULL: tuple[Json, ...] = (None,)
_NULL_OR_EMPTY: tuple[Json, ...] = (None, [])

_TABLE = (
    Endpoint("/open/search_entity_by_name", _QUERY_TEXT, Shape.NAMES, _EMPTY),
    Endpoint("/open/get_entity", _QUERY_TEXT, Shape.RECORD, _NULL),
    Endpoint("/movie/get_person_info", _QUERY_TEXT, Shape.RECORDS, _EMPTY),
    Endpoint("/movie/get_movie_info", _QUERY_TEXT, Shape.RECORDS, _EMPTY),
    Endpoint("/movie/get_year_info", _QUERY_TEXT, Shape.RECORD, _NULL),
    Endpoint("/movie/get_movie_info_by_id", _QUERY_INTEGER, Shape.RECORD, _NULL),
    Endpoint("/movie/get_person_info_by_id", _QUERY_INTEGER, Shape.RECORD, _NULL),
    Endpoint("/finance/get_company_name", _QUERY_TEXT, Shape.NAMES, _EMPTY),
    Endpoint("/finance/get_ticker_by_name", _QUERY_TEXT, Shape.TEXT, _NULL),
    Endpoint("/finance/get_price_history", _QUERY_TEXT, Shape.OBJECT_OF_RECORDS, _NULL),
    Endpoint("/finance/get_detailed_price_history", _QUERY_TEXT, Shape.OBJECT_OF_RECORDS, _NULL),
    Endpoint("/finance/get_dividends_history", _QUERY_TEXT, Shape.OBJECT_OF_NUMBERS, (None, {})),
    Endpoint("/finance/get_market_capitalization", _QUERY_TEXT, Shape.NUMBER, _NULL),
    Endpoint("/finance/get_eps", _QUERY_TEXT, Shape.NUMBER, _NULL),
    Endpoint("/finance/get_pe_ratio", _QUERY_TEXT, Shape.NUMBER, _NULL),
    Endpoint("/finance/get_info", _QUERY_TEXT, Shape.RECORD, _NULL),
    Endpoint("/music/search_artist_entity_by_name", _QUERY_TEXT, Shape.NAMES, _EMPTY),
    Endpoint("/music/search_song_entity_by_name", _QUERY_TEXT, Shape.NAMES, _EMPTY),
    Endpoint(
        "/music/get_billboard_rank_date",
        {"rank": Field.INTEGER, "date": Field.OPTIONAL_TEXT},
        Shape.SONGS_AND_ARTISTS,
        ([[], []], [None, None]),
    ),
    Endpoint("/music/get_billboard_attributes", _BILLBOARD_ATTRIBUTE, Shape.TEXT, _NULL),
    Endpoint("/music/grammy_get_best_artist_by_year", _QUERY_INTEGER, Shape.NAMES, _NULL_OR_EMPTY),
    Endpoint("/music/grammy_get_best_song_by_year", _QUERY_INTEGER, Shape.NAMES, _NULL_OR_EMPTY),
    Endpoint("/music/grammy_get_best_album_by_year", _QUERY_INTEGER, Shape.NAMES, _NULL_OR_EMPTY),
    Endpoint("/music/grammy_get_award_count_by_artist", _QUERY_TEXT, Shape.NUMBER, (0,)),
    Endpoint("/music/grammy_get_award_count_by_song", _QUERY_TEXT, Shape.NUMBER, (0,)),
    Endpoint("/music/grammy_get_award_date_by_artist", _QUERY_TEXT, Shape.YEARS, _EMPTY),
    Endpoint("/music/grammy_get_all_awarded_artists", {}, Shape.NAMES, ()),
    Endpoint("/music/get_artist_birth_place", _QUERY_TEXT, Shape.TEXT, _NULL),
    Endpoint("/music/get_artist_birth_date", _QUERY_TEXT, Shape.TEXT, _NULL),
    Endpoint("/music/get_members", _QUERY_TEXT, Shape.NAMES, _NULL),
    Endpoint("/music/get_lifespan", _QUERY_TEXT, Shape.BIRTH_AND_DEATH, ([None, None],)),
    Endpoint("/music/get_song_author", _QUERY_TEXT, Shape.TEXT, _NULL),
    Endpoint("/music/get_song_release_country", _QUERY_TEXT, Shape.TEXT, _NULL),
    Endpoint("/music/get_song_release_date", _QUERY_TEXT, Shape.TEXT, _NULL),
    Endpoint("/music/get_artist_all_works", _QUERY_TEXT, Shape.NAMES, _NULL),
    Endpoint("/sports/soccer/get_games_on_date", _GAMES_OF_DAY, Shape.OBJECT_OF_RECORDS, _NULL),
    Endpoint("/sports/nba/get_games_on_date", _GAMES_OF_DAY, Shape.OBJECT_OF_RECORDS, _NULL),
    Endpoint(
        "/sports/nba/get_play_by_play_data_by_game_ids", {"game_ids": Field.TEXTS}, Shape.OBJECT_OF_RECORDS, _NULL
    ),
)

ENDPOINTS: Mapping[str, Endpoint] = MappingProxyType({endpoint.path: endpoint for endpoint in _TABLE})
"""All endpoints by path."""

_Check: TypeAlias = Callable[[object], bool]


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


_FITS_FIELD: Mapping[Field, _Check] = {
    Field.TEXT: _is_text,
    Field.INTEGER: lambda value: _is_integer(value) or (isinstance(value, str) and value.isdecimal()),
    Field.OPTIONAL_TEXT: _is_text_or_null,
    Field.TEXTS: lambda value: isinstance(value, tuple) and all(map(_is_text, value)),
}

_HAS_SHAPE: Mapping[Shape, _Check] = {
    Shape.NAMES: _list_of(_is_text),
    Shape.TEXT: _is_text,
    Shape.NUMBER: _is_number,
    Shape.YEARS: _list_of(_is_integer),
    Shape.RECORD: _is_object,
    Shape.RECORDS: _list_of(_is_object),
    Shape.OBJECT_OF_RECORDS: _object_of(_is_object),
    # NaN becomes null on the way here.
    Shape.OBJECT_OF_NUMBERS: _object_of(lambda value: value is None or _is_number(value)),
    Shape.SONGS_AND_ARTISTS: _pair_of(_list_of(_is_text)),
    Shape.BIRTH_AND_DEATH: _pair_of(_is_text_or_null),
}
