"""`python -m agents.kg run`: where the calls come from, and what the exit code and the output say of several."""

import io
import json
from typing import Any

import pytest

from agents.kg.__main__ import main
from tests.agents.kg.faulty_server import FaultyServer

HEAT = 'get_movie("heat")["title"]'


def run(capsys: pytest.CaptureFixture[str], calls: str, url: str, *more: str, domain: str = "movie") -> tuple[int, Any]:
    code = main(["run", calls, "--domain", domain, "--kg-url", url, *more])
    return code, json.loads(capsys.readouterr().out)


def test_calls_come_from_standard_input(
    graph_address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('get_movie("blue door")["revenue"]'))
    code, shown = run(capsys, "-", graph_address)
    assert (code, shown["statements"][0]["values"]) == (0, [700])
    assert shown["http_calls"] > 0


def test_the_address_comes_from_the_environment(
    graph_address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_MOCK_API_URL", graph_address)
    assert main(["run", 'get_movie("red kite 2")["revenue"]', "--domain", "movie"]) == 0
    assert json.loads(capsys.readouterr().out)["statements"][0]["values"] == [900]


def test_the_worst_statement_is_the_exit_code(graph_address: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = run(capsys, 'get_movie("red kite 2")\nsort(None,year)["year"][:1]\nget_movie("")', graph_address)
    assert [statement["status"] for statement in shown["statements"]] == ["ok", "ok", "invalid"]
    assert code == 1


def test_no_statements_are_no_failure(graph_address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "None", graph_address) == (0, {"statements": [], "http_calls": 0})


def test_all_rows_are_printed_as_they_are_written(graph_address: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", 'get_song("÷")', "--domain", "music", "--kg-url", graph_address])
    assert '"get_song(\\"÷\\")"' in capsys.readouterr().out
    _, shown = run(capsys, 'get_movie_person_cast("red kite")', graph_address, "--rows")
    assert [row["cells"]["name"] for row in shown["statements"][0]["rows"]] == ["Bob Ray", "Ann Lee"]


@pytest.mark.parametrize("calls", ["x" * 300, "get_movie(" + '"a"' * 2000, "a\0b"])
def test_what_is_no_name_of_a_file_is_read_as_calls(
    calls: str, graph_address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, shown = run(capsys, calls, graph_address)
    assert (code, shown["statements"][0]["status"]) == (1, "invalid")


def test_the_time_limit_is_the_users(capsys: pytest.CaptureFixture[str]) -> None:
    with FaultyServer() as server:
        server.fault = "hang"
        code, shown = run(capsys, HEAT, server.url, "--seconds", "0.2")
    assert (code, shown["statements"][0]["status"]) == (3, "kg_down")
