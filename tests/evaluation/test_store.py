"""A run's folder survives whatever happens to the evaluator."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.batches import RowKey
from evaluation.store import PREDICTIONS, RESULTS, RUN, TRACES, RunStore, StoreError

IDENTITY = {"preset": "cpu@1", "data": "q@2"}


def record(name: str, batch: int, size: int = 2, attempt: int = 1) -> dict[str, Any]:
    return {"interaction_id": name, "occurrence": 0, "batch": batch, "batch_size": size, "attempt": attempt}


def opened(folder: Path, identity: dict[str, str] = IDENTITY, **how: bool) -> RunStore:
    return RunStore(folder, identity, {**identity, "python": "3"}, **how)


def filled(folder: Path) -> None:
    store = opened(folder)
    store.set_batch_size(2)
    for batch, names in enumerate(("ab", "cd")):
        store.append([record(name, batch) for name in names], [record(name, batch) for name in names])
    store.close()


def names(store: RunStore) -> list[str]:
    return [key.interaction_id for key in store.records]


def test_resume_finds_what_is_finished(tmp_path: Path) -> None:
    filled(tmp_path)
    store = opened(tmp_path, resume=True)
    assert names(store) == ["a", "b", "c", "d"]
    assert store.batch_size == 2
    store.close()


def test_answers_are_never_overwritten_unasked(tmp_path: Path) -> None:
    filled(tmp_path)
    before = (tmp_path / PREDICTIONS).read_bytes()
    with pytest.raises(StoreError, match=r"already holds answers: --resume .* --overwrite"):
        opened(tmp_path)
    assert (tmp_path / PREDICTIONS).read_bytes() == before
    store = opened(tmp_path, overwrite=True)
    assert names(store) == []
    assert not (tmp_path / PREDICTIONS).exists()
    store.close()


@pytest.mark.parametrize("cut", [1, 5, 60])
def test_a_torn_last_line_takes_its_batch_with_it(tmp_path: Path, cut: int) -> None:
    filled(tmp_path)
    path = tmp_path / PREDICTIONS
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    store = opened(tmp_path, resume=True)
    assert names(store) == ["a", "b"], "the torn batch is asked again as a whole"
    assert path.read_bytes() == whole[: len(whole) // 2]
    assert [json.loads(line)["interaction_id"] for line in (tmp_path / TRACES).read_text().splitlines()] == ["a", "b"]
    store.append([record(name, 1) for name in "cd"], [])
    assert path.read_bytes() == whole
    store.close()


def test_a_batch_cut_at_a_line_end_is_dropped_whole(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / PREDICTIONS
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    store = opened(tmp_path, resume=True)
    assert names(store) == ["a", "b"]
    store.close()


def test_a_line_torn_in_the_middle_of_the_file_is_no_torn_end(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / PREDICTIONS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"garbage\n" + b"".join(lines[2:]))
    with pytest.raises(StoreError, match=r"predictions\.jsonl, line 2: not a row"):
        opened(tmp_path, resume=True)


def test_runs_are_not_mixed(tmp_path: Path) -> None:
    filled(tmp_path)
    with pytest.raises(StoreError, match=r"another run .*: preset was cpu@1, now cpu@9$"):
        opened(tmp_path, {**IDENTITY, "preset": "cpu@9"}, resume=True)


def test_answers_without_their_run_are_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / RUN).write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match=r"run\.json: missing or unreadable"):
        opened(tmp_path, resume=True)


def test_two_evaluators_do_not_write_to_one_folder(tmp_path: Path) -> None:
    first = opened(tmp_path)
    with pytest.raises(StoreError, match="another evaluator is writing there"):
        opened(tmp_path, resume=True)
    first.close()
    opened(tmp_path, resume=True).close()


def test_a_retried_question_replaces_the_first_attempt(tmp_path: Path) -> None:
    filled(tmp_path)
    store = opened(tmp_path, resume=True)
    store.append([record("b", 0, size=1, attempt=2)], [record("b", 0, attempt=2)])
    store.close()
    store = opened(tmp_path, resume=True)
    assert names(store) == ["a", "b", "c", "d"]
    assert store.records[RowKey("b", 0)]["attempt"] == 2
    store.close()


def test_a_folder_that_cannot_be_made() -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        opened(Path("/proc/none/run"))


def test_files_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    filled(tmp_path)
    opened(tmp_path, overwrite=True).close()
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("content", [b"not json\nmore\n", b"[1]\n[2]\n", b'{"query": "x"}\n{"query": "y"}\n'])
def test_a_foreign_file_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    filled(tmp_path)
    path = tmp_path / PREDICTIONS
    path.write_bytes(content)
    with pytest.raises(StoreError, match="line 1: not a row of this evaluator"):
        opened(tmp_path, resume=True)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "content", ["", "null", "[]", "{}", '{"identity": 5, "sittings": []}', '{"identity": {}, "sittings": 5}']
)
def test_a_run_file_of_the_wrong_shape(tmp_path: Path, content: str) -> None:
    filled(tmp_path)
    (tmp_path / RUN).write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match=r"run\.json: missing or unreadable"):
        opened(tmp_path, resume=True)
    (tmp_path / RUN).unlink()
    with pytest.raises(StoreError, match=r"run\.json: missing or unreadable"):
        opened(tmp_path, resume=True)


def test_all_differences_are_told_at_once(tmp_path: Path) -> None:
    filled(tmp_path)
    with pytest.raises(StoreError) as caught:
        opened(tmp_path, {"preset": "cpu@9", "judge": "rules@1"}, resume=True)
    told = "preset was cpu@1, now cpu@9; data was q@2, now None; judge was None, now rules@1"
    assert str(caught.value).endswith(told)


def test_a_refused_folder_is_not_left_locked_or_changed(tmp_path: Path) -> None:
    filled(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in (PREDICTIONS, TRACES, RUN)}
    for how in ({}, {"resume": True}):
        with pytest.raises(StoreError):
            opened(tmp_path, {"preset": "other"}, **how)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    opened(tmp_path, resume=True).close()


def test_sittings_and_signature_of_a_resumed_run(tmp_path: Path) -> None:
    filled(tmp_path)
    store = opened(tmp_path, resume=True)
    store.set_sitting(0, {"startup_seconds": 1.0})
    store.set_sitting(0, {"startup_seconds": 1.0, "first_answer_seconds": 2.0})
    store.set_sitting(1, {"startup_seconds": 3.0})
    store.close()
    store = RunStore(tmp_path, IDENTITY, {**IDENTITY, "python": "4"}, resume=True)
    assert store.sittings == [{"startup_seconds": 1.0, "first_answer_seconds": 2.0}, {"startup_seconds": 3.0}]
    store.close()
    assert json.loads((tmp_path / RUN).read_text(encoding="utf-8"))["signature"]["python"] == "4"


def test_results_are_written_whole_and_go_when_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    store = opened(tmp_path, resume=True)
    store.write_results({"score": 1.0, "name": "é"})
    first = (tmp_path / RESULTS).read_bytes()
    assert json.loads(first) == {"score": 1.0, "name": "é"}

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("evaluation.store.os.fsync", full_disk)
        with pytest.raises(OSError, match="No space left"):
            store.write_results({"score": 0.0})
    assert (tmp_path / RESULTS).read_bytes() == first, "the old results or the new ones, never a part"
    store.close()
    opened(tmp_path, resume=True).close()
    assert not (tmp_path / RESULTS).exists(), "results of a run that is going on would mislead"


def test_traces_of_unfinished_questions_are_dropped(tmp_path: Path) -> None:
    filled(tmp_path)
    with (tmp_path / TRACES).open("ab") as stream:
        for row in (record("e", 2), record("a", 0, attempt=2)):
            stream.write(json.dumps(row).encode() + b"\n")
        stream.write(b'{"torn')
    opened(tmp_path, resume=True).close()
    kept = [json.loads(line) for line in (tmp_path / TRACES).read_text(encoding="utf-8").splitlines()]
    assert [(row["interaction_id"], row["attempt"]) for row in kept] == [("a", 1), ("b", 1), ("c", 1), ("d", 1)]


def test_every_cut_of_the_file_leaves_whole_batches(tmp_path: Path) -> None:
    filled(tmp_path)
    path = tmp_path / PREDICTIONS
    whole = path.read_bytes()
    for length in range(1, len(whole), 7):
        path.write_bytes(whole[:length])
        store = opened(tmp_path, resume=True)
        assert names(store) == (["a", "b"] if length >= len(whole) // 2 else [])
        assert path.read_bytes() == whole[: len(whole) // 2 * (length >= len(whole) // 2)]
        store.close()


@pytest.mark.parametrize("size", [None, 0, -1, "two"])
def test_a_row_without_a_usable_batch_size_is_told_with_its_line(tmp_path: Path, size: object) -> None:
    filled(tmp_path)
    path = tmp_path / PREDICTIONS
    first, second, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
    row = json.loads(second) | {"batch_size": size}
    path.write_text("".join([first, json.dumps(row) + "\n", *rest]), encoding="utf-8")
    with pytest.raises(StoreError, match=r'line 2: field "batch_size"'):
        opened(tmp_path, resume=True)
