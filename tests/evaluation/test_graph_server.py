"""The knowledge graph beside a run: a process that answers while it is needed and is gone afterwards."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from evaluation import graph_server
from evaluation.graph_server import GraphServerError, mock_graph
from tests.mock_api.small_graph import write_graph
from tests.test_local_evaluation import results_of, rows_of, run


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list["subprocess.Popen[Any]"]]:
    """The processes that were started; the test fails if one is still there at its end."""
    begun: list[subprocess.Popen[Any]] = []

    class Noted(subprocess.Popen[Any]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            begun.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    yield begun
    assert len(begun) == 1
    assert begun[0].returncode is not None


def ask(address: str, endpoint: str, query: str) -> Any:
    return requests.post(address + endpoint, json={"query": query}, timeout=5).json()["result"]


@pytest.mark.usefixtures("processes")
def test_it_answers_from_the_shipped_graph_and_is_gone_afterwards() -> None:
    with mock_graph() as address:
        assert ask(address, "/movie/get_movie_info", "the godfather")[0]["title"] == "The Godfather"
    with pytest.raises(requests.ConnectionError):
        ask(address, "/movie/get_movie_info", "the godfather")


@pytest.mark.usefixtures("processes")
def test_it_serves_the_graph_of_a_folder(tmp_path: Path) -> None:
    with mock_graph(write_graph(tmp_path)) as address:
        assert ask(address, "/movie/get_movie_info_by_id", "7")["title"] == "Café Story"


@pytest.mark.usefixtures("processes")
def test_a_folder_that_is_no_graph_is_named(tmp_path: Path) -> None:
    with pytest.raises(GraphServerError, match=f"did not start: .*{tmp_path.name}"), mock_graph(tmp_path):
        pass


@pytest.mark.usefixtures("processes")
def test_official_files_that_nobody_imported_are_reported_with_the_command(tmp_path: Path) -> None:
    (tmp_path / "music").mkdir()
    (tmp_path / "music/grammy_df.pickle").touch()
    command = f"python -m mock_api.tables import {tmp_path} --out DIR"
    with pytest.raises(GraphServerError, match=re.escape(command)), mock_graph(tmp_path):
        pass


def test_a_large_graph_is_given_time_to_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "movie").mkdir()
    (tmp_path / "movie/year_db.json").write_text('{"1992": {}}' + " " * 90_000, encoding="utf-8")
    monkeypatch.setattr(graph_server, "START_SECONDS", 0.0)
    monkeypatch.setattr(graph_server, "BYTES_PER_SECOND", 1_000)
    with mock_graph(tmp_path) as address:
        assert ask(address, "/movie/get_year_info", "1992") == {}


@pytest.mark.usefixtures("processes")
def test_a_server_that_is_not_ready_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_server, "START_SECONDS", 0.01)
    with pytest.raises(GraphServerError, match=r"was not ready in 0\.01 s"), mock_graph():
        pass


def test_a_run_of_the_sample_with_the_shipped_graph(tmp_path: Path) -> None:
    options = ["--preset", "scripted", "--mock-kg", "--limit", "2", "--output", str(tmp_path / "out"), "--quiet"]
    code, out, err = run(options)
    assert code == 0, err
    assert "all" in out
    results = results_of(tmp_path / "out")
    assert results["n"] == 2
    assert results["signature"]["kg"] == "mock:shipped"
    assert (results["timeouts"], results["errors"]) == (0, 0)
    for row in rows_of(tmp_path / "out", "traces.jsonl"):
        assert row["prompts"]["calls"], "the graph was asked"
        assert "knowledge_graph" in row["seconds"]
