"""`crag bench starter-kit` with a server of one's own: every baseline and the preset, in one table."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crag.benchmarks.starter_kit import FROM_MEMORY
from crag.commands.bench.starter_kit import main
from crag.evaluation.lost import EXIT_LOST
from crag.weights.manifest import WeightsMissingError, locate

PAGES = [
    {
        "page_name": "Mills",
        "page_url": "https://mills.example/orle",
        "page_snippet": "",
        "page_result": "<p>The Orle mill was built in 1788 by Ann Tarvik.</p>",
        "page_last_modified": "",
    }
]
QUESTION = {
    "interaction_id": "a",
    "query": "who built the orle mill?",
    "query_time": "03/05/2024, 23:18:31 PT",
    "search_results": PAGES,
    "answer": "Ann Tarvik",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HTTPServer]:
    """A server that knows nothing, but can read; from memory it guesses."""

    def answer(request: Request) -> Response:
        system, user = (message["content"] for message in json.loads(request.data)["messages"])
        text = "Bo Lind" if system == FROM_MEMORY else "Ann Tarvik" if "Ann Tarvik" in user else "I don't know"
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 20, "completion_tokens": 3}
        return Response(json.dumps({"choices": [choice], "usage": usage}), content_type="application/json")

    with HTTPServer(threaded=True) as server:
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(answer)
        server.expect_request("/v1/models").respond_with_json({"object": "list", "data": [{"id": "mine"}]})
        monkeypatch.setenv("CRAG_LLM_URL", server.url_for("/v1"))
        monkeypatch.delenv("CRAG_LLM_MODEL", raising=False)
        yield server


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    """A preset for the server that needs no weights, and one question."""
    preset = tmp_path / "served.toml"
    preset.write_text('extends = "scripted"\n[language_model]\nengine = "openai"\n[web.extract]\nworkers = 0\n')
    dataset = tmp_path / "one.jsonl"
    dataset.write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    where = ["--preset", str(preset), "--dataset", str(dataset), "--output", str(tmp_path / "kit")]
    return [*where, "--in-process", "--quiet"]


def table(printed: str) -> dict[str, list[str]]:
    """The cells of the last table by system."""
    lines = printed[printed.rindex("| system") :].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {name: cells for name, *cells in rows}


def test_the_table_shows_that_a_model_guesses_from_memory_and_is_right_with_pages(
    server: HTTPServer, options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        locate("all-minilm-l6-v2")
    except WeightsMissingError as error:
        pytest.skip(str(error))

    assert main(options) == 0
    rows = table(capsys.readouterr().out)
    assert list(rows) == ["vanilla", "rag", "preset"], "no graph, so no baseline for it"
    assert [rows[name][1:5] for name in rows] == [
        ["0", "1", "0", "-1.000"],
        ["1", "0", "0", "+1.000"],
        ["1", "0", "0", "+1.000"],
    ]
    assert [cells[-1] for cells in rows.values()] == ["-", "1.000", "1.000"], "vanilla reads nothing"

    for name in rows:
        signature = json.loads((tmp_path / "kit" / name / "run.json").read_text(encoding="utf-8"))["signature"]
        assert signature["model"].startswith("mine at http://")
        assert signature["preset"].startswith("served@"), name

    (trace,) = (tmp_path / "kit" / "vanilla" / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(trace)["tokens"] == {"prompt": 20, "completion": 3}


def test_one_system_runs_alone_and_its_table_comes_again_without_asking(
    server: HTTPServer, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*options, "--only", "vanilla"]) == 0
    server.clear_log()

    assert main([*options, "--only", "vanilla", "--resume"]) == 0
    assert all(request.method == "GET" for request, _ in server.log), "no completion is asked for"
    assert list(table(capsys.readouterr().out)) == ["vanilla"]


def test_a_server_that_fails_loses_answers_and_says_so(
    server: HTTPServer, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    server.clear()
    server.expect_request("/v1/models").respond_with_json({"object": "list", "data": [{"id": "mine"}]})
    server.expect_request("/v1/chat/completions").respond_with_json({"error": {"message": "out of memory"}}, 500)
    assert main([*options, "--only", "vanilla"]) == EXIT_LOST
    told = capsys.readouterr()
    assert "out of memory" in told.err
    assert "--resume" in told.err


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--only", "rag-kg"], "rag-kg needs a graph"),
        (["--agent", "mine.py:Mine"], "--agent cannot be chosen here"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(
    options: list[str], more: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*options, *more]) == 2
    assert told in capsys.readouterr().err
