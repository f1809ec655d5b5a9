"""One exchange with the server: what is sent, when it is sent again, and which results can be used."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from agents.common.deadline import Deadline
from agents.kg.endpoints import check_shape, request
from agents.kg.results import KgBusyError, KgError, KgReplyError, KgRequestError
from agents.kg.transport import Transport, read_result
from agents.settings import KgClientSettings

PATH = "/open/get_entity"
SETTINGS = KgClientSettings(connect_seconds=1.0, read_seconds=5.0, max_response_bytes=10_000, max_attempts=3)


@pytest.fixture
def transport(httpserver: HTTPServer) -> Iterator[Transport]:
    transport = Transport(httpserver.url_for("/") + "/", SETTINGS)
    yield transport
    transport.close()


def test_a_request_is_plain_json_without_cookies(transport: Transport, httpserver: HTTPServer) -> None:
    seen: list[Request] = []

    def answer(request: Request) -> Response:
        seen.append(request)
        return Response(json.dumps({"result": 1}), headers={"Set-Cookie": "a=b; Path=/"})

    httpserver.expect_request(PATH, "POST").respond_with_handler(answer)
    for payload in ({"query": "é"}, {}):
        assert transport.ask(PATH, payload, Deadline(10.0)) == 1
    assert [request.get_data() for request in seen] == [b'{"query": "\\u00e9"}', b""]
    assert {request.headers["Accept-Encoding"] for request in seen} == {"identity"}
    assert not any("Cookie" in request.headers for request in seen)


@pytest.mark.parametrize(("size", "fits"), [(10_000, True), (10_001, False)])
def test_a_reply_may_be_as_large_as_the_limit(
    transport: Transport, httpserver: HTTPServer, size: int, fits: bool
) -> None:
    body = b'{"result": "' + b"x" * (size - 14) + b'"}'
    httpserver.expect_request(PATH).respond_with_data(body)
    if fits:
        assert transport.ask(PATH, {}, Deadline(10.0)) == "x" * (size - 14)
    else:
        with pytest.raises(KgReplyError, match="more than 10000 bytes"):
            transport.ask(PATH, {}, Deadline(10.0))


@pytest.mark.parametrize(
    ("status", "kind", "asked"),
    [
        (404, KgRequestError, 1),
        (422, KgRequestError, 1),
        (418, KgReplyError, 1),
        (500, KgReplyError, 1),
        (502, KgBusyError, 3),
        (503, KgBusyError, 3),
        (504, KgBusyError, 3),
    ],
)
def test_a_status_is_an_error_that_quotes_the_beginning_of_the_reply(
    transport: Transport, httpserver: HTTPServer, status: int, kind: type[KgError], asked: int
) -> None:
    httpserver.expect_request(PATH).respond_with_data(b"\xff" + b"a" * 1000, status=status)
    with pytest.raises(KgError, match=f"{PATH}: status {status}: '\N{REPLACEMENT CHARACTER}a") as raised:
        transport.ask(PATH, {}, Deadline(10.0))
    assert raised.type is kind
    assert len(str(raised.value)) < 200
    assert len(httpserver.log) == asked


@given(st.binary() | st.binary().map(lambda noise: b'{"result": ' + noise + b"}"))
def test_a_body_of_any_bytes_is_a_result_or_a_reply_error(body: bytes) -> None:
    with suppress(KgReplyError):
        read_result(PATH, body)


@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b'{"result": ' + b"9" * 5_000 + b"}", '{"result": "é"}'.encode("latin-1")]
)
def test_bodies_without_a_result(body: bytes) -> None:
    with pytest.raises(KgReplyError):
        read_result(PATH, body)


@pytest.mark.parametrize("escape", [r"\ud83d", r"\uDE00", r"\udfff", r"\uD800x"])
def test_half_a_character_cannot_be_passed_on(escape: str) -> None:
    read = read_result(PATH, f'{{"result": "a{escape}"}}'.encode())
    assert isinstance(read, str)
    assert read.encode().decode() == read


def test_a_pair_of_halves_is_one_character() -> None:
    assert read_result(PATH, rb'{"result": ["\uD83D\uDE00", NaN, -Infinity]}') == ["\N{GRINNING FACE}", None, None]


GOOD: list[tuple[str, list[Any]]] = [
    ("/music/get_members", [["Lady Gaga", "Ga-Ga"], [], None]),
    ("/open/search_entity_by_name", [["Lady Gaga"], []]),
    ("/finance/get_ticker_by_name", ["AAPL", "-", None]),
    ("/finance/get_eps", [22.95, 16, None]),
    ("/music/grammy_get_award_count_by_artist", [3, 0]),
    ("/music/grammy_get_award_date_by_artist", [[2016, 2008], []]),
    ("/open/get_entity", [{"name": "Jackson", "birthday": None}, {"a_key_of_tomorrow": []}, None]),
    ("/movie/get_movie_info", [[{"name": "Jackson"}, {}], []]),
    ("/finance/get_price_history", [{"2023-02-28 00:00:00 EST": {"Open": 171.7}}, None]),
    ("/sports/soccer/get_games_on_date", [{"GF": {"('ENG', '2324')": "0"}}, None]),
    ("/finance/get_dividends_history", [{"2024-02-21": 0.5, "2024-02-22": None}, {}, None]),
    ("/music/get_billboard_rank_date", [[["Texas Hold 'Em"], ["Beyonce"]], [[], []], [None, None]]),
    ("/music/get_lifespan", [["1987", None], ["1901-02-03", "1980"], [None, None]]),
]
BAD: list[tuple[str, list[Any]]] = [
    ("/music/get_members", ["Lady Gaga", [1], [None], {}]),
    ("/open/search_entity_by_name", [None]),
    ("/finance/get_ticker_by_name", [1, ["AAPL"], False]),
    ("/finance/get_eps", ["22.95", True, {}]),
    ("/finance/get_market_capitalization", [[]]),
    ("/music/grammy_get_award_count_by_artist", [None, False]),
    ("/music/grammy_get_award_date_by_artist", [["2016"], 2016, [True], {"2016": 1}]),
    ("/open/get_entity", ["Jackson", [{"name": "Jackson"}], 0]),
    ("/movie/get_movie_info", [{"name": "Jackson"}, ["Jackson"], "Jackson"]),
    ("/finance/get_price_history", [[{"Open": 1}], {"2023-02-28": 171.7}, "no data"]),
    ("/finance/get_dividends_history", [{"2024-02-21": "0.5"}, [0.5], 0.5]),
    ("/music/get_billboard_rank_date", [["Texas Hold 'Em", "Beyonce"], [["a"]], {}]),
    ("/music/get_lifespan", [["1987"], "1987", [1987, None], None]),
]


@pytest.mark.parametrize(("path", "results"), GOOD)
def test_results_of_the_right_shape_and_misses_are_accepted(path: str, results: list[Any]) -> None:
    for result in results:
        check_shape(path, result)


@pytest.mark.parametrize(("path", "results"), BAD)
def test_a_result_of_another_shape_is_an_error(path: str, results: list[Any]) -> None:
    for result in results:
        with pytest.raises(KgReplyError, match=path):
            check_shape(path, result)


def test_the_message_about_a_huge_result_is_short() -> None:
    with pytest.raises(KgReplyError) as caught:
        check_shape("/finance/get_eps", "x" * 1_000_000)
    assert len(str(caught.value)) < 200


def test_equal_calls_are_equal_requests() -> None:
    path = "/sports/nba/get_games_on_date"
    assert request(path, date="2024-03-09", team_name=None) == request(path, team_name=None, date="2024-03-09")
    assert request(path, date="2024-03-09") != request(path, date="2024-03-09", team_name="Chicago Bulls")
