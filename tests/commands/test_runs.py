"""`crag runs`: the runs of a folder, whatever their state."""

import csv
import io
import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from crag.__main__ import main
from crag.commands.runs import TITLES
from crag.evaluation.run_table import COLUMNS
from tests.evaluation import run_folders
from tests.evaluation.report.example import RECORDS, SIGNATURE, TRACES, write_run

SERVED = {"model": "small at http://a:8080/v1, file small.gguf, context 4096"}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A finished run, a half of it, and one that cannot be read."""
    folder = tmp_path / "results"
    whole = write_run(folder / "whole", RECORDS, TRACES, {**SIGNATURE, **SERVED})
    half = Path(shutil.copytree(whole, folder / "deep" / "half"))
    (half / "results.json").unlink()
    broken = Path(shutil.copytree(whole, folder / "broken"))
    (broken / "predictions.jsonl").write_text("x\n", encoding="utf-8")
    return folder


def test_runs_are_listed_in_one_line_each_unfinished_and_broken_ones_too(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", str(results)]) == 0
    title, *lines = capsys.readouterr().out.splitlines()
    assert re.split(r"  +", title) == list(TITLES)
    by_name = {line.split()[0]: line.split() for line in lines}
    assert by_name["whole"][1:9] == ["own", "small", "few.jsonl", "5", "+0.200", "-", "2", "1"]
    assert by_name["deep/half"][1:10] == ["*", "own", "small", "few.jsonl", "5", "+0.200", "-", "2", "1"]
    assert "not valid JSON" in next(line for line in lines if line.startswith("broken: "))
    assert lines[-1] == "* unfinished: crag evaluate --resume continues it"
    assert max(map(len, lines[:2])) <= 120, "no signature"


def test_a_narrow_terminal_goes_without_columns_and_says_so(
    results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["runs", str(results)]) == 0
    assert re.split(r"  +", capsys.readouterr().out.splitlines()[0]) == list(TITLES), "not a terminal"

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["runs", str(results)]) == 0
    title, *lines = capsys.readouterr().out.splitlines()
    assert re.split(r"  +", title)[:3] == ["run", "preset", "n"]
    assert max(map(len, [title, *lines[:2]])) <= 80
    assert lines[-1] == "left out, as the terminal is narrow: model, data (--csv has all)"


def test_an_interval_of_enough_questions_and_lost_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [run_folders.record(number, "missing", lost="fault") for number in range(12)]
    run_folders.write_run(tmp_path / "a", rows)
    assert main(["runs", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "+0.000  [+0.000, +0.000]" in out
    assert "a lost 12 answers: crag evaluate --resume asks again" in out


def test_json_and_csv_have_all_figures_of_a_run(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", str(results), "--json"]) == 0
    listed = {Path(run["run"]).name: run for run in json.loads(capsys.readouterr().out)}
    assert {name: run["state"] for name, run in listed.items()} == {
        "whole": "finished",
        "half": "unfinished",
        "broken": "broken",
    }

    whole = listed["whole"]
    assert list(whole) == list(COLUMNS)
    assert (whole["score"], whole["right"], whole["wrong"], whole["missing"]) == (0.2, 2, 1, 2)
    assert (whole["model"], whole["tokens"]) == (SERVED["model"], None)
    assert "preset:own@0123" in whole["signature"]
    assert listed["broken"]["score"] is None
    assert "not valid JSON" in listed["broken"]["fault"]

    assert main(["runs", str(results), "--csv"]) == 0
    rows = {Path(row["run"]).name: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert rows["whole"] == {name: "" if value is None else str(value) for name, value in whole.items()}


def test_a_run_itself_can_be_listed_and_an_empty_folder_is_an_error(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", str(results / "whole")]) == 0
    assert str(results / "whole") in capsys.readouterr().out
    assert main(["runs", str(tmp_path / "nowhere")]) == 2
    assert "there is no such folder" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["runs", str(tmp_path / "empty")]) == 2
    assert "there is no run" in capsys.readouterr().err
