"""`crag runs`: the runs of a folder, whatever their state."""

import csv
import io
import shutil
from pathlib import Path

import pytest

from crag.__main__ import main
from crag.evaluation.run_table import COLUMNS
from tests.evaluation.report.example import RECORDS, TRACES, write_run


def test_runs_are_listed_with_their_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write_run(tmp_path / "results" / "whole", RECORDS, TRACES)
    half = Path(shutil.copytree(whole, tmp_path / "results" / "half"))
    (half / "results.json").unlink()
    broken = Path(shutil.copytree(whole, tmp_path / "results" / "broken"))
    (broken / "predictions.jsonl").write_text("x\n", encoding="utf-8")
    assert main(["runs", str(tmp_path / "results"), "--csv"]) == 0
    found = {row["run"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert set(found) == {str(whole), str(half), str(broken)}
    assert list(found[str(whole)]) == list(COLUMNS)
    assert float(found[str(whole)]["score"]) == pytest.approx(
        float(found[str(whole)]["accuracy"]) - float(found[str(whole)]["hallucination"]), abs=0.002
    )
    assert "preset:own" in found[str(whole)]["signature"]
    assert (found[str(half)]["score"], found[str(half)]["n"]) == ("", str(len(RECORDS)))
    assert "not valid JSON" in found[str(broken)]["signature"]
    assert main(["runs", str(tmp_path / "results")]) == 0
    assert f"unfinished, {len(RECORDS)} questions" in capsys.readouterr().out
    assert main(["runs", str(tmp_path / "nowhere")]) == 2
    assert "there is no run" in capsys.readouterr().err
