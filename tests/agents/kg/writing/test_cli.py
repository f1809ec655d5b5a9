"""Files in, files out: what a row gets, how a run goes on, and how a bad row is named."""

import bz2
import json
from pathlib import Path

import pytest

from agents.kg.__main__ import main

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
ROWS: list[dict[str, object]] = [
    {
        "query": "when did the film jaws premiere?",
        "query_time": "03/05/2024, 23:18:31 PT",
        "domain": "open",
        "kept": [1],
    },
    {"query": "what is a hedge fund?", "domain": "finance"},
    {"query": "hello there", "domain": "movie"},
]


@pytest.fixture
def preset(tmp_path: Path) -> str:
    path = tmp_path / "preset.toml"
    path.write_text(PRESET, encoding="utf-8")
    return str(path)


def questions(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, object]]:
    data = path.read_bytes()
    return [json.loads(line) for line in (bz2.decompress(data) if path.suffix == ".bz2" else data).splitlines()]


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.bz2"])
def test_rows_get_calls_domain_and_faults_and_keep_the_rest(tmp_path: Path, preset: str, name: str) -> None:
    out = tmp_path / name
    assert main(["write", "--in", str(questions(tmp_path, ROWS)), "--out", str(out), "--preset", preset]) == 0
    first, second, third = read(out)
    assert first == ROWS[0] | {"calls": ['get_movie("jaws")["release_date"]'], "kg_domain": "movie", "kg_faults": []}
    assert second["calls"] == ["None"]
    assert third["calls"] == []
    assert str(third["kg_faults"]).count("prose") == 2


def test_the_label_is_only_used_when_that_is_asked_for(tmp_path: Path, preset: str) -> None:
    arguments = ["write", "--in", str(questions(tmp_path, ROWS[1:2])), "--out", str(tmp_path / "out.jsonl")]
    main([*arguments, "--preset", preset])
    assert read(tmp_path / "out.jsonl")[0]["kg_domain"] == "finance"
    questions(tmp_path, [ROWS[1] | {"domain": "music"}])
    main([*arguments, "--preset", preset])
    assert read(tmp_path / "out.jsonl")[0]["kg_domain"] == "finance"
    main([*arguments, "--preset", preset, "--use-domain"])
    assert read(tmp_path / "out.jsonl")[0]["kg_domain"] == "music"


def test_a_run_goes_on_after_the_rows_of_the_last_one(tmp_path: Path, preset: str) -> None:
    source, out = questions(tmp_path, ROWS), tmp_path / "out.jsonl"
    done = ROWS[0] | {"calls": ["None"], "kg_domain": "movie", "kg_faults": [], "mark": "from the last run"}
    out.write_text(json.dumps(done) + '\n{"query": "what is a hed', encoding="utf-8")
    assert main(["write", "--in", str(source), "--out", str(out), "--preset", preset, "--resume"]) == 0
    rows = read(out)
    assert [row["query"] for row in rows] == [row["query"] for row in ROWS]
    assert [row.get("mark") for row in rows] == ["from the last run", None, None]


@pytest.mark.parametrize(
    ("rows", "more", "complaint"),
    [
        ([{"text": "who?"}], [], 'line 1: field "query" must be a text, found None'),
        ([ROWS[0], {"query": "who?", "query_time": 3}], [], 'line 2: field "query_time" must be a text, found 3'),
        ([{"query": "who?", "domain": "sport"}], ["--use-domain"], 'line 1: field "domain" must be one of'),
        ([ROWS[0]], ["--example-count", "99"], "examples"),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path,
    preset: str,
    capsys: pytest.CaptureFixture[str],
    rows: list[dict[str, object]],
    more: list[str],
    complaint: str,
) -> None:
    arguments = ["write", "--in", str(questions(tmp_path, rows)), "--out", str(tmp_path / "out.jsonl")]
    assert main([*arguments, "--preset", preset, *more]) == 1
    assert complaint in capsys.readouterr().err
