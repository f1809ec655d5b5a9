"""Files that survive interruptions: atomic writes, growing JSON lines, folder locks."""

import bz2
import codecs
import errno
import fcntl
import json
import mmap
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast

LONGEST_LINE = 256_000_000
"""Bytes; a question of task 3 has about 10 million. A few kilobytes of bz2 can unpack to gigabytes in one line."""

_NO_LOCKS = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
"""What file systems without locks reply, as some that are mounted over a network: NFS has none for folders."""


FAULTS_OF_DISKS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Full, the user's share used up, too large a file, broken. Writing raises them without the name of the file."""


class UserError(Exception):
    """An error that the user can fix. The message says what is wrong, where, and what to do; commands print only it."""


class DatasetError(UserError, ValueError):
    """A data file cannot be used; the message names file, line and field."""


class Record(NamedTuple):
    """One JSON object of a file, and where it is, for messages (``FILE, line 3``)."""

    place: str
    data: dict[str, Any]

    def fault(self, field: str, why: str) -> DatasetError:
        """The error of a field: ``FILE, line 3, field "query": missing``."""
        return field_fault(self.place, field, why)


def field_fault(place: str, field: str, why: str) -> DatasetError:
    """The error of a field of the row at this place."""
    return DatasetError(f'{place}, field "{field}": {why}')


@contextmanager
def _named_if_disk_fails(path: Path) -> Iterator[None]:
    """Inside, an error of a full or broken disk names the file `path`, which is written."""
    try:
        yield
    except OSError as error:
        if error.errno in FAULTS_OF_DISKS and error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a temporary path with the same suffix; it becomes `path` at the end, or is deleted after an error.

    A device or a pipe, such as ``/dev/null`` or ``/dev/stdout``, stays what it is and gets the content.

    Example:
        with whole_file(Path("vectors.npy")) as unfinished:
            np.save(unfinished, vectors)
    """
    if is_device_or_pipe(path):
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder, path.name)
            yield temporary
            with _named_if_disk_fails(path), temporary.open("rb") as content, path.open("wb") as device:
                shutil.copyfileobj(content, device)
        return

    path.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, as a rename cannot cross file systems; with a name for each process.
    temporary = path.with_name(f".unfinished-{os.getpid()}-{path.name}")
    try:
        with _named_if_disk_fails(path):
            yield temporary

            # The content must be on disk before the name is: after a power cut a rename alone may name an empty file.
            with temporary.open("rb") as stream:
                os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        # The user named `path`; nobody knows the other name
        if error.filename in {temporary, str(temporary)}:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        temporary.unlink(missing_ok=True)


def is_device_or_pipe(path: Path) -> bool:
    """Whether the path, or what it links to, is neither a file nor a folder; False if nothing is there."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically. Creates its folders."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def write_json(path: Path, value: object, indent: int = 1) -> None:
    """Write a value as indented JSON, atomically."""
    write_whole(path, json.dumps(value, indent=indent, ensure_ascii=False).encode() + b"\n")


