"""The knowledge graph beside a run: a process that answers while it is needed and is gone afterwards."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
import requests

from crag.core.files import UserError
from crag.evaluation.graph_server import graph_server_fault, mock_graph
from tests.mock_api.small_graph import write_graph
from tests.test_local_evaluation import results_of, rows_of, run


def ask(address: str, endpoint: str, query: str) -> Any:
    return requests.post(address + endpoint, json={"query": query}, timeout=60).json()["result"]


def test_it_serves_the_graph_of_a_folder_and_is_gone_afterwards(tmp_path: Path) -> None:
    with mock_graph(write_graph(tmp_path)) as address:
        assert ask(address, "/movie/get_movie_info_by_id", "7")["title"] == "Café Story"
    with pytest.raises(requests.ConnectionError):
        ask(address, "/movie/get_movie_info_by_id", "7")


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b'{"result": []}', None),
        (b'{"detail": "no"}', 'its reply has no "result"'),
        (b"null", 'its reply has no "result"'),
        (b"[1]", 'its reply has no "result"'),
        (b"<html>", "its reply is not JSON"),
        (b"[" * 100_000, "its reply is not JSON that can be read"),
        (b'{"result": ' + b"9" * 5000 + b"}", "its reply is not JSON that can be read"),
    ],
    ids=["good", "no-result", "null", "list", "html", "deep", "digits"],
)
def test_any_reply_says_whether_the_server_is_a_graph(
    monkeypatch: pytest.MonkeyPatch, body: bytes, fault: str | None
) -> None:
    reply = requests.Response()
    reply.status_code = 200
    reply.raw = io.BytesIO(body)
    monkeypatch.setattr(requests.Session, "post", lambda *_, **__: reply)
    assert graph_server_fault("http://127.0.0.1:1") == fault


def test_official_files_that_nobody_imported_are_reported_with_the_command(tmp_path: Path) -> None:
    (tmp_path / "music").mkdir()
    (tmp_path / "music/grammy_df.pickle").touch()
    command = f"crag graph import {tmp_path} --out DIR"
    with pytest.raises(UserError, match=re.escape(command)), mock_graph(tmp_path):
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
