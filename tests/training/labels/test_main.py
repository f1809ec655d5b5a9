"""`python -m training.labels`: a run in, labels, a table and a run card out; faults in one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.contracts import I_DONT_KNOW, INVALID_QUESTION
from tests.training.labels.runs import asked, written
from training.examples import read_examples
from training.labels.__main__ import main


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return written(
        tmp_path / "run",
        asked("a", "when did ada lovelace win an oscar?", INVALID_QUESTION, "1816"),
        asked("b", "when was ada lovelace born?", "1815-12-10", "10 December 1815"),
        asked("c", "in which city was ada lovelace born?", "london", "Paris"),
        asked("d", "where did ada lovelace die?", "marylebone", I_DONT_KNOW),
    )


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_labels_table_and_card(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "web.jsonl"
    assert main(["--run", str(run), "--out", str(out)]) == 0
    labels = [INVALID_QUESTION, "1815-12-10", "london", I_DONT_KNOW]
    assert [example.completion for example in read_examples(out)] == labels
    told = capsys.readouterr().out
    assert "hittability" in told.splitlines()[0]
    assert told.splitlines()[1].split() == ["all", "1", "1", "1", "1", "0.667"]
    card = json.loads((tmp_path / "web" / "run_card.json").read_text(encoding="utf-8"))
    assert card["settings"] == {"judge": "rules@3", "context_check": "rules@1"}
    assert card["metrics"]["domains"]["open"]["hittability"] == 0.667
    assert card["data"]["run traces.jsonl"]["bytes"] > 0


def test_a_model_looks_only_where_the_label_depends_on_it(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "web.jsonl"
    ask = ["--run", str(run), "--out", str(out), "--context-check", "llm", "--preset", "scripted", "--quiet"]
    assert main([*ask, "--set", "language_model.default_reply=yes"]) == 0
    assert [row["completion"] for row in rows_of(out)[2:]] == ["london", "marylebone"]
    assert [row["gold_in_context"] for row in rows_of(out)] == [None, None, True, True]
    assert len(rows_of(tmp_path / "web.jsonl.context_checks.jsonl")) == 2
    assert '"yes": 2' in capsys.readouterr().out
    assert main(ask) == 2
    assert "--resume uses them, --overwrite throws them away" in capsys.readouterr().err
    assert main([*ask, "--resume", "--set", "language_model.default_reply=yes"]) == 0
    assert '"known before": 2' in capsys.readouterr().out
    assert main([*ask, "--overwrite", "--set", "language_model.default_reply=no"]) == 0
    assert [row["completion"] for row in rows_of(out)[2:]] == [I_DONT_KNOW, I_DONT_KNOW]


def test_faults_are_told_in_a_line(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ["--out", str(tmp_path / "web.jsonl")]
    known = ["--run", str(run), *out]
    torn = written(tmp_path / "torn", asked("a", "where?", "london", "London"))
    (torn / "traces.jsonl").write_text('{"interaction_id": "a", "occ', encoding="utf-8")
    for arguments, code, message in [
        (["--run", str(tmp_path / "nothing"), *out], 2, "a folder written by local_evaluation.py is expected"),
        (["--run", str(torn), *out], 2, "traces.jsonl, line 1: not valid JSON"),
        ([*known, "--questions", str(tmp_path / "none.jsonl")], 2, "there is no such file"),
        (["--run", str(run), "--out", str(tmp_path / "labels")], 2, "labels.jsonl, for"),
        ([*known, "--judge", "llm"], 2, "llm judge"),
        ([*known, "--context-check", "llm"], 2, "needs --preset NAME"),
        ([*known, "--context-check", "llm", "--preset", "nosuch"], 2, "there is no preset 'nosuch'"),
        (
            [
                *known,
                "--context-check",
                "llm",
                "--preset",
                "scripted",
                "--quiet",
                "--set",
                "language_model.fault=die_after",
            ],
            1,
            "--resume goes on",
        ),
    ]:
        assert main(arguments) == code
        told = capsys.readouterr().err
        assert told.startswith("error: ")
        assert message in told
        assert told.count("\n") == 1
    assert not (tmp_path / "web.jsonl").exists()
