import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from mock_api import serve
from tests.mock_api.client import Client
from tests.mock_api.small_graph import write_graph

FINANCE_BY_TICKER = (
    "price_history",
    "detailed_price_history",
    "dividends_history",
    "market_capitalization",
    "eps",
    "pe_ratio",
    "info",
)
MUSIC_BY_NAME = (
    "artist_birth_place",
    "artist_birth_date",
    "members",
    "song_author",
    "song_release_country",
    "song_release_date",
    "artist_all_works",
)
Miss = tuple[str, dict[str, object], object]
FIGURES: list[Miss] = [(f"/finance/get_{name}", {"query": "acm"}, None) for name in FINANCE_BY_TICKER]
FACTS: list[Miss] = [(f"/music/get_{name}", {"query": "ann bee"}, None) for name in MUSIC_BY_NAME]
GRAMMYS: list[Miss] = [
    (f"/music/grammy_get_best_{kind}_by_year", {"query": year}, answer)
    for kind in ("artist", "song", "album")
    for year, answer in ((1956, None), (2020, None), (1957, []), (2000, []))
]
MISSES: list[Miss] = [
    *FIGURES,
    *FACTS,
    *GRAMMYS,
    ("/open/search_entity_by_name", {"query": "zzz"}, []),
    ("/open/get_entity", {"query": "zzz"}, None),
    ("/movie/get_person_info", {"query": "zzz"}, []),
    ("/movie/get_movie_info", {"query": "zzz"}, []),
    ("/movie/get_year_info", {"query": "2021"}, None),
    ("/movie/get_movie_info_by_id", {"query": 1}, None),
    ("/movie/get_person_info_by_id", {"query": 1}, None),
    ("/finance/get_company_name", {"query": "zzz"}, []),
    ("/finance/get_ticker_by_name", {"query": "acme"}, None),
    ("/music/search_artist_entity_by_name", {"query": "zzz"}, []),
    ("/music/search_song_entity_by_name", {"query": "zzz"}, []),
    ("/music/get_billboard_rank_date", {"rank": 1, "date": "1999-01-01"}, [[], []]),
    ("/music/get_billboard_rank_date", {"rank": 0}, [None, None]),
    ("/music/get_billboard_rank_date", {"rank": 101, "date": "2024-02-28"}, [None, None]),
    ("/music/get_billboard_attributes", {"date": "x", "attribute": "rank", "song_name": "Bee Song"}, None),
    ("/music/get_billboard_attributes", {"date": "2024-02-28", "attribute": "rank", "song_name": "x"}, None),
    ("/music/grammy_get_award_count_by_artist", {"query": "zzz"}, 0),
    ("/music/grammy_get_award_count_by_song", {"query": "Bee"}, 0),
    ("/music/grammy_get_award_date_by_artist", {"query": "zzz"}, []),
    ("/music/get_lifespan", {"query": "zzz"}, [None, None]),
    ("/sports/soccer/get_games_on_date", {"date": "2024-03-02"}, None),
    ("/sports/nba/get_games_on_date", {"date": "2022-10-11", "team_name": "bulls"}, None),
    ("/sports/nba/get_play_by_play_data_by_game_ids", {"game_ids": []}, None),
]


@pytest.mark.parametrize(("path", "body", "answer"), MISSES)
def test_what_is_not_there_is_answered_in_the_official_shape(
    small: Client, path: str, body: dict[str, object], answer: object
) -> None:
    assert small.ask(path, **body) == answer


def test_the_server_has_the_38_official_endpoints(small: Client) -> None:
    listed = small.session.get(f"{small.url}/openapi.json", timeout=10).json()["paths"]
    posts = {path for path, methods in listed.items() if "post" in methods}
    assert len(posts) == 38
    assert posts == {path for path, _, _ in MISSES} | {"/music/grammy_get_all_awarded_artists"}


def test_get_greets_at_the_root_and_is_not_allowed_elsewhere(small: Client) -> None:
    root = small.session.get(f"{small.url}/", timeout=10)
    assert root.json() == {"message": "The CRAG API service is running"}
    assert small.session.get(f"{small.url}/open/get_entity", timeout=10).status_code == 405


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/open/get_entity", {}),
        ("/open/get_entity", {"name": "cafe"}),
        ("/movie/get_year_info", {"query": 1992}),
        ("/movie/get_movie_info_by_id", {"query": "seven"}),
        ("/movie/get_movie_info_by_id", {"query": {"name": "x"}}),
        ("/music/get_billboard_rank_date", {"date": "2024-02-28"}),
        ("/music/get_billboard_attributes", {"date": "2024-02-28", "attribute": "rank"}),
        ("/sports/nba/get_games_on_date", {"team_name": "Bulls"}),
        ("/sports/nba/get_play_by_play_data_by_game_ids", {"game_ids": [22200001]}),
        ("/sports/nba/get_play_by_play_data_by_game_ids", {"game_ids": "0022200001"}),
    ],
)
def test_a_missing_field_or_a_wrong_type_is_422_without_a_result(
    small: Client, path: str, body: dict[str, object]
) -> None:
    reply = small.post(path, **body)
    assert (reply.status, reply.media_type) == (422, "application/json")
    assert "detail" in reply.text
    assert "result" not in reply.text


def test_numbers_may_come_as_text(small: Client) -> None:
    assert small.ask("/movie/get_movie_info_by_id", query="7")["title"] == "Café Story"
    assert small.ask("/music/grammy_get_best_artist_by_year", query="2019") == ["Ann Bee"]


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/movie/get_year_info", "1989"),
        ("/movie/get_year_info", "2022"),
        ("/movie/get_year_info", "last year"),
        ("/finance/get_price_history", "BAD"),
        ("/music/grammy_get_best_album_by_year", 2010),
        ("/music/grammy_get_best_artist_by_year", 1995),
    ],
)
def test_where_the_official_server_crashes_the_answer_is_not_json(small: Client, path: str, query: object) -> None:
    assert small.post(path, query=query) == (500, "text/plain", "Internal Server Error")


def test_a_body_needs_no_content_type_and_accents_stay(small: Client) -> None:
    response = requests.post(f"{small.url}/open/search_entity_by_name", data=b'{"query": "m\xc3\xbcller"}', timeout=10)
    assert response.json()["result"] == ["Müller Café", "Café_Müller"]
    assert "Müller" in response.content.decode()
    assert small.post("/open/search_entity_by_name", query="muller").text == '{"result":[]}'


def test_a_delay_holds_up_each_answer_but_not_the_others(tmp_path: Path) -> None:
    with serve(write_graph(tmp_path), delay=1.0) as url, ThreadPoolExecutor(8) as pool:
        begin = time.monotonic()
        calls = [
            pool.submit(requests.post, f"{url}/open/get_entity", json={"query": "cafe"}, timeout=60) for _ in range(8)
        ]
        assert [call.result().json() for call in calls] == [{"result": {}}] * 8
        assert 1.0 <= time.monotonic() - begin < 8.0  # one after the other they would take 8 s
