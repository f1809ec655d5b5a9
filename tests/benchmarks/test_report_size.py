"""The enlarged run whose report is measured."""

from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="selenium of requirements-dev.txt is not installed")

from benchmarks.report_size import enlarged, main
from evaluation.report.measured import read_run
from evaluation.report.page import render
from tests.evaluation.report.example import record, trace, write_run


def test_questions_are_repeated_with_their_traces(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, [record(0), record(1, "incorrect")], [trace(0), trace(1)]))
    large = enlarged(run, questions=5)
    assert len({one["interaction_id"] for one in large.records}) == 5
    assert [one["query"] for one in large.records] == [f"what is number {number}?" for number in (0, 1, 0, 1, 0)]
    assert large.results["score"] == pytest.approx(0.2), "3 of 5 right, 2 wrong"
    assert large.trace(large.records[3]) == run.trace(run.records[1])
    assert "5 questions" in render(large)


def test_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nowhere")]) == 2
    assert "no such folder" in capsys.readouterr().err
