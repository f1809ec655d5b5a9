"""Files that survive interruptions."""

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from crag.core.files import (
    DatasetError,
    UserError,
    append_rows,
    lock_folder,
    read_growing,
    read_jsonl,
    write_json,
    write_rows,
)


@pytest.mark.parametrize("name", ["out.jsonl", "new/folder/out.jsonl.bz2"])
def test_written_rows_are_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    rows = [{"query": "Beyoncé — “quoted”\n second line\u2028"}, {"query": "lone surrogate \ud800"}]
    assert write_rows(path, rows) == 2
    append_rows(path, rows[:1])
    append_rows(path, [])
    assert [record.data for record in read_jsonl(path)] == [*rows, rows[0]]
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.jsonl"
    write_rows(target, [{"a": 1}])

    def failing() -> Any:
        yield {"a": 2}
        raise DatasetError("in the middle")

    with pytest.raises(DatasetError):
        write_rows(target, failing())

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_json(target, {"a": 3})
    assert target.read_text(encoding="utf-8") == '{"a": 1}\n'
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("torn", [b'{"a": 2', b"x" * 200_000])
def test_a_torn_last_line_is_left_out_and_mended(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "rows.jsonl"
    assert list(read_growing(path)) == []
    append_rows(path, [{"a": 1}])
    with path.open("ab") as stream:
        stream.write(torn)
    assert [row.data for row in read_growing(path)] == [{"a": 1}]
    append_rows(path, [{"a": 3}])
    assert [row.data for row in read_growing(path)] == [{"a": 1}, {"a": 3}]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b'{"a"', "not valid JSON"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b'"text"', "expected a JSON object, found 'text'"),
        (b"[" * 100_000, "(JSON nested too deeply|not valid JSON)"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, bad: bytes, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n" + bad + b"\n")
    for reader in (read_jsonl, read_growing):
        with pytest.raises(DatasetError, match=rf"rows\.jsonl, line 2: {message}"):
            list(reader(path))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.bz2").write_bytes(bz2.compress(json.dumps({"a": 1}).encode())[:-3])
    for name in ("none.jsonl", "cut.jsonl.bz2"):
        with pytest.raises(DatasetError, match=rf"{name}: cannot be read: "):
            list(read_jsonl(tmp_path / name))


def test_one_process_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with lock_folder(folder), pytest.raises(UserError, match="another process"), lock_folder(folder):
        pass
    with lock_folder(folder):
        assert list(folder.iterdir()) == []
