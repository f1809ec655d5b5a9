"""`crag judge RUN`: a stored run gets the verdicts of today's judge, and the earlier ones are kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from crag.commands.compare import main as compare
from crag.commands.judge import main
from crag.evaluation.judge import RulesJudge
from crag.evaluation.report.finished_run import read_finished_run
from crag.evaluation.store import SavedRun
from tests.evaluation.run_folders import record, write_run

JUDGE = f"rules@{RulesJudge.version}"
FIRING = {"name": "gate", "reason": "unsure", "answer": "i don't know", "withheld": "gold 2", "withheld_verdict": None}
RECORDS = [
    record(0, "incorrect", prediction="Gold 0", reason="an old rule"),
    record(1, "correct", prediction="silver 9", reason="an old rule"),
    record(2, "missing", prediction="i don't know", gates=[FIRING]),
    record(3, "incorrect", prediction="silver", answer=""),
    record(4, "missing", prediction="", reason="evaluator: no answer", timed_out=True, error="a stack"),
]
"""A right answer that was judged wrong, a wrong one judged right, an abstention, no gold answer, a lost batch."""


def verdicts(folder: Path) -> list[str]:
    return [row["verdict"] for row in SavedRun.read(folder).records.values()]


def test_several_runs_are_judged_again_and_keep_their_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (write_run(tmp_path / name, RECORDS) for name in ("a", "b"))
    assert main([str(first), str(second)]) == 0
    out = capsys.readouterr().out
    for folder in (first, second):
        run = read_finished_run(folder)
        assert verdicts(folder) == ["correct", "incorrect", "missing", "unscored", "missing"]
        assert run.results["signature"]["judge"] == run.saved.run.identity["judge"] == JUDGE
        assert (run.results["n"], run.results["unscored"]) == (4, 1)
        assert run.results["gates"]["gate"]["right_lost"] == 1
        assert JUDGE in (folder / "report.html").read_text(encoding="utf-8")
        assert verdicts(folder / "judged-by-rules@1") == [row["verdict"] for row in RECORDS]

    block = out[: out.index(f"\n{second}\n")]
    assert block.startswith(f"{first}\njudge: rules@1 -> {JUDGE}\nbefore: score -0.200,")
    assert "after: score +0.000," in block
    kinds = "correct -> incorrect 1, incorrect -> correct 1, incorrect -> unscored 1"
    assert f"3 verdicts of 5 changed: {kinds}\n1 verdict of withheld answers changed\n" in block
    changed = "question 0?\n      expected  gold 0\n      answer    Gold 0\n      before    incorrect (an old rule)\n"
    assert f"{changed}      after     correct (official: the answer equals the gold answer)" in block
    assert f"earlier verdicts  {first / 'judged-by-rules@1'}\nreport            {first / 'report.html'}\n" in block

    assert compare([str(first / "judged-by-rules@1"), str(first)]) == 0
    assert "3 of 5 questions flipped" in capsys.readouterr().out


def test_a_second_time_changes_nothing_and_kept_verdicts_are_not_replaced_unasked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_run(tmp_path / "a", RECORDS)
    assert main([str(folder)]) == 0
    before = (folder / "predictions.jsonl").read_bytes()
    assert main([str(folder)]) == 0
    assert "nothing changes" in capsys.readouterr().out
    assert (folder / "predictions.jsonl").read_bytes() == before

    run_file = folder / "run.json"
    run_file.write_text(run_file.read_text(encoding="utf-8").replace(JUDGE, "rules@1"), encoding="utf-8")
    assert main([str(folder)]) == 2
    assert "judged-by-rules@1 already keeps verdicts of this judge: --overwrite" in capsys.readouterr().err
    assert main([str(folder), "--overwrite"]) == 0
    assert verdicts(folder / "judged-by-rules@1") == verdicts(folder)


def test_nothing_is_judged_if_one_run_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crag.commands.judge_runs.judge_again", lambda *_: pytest.fail("a run was judged"))
    whole, half = write_run(tmp_path / "a", RECORDS), write_run(tmp_path / "b", RECORDS, questions=None)
    faults: list[tuple[list[Any], str]] = [
        ([whole, half], f"{half}: the run is not finished; `crag evaluate --resume` continues it"),
        ([whole, tmp_path / "c"], "c: there is no such folder"),
        (["--in", whole], f"{whole}: a folder; `crag judge {whole}` judges a stored run again"),
    ]
    for arguments, message in faults:
        assert main([str(argument) for argument in arguments]) == 2
        assert message in capsys.readouterr().err


def test_a_run_of_an_older_version_is_named_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{name: value for name, value in row.items() if name != "batch_seconds"} for row in RECORDS]
    folder = write_run(tmp_path / "a", rows)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main([str(folder)]) == 2
    assert "predictions.jsonl: its rows have no field 'batch_seconds'" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert json.loads(before["run.json"])["identity"]["judge"] == "rules@1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --in FILE or the folders of runs"),
        (["run", "--in", "x.jsonl"], "give either --in FILE or the folders of runs"),
        (["run", "--out", "x.jsonl"], "--out is for --in, not for a run"),
        (["--in", "x.jsonl", "--overwrite"], "--overwrite is for runs"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err
