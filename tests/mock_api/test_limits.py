"""What hostile clients cost the server: nothing that others would notice."""

import contextlib
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import requests

from mock_api import limits, serve
from tests.mock_api.small_graph import write_graph

PATH = "/open/search_entity_by_name"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    before, limits.REQUEST_SECONDS = limits.REQUEST_SECONDS, 0.5
    try:
        with serve(write_graph(tmp_path_factory.mktemp("graph"))) as address:
            yield address
    finally:
        limits.REQUEST_SECONDS = before


def answered(url: str) -> bool:
    return "result" in requests.post(f"{url}{PATH}", json={"query": "x"}, timeout=10).json()


def connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=10)


def test_a_body_that_says_it_is_large_is_refused_before_it_comes(url: str) -> None:
    with connected(url) as line:
        line.sendall(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 300000000\r\n\r\n".encode())
        assert line.recv(100).startswith(b"HTTP/1.1 413 ")
    assert answered(url)


def test_a_large_body_without_a_length_is_cut_off(url: str) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 300_000_000:
            sent += 1 << 16
            yield b"x" * (1 << 16)

    with contextlib.suppress(requests.ConnectionError):  # the server may close while we still send
        assert requests.post(f"{url}{PATH}", data=endless(), timeout=10).status_code == 413
    assert sent < 100_000_000
    assert answered(url)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "[NaN]", '{"a": NaN}'])
def test_what_json_cannot_hold_is_a_wrong_argument(url: str, value: str) -> None:
    reply = requests.post(f"{url}{PATH}", data=f'{{"query": {value}}}', timeout=10)
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "query"]


@pytest.mark.parametrize("beginning", [b"", b"POST ", f"POST {PATH} HTTP/1.1\r\nHost: x\r\n".encode()])
def test_connections_that_never_ask_are_closed(url: str, beginning: bytes) -> None:
    with contextlib.ExitStack() as open_ones:
        lines = [open_ones.enter_context(connected(url)) for _ in range(100)]
        for line in lines:
            line.sendall(beginning)
        assert answered(url)
        assert [line.recv(10) for line in lines] == [b""] * 100


def test_a_body_that_does_not_come_is_answered_and_closed(url: str) -> None:
    with connected(url) as line:
        line.sendall(f'POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{{"query"'.encode())
        assert line.recv(100).startswith(b"HTTP/1.1 408 ")
    assert answered(url)


def test_a_connection_that_goes_on_asking_stays_open(url: str) -> None:
    with requests.Session() as session:
        for _ in range(4):
            assert session.post(f"{url}{PATH}", json={"query": "x"}, timeout=10).ok
            time.sleep(0.3)
