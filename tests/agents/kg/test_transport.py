"""One exchange with the server: what is sent, when it is sent again, and what of the reply is told."""

import json
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from agents.deadline import Deadline
from agents.kg.endpoints import KgBusyError, KgError, KgReplyError, KgRequestError, KgTimeoutError
from agents.kg.transport import Transport, read_result
from agents.settings import KgClientSettings
from tests.agents.kg.faulty_server import FaultyServer

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


def test_a_timeout_is_told_with_its_time_and_not_tried_again() -> None:
    with FaultyServer() as server:
        server.fault = "hang"
        transport = Transport(server.url, KgClientSettings(connect_seconds=0.1, read_seconds=0.1, max_attempts=3))
        started = time.monotonic()
        with pytest.raises(KgTimeoutError, match=r"/open/get_entity: no whole reply after \d+\.\d\d s"):
            transport.ask(PATH, {}, Deadline(30.0))
        assert time.monotonic() - started >= 0.1
        assert len(server.requests) == 1
        transport.close()


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
