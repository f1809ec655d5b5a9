"""A run's folder survives whatever happens to the evaluator."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.batches import RowKey
from evaluation.store import PREDICTIONS, RUN, TRACES, RunStore, StoreError

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
