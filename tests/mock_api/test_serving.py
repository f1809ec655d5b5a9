import socket
from pathlib import Path

import pytest
import requests

from mock_api import GraphError, serve
from mock_api.server import listen, url_of
from tests.mock_api.small_graph import write_graph


def test_two_servers_run_side_by_side_and_are_gone_afterwards(tmp_path: Path) -> None:
    graph = write_graph(tmp_path)
    with serve(graph) as first, serve(graph) as second:
        assert first != second
        assert all(requests.get(url, timeout=10).status_code == 200 for url in (first, second))
    for url in (first, second):
        with pytest.raises(requests.ConnectionError):
            requests.get(url, timeout=10)


def test_a_broken_graph_is_the_callers_error() -> None:
    with pytest.raises(GraphError, match="nowhere"), serve(Path("nowhere")):
        pass


def test_the_server_stops_when_the_block_fails_and_a_client_stays_connected(tmp_path: Path) -> None:
    with requests.Session() as session, pytest.raises(requests.HTTPError), serve(write_graph(tmp_path)) as url:
        session.get(f"{url}/nowhere", timeout=10).raise_for_status()


def test_a_kept_connection_answers_at_once() -> None:
    """Without TCP_NODELAY, which connections inherit, every answer but the first takes 40 ms."""
    with listen() as listening, socket.create_connection(listening.getsockname()) as client:
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert client.recv(1) == b""


def test_addresses_of_both_families_have_a_url() -> None:
    with listen() as four:
        assert url_of(four) == f"http://127.0.0.1:{four.getsockname()[1]}"
    try:
        six = listen("::1")
    except OSError:
        pytest.skip("this machine has no IPv6")
    with six:
        assert url_of(six) == f"http://[::1]:{six.getsockname()[1]}"
