"""A run's folder survives whatever happens to the evaluator, and reading it changes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.batches import RowKey
from evaluation.store import PREDICTIONS, RESULTS, RUN, TRACES, RunStore, SavedRun, StoreError
from tests.evaluation.run_folders import record, write_run

IDENTITY = {"preset": "cpu@1", "data": "q@2"}


def place(number: int, attempt: int = 1) -> dict[str, Any]:
    return {"interaction_id": f"id{number}", "occurrence": 0, "batch": number // 2, "attempt": attempt}


def opened(folder: Path, identity: dict[str, str] = IDENTITY, **how: bool) -> RunStore:
    return RunStore(folder, identity, {**identity, "python": "3"}, **how)


def filled(folder: Path) -> bytes:
    """Two batches of two questions; the predictions."""
    store = opened(folder)
    store.set_batch_size(2)
    for batch in ((0, 1), (2, 3)):
        store.append([record(number, "correct", 2) for number in batch], [place(number) for number in batch])
    store.close()
    return (folder / PREDICTIONS).read_bytes()


def names(store: RunStore) -> list[str]:
    return [key.interaction_id for key in store.records]


def traced(folder: Path) -> list[tuple[str, int]]:
    rows = [json.loads(line) for line in (folder / TRACES).read_text(encoding="utf-8").splitlines()]
    return [(row["interaction_id"], row["attempt"]) for row in rows]


def test_every_cut_of_the_file_leaves_whole_batches(tmp_path: Path) -> None:
    whole = filled(tmp_path)
    path, half = tmp_path / PREDICTIONS, len(whole) // 2
    for length in (*range(1, len(whole), 37), half, len(whole) - 1):
        path.write_bytes(whole[:length])
        store = opened(tmp_path, resume=True)
        finished = ["id0", "id1"] if length >= half else []
        assert names(store) == finished, "the torn batch is asked again as a whole"
        assert path.read_bytes() == (whole[:half] if finished else b"")
        assert traced(tmp_path) == [(name, 1) for name in finished]
        store.append([record(number, "correct", 2) for number in ((2, 3) if finished else (0, 1, 2, 3))], [])
        store.close()
        assert path.read_bytes() == whole
        (tmp_path / TRACES).write_text("".join(json.dumps(place(number)) + "\n" for number in range(4)))


def test_answers_are_never_overwritten_unasked(tmp_path: Path) -> None:
    before = filled(tmp_path)
    with pytest.raises(StoreError, match=r"already holds answers: --resume .* --overwrite"):
        opened(tmp_path)
    assert (tmp_path / PREDICTIONS).read_bytes() == before
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    store = opened(tmp_path, overwrite=True)
    assert names(store) == []
    assert not (tmp_path / PREDICTIONS).exists()
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"
    store.close()


def test_runs_are_not_mixed(tmp_path: Path) -> None:
    filled(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in (PREDICTIONS, TRACES, RUN)}
    with pytest.raises(StoreError) as caught:
        opened(tmp_path, {"preset": "cpu@9", "judge": "rules@1"}, resume=True)
    listed = "preset was cpu@1, now cpu@9; data was q@2, now None; judge was None, now rules@1"
    assert str(caught.value).endswith(listed)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    opened(tmp_path, resume=True).close()


@pytest.mark.parametrize(
    "content", [None, "", "null", "[]", "{}", '{"identity": {}, "signature": {}, "sittings": 5}', '{"identity": {}}']
)
def test_answers_without_their_run_are_refused(tmp_path: Path, content: str | None) -> None:
    filled(tmp_path)
    if content is None:
        (tmp_path / RUN).unlink()
    else:
        (tmp_path / RUN).write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match=r"run\.json: missing or unreadable"):
        opened(tmp_path, resume=True)
    with pytest.raises(StoreError, match=r"run\.json: missing or unreadable"):
        SavedRun.read(tmp_path)


def test_two_evaluators_do_not_write_to_one_folder(tmp_path: Path) -> None:
    first = opened(tmp_path)
    with pytest.raises(StoreError, match="another evaluator is writing there"):
        opened(tmp_path, resume=True)
    first.close()
    opened(tmp_path, resume=True).close()


def test_a_folder_that_cannot_be_made() -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        opened(Path("/proc/none/run"))


def test_a_retried_question_replaces_the_first_attempt(tmp_path: Path) -> None:
    filled(tmp_path)
    store = opened(tmp_path, resume=True)
    store.append([record(1, "correct", 1, batch=0, attempt=2)], [place(1, 2)])
    store.close()
    store = opened(tmp_path, resume=True)
    assert names(store) == ["id0", "id1", "id2", "id3"]
    assert store.records[RowKey("id1", 0)]["attempt"] == 2
    store.close()


def test_traces_of_unfinished_questions_are_dropped(tmp_path: Path) -> None:
    filled(tmp_path)
    with (tmp_path / TRACES).open("ab") as stream:
        for row in (place(4), place(0, attempt=2)):
            stream.write(json.dumps(row).encode() + b"\n")
        stream.write(b'{"torn')
    opened(tmp_path, resume=True).close()
    assert traced(tmp_path) == [(f"id{number}", 1) for number in range(4)]


def test_sittings_signature_and_results_of_a_resumed_run(tmp_path: Path) -> None:
    filled(tmp_path)
    store = opened(tmp_path, resume=True)
    assert store.batch_size == 2
    store.set_sitting(0, {"startup_seconds": 1.0})
    store.set_sitting(0, {"startup_seconds": 1.0, "first_answer_seconds": 2.0})
    store.set_sitting(1, {"startup_seconds": 3.0})
    store.write_results({"score": 1.0, "name": "é"})
    assert json.loads((tmp_path / RESULTS).read_bytes()) == {"score": 1.0, "name": "é"}
    store.close()
    store = RunStore(tmp_path, IDENTITY, {**IDENTITY, "python": "4"}, resume=True)
    assert store.sittings == [{"startup_seconds": 1.0, "first_answer_seconds": 2.0}, {"startup_seconds": 3.0}]
    store.close()
    assert not (tmp_path / RESULTS).exists(), "results of a run that is going on would mislead"
    assert json.loads((tmp_path / RUN).read_text(encoding="utf-8"))["signature"]["python"] == "4"


# --- reading ----------------------------------------------------------------------------------------------------------


def test_the_last_attempt_counts_and_a_torn_end_does_not(tmp_path: Path) -> None:
    rows = [record(0, "missing"), record(1, "correct"), record(0, "correct", attempt=2)]
    write_run(tmp_path, rows, {"python": "3.11"})
    (tmp_path / TRACES).write_text(
        "\n".join([json.dumps(place(0)), json.dumps({**place(1), "batch": 1}), '{"torn']), encoding="utf-8"
    )
    path = tmp_path / PREDICTIONS
    path.write_bytes(torn := path.read_bytes() + b'{"interaction_id": "id2", "occ')
    run = SavedRun.read(tmp_path)
    assert [row["attempt"] for row in run.rows] == [1, 1, 2]
    assert [(key.interaction_id, row["verdict"]) for key, row in run.records.items()] == [
        ("id0", "correct"),
        ("id1", "correct"),
    ]
    assert (run.run.batch_size, run.run.questions, run.run.signature["python"]) == (1, 3, "3.11")
    assert list(run.traces) == [RowKey("id1", 0)], "attempt 2 of the other left none"
    assert path.read_bytes() == torn


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no such folder; expected one written by local_evaluation\.py"):
        SavedRun.read(tmp_path / "none")
    assert SavedRun.read(write_run(tmp_path, [])).rows == ()


@pytest.mark.parametrize("line", ["{", "[]", '{"occurrence": 0, "batch": 0, "attempt": 1}'])
def test_a_bad_line_in_the_traces(tmp_path: Path, line: str) -> None:
    write_run(tmp_path, [record(0, "correct")])
    (tmp_path / TRACES).write_text(f"{line}\n{{}}\n", encoding="utf-8")
    with pytest.raises(StoreError, match=r"traces\.jsonl, line 1"):
        _ = SavedRun.read(tmp_path).traces


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"verdict": "right"}, "verdict"),
        ({"verdict": ["correct"]}, "verdict"),
        ({"interaction_id": ["id1"]}, "interaction_id"),
        ({"out_of_time": {"not_begun": "2"}}, r"out_of_time\.not_begun"),
        ({"gates": 3}, "gates"),
        ({"gates": [{"name": "x", "withheld_verdict": "right"}]}, r"gates\.0\.withheld_verdict"),
        ({"domain": ["movie"]}, "domain"),
        ({"query": None}, "query"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": "two"}, "batch_size"),
    ],
)
def test_a_bad_field_is_named_and_the_file_kept(tmp_path: Path, wrong: dict[str, Any], field: str) -> None:
    filled(tmp_path)
    path = tmp_path / PREDICTIONS
    first, second, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([first, json.dumps({**json.loads(second), **wrong}) + "\n", *rest]), encoding="utf-8")
    before = path.read_bytes()
    for read in (lambda: SavedRun.read(tmp_path), lambda: opened(tmp_path, resume=True)):
        with pytest.raises(StoreError, match=rf'predictions\.jsonl, line 2, field "{field}": '):
            read()
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not json\nmore\n", b"[1]\n[2]\n", b'{"query": "x"}\n{"query": "y"}\n'])
def test_a_foreign_file_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    filled(tmp_path)
    path = tmp_path / PREDICTIONS
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"predictions\.jsonl, line 1"):
        opened(tmp_path, resume=True)
    assert path.read_bytes() == content
