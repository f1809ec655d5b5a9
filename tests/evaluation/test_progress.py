"""The running score beside the bar."""

from typing import Any

import pytest

from evaluation.progress import Progress


def row(verdict: str, seconds: float = 1.0) -> dict[str, Any]:
    return {"verdict": verdict, "seconds": seconds}


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == "", "standard output is for the table"
    return captured.err.split("\r")[-1]


def test_score_and_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(4, []) as progress:
        progress.add([row("correct", 2.0), row("incorrect", 4.0)])
        progress.add([row("correct", 3.0), row("missing", 3.0)])
    last = shown(capsys)
    assert "4/4" in last
    assert "score +0.250, 3.00 s/question" in last


def test_nothing_scored_has_no_score(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(1, []) as progress:
        progress.add([row("unscored")])
    assert "score -, 1.00 s/question" in shown(capsys)


def test_a_resumed_run_begins_with_its_score_but_not_with_its_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(4, [row("correct", 90.0), row("correct", 90.0)]) as progress:
        begun = capsys.readouterr().err
        progress.add([row("incorrect", 5.0), row("incorrect", 7.0)])
    assert "2/4" in begun
    assert "score +1.000" in begun
    assert "s/question" not in begun
    assert "score +0.000, 6.00 s/question" in shown(capsys)


def test_an_unknown_total_and_a_hidden_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(None, []) as progress:
        progress.add([row("correct")])
    assert "1question" in shown(capsys)
    with Progress(2, [], shown=False) as progress:
        progress.add([row("correct")])
    assert shown(capsys) == ""
