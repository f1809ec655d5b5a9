"""A run's folder survives whatever happens to the evaluator, and reading it changes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from crag.core.files import DatasetError, UserError
from crag.evaluation.store import PREDICTIONS, RESULTS, RUN, TRACES, RunStore, SavedRun
from tests.evaluation.run_folders import record

IDENTITY = {"preset": "cpu@1", "data": "q@2"}


def place(number: int) -> dict[str, Any]:
    return {"interaction_id": f"id{number}", "occurrence": 0, "batch": number // 2}


def opened(folder: Path, identity: dict[str, str] = IDENTITY, **how: bool) -> RunStore:
    return RunStore(folder, {**identity, "python": "3"}, **how)


def filled(folder: Path) -> bytes:
    """Two batches of two questions; the predictions."""
    store = opened(folder)
    store.update(batch_size=2)
    for batch in ((0, 1), (2, 3)):
        store.append([record(number, "correct", 2) for number in batch], [place(number) for number in batch])
    store.close()
    return (folder / PREDICTIONS).read_bytes()


def names(store: RunStore) -> list[str]:
    return [key.interaction_id for key in store.records]


def traced(folder: Path) -> list[str]:
    return [json.loads(line)["interaction_id"] for line in (folder / TRACES).read_text(encoding="utf-8").splitlines()]


def test_every_cut_of_the_file_leaves_whole_batches(tmp_path: Path) -> None:
    whole = filled(tmp_path)
    path, half = tmp_path / PREDICTIONS, len(whole) // 2

    for length in (*range(1, len(whole), 37), half, len(whole) - 1):
        path.write_bytes(whole[:length])
        finished = ["id0", "id1"] if length >= half else []
        read = SavedRun.read(tmp_path)
        assert [key.interaction_id for key in read.records] == [key.interaction_id for key in read.traces] == finished
        assert path.read_bytes() == whole[:length], "reading changes nothing"

        store = opened(tmp_path, resume=True)
        assert names(store) == finished, "the torn batch is asked again as a whole"
        assert path.read_bytes() == (whole[:half] if finished else b"")
        assert traced(tmp_path) == finished

        store.append([record(number, "correct", 2) for number in ((2, 3) if finished else (0, 1, 2, 3))], [])
        store.close()
        assert path.read_bytes() == whole

        (tmp_path / TRACES).write_text("".join(json.dumps(place(number)) + "\n" for number in range(4)))


def test_only_files_of_the_run_are_overwritten(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    store = opened(tmp_path, overwrite=True)
    store.append([record(0, "correct", 1)], [])
    store.close()
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", RUN, PREDICTIONS}
    assert names(opened(tmp_path, resume=True)) == ["id0"]


def test_a_run_stays_until_the_one_that_replaces_it_has_answers(tmp_path: Path) -> None:
    whole = filled(tmp_path)
    store = opened(tmp_path, {"preset": "other@3"}, overwrite=True)
    store.update(batch_size=4)
    assert "still holds the run of before" in store.describe_kept()
    store.discard_if_new()
    store.close()
    assert (tmp_path / PREDICTIONS).read_bytes() == whole
    assert names(opened(tmp_path, resume=True)) == ["id0", "id1", "id2", "id3"]


def test_results_stay_until_a_resumed_run_has_another_answer(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / RESULTS).write_text("{}", encoding="utf-8")
    opened(tmp_path, resume=True).close()
    assert (tmp_path / RESULTS).exists()

    store = opened(tmp_path, resume=True)
    store.append([record(4, "correct", 1)], [])
    assert not (tmp_path / RESULTS).exists(), "of fewer answers"
    store.close()


@pytest.mark.parametrize("content", [None, "[]", '{"identity": {}, "signature": {}, "measured": 5}'])
def test_answers_without_their_run_are_refused(tmp_path: Path, content: str | None) -> None:
    filled(tmp_path)
    if content is None:
        (tmp_path / RUN).unlink()
    else:
        (tmp_path / RUN).write_text(content, encoding="utf-8")
    with pytest.raises(DatasetError, match=r"run\.json: missing or unreadable") as refused:
        opened(tmp_path, resume=True)
    assert refused.value.__notes__ == ["--output names another folder, --overwrite replaces the run"]
    with pytest.raises(DatasetError, match=r"run\.json: missing or unreadable"):
        SavedRun.read(tmp_path)


def test_a_folder_of_something_else_is_told_from_a_run_that_lost_a_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no run is stored here; expected a folder that `crag evaluate` wrote"):
        SavedRun.read(tmp_path)


def test_two_evaluators_do_not_write_to_one_folder(tmp_path: Path) -> None:
    first = opened(tmp_path)
    with pytest.raises(UserError, match="another process is writing here"):
        opened(tmp_path, resume=True)
    first.close()
    opened(tmp_path, resume=True).close()


def test_a_finished_run_is_in_the_order_of_the_questions(tmp_path: Path) -> None:
    """Several workers finish their batches in another one."""
    store = opened(tmp_path)
    for batch in ((2, 3), (4,), (0, 1)):
        rows = [record(number, "correct", 2) | {"batch_size": len(batch)} for number in batch]
        store.append(rows, [place(number) for number in batch])
    store.finish(5)
    store.close()
    in_order = [f"id{number}" for number in range(5)]
    assert names(store) == [key.interaction_id for key in SavedRun.read(tmp_path).records] == in_order
    assert store.run.questions == 5


def test_a_folder_that_is_not_there_or_cannot_be_made_is_an_error() -> None:
    with pytest.raises(DatasetError, match=r"there is no such folder; expected one written by local_evaluation\.py"):
        SavedRun.read(Path("/proc/none/run"))
    with pytest.raises(DatasetError, match="cannot be written"):
        opened(Path("/proc/none/run"))


@pytest.mark.parametrize(
    ("name", "line", "place_of_fault"),
    [
        (TRACES, "{", "line 1"),
        (TRACES, '{"occurrence": 0, "batch": 0}', 'line 1, field "interaction_id"'),
        (PREDICTIONS, json.dumps(record(0, "right")), 'line 1, field "verdict"'),
        (PREDICTIONS, json.dumps(record(0, "correct", query=None)), 'line 1, field "query"'),
        (PREDICTIONS, json.dumps({**record(0, "correct"), "batch_size": 0}), 'line 1, field "batch_size"'),
    ],
)
def test_a_bad_row_is_named_and_the_file_kept(tmp_path: Path, name: str, line: str, place_of_fault: str) -> None:
    filled(tmp_path)
    path = tmp_path / name
    path.write_text(f"{line}\n{{}}\n", encoding="utf-8")
    before = path.read_bytes()
    for read in (lambda: SavedRun.read(tmp_path).traces, lambda: opened(tmp_path, resume=True)):
        with pytest.raises(DatasetError, match=rf"{name}, {place_of_fault}"):
            read()
    assert path.read_bytes() == before
