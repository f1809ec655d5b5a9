"""`crag ask`: an answer, its reasons, and what a mistake is told."""

import json
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from crag.__main__ import main
from evaluation.datasets import DEFAULT_DATASET

QUESTION = "who directed rain man?"
SAYS = ["--preset", "scripted", "--set", 'language_model.replies={"who directed" = "Barry Levinson"}']
PAGE = "<html><head><title>Rain  Man</title></head><body><p>Rain Man is by Barry Levinson.</p></body></html>"


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "rain.html"
    path.write_text(PAGE, encoding="utf-8")
    return str(path)


def test_one_question_has_one_answer(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", QUESTION, "--pages", page, *SAYS]) == 0
    said = capsys.readouterr()
    assert said.out == "Barry Levinson\n"
    assert said.err.startswith("loading the models of preset scripted")


def test_why_shows_the_way_to_the_answer(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", QUESTION, "--pages", page, "--why", "--time", "03/05/2024, 23:18:31 PT", *SAYS]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "question   who directed rain man?  (03/05/2024, 23:18:31 PT)"
    assert any(line.startswith("pages      1 read, ") for line in lines)
    assert any("Rain Man: Rain Man is by Barry Levinson." in line for line in lines)
    assert any("'Barry Levinson' from web" in line for line in lines)
    assert "answer     Barry Levinson" in lines
    assert lines[-1].startswith("because    web: ")


def test_pages_may_come_from_addresses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with HTTPServer() as server:
        server.expect_request("/rain").respond_with_data(PAGE, content_type="text/html")
        addresses = tmp_path / "addresses.txt"
        addresses.write_text(f"{server.url_for('/rain')}\n{server.url_for('/gone')}\n", encoding="utf-8")
        assert main(["ask", QUESTION, "--url-file", str(addresses), "--why", *SAYS]) == 0
        said = capsys.readouterr()
        assert f"left out: {server.url_for('/gone')}: HTTPError" in said.err
    assert "pages      1 read, " in said.out
    assert "answer     Barry Levinson" in said.out


def test_without_page_and_graph_the_shipped_graph_is_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_MOCK_API_URL", "")
    call = 'language_model.replies={"Calls:" = \'get_movie("titanic")["revenue"]\'}'
    graph = ["--set", 'knowledge_graph.source_policy="graph_first"', "--set", call]
    assert main(["ask", "what did titanic earn?", "--json", "--preset", "scripted", *graph]) == 0
    said = capsys.readouterr()
    assert "asking the small graph that is shipped" in said.err
    trace = json.loads(said.out)
    assert trace["graph_state"] == "found"


def test_a_run_may_be_started_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--dataset", str(DEFAULT_DATASET), "--limit", "2", "--preset", "scripted", "--output", str(tmp_path / "run")]
    assert main(["evaluate", *few]) == 0
    assert (tmp_path / "run" / "report.html").is_file()
    assert "all questions" in capsys.readouterr().out
