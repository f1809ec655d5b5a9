"""The benchmark tells a right date from a wrong one, and the session under way from both."""

import json
from pathlib import Path

import pytest

from benchmarks.date_resolution import Agreement, labelled_questions, main, measure


def row(query: str, argument: str | None, filters: list[list[str]], table: str = "stock_price") -> dict[str, object]:
    return {
        "query": query,
        "query_time": "02/28/2024, 08:00:00 PT",
        "domain": "finance",
        "calls": [f'get_stock_price("acme","{argument}")["close"]'] if argument else ["None"],
        "frame": {"table": table, "filters": filters},
    }


ROWS = [
    (row("price last friday?", "last friday", [["time", "eq", "2024-02-23"]]), "equal", "equal"),
    (row("price last friday?", "yesterday", [["time", "eq", "2024-02-23"]]), "different", "equal"),
    (row("this week?", None, [["time", "ge", "2024-02-26"], ["time", "le", "2024-02-27"]]), None, "open"),
    (row("this week?", None, [["time", "ge", "2024-02-26"], ["time", "le", "2024-02-28"]]), None, "equal"),
    (row("this week?", None, [["time", "ge", "2024-02-27"], ["time", "le", "2024-02-28"]]), None, "different"),
    (row("in 2023?", "2023", [["time", "eq", "2023"]]), "equal", "equal"),
    (row("the latest price?", "latest", [], "stock_latest"), "equal", "equal"),
    (row("the price today?", "today", [], "stock_latest"), "different", "different"),
    (row("the next dividend?", None, [["date", "gt", "2024-02-28"]]), "not measured", "not measured"),
]


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    path = tmp_path / "labelled.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one, _, _ in ROWS), encoding="utf-8")
    return path


def test_each_question_is_compared_with_its_label(labelled: Path) -> None:
    measured = [measure(question) for question in labelled_questions(labelled)]
    expected = [(argument, found) for _, argument, found in ROWS if found != "not measured"]
    assert [(one.argument, one.found) for one in measured] == expected
    assert [one.alone for one in measured] == [one.found is not Agreement.DIFFERENT for one in measured]


def test_the_shares_are_printed_and_what_differs(labelled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(labelled)]) == 0
    out = capsys.readouterr().out
    finance = next(line for line in out.splitlines() if line.startswith("| finance"))
    assert finance.replace("|", "").split() == ["finance", "5", "60.0%", "0", "8", "75.0%", "1", "75.0%"]
    assert "argument and text: the price today? -> newest" in out


def test_a_missing_file_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.jsonl")]) == 2
    assert "error:" in capsys.readouterr().err
