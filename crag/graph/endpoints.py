"""The endpoints of the CRAG mock API that fill tables, and the shape of each result.

Paths and shapes are those of the official server (facebookresearch/CRAG, `mock_api/server.py` and `mock_api/cragapi/`).
"""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from crag.graph.records import Article, Ceremony, Company, DayTime, Film, Person, Scalar
from crag.graph.results import KgReplyError

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
FieldValue: TypeAlias = str | int | None
"""The value of a field in the body of a request."""


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP call: the endpoint's path and the fields of its body, sorted by name.

    It is hashable: equal requests share one reply per batch. Make it with `build_request`.
    """

    endpoint: str
    payload: tuple[tuple[str, FieldValue], ...] = ()


def build_request(endpoint: str, **payload: FieldValue) -> Request:
    """The request to `endpoint` with these fields, in any order.

    >>> build_request("/movie/get_movie_info", query="jaws")
    Request(endpoint='/movie/get_movie_info', payload=(('query', 'jaws'),))
    """
    return Request(endpoint, tuple(sorted(payload.items())))


_Pair = Field(min_length=2, max_length=2)
_Texts = list[str]
_Days = dict[DayTime, dict[str, Scalar]] | None
_Minutes = dict[str, dict[str, Scalar]] | None
"""Prices: time -> row."""
_Games = dict[str, dict[str, Scalar]] | None
"""Column -> {row key -> value}."""

ENDPOINTS: Mapping[str, Any] = {
    "/open/search_entity_by_name": _Texts,
    "/open/get_entity": Article | None,
    "/movie/get_person_info": list[Person],
    "/movie/get_movie_info": list[Film],
    "/movie/get_year_info": Ceremony | None,
    "/movie/get_movie_info_by_id": Film | None,
    "/finance/get_company_name": _Texts,
    "/finance/get_ticker_by_name": str | None,
    "/finance/get_price_history": _Days,
    "/finance/get_detailed_price_history": _Minutes,
    "/finance/get_dividends_history": dict[str, float | None] | None,
    "/finance/get_market_capitalization": float | None,
    "/finance/get_eps": float | None,
    "/finance/get_pe_ratio": float | None,
    "/finance/get_info": Company | None,
    "/music/search_artist_entity_by_name": _Texts,
    "/music/search_song_entity_by_name": _Texts,
    "/music/get_billboard_rank_date": Annotated[list[_Texts | None], _Pair],
    "/music/get_billboard_attributes": str | None,
    "/music/grammy_get_best_artist_by_year": _Texts | None,
    "/music/grammy_get_best_song_by_year": _Texts | None,
    "/music/grammy_get_best_album_by_year": _Texts | None,
    "/music/grammy_get_award_count_by_artist": float,
    "/music/grammy_get_award_count_by_song": float,
    "/music/grammy_get_award_date_by_artist": list[int],
    "/music/get_artist_birth_place": str | None,
    "/music/get_artist_birth_date": str | None,
    "/music/get_members": _Texts | None,
    "/music/get_lifespan": Annotated[list[str | None], _Pair],
    "/music/get_song_author": str | None,
    "/music/get_song_release_country": str | None,
    "/music/get_song_release_date": str | None,
    "/music/get_artist_all_works": _Texts | None,
    "/sports/soccer/get_games_on_date": _Games,
    "/sports/nba/get_games_on_date": _Games,
}
"""The type of each endpoint's `result`. Null, an empty list, 0 and a pair of nulls mean no result."""

# Built once: an adapter compiles its type
_CHECKS = {path: TypeAdapter[Any](shape) for path, shape in ENDPOINTS.items()}


def check_shape(endpoint: str, result: Json) -> None:
    """Raise `KgReplyError` unless the result has the endpoint's shape. Records may have other fields too."""
    try:
        # Strict, so that "12" does not pass for a number
        _CHECKS[endpoint].validate_python(result, strict=True)
    except ValidationError as error:
        reason = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise KgReplyError(f"{endpoint}: {reason}, but the result is {reprlib.repr(result)}") from error
