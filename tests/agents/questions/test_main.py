"""`python -m agents.questions classify` on files, with a tiny classifier and with a scripted model."""

import bz2
import json
from pathlib import Path

import pytest

import agents.questions.__main__ as command
from agents.common.contracts import label
from agents.questions import classifier
from agents.questions.__main__ import main
from agents.settings import PRESETS
from tests.agents.questions.tiny_bert import build_bert, build_classifier

ROWS = [
    {"query": "who sang the song ?", "extra": [1]},
    {"query": "what is acme ?", "query_time": "03/05/2024, 23:18:31 PT"},
]


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A classifier `tiny`, and a tiny BERT in the place of the encoder that it names."""
    bert = build_bert(tmp_path / "bert")
    monkeypatch.setattr(command, "_use_one_thread", lambda: None)  # it would stay so in this process
    monkeypatch.setattr(classifier, "locate", lambda name: bert)
    monkeypatch.setattr(classifier, "SHIPPED", tmp_path / "routers")
    build_classifier(tmp_path / "routers" / "tiny")


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_rows_keep_what_they_have_and_get_a_route(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "in.jsonl", *map(json.dumps, ROWS))
    out = tmp_path / "out.jsonl.bz2"
    assert main(["classify", "--in", str(source), "--out", str(out), "--classifiers", "tiny"]) == 0
    rows = [json.loads(line) for line in bz2.decompress(out.read_bytes()).splitlines()]
    assert [{key: row[key] for key in row if key != "route"} for row in rows] == ROWS
    assert all(label(row["route"], "question_type") for row in rows)
    captured = capsys.readouterr()
    assert "2 rows" in captured.err
    assert "ms per question" in captured.err
    assert captured.out == ""


def test_a_packed_file_and_a_limit(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl.bz2", tmp_path / "out.jsonl"
    source.write_bytes(bz2.compress("\n".join(map(json.dumps, ROWS * 20)).encode()))
    arguments = ["classify", "--in", str(source), "--out", str(out), "--classifiers", "tiny", "--limit", "17"]
    assert main(arguments) == 0
    assert len(out.read_text(encoding="utf-8").splitlines()) == 17


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"query": "who ?"}', "{"], "line 2: not valid JSON"),
        (['{"query": 7}'], 'line 1, field "query"'),
        (['{"question": "who ?"}'], 'line 1, field "query"'),
        (['{"query": " "}'], 'line 1, field "query"'),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[str], message: str
) -> None:
    out = tmp_path / "out.jsonl"
    source = write(tmp_path / "in.jsonl", *lines)
    assert main(["classify", "--in", str(source), "--out", str(out), "--classifiers", "tiny"]) == 1
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_what_is_missing_is_reported_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write(tmp_path / "in.jsonl", json.dumps(ROWS[0]))
    out = str(tmp_path / "out.jsonl")
    assert main(["classify", "--in", str(tmp_path / "none.jsonl"), "--out", out]) == 1
    assert main(["classify", "--in", str(source), "--out", out, "--classifiers", "nobody"]) == 1
    assert main(["classify", "--in", str(source), "--out", out, "--preset", "nothing"]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3
    assert all(line.startswith("error: ") for line in errors)
    assert "training.router --config nobody" in errors[1]


def test_a_preset_may_ask_the_language_model(tmp_path: Path) -> None:
    text = (PRESETS / "scripted.toml").read_text(encoding="utf-8")
    preset = write(tmp_path / "asking.toml", text.replace("[web", '[router]\nengine = "prompt"\n\n[web', 1))
    source = write(tmp_path / "in.jsonl", *map(json.dumps, ROWS))
    out = tmp_path / "out.jsonl"
    assert main(["classify", "--in", str(source), "--out", str(out), "--preset", str(preset)]) == 0
    routes = [json.loads(line)["route"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert routes == [{}] * len(ROWS), "this model says nothing about a question"
