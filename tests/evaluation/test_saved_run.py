"""Reading a run's folder changes nothing in it."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.batches import RowKey
from evaluation.saved_run import SavedRun
from evaluation.store import PREDICTIONS, RUN, TRACES, StoreError
from tests.evaluation.run_folders import record, write_run


def test_the_last_attempt_counts_and_a_torn_end_does_not(tmp_path: Path) -> None:
    rows = [record(0, "missing"), record(1, "correct"), record(0, "correct", attempt=2)]
    write_run(tmp_path, rows, {"python": "3.11"})
    path = tmp_path / PREDICTIONS
    path.write_bytes(torn := path.read_bytes() + b'{"interaction_id": "id2", "occ')
    run = SavedRun.read(tmp_path)
    assert [row["attempt"] for row in run.rows] == [1, 1, 2]
    assert {key: row["verdict"] for key, row in run.records.items()} == {
        RowKey("id0", 0): "correct",
        RowKey("id1", 0): "correct",
    }
    assert (run.batch_size, run.questions, run.signature["python"]) == (1, 3, "3.11")
    assert path.read_bytes() == torn


def test_a_run_that_has_not_begun(tmp_path: Path) -> None:
    write_run(tmp_path, [])
    assert SavedRun.read(tmp_path).rows == ()


def test_traces_are_those_of_the_last_attempts(tmp_path: Path) -> None:
    write_run(tmp_path, [record(0, "missing"), record(1, "correct"), record(0, "missing", attempt=2)])
    place = {"interaction_id": "id0", "occurrence": 0, "batch": 0, "attempt": 1}
    lines = [json.dumps({**place, "score": float("nan")}), json.dumps({**place, "interaction_id": "id1"}), '{"torn']
    (tmp_path / TRACES).write_text("\n".join(lines), encoding="utf-8")
    run = SavedRun.read(tmp_path)
    assert list(run.traces) == [RowKey("id1", 0)], "attempt 2 of the other ran over its time and left none"
    assert next(run.placed_traces()).row["score"] is None


@pytest.mark.parametrize("line", ["{", "[]", '{"occurrence": 0, "batch": 0, "attempt": 1}'])
def test_what_is_no_trace(tmp_path: Path, line: str) -> None:
    write_run(tmp_path, [record(0, "correct")])
    (tmp_path / TRACES).write_text(f"{line}\n{{}}\n", encoding="utf-8")
    with pytest.raises(StoreError, match=r"traces\.jsonl, line 1: no trace of this evaluator"):
        _ = SavedRun.read(tmp_path).traces


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"verdict": "right"}, 'field "verdict": one of correct, incorrect'),
        ({"verdict": ["correct"]}, 'field "verdict": one of'),
        ({"interaction_id": ["id1"]}, 'field "interaction_id": text is expected'),
        ({"out_of_time": {"not_begun": "2"}}, 'field "out_of_time": whole numbers'),
        ({"gates": 3}, 'field "gates": of another type'),
        ({"gates": [{"name": "x", "withheld_verdict": "right"}]}, 'field "gates": a list of gates'),
        ({"domain": ["movie"]}, 'field "domain": of another type'),
        ({"query": None}, 'field "query": of another type'),
    ],
)
def test_what_is_no_row_of_a_run(tmp_path: Path, wrong: dict[str, Any], told: str) -> None:
    write_run(tmp_path, [record(0, "correct")])
    with (tmp_path / PREDICTIONS).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({**record(1, "correct"), **wrong}) + "\n")
    with pytest.raises(StoreError, match=r"predictions\.jsonl, line 2: " + told):
        SavedRun.read(tmp_path)


def test_a_row_without_its_question(tmp_path: Path) -> None:
    write_run(tmp_path, [{name: value for name, value in record(0, "correct").items() if name != "query"}])
    with pytest.raises(StoreError, match=r'predictions\.jsonl, line 1: field "query" is missing'):
        SavedRun.read(tmp_path)


def test_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no such folder; one that local_evaluation\.py wrote"):
        SavedRun.read(tmp_path / "none")
    with pytest.raises(StoreError, match=r"run\.json: missing or unreadable"):
        SavedRun.read(tmp_path)
    (tmp_path / RUN).write_text('{"identity": {}, "sittings": [], "signature": 3}', encoding="utf-8")
    with pytest.raises(StoreError, match=r"run\.json: missing or unreadable"):
        SavedRun.read(tmp_path)


def test_a_run_of_an_older_version_has_what_it_has(tmp_path: Path) -> None:
    (tmp_path / RUN).write_text('{"identity": {"preset": "x"}, "sittings": []}', encoding="utf-8")
    run = SavedRun.read(tmp_path)
    assert (run.signature, run.batch_size, run.questions) == ({"preset": "x"}, None, None)
