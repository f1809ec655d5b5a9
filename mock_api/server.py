"""The HTTP side: one table of endpoints, one way to answer."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response
from pydantic import BaseModel

from mock_api.bodies import ChartAttribute, ChartRank, GameIds, GamesOnDate, Number, Text
from mock_api.domains.faults import OfficialCrashError
from mock_api.domains.finance import FinanceAnswers
from mock_api.domains.movie import MovieAnswers
from mock_api.domains.music import MusicAnswers
from mock_api.domains.open import OpenAnswers
from mock_api.domains.sports import SportsAnswers
from mock_api.tables import Tables


class Endpoint(NamedTuple):
    """A POST endpoint: `answer` takes the fields of `body` as keyword arguments. No body: no arguments."""

    path: str
    body: type[BaseModel] | None
    answer: Callable[..., Any]


def endpoints(tables: Tables) -> list[Endpoint]:
    """The 38 endpoints of the official server over a graph."""
    return [
        *_open_endpoints(OpenAnswers(tables)),
        *_movie_endpoints(MovieAnswers(tables)),
        *_finance_endpoints(FinanceAnswers(tables)),
        *_music_endpoints(MusicAnswers(tables)),
        *_sports_endpoints(SportsAnswers(tables)),
    ]


def _open_endpoints(wiki: OpenAnswers) -> list[Endpoint]:
    return [
        Endpoint("/open/search_entity_by_name", Text, wiki.search_entity_by_name),
        Endpoint("/open/get_entity", Text, wiki.get_entity),
    ]


def _movie_endpoints(movie: MovieAnswers) -> list[Endpoint]:
    return [
        Endpoint("/movie/get_person_info", Text, movie.get_person_info),
        Endpoint("/movie/get_movie_info", Text, movie.get_movie_info),
        Endpoint("/movie/get_year_info", Text, movie.get_year_info),
        Endpoint("/movie/get_movie_info_by_id", Number, movie.get_movie_info_by_id),
        Endpoint("/movie/get_person_info_by_id", Number, movie.get_person_info_by_id),
    ]


def _finance_endpoints(finance: FinanceAnswers) -> list[Endpoint]:
    return [
        Endpoint("/finance/get_company_name", Text, finance.get_company_name),
        Endpoint("/finance/get_ticker_by_name", Text, finance.get_ticker_by_name),
        Endpoint("/finance/get_price_history", Text, finance.get_price_history),
        Endpoint("/finance/get_detailed_price_history", Text, finance.get_detailed_price_history),
        Endpoint("/finance/get_dividends_history", Text, finance.get_dividends_history),
        Endpoint("/finance/get_market_capitalization", Text, finance.get_market_capitalization),
        Endpoint("/finance/get_eps", Text, finance.get_eps),
        Endpoint("/finance/get_pe_ratio", Text, finance.get_pe_ratio),
        Endpoint("/finance/get_info", Text, finance.get_info),
    ]


def _music_endpoints(music: MusicAnswers) -> list[Endpoint]:
    return [
        Endpoint("/music/search_artist_entity_by_name", Text, music.search_artist_entity_by_name),
        Endpoint("/music/search_song_entity_by_name", Text, music.search_song_entity_by_name),
        Endpoint("/music/get_billboard_rank_date", ChartRank, music.get_billboard_rank_date),
        Endpoint("/music/get_billboard_attributes", ChartAttribute, music.get_billboard_attributes),
        Endpoint("/music/grammy_get_best_artist_by_year", Number, music.grammy_get_best_artist_by_year),
        Endpoint("/music/grammy_get_award_count_by_artist", Text, music.grammy_get_award_count_by_artist),
        Endpoint("/music/grammy_get_award_count_by_song", Text, music.grammy_get_award_count_by_song),
        Endpoint("/music/grammy_get_best_song_by_year", Number, music.grammy_get_best_song_by_year),
        Endpoint("/music/grammy_get_award_date_by_artist", Text, music.grammy_get_award_date_by_artist),
        Endpoint("/music/grammy_get_best_album_by_year", Number, music.grammy_get_best_album_by_year),
        Endpoint("/music/grammy_get_all_awarded_artists", None, music.grammy_get_all_awarded_artists),
        Endpoint("/music/get_artist_birth_place", Text, music.get_artist_birth_place),
        Endpoint("/music/get_artist_birth_date", Text, music.get_artist_birth_date),
        Endpoint("/music/get_members", Text, music.get_members),
        Endpoint("/music/get_lifespan", Text, music.get_lifespan),
        Endpoint("/music/get_song_author", Text, music.get_song_author),
        Endpoint("/music/get_song_release_country", Text, music.get_song_release_country),
        Endpoint("/music/get_song_release_date", Text, music.get_song_release_date),
        Endpoint("/music/get_artist_all_works", Text, music.get_artist_all_works),
    ]


def _sports_endpoints(sports: SportsAnswers) -> list[Endpoint]:
    return [
        Endpoint("/sports/soccer/get_games_on_date", GamesOnDate, sports.soccer_get_games_on_date),
        Endpoint("/sports/nba/get_games_on_date", GamesOnDate, sports.nba_get_games_on_date),
        Endpoint(
            "/sports/nba/get_play_by_play_data_by_game_ids", GameIds, sports.nba_get_play_by_play_data_by_game_ids
        ),
    ]


def create_app(tables: Tables, delay: float = 0.0) -> FastAPI:
    """The application. `delay` seconds pass before each answer, without holding up other requests."""
    # The official server also reads bodies that come without a content type as JSON.
    app = FastAPI(title="CRAG mock API", strict_content_type=False)

    @app.get("/")
    async def root() -> dict[str, str]:
        return {"message": "The CRAG API service is running"}

    for endpoint in endpoints(tables):
        app.post(
            endpoint.path,
            name=endpoint.path.strip("/").replace("/", "_"),
            description=endpoint.answer.__doc__ or "",
            response_class=Response,
        )(_route(endpoint, delay))
    return app


def _route(endpoint: Endpoint, delay: float) -> Callable[..., Any]:
    async def respond(arguments: dict[str, Any]) -> Response:
        if delay:
            await asyncio.sleep(delay)
        try:
            return _result(endpoint.answer(**arguments))
        except OfficialCrashError:
            return PlainTextResponse("Internal Server Error", status_code=500)

    if endpoint.body is None:

        async def without_body() -> Response:
            return await respond({})

        return without_body

    async def with_body(body: BaseModel) -> Response:
        return await respond(dict(body))

    # FastAPI reads the body's model here; it cannot be written above because each endpoint has its own.
    with_body.__annotations__["body"] = endpoint.body
    return with_body


def _result(value: object) -> Response:
    """The answer as JSON, written by hand because FastAPI's own way walks through large answers twice.

    Raises OfficialCrashError for NaN and infinity, which JSON cannot hold.
    """
    try:
        content = json.dumps({"result": value}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise OfficialCrashError(str(error)) from error
    return Response(content.encode(), media_type="application/json")
