"""Reading a finished run."""

from pathlib import Path

import pytest

from evaluation.report.run_folder import read_run
from evaluation.store import StoreError
from tests.evaluation.report.example import RECORDS, record, trace, write_run


def test_a_run(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path))
    assert [one["query"] for one in run.records] == [one["query"] for one in RECORDS]
    assert run.limit == 30
    assert run.signature["judge"] == "rules@1"
    assert run.trace(run.records[0])["events"] == ["event of 0"]
    assert run.trace(run.records[5]) == {}


def test_the_last_attempt_counts(tmp_path: Path) -> None:
    records = [record(0, "missing"), record(1), record(0, attempt=2), record(1, attempt=2)]
    run = read_run(write_run(tmp_path, records, [trace(0), trace(1), trace(0, events=["again"], attempt=2)]))
    assert [one["attempt"] for one in run.records] == [2, 2]
    assert run.trace(run.records[0])["events"] == ["again"]
    assert run.trace(run.records[1]) == {}, "its second attempt left none"


def test_what_is_no_finished_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such folder"):
        read_run(tmp_path / "nowhere")
    write_run(tmp_path / "run")
    (tmp_path / "run/results.json").unlink()
    with pytest.raises(StoreError, match=r"not finished.*--resume"):
        read_run(tmp_path / "run")
    (tmp_path / "run/results.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match=r"results\.json: "):
        read_run(tmp_path / "run")
    for results, told in (("[]", "it is no object"), ("{}", "it lacks score, ci")):
        (tmp_path / "run/results.json").write_text(results, encoding="utf-8")
        with pytest.raises(StoreError, match=told):
            read_run(tmp_path / "run")
