"""Files that survive interruptions."""

import bz2
import errno
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from crag.core.files import (
    DatasetError,
    UserError,
    append_rows,
    lock_folder,
    parse_toml,
    read_growing,
    read_jsonl,
    write_json,
    write_rows,
)


def test_toml_of_a_windows_editor_is_read() -> None:
    assert parse_toml(b'\xef\xbb\xbfa = "\xc3\xa9"\r\nb = 2\r\n') == {"a": "é", "b": 2}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a = [", "Invalid value (at end of document)"),
        (b"a = '\xe9'", "not UTF-8 text (invalid continuation byte at byte 5)"),
        (b"a = " + b"[" * 5000, "nested too deeply"),
        (b"a = " + b"1" * 5000, "Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits"),
    ],
    ids=["cut", "latin-1", "deep", "digits"],
)
def test_what_is_no_toml_gives_one_reason(content: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        parse_toml(content)


@pytest.mark.parametrize("name", ["out.jsonl", "new/folder/out.jsonl.bz2"])
def test_written_rows_are_read_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    rows = [{"query": "Beyoncé — “quoted”\n second line\u2028"}, {"query": "lone surrogate \ud800"}]
    assert write_rows(path, rows) == 2
    append_rows(path, rows[:1])
    append_rows(path, [])
    assert [record.data for record in read_jsonl(path)] == [*rows, rows[0]]
    assert list(path.parent.iterdir()) == [path]


def test_a_fault_of_writing_names_the_file_that_the_user_named(tmp_path: Path) -> None:
    folder = tmp_path / "out.jsonl"
    folder.mkdir()
    with pytest.raises(OSError, match=r"'[^' ]*/out\.jsonl'$") as raised:
        write_rows(folder, [{"a": 1}])
    assert (raised.value.filename, raised.value.filename2) == (str(folder), None)


def test_a_pipe_or_a_device_gets_the_content_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "rows.jsonl"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert write_rows(pipe, [{"a": 1}]) == 1
        append_rows(pipe, [{"a": 2}])
        assert os.read(reader, 100) == b'{"a": 1}\n{"a": 2}\n'
    finally:
        os.close(reader)
    assert list(tmp_path.iterdir()) == [pipe]
    assert pipe.is_fifo()

    # A link to a device, as "/dev/stdout" is one: nobody's own would be replaced if this failed
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    write_json(link, {"a": 1})
    append_rows(link, [{"a": 2}])
    assert link.is_char_device()


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


def test_a_missing_or_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.bz2").write_bytes(bz2.compress(json.dumps({"a": 1}).encode())[:-3])
    for name in ("none.jsonl", "cut.jsonl.bz2"):
        with pytest.raises(DatasetError, match=rf"{name}: cannot be read: "):
            list(read_jsonl(tmp_path / name))


def test_a_folder_is_locked_by_one_at_a_time_and_free_afterwards(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with lock_folder(folder), pytest.raises(UserError, match="another process"), lock_folder(folder):
        pass
    with lock_folder(folder):
        assert list(folder.iterdir()) == []


@pytest.mark.parametrize("fault", [errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_costs_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int) -> None:
    def flock(*_: object) -> None:
        raise OSError(fault, "no locks here")

    monkeypatch.setattr("fcntl.flock", flock)
    with lock_folder(tmp_path / "run"):
        append_rows(tmp_path / "run" / "rows.jsonl", [{"a": 1}])
    assert [record.data for record in read_growing(tmp_path / "run" / "rows.jsonl")] == [{"a": 1}]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("write", [append_rows, write_rows])
def test_a_full_disk_names_the_file(tmp_path: Path, write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.jsonl"
    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda self, mode: opened(Path("/dev/full"), "wb", buffering=0))
    monkeypatch.setattr("crag.core.files._cut_torn_line", lambda stream: None)
    with pytest.raises(OSError, match=f"No space left on device: '{path}'"):
        write(path, [{"a": 1}])
