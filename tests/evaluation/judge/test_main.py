"""`python -m evaluation.judge`."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.datasets import write_rows
from evaluation.judge.__main__ import main

ROWS: list[dict[str, Any]] = [
    {"query": "who?", "ground_truth": "ann lee", "prediction": "Ann Lee wrote it.", "kept": 1},
    {"query": "who?", "answer": "ann lee", "alternative_answers": '["bob ray"]', "prediction": "bob ray"},
    {"query": "who?", "answer": "ann lee", "prediction": "i don't know"},
    {"query": "who?", "answer": None, "prediction": "ann lee"},
    {"query": "who?", "answer": "ann lee", "prediction": "cy young"},
]


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.bz2"])
def test_rows_get_verdict_and_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str) -> None:
    from agents.datasets import read_records

    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    write_rows(source, ROWS)
    assert main(["--in", str(source), "--out", str(target)]) == 0
    out = [record.data for record in read_records(target)]
    assert [row["verdict"] for row in out] == ["correct", "correct", "missing", "unscored", "incorrect"]
    assert all(row["reason"] for row in out)
    assert [{key: row[key] for key in given} for row, given in zip(out, ROWS, strict=True)] == ROWS
    assert "5 judged: 2 correct" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query": "who?", "answer": "x"}, 'line 2, field "prediction": expected text'),
        ({"query": "who?", "prediction": "x"}, 'line 2, field "ground_truth or answer": expected text'),
        ({"answer": "who?", "prediction": "x"}, 'line 2, field "query": expected text'),
        ({"query": "q", "answer": "a", "prediction": "x", "alt_ans": 5}, 'line 2, field "alt_ans"'),
    ],
)
def test_a_bad_row(tmp_path: Path, capsys: pytest.CaptureFixture[str], row: dict[str, Any], message: str) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps(ROWS[0]) + "\n" + json.dumps(row) + "\n", encoding="utf-8")
    assert main(["--in", str(source), "--out", str(target)]) == 2
    assert message in capsys.readouterr().err
    assert not target.exists()


def test_what_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--in", str(tmp_path / "none.jsonl"), "--out", str(tmp_path / "o")]) == 2
    assert "there is no such file" in capsys.readouterr().err
    write_rows(tmp_path / "in.jsonl", ROWS)
    assert main(["--in", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "o"), "--judge", "llm"]) == 2
    assert "later release" in capsys.readouterr().err
    assert main(["--in", str(tmp_path / "in.jsonl"), "--out", "/proc/none/o"]) == 2
    assert "cannot be written" in capsys.readouterr().err
