"""The enlarged run whose report is measured."""

from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="selenium of requirements-dev.txt is not installed")

from benchmarks.report_size import enlarged, main
from evaluation.report.measured import read_run
from evaluation.report.page import render
from tests.evaluation.report.example import record, trace, write_run


def test_questions_are_repeated_and_traces_joined(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, [record(0), record(1, "incorrect")], [trace(0), trace(1)]))
    large = enlarged(run, questions=5, together=2)
    assert len({one["interaction_id"] for one in large.records}) == 5
    assert [one["query"] for one in large.records] == [f"what is number {number}?" for number in (0, 1, 0, 1, 0)]
    assert large.results["score"] == pytest.approx(0.2), "3 of 5 right, 2 wrong"
    joined = large.trace(large.records[1])
    assert [passage["text"][:17] for passage in joined["passages"]] == ["Some say answer 1", "Some say answer 0"]
    assert [one["text"] for one in joined["generations"].values()] == ["Generated 1", "Generated 0"]
    assert "5 questions" in render(large)


def test_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nowhere")]) == 2
    assert "no such folder" in capsys.readouterr().err
