"""`python -m agents.kg run` as a person or a script uses it."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.kg.__main__ import main
from mock_api import serve
from tests.agents.kg.faulty_server import FaultyServer, unused_address


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve() as address:
        yield address


def run(capsys: pytest.CaptureFixture[str], calls: str, url: str, *more: str, domain: str = "movie") -> tuple[int, Any]:
    code = main(["run", calls, "--domain", domain, "--kg-url", url, *more])
    return code, json.loads(capsys.readouterr().out)


def statements(
    capsys: pytest.CaptureFixture[str], calls: str, url: str, *more: str, domain: str = "movie"
) -> tuple[int, Any]:
    code, shown = run(capsys, calls, url, *more, domain=domain)
    return code, shown["statements"]


def test_a_value_comes_with_its_sentence_and_its_canonical_call(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, (statement,) = statements(capsys, "get_movie('titanic')[release_date]", server)
    assert code == 0
    assert statement["call"] == 'get_movie("titanic")["release_date"]'
    assert (statement["status"], statement["values"]) == ("ok", ["1997-12-19"])
    assert "1997-12-19" in statement["text"]
    assert "rows" not in statement
    _, (with_rows,) = statements(capsys, "get_movie('titanic')[release_date]", server, "--rows")
    assert with_rows["rows"][0]["cells"]["title"] == "Titanic"


def test_calls_come_from_a_file_too_and_dates_from_the_time_of_asking(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "calls.txt"
    path.write_text('get_stock_price("nvidia","yesterday")["close"]\n', encoding="utf-8")
    asked = ("--query-time", "03/09/2024, 10:00:00 PT")
    code, (statement,) = statements(capsys, str(path), server, *asked, domain="finance")
    assert (code, statement["values"]) == (0, [875.28])


def test_the_exit_code_tells_not_found_from_invalid_from_a_dead_server(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, 'get_movie("no such film anywhere")', server)[0] == 0
    code, (statement,) = statements(capsys, "get_movie(", server)
    assert (code, statement["status"]) == (1, "invalid")
    assert "missing_bracket" in statement["explanation"][0]
    code, (statement,) = statements(capsys, 'get_movie("titanic")', unused_address())
    assert (code, statement["status"]) == (3, "kg_down")


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["--domain", "movie", "--kg-url", "ftp://x"], "must begin with http://"),
        (["--domain", "cooking", "--kg-url", "http://x"], "invalid choice: 'cooking'"),
        (["--domain", "movie", "--kg-url", "http://x", "--query-time", "noon"], "03/05/2024, 23:18:31 PT"),
        (["--domain", "movie"], "CRAG_MOCK_API_URL is not set"),
    ],
)
def test_a_wrong_argument_is_reported_in_a_line(
    arguments: list[str], reported: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CRAG_MOCK_API_URL", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["run", "None", *arguments])
    assert ended.value.code == 2
    assert reported in capsys.readouterr().err.splitlines()[-1]


def test_calls_come_from_standard_input_and_the_address_from_the_environment(
    graph_address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('get_movie("blue door")["revenue"]'))
    monkeypatch.setenv("CRAG_MOCK_API_URL", graph_address)
    assert main(["run", "-", "--domain", "movie"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["statements"][0]["values"] == [700]
    assert shown["http_calls"] > 0


def test_the_worst_statement_is_the_exit_code(graph_address: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = run(capsys, 'get_movie("red kite 2")\nsort(None,year)["year"][:1]\nget_movie("")', graph_address)
    assert [statement["status"] for statement in shown["statements"]] == ["ok", "ok", "invalid"]
    assert code == 1
    assert run(capsys, "None", graph_address) == (0, {"statements": [], "http_calls": 0})


@pytest.mark.parametrize("calls", ["x" * 300, "get_movie(" + '"a"' * 2000, "a\0b"])
def test_what_is_no_name_of_a_file_is_read_as_calls(
    calls: str, graph_address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, shown = run(capsys, calls, graph_address)
    assert (code, shown["statements"][0]["status"]) == (1, "invalid")


def test_the_time_limit_is_the_users(capsys: pytest.CaptureFixture[str]) -> None:
    with FaultyServer() as server:
        server.fault = "hang"
        code, shown = run(capsys, 'get_movie("heat")["title"]', server.url, "--seconds", "0.2")
    assert (code, shown["statements"][0]["status"]) == (3, "kg_down")