def write_rows(path: str | Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write JSON lines atomically, compressed if the name ends in ``.bz2``. Returns the number of rows."""
    count = 0
    with whole_file(Path(path)) as temporary, _open_binary(temporary, "wb") as stream:
        for row in rows:
            stream.write(json_line(row))
            count += 1
    return count


def _open_binary(path: Path, mode: Literal["rb", "wb"]) -> IO[bytes]:
    """Open a file for bytes; the bytes in a ``.bz2`` file are unpacked or packed on the way."""
    if path.suffix == ".bz2":
        return cast("IO[bytes]", bz2.open(path, mode))
    return path.open(mode)


def json_line(row: dict[str, Any]) -> bytes:
    """The row as one line of UTF-8 JSON. A lone surrogate becomes a JSON escape."""
    try:
        return (json.dumps(row, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(row) + "\n").encode()


def read_jsonl(path: str | Path) -> Iterator[Record]:
    """The JSON objects of a file of JSON lines (also ``.bz2``), one at a time; blank lines are skipped.

    Raises DatasetError: the file cannot be read, or a line is not a JSON object.

    Example:
        for record in read_jsonl("questions.jsonl"):
            print(record.data["query"])
    """
    source = Path(path)
    try:
        with _open_binary(source, "rb") as stream:
            for number, line in read_lines(stream, str(source)):
                if line.strip():
                    location = f"{source}, line {number}"
                    yield Record(location, parse_object(location, line))
    except (OSError, EOFError) as error:
        # A damaged archive raises errors without an error number, and so without `strerror`.
        reason = getattr(error, "strerror", None) or error
        raise DatasetError(f"{source}: cannot be read: {reason}") from None


def read_lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """The numbered lines of a stream in bounded memory. Raises DatasetError: one is longer than `LONGEST_LINE`."""
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise DatasetError(f"{name}, line {number}: longer than {LONGEST_LINE:,} bytes")
        yield number, line


def parse_object(location: str, line: bytes) -> dict[str, Any]:
    """The JSON object of a line, with or without a byte order mark. NaN and Infinity become None.

    `location` begins the messages. Raises DatasetError: it is not JSON in UTF-8, or no object.
    """
    try:
        value = json.loads(line.decode("utf-8-sig"), parse_constant=lambda _: None)
    except UnicodeDecodeError as error:
        is_utf_16 = line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        fault = "UTF-16 text, save it as UTF-8" if is_utf_16 else f"{error.reason} at byte {error.start}"
        raise DatasetError(f"{location}: not UTF-8 text ({fault})") from None
    except json.JSONDecodeError as error:
        # The beginning of a file that was written with indents
        is_spread = line.strip() in {b"{", b"["}
        fault = "write each object in one line" if is_spread else f"{error.msg} at column {error.colno}"
        raise DatasetError(f"{location}: not valid JSON ({fault})") from None
    except RecursionError:
        raise DatasetError(f"{location}: JSON nested too deeply") from None
    except ValueError as error:
        raise DatasetError(f"{location}: not valid JSON ({_without_advice(error)})") from None

    if not isinstance(value, dict):
        remedy = "; write one object a line, without a list around them" if isinstance(value, list) else ""
        raise DatasetError(f"{location}: expected a JSON object, found {shorten_repr(value)}{remedy}")
    return value


def parse_toml(content: bytes) -> dict[str, Any]:
    """The tables of a TOML file, with or without a byte order mark.

    Raises ValueError with the reason in one line: not TOML in UTF-8.
    """
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text ({error.reason} at byte {error.start})") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        raise ValueError(_without_advice(error)) from None


def _without_advice(error: ValueError) -> str:
    """The message; of a number with thousands of digits without Python's advice how to lift its limit."""
    reason, _, _ = str(error).partition("; use sys.")
    return reason


def shorten_repr(value: object) -> str:
    """A value for an error message, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def append_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Append JSON lines; they are on disk when this returns. Several processes may append to one file.

    A torn last line from a crash is cut off first. A ``.bz2`` file gets another stream and is not cut.
    """
    content = b"".join(json_line(row) for row in rows)
    if not content:
        return
    if is_device_or_pipe(path):
        # It has no last line, and nothing is kept that could be brought to disk
        with _named_if_disk_fails(path), path.open("wb") as device:
            device.write(bz2.compress(content) if path.suffix == ".bz2" else content)
        return

    with _named_if_disk_fails(path), path.open("a+b") as stream:
        # Closing the file releases the lock.
        _lock(stream.fileno(), fcntl.LOCK_EX)

        if path.suffix == ".bz2":
            content = bz2.compress(content)
        else:
            _cut_torn_line(stream)
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _cut_torn_line(stream: IO[bytes]) -> None:
    """Cut what follows the last line end of a file, so that the next row begins a line."""
    descriptor = stream.fileno()
    if os.fstat(descriptor).st_size == 0:  # an empty file cannot be mapped
        return

    with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as content:
        # Without any line end this is 0: the only line is torn.
        end = content.rfind(b"\n") + 1
    os.ftruncate(descriptor, end)


def read_growing(path: Path) -> Iterator[Record]:
    """The rows that `append_rows` wrote, one at a time, without a torn last line. A missing file has no rows.

    Raises DatasetError: a whole line is not a JSON object.
    """
    if not path.is_file():
        return

    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            # Torn by a crash, or still being written.
            if not line.endswith(b"\n"):
                return
            location = f"{path}, line {number}"
            yield Record(location, parse_object(location, line))


def _lock(descriptor: int, operation: int) -> None:
    """Lock an open file or folder if its file system has locks. Raises BlockingIOError: another process holds it."""
    try:
        fcntl.flock(descriptor, operation)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


@contextmanager
def lock_folder(folder: Path) -> Iterator[int]:
    """Create the folder and lock it against other processes; gives the lock's file descriptor.

    The folder itself is locked, so no lock file stays in it. A child process that inherits the descriptor also holds
    the lock, until both have ended. On a file system without locks there is none.

    Raises UserError: another process holds the lock; OSError: the folder cannot be made or opened.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            _lock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{folder}: another process is writing here") from None
        yield descriptor
    finally:
        os.close(descriptor)


def check_target(path: Path) -> None:
    """Check that a file can be written and create its folders, before the work starts. Raises DatasetError."""
    try:
        if path.is_dir():
            raise DatasetError(f"{path}: cannot be written: it is a folder")
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written: {error.strerror}") from None


def check_output(out: Path, *inputs: Path) -> None:
    """Check that the file to write replaces none of the inputs: labels are hours of work. Raises DatasetError."""
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise DatasetError(f"--out {out}: this file is an input and would be replaced: choose another name")
