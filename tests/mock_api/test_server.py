import socket

import pytest
import requests

from crag.mock_api.server import listen
from tests.mock_api.conftest import Client
from tests.mock_api.test_answers import FINDS, NBA, PLAYS, RANK


def test_the_server_has_the_38_official_endpoints(small: Client) -> None:
    listed = small.session.get(f"{small.url}/openapi.json", timeout=60).json()["paths"]
    posts = {path for path, methods in listed.items() if "post" in methods}
    assert len(posts) == 38
    assert posts >= {path for path, _, _ in FINDS} | {RANK, NBA, PLAYS}


def test_get_greets_at_the_root_and_is_not_allowed_elsewhere(small: Client) -> None:
    root = small.session.get(f"{small.url}/", timeout=60)
    assert root.json() == {"message": "The CRAG API service is running"}
    assert small.session.get(f"{small.url}/open/get_entity", timeout=60).status_code == 405


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/open/get_entity", {}),
        ("/open/get_entity", {"name": "cafe"}),
        ("/movie/get_year_info", {"query": 1992}),
        ("/movie/get_movie_info_by_id", {"query": "seven"}),
        ("/movie/get_movie_info_by_id", {"query": {"name": "x"}}),
        (RANK, {"date": "2024-02-28"}),
        ("/music/get_billboard_attributes", {"date": "2024-02-28", "attribute": "rank"}),
        (NBA, {"team_name": "Bulls"}),
        (PLAYS, {"game_ids": [22200001]}),
        (PLAYS, {"game_ids": "0022200001"}),
    ],
)
def test_a_missing_field_or_a_wrong_type_is_422_without_a_result(
    small: Client, path: str, body: dict[str, object]
) -> None:
    reply = small.post(path, **body)
    assert (reply.status_code, reply.headers["content-type"]) == (422, "application/json")
    assert "detail" in reply.text
    assert "result" not in reply.text


@pytest.mark.parametrize("value", ["NaN", "-Infinity", '{"a": NaN}'])
def test_what_json_cannot_hold_is_a_wrong_argument(small: Client, value: str) -> None:
    reply = requests.post(f"{small.url}/open/get_entity", data=f'{{"query": {value}}}', timeout=60)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "query"]


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
    reply = small.post(path, query=query)
    assert (reply.status_code, reply.text) == (500, "Internal Server Error")


def test_a_body_needs_no_content_type_and_accents_stay(small: Client) -> None:
    response = requests.post(f"{small.url}/open/search_entity_by_name", data=b'{"query": "m\xc3\xbcller"}', timeout=60)
    assert response.json()["result"] == ["Müller Café", "Café_Müller"]
    assert "Müller" in response.content.decode()
    assert small.post("/open/search_entity_by_name", query="muller").text == '{"result":[]}'


def test_a_kept_connection_answers_at_once() -> None:
    """Without TCP_NODELAY, which connections inherit, every answer but the first takes 40 ms."""
    with listen() as listening, socket.create_connection(listening.getsockname()) as client:
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert client.recv(1) == b""
