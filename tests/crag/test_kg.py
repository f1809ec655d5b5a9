"""`python -m agents.kg` as a person or a script uses it."""

import bz2
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.common.deadline import Deadline
from agents.llm import Generation, GenerationRequest, scripted_engine
from agents.llm.scripted_engine import ScriptedLanguageModel
from crag.kg import main
from mock_api import serve
from tests.agents.kg.faulty_server import FaultyServer, unused_address


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve() as address:
        yield address


def run(
    capsys: pytest.CaptureFixture[str], calls: str, url: str, *more: str, domain: str = "movie"
) -> tuple[int, list[dict[str, Any]]]:
    code = main(["run", calls, "--domain", domain, "--kg-url", url, *more])
    return code, json.loads(capsys.readouterr().out)["statements"]


def test_a_value_comes_with_its_sentence_and_its_canonical_call(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, (statement,) = run(capsys, "get_movie('titanic')[release_date]", server)
    assert code == 0
    assert statement["call"] == 'get_movie("titanic")["release_date"]'
    assert (statement["status"], statement["values"]) == ("ok", ["1997-12-19"])
    assert "1997-12-19" in statement["text"]
    assert "rows" not in statement
    _, (with_rows,) = run(capsys, "get_movie('titanic')[release_date]", server, "--rows")
    assert with_rows["rows"][0]["cells"]["title"] == "Titanic"


def test_calls_come_from_a_file_or_standard_input_and_dates_from_the_time_of_asking(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, asked = 'get_stock_price("nvidia","yesterday")["close"]\n', ("--query-time", "03/09/2024, 10:00:00 PT")
    path = tmp_path / "calls.txt"
    path.write_text(calls, encoding="utf-8")
    code, (statement,) = run(capsys, str(path), server, *asked, domain="finance")
    assert (code, statement["values"]) == (0, [875.28])
    monkeypatch.setattr("sys.stdin", io.StringIO(calls))
    monkeypatch.setenv("CRAG_MOCK_API_URL", server)
    assert main(["run", "-", "--domain", "finance", *asked]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["statements"][0]["values"] == [875.28]
    assert shown["http_calls"] > 0


@pytest.mark.parametrize(
    ("calls", "code", "statuses"),
    [
        ('get_movie("no such film anywhere")', 0, ["not_found"]),
        ("get_movie(", 1, ["invalid"]),
        ('get_movie("titanic")\nsort(None,year)["year"][:1]\nget_movie("")', 1, ["ok", "ok", "invalid"]),
        ("None", 0, []),
        *((no_file, 1, ["invalid"]) for no_file in ("x" * 300, "get_movie(" + '"a"' * 2000, "a\0b")),
    ],
)
def test_the_exit_code_is_that_of_the_worst_statement(
    server: str, capsys: pytest.CaptureFixture[str], calls: str, code: int, statuses: list[str]
) -> None:
    ended, statements = run(capsys, calls, server)
    assert (ended, [statement["status"] for statement in statements]) == (code, statuses)


def test_a_graph_that_is_down_is_told_apart_and_the_time_limit_is_the_users(capsys: pytest.CaptureFixture[str]) -> None:
    code, (statement,) = run(capsys, 'get_movie("titanic")', unused_address())
    assert (code, statement["status"]) == (3, "kg_down")
    with FaultyServer() as stuck:
        stuck.fault = "hang"
        code, (statement,) = run(capsys, 'get_movie("heat")["title"]', stuck.url, "--seconds", "0.2")
    assert (code, statement["status"]) == (3, "kg_down")


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["--domain", "movie", "--kg-url", "ftp://x"], "must be http://"),
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


# --- write ----------------------------------------------------------------------------------------------------------

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
    return main(["write", *paths, *more])


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


def test_the_label_is_only_used_and_a_file_only_replaced_when_that_is_asked_for(
    preset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = FUND | {"domain": "music"}
    assert write(preset, [row]) == 0
    assert read(preset)[0]["kg_domain"] == "finance"
    assert write(preset, [row]) == 2
    assert "--resume continues it, --overwrite replaces it" in capsys.readouterr().err
    assert write(preset, [row], "--overwrite", "--use-domain") == 0
    assert read(preset)[0]["kg_domain"] == "music"


def test_a_run_goes_on_after_the_rows_of_the_last_one(preset: Path) -> None:
    done = JAWS | {"calls": ["None"], "kg_domain": "movie", "kg_faults": [], "mark": "from the last run"}
    preset.with_name("out.jsonl").write_text(json.dumps(done) + '\n{"query": "what is a hed', encoding="utf-8")
    assert write(preset, [JAWS, FUND, HELLO], "--resume") == 0
    assert [row["query"] for row in read(preset)] == [JAWS["query"], FUND["query"], HELLO["query"]]
    assert [row.get("mark") for row in read(preset)] == ["from the last run", None, None]


@pytest.mark.parametrize(
    ("arguments", "adapter", "shown"),
    [
        ([], "tuned", 2),
        (["--adapter", "tuned", "--examples", "none"], "tuned", 0),
        (["--adapter", "elsewhere"], "chosen", 2),
        (["--adapter", "none", "--set", "knowledge_graph.writer.examples=1"], None, 1),
    ],
)
def test_base_and_tuned_are_asked_with_examples_and_without(
    preset: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], adapter: str | None, shown: int
) -> None:
    asked: list[GenerationRequest] = []

    class Recording(ScriptedLanguageModel):
        def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
            asked.extend(requests)
            return super().generate(requests, deadline)

    monkeypatch.setattr(scripted_engine, "ScriptedLanguageModel", Recording)
    writer = '[language_model.adapters]\ntuned = "x"\n[knowledge_graph.writer]\nadapter = "tuned"\nexamples = 2\n'
    preset.write_text(PRESET + writer, encoding="utf-8")
    assert write(preset, [FUND], *arguments) == 0
    assert read(preset)[0]["calls"] == ["None"], "the engine knows the adapter"
    assert [request.adapter for request in asked] == [adapter]
    assert (asked[0].prompt or "").count("Question:") == shown + 1


@pytest.mark.parametrize(
    ("rows", "more", "complaint"),
    [
        ([{"text": "who?"}], [], 'line 1: field "query" must be a text, found None'),
        ([JAWS, {"query": "who?", "query_time": 3}], [], 'line 2: field "query_time" must be a text, found 3'),
        ([{"query": "who?", "domain": "sport"}], ["--use-domain"], 'line 1: field "domain" must be one of'),
        ([JAWS], ["--set", "knowledge_graph.writer.names=1"], 'key "knowledge_graph.writer.names": unknown key'),
    ],
)
def test_what_is_wrong_is_named(
    preset: Path, capsys: pytest.CaptureFixture[str], rows: Rows, more: list[str], complaint: str
) -> None:
    assert write(preset, rows, *more) == 2
    assert complaint in capsys.readouterr().err
