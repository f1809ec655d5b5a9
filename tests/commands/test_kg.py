"""`crag graph run` and `crag inspect calls` as a person or a script uses it."""

import bz2
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from crag.commands.graph.run import main as run_calls
from crag.commands.inspect.calls import main as write_calls
from crag.mock_api import serve
from tests.graph.faulty_server import FaultyServer, unused_address


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve() as address:
        yield address


def run(capsys: pytest.CaptureFixture[str], calls: str, url: str, *more: str) -> tuple[int, list[dict[str, Any]]]:
    code = run_calls([calls, "--domain", "movie", "--kg-url", url, *more])
    return code, json.loads(capsys.readouterr().out)["statements"]


def test_a_value_comes_with_its_sentence_and_its_canonical_call(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, (statement,) = run(capsys, "get_movie('titanic')[release_date]", server)
    assert code == 0
    assert statement["call"] == 'get_movie("titanic")["release_date"]'
    assert (statement["status"], statement["values"]) == ("ok", ["1997-12-19"])
    assert "1997-12-19" in statement["text"]


def test_relative_dates_count_from_the_query_time_and_the_server_is_that_of_the_environment(
    server: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_MOCK_API_URL", server)
    options = ["--domain", "finance", "--query-time", "03/09/2024, 10:00:00 PT"]
    assert run_calls(['get_stock_price("nvidia","yesterday")["close"]', *options]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["statements"][0]["values"] == [875.28]
    assert printed["http_calls"] > 0


def test_a_graph_that_is_down_has_its_own_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    code, (statement,) = run(capsys, 'get_movie("titanic")', unused_address())
    assert (code, statement["status"]) == (3, "kg_down")


def test_the_user_limits_how_long_a_graph_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    with FaultyServer() as stuck:
        stuck.fault = "hang"
        code, (statement,) = run(capsys, 'get_movie("heat")["title"]', stuck.url, "--seconds", "0.2")
    assert (code, statement["status"]) == (3, "kg_down")


# --- inspect calls --------------------------------------------------------------------------------------------------

PRESET = """
description = "answers from a script"
batch_size = 2
[language_model]
engine = "scripted"
default_reply = "None"
[language_model.replies]
"film jaws premiere" = 'get_movie("jaws")["release_date"]'
"hello there" = "Hello! How can I help?"
[web]
pages = { method = "bm25" }
retrieve = [{ method = "bm25", top_k = 4 }]
[web.chunk]
method = "words"
"""
JAWS = {"query": "when did the film jaws premiere?", "query_time": "03/05/2024, 23:18:31 PT", "domain": "open"}
FUND = {"query": "what is a hedge fund?", "domain": "finance"}
HELLO = {"query": "hello there", "domain": "movie"}
Rows = Sequence[dict[str, Any]]


@pytest.fixture
def preset(tmp_path: Path) -> Path:
    path = tmp_path / "preset.toml"
    path.write_text(PRESET, encoding="utf-8")
    return path


def write(preset: Path, rows: Rows, *more: str, out: str = "out.jsonl") -> int:
    """Run the command over these rows, in the preset's folder."""
    source = preset.with_name("in.jsonl")
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    paths = ["--in", str(source), "--out", str(preset.with_name(out)), "--preset", str(preset)]
    return write_calls([*paths, *more])


def read(preset: Path, name: str = "out.jsonl") -> list[dict[str, Any]]:
    data = preset.with_name(name).read_bytes()
    return [json.loads(line) for line in (bz2.decompress(data) if name.endswith(".bz2") else data).splitlines()]


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.bz2"])
def test_rows_get_calls_domain_and_faults_and_keep_the_rest(preset: Path, name: str) -> None:
    assert write(preset, [JAWS | {"kept": [1]}, FUND, HELLO], out=name) == 0
    first, second, third = read(preset, name)
    calls = ['get_movie("jaws")["release_date"]']
    assert first == JAWS | {"kept": [1], "calls": calls, "kg_domain": "movie", "kg_faults": []}
    assert second["calls"] == ["None"]
    assert third["calls"] == []
    assert str(third["kg_faults"]).count("prose") == 2


def test_a_file_is_only_replaced_when_that_is_asked_for(preset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert write(preset, [FUND]) == 0
    assert write(preset, [FUND]) == 2
    assert "--resume continues it, --overwrite replaces it" in capsys.readouterr().err
    assert write(preset, [FUND], "--overwrite") == 0


def test_a_dash_is_standard_output(
    preset: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(preset.parent)
    source = preset.with_name("in.jsonl")
    source.write_text(json.dumps(FUND) + "\n", encoding="utf-8")
    assert write_calls(["--in", str(source), "--out", "-", "--preset", str(preset)]) == 0
    assert json.loads(capsys.readouterr().out) == FUND | {"calls": ["None"], "kg_domain": "finance", "kg_faults": []}
    assert not Path("-").exists()


def test_a_run_goes_on_after_the_rows_of_the_last_one(preset: Path) -> None:
    done = JAWS | {"calls": ["None"], "kg_domain": "movie", "kg_faults": [], "mark": "from the last run"}
    preset.with_name("out.jsonl").write_text(json.dumps(done) + '\n{"query": "what is a hed', encoding="utf-8")
    assert write(preset, [JAWS, FUND, HELLO], "--resume") == 0
    assert [row["query"] for row in read(preset)] == [JAWS["query"], FUND["query"], HELLO["query"]]
    assert [row.get("mark") for row in read(preset)] == ["from the last run", None, None]


@pytest.mark.parametrize(
    ("rows", "more", "complaint"),
    [
        ([{"text": "who?"}], [], 'line 1, field "query": missing or null; the row has text'),
        ([JAWS, {"query": " "}], [], "line 2, field \"query\": expected a question, found ' '"),
        ([JAWS, {"query": "who?", "query_time": 3}], [], 'line 2, field "query_time": expected a string, found 3'),
        ([JAWS], ["--set", "knowledge_graph.writer.names=1"], 'key "knowledge_graph.writer.names": unknown key'),
    ],
)
def test_what_is_wrong_is_named(
    preset: Path, capsys: pytest.CaptureFixture[str], rows: Rows, more: list[str], complaint: str
) -> None:
    assert write(preset, rows, *more) == 2
    assert complaint in capsys.readouterr().err
