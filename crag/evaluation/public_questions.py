"""The public CRAG questions, from the repository of the competition.

The repository keeps its large files in Git LFS: a small pointer in git names size and sha256 of each. Both are read
from there, so a download is verified against what the publisher says today. An interrupted download continues. The
archive of task 3 is unpacked into one question file.
"""

import bz2
import re
import shutil
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

import requests
from tqdm import tqdm

from crag.core.files import DatasetError, whole_file
from crag.evaluation.cut_files import joined_files
from crag.weights.manifest import PinnedFile, sha256_of
from crag.weights.sources import is_whole

HOME = "https://github.com/facebookresearch/CRAG/tree/main/data"
POINTERS = "https://raw.githubusercontent.com/facebookresearch/CRAG/main/data"
CONTENTS = "https://media.githubusercontent.com/media/facebookresearch/CRAG/main/data"
PARTS = {4: range(1, 5), 5: range(4)}
"""Version of the data -> the numbers of the parts into which task 3, with 50 pages a question, is cut."""

FILES: dict[tuple[int, int], tuple[str, ...]] = {}
"""Version and task -> its files. Tasks 1 and 2 share one."""
for _version, _numbers in PARTS.items():
    FILES[_version, 1] = (f"crag_task_1_and_2_dev_v{_version}.jsonl.bz2",)
    FILES[_version, 2] = FILES[_version, 1]
    FILES[_version, 3] = tuple(f"crag_task_3_dev_v{_version}.tar.bz2.part{number}" for number in _numbers)

ARCHIVE = ".tar.bz2"
DEFAULT_FOLDER = Path("data/crag")
TIMEOUT = (10.0, 60.0)
"""Seconds to connect, seconds between bytes."""
_POINTER = re.compile(r"oid sha256:(?P<sha256>[0-9a-f]{64})\nsize (?P<size>[1-9]\d{0,11})(?!\d)")
_QUESTION_SUFFIXES = (".json", ".jsonl")
_POINTER_BYTES = 1000
_BLOCK = 1 << 20


def unpack(parts: Sequence[Path], questions: Path) -> None:
    """Write the question files of an archive in parts as one: bz2 streams one after another are a bz2 file.
    Raises DatasetError: the archive is damaged.
    """
    with (
        joined_files(questions, parts) as stream,
        whole_file(questions) as unfinished,
        unfinished.open("wb") as target,
    ):
        try:
            # "r|": a stream cannot go back, and the archive is never unpacked on disk. "r|bz2" of Python 3.11 ends
            # behind the first bz2 stream, and programs that pack on several cores, such as pbzip2, write many
            with (
                bz2.open(stream) as unpacked,
                tarfile.open(fileobj=cast("IO[bytes]", unpacked), mode="r|") as archive,
            ):
                for entry in archive:
                    _append_member(archive, entry, target)
        except tarfile.TarError as error:
            raise DatasetError(f"{parts[0]}: damaged archive, or a part is missing: {error}") from None


def _append_member(archive: tarfile.TarFile, entry: tarfile.TarInfo, target: IO[bytes]) -> None:
    """Append a question file of an archive as bz2; other files and folders are left out."""
    name = Path(entry.name).name
    is_hidden = name.startswith(".")  # archives made on a Mac have a `._` file beside each
    if is_hidden or not name.removesuffix(".bz2").endswith(_QUESTION_SUFFIXES):
        return
    member = archive.extractfile(entry)
    if member is None:  # a folder of that name
        return

    # Already compressed: its bytes are a bz2 stream as they are
    if entry.name.endswith(".bz2"):
        shutil.copyfileobj(member, target, _BLOCK)
    else:
        with bz2.open(target, "wb") as compressed:
            shutil.copyfileobj(member, cast("IO[bytes]", compressed), _BLOCK)
    target.write(bz2.compress(b"\n"))  # in case its last line has none


def fetch(name: str, folder: Path) -> Path:
    """Download a file into the folder, unless it is there; returns its path. Raises DatasetError: why not."""
    path = folder / name
    pointer = fetch_pointer(name)
    # A file of an older release is not whole by today's pointer
    if is_whole(path, pointer):
        sys.stdout.write(f"{path}: already here and verified\n")
        return path

    # What an earlier attempt left is continued; a longer file is of another release.
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{name}.part")
    if part.is_file() and part.stat().st_size > pointer.size:
        part.unlink()
    if not part.is_file() or part.stat().st_size < pointer.size:
        _download(f"{CONTENTS}/{name}", part, pointer.size)

    # Damaged bytes cannot be continued, so the next attempt starts from the beginning
    if sha256_of(part) != pointer.sha256:
        part.unlink()
        digest = pointer.sha256[:12]
        raise DatasetError(f"{name}: the bytes are not those of sha256 {digest}...; run the command again")

    # The final name only ever belongs to a verified file
    part.replace(path)
    sys.stdout.write(f"{path}: fetched and verified\n")
    return path


def fetch_pointer(name: str) -> PinnedFile:
    """Size and sha256 of a file, from its Git LFS pointer."""
    address = f"{POINTERS}/{name}"
    with _get(address) as reply:
        # If it were the file itself, a gigabyte would follow
        head = next(_blocks(reply, address, _POINTER_BYTES), b"")

    pointer = _POINTER.search(head.decode("latin-1"))
    if pointer is None:
        raise DatasetError(f"{address} is no longer a Git LFS pointer; see {HOME}")
    return PinnedFile(path=name, sha256=pointer["sha256"], size=int(pointer["size"]))


def _download(address: str, part: Path, size: int) -> None:
    """Download the rest of a file after what `part` has of it."""
    # A server that ignores the range answers 200 with the whole file
    offset = part.stat().st_size if part.is_file() else 0
    headers = {"Range": f"bytes={offset}-"} if offset else {}
    with _get(address, headers) as reply:
        if reply.status_code != requests.codes.partial_content:
            offset = 0  # this server sends the whole file

        bar = tqdm(total=size, initial=offset, unit="B", unit_scale=True, desc=part.stem, disable=None)
        with bar, part.open("ab" if offset else "wb") as file:
            for block in _blocks(reply, address, size - offset):
                file.write(block)
                bar.update(len(block))

    # A connection that breaks off can end without an error
    received = part.stat().st_size
    if received < size:
        raise DatasetError(f"{address} ended after {received:,} of {size:,} bytes; run the command again")


def _blocks(reply: requests.Response, address: str, limit: int) -> Iterator[bytes]:
    """The body in blocks, at most `limit` bytes: a server may send without end."""
    remaining = limit
    try:
        for block in reply.iter_content(min(_BLOCK, limit)):
            yield block[:remaining]
            remaining -= len(block)
            if remaining <= 0:
                return
    except requests.RequestException as error:
        raise DatasetError(f"{address} was interrupted ({type(error).__name__}); run the command again") from None


def _get(address: str, headers: dict[str, str] | None = None) -> requests.Response:
    by_hand = f"Or put the files of {HOME} into {DEFAULT_FOLDER} by hand"
    try:
        reply = requests.get(address, headers=headers, stream=True, timeout=TIMEOUT)
    except requests.RequestException as error:
        raise DatasetError(f"{address} is not reachable ({type(error).__name__}). {by_hand}") from None
    if not reply.ok:
        raise DatasetError(f"{address}: status {reply.status_code}. {by_hand}")
    return reply
