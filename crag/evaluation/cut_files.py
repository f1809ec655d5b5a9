"""Files that are cut into numbered parts (``name.jsonl.bz2.part1``), as the large ones of CRAG are, read as one."""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from crag.core.files import DatasetError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PART = re.compile(r"(?P<stem>.{1,250})\.part(?P<number>\d{1,9})")

_UNREAD = {
    **dict.fromkeys((".gz", ".xz", ".zst", ".lz4"), "unpack it first, or pack it with bzip2"),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save it as CSV"),
    **dict.fromkeys((".parquet", ".feather", ".arrow"), "write it as JSON lines, such as with `to_json` of pandas"),
}
"""Endings of question files that people have elsewhere, with what helps."""


def name_without_part(path: Path) -> str:
    """The name that the parts of a cut file have in common.

    Example:
        name_without_part(Path("data/crag.jsonl.bz2.part3"))  # "crag.jsonl.bz2"
    """
    return _PART.sub(r"\g<stem>", path.name)


def dataset_files(path: str | Path) -> list[Path]:
    """The file, or its parts in order; raises DatasetError: the file or a part is missing, or its kind is not read."""
    path = Path(path)
    # Either name of a cut file is accepted: that of a part or the common one
    part = _PART.fullmatch(path.name)
    stem = part["stem"] if part else path.name
    if stem.lower().endswith((".tar", ".tar.bz2", ".tbz2", ".tar.gz", ".zip")):
        raise DatasetError(f"{path}: an archive is not read; `crag data fetch` unpacks those of CRAG")
    remedy = _UNREAD.get(Path(stem).suffix.lower())
    if remedy is not None:
        raise DatasetError(f"{path}: files of this kind are not read; {remedy}")
    if part is None and path.is_file():
        return [path]

    parts = _find_parts(path.parent, stem)
    is_missing_part = part is not None and not path.is_file()
    if not parts or is_missing_part:
        raise DatasetError(f"{path}: {_describe_what_is_no_file(path)}")

    # Numbers begin at 0 or 1 and have no gap.
    numbers = sorted(parts)
    files = [parts[number] for number in numbers]
    if numbers[0] > 1 or numbers[-1] - numbers[0] >= len(numbers):
        names = ", ".join(file.name for file in files)
        raise DatasetError(f"{path}: parts are missing; found {names}")
    return files


def _describe_what_is_no_file(path: Path) -> str:
    if path.is_dir():
        return "is a folder, not a file"
    if path == Path("-") or path.exists():
        return "a pipe is not read, because questions are read more than once: write them to a file"
    return "there is no such file"


def _find_parts(folder: Path, stem: str) -> dict[int, Path]:
    """The parts of a cut file by number; the first has the number 0 or 1."""
    parts: dict[int, Path] = {}
    if folder.is_dir():
        for file in folder.iterdir():
            part = _PART.fullmatch(file.name)
            if part and part["stem"] == stem:
                parts[int(part["number"])] = file
    return parts


class _JoinedFiles(io.RawIOBase):
    """Several files read as one."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files = [path.open("rb", buffering=0) for path in paths]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill the buffer from the first file that has something left; 0 at the end."""
        for file in self._files:
            count = file.readinto(buffer)
            if count:
                return count
        return 0

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()


@contextmanager
def joined_files(source: Path, parts: Sequence[Path]) -> Iterator[IO[bytes]]:
    """The parts as one stream of bytes; raises DatasetError."""
    try:
        with io.BufferedReader(_JoinedFiles(parts), buffer_size=1 << 20) as stream:
            yield cast("IO[bytes]", stream)
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DatasetError(f"{source}: cannot be read, or a part is missing: {reason}") from None
