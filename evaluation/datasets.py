"""Reads question files in all forms of CRAG data, lazily, one row at a time.

Supported: JSON lines (``.jsonl``), also in bz2 (``.jsonl.bz2``); files of the first release with a JSON list of rows
per line; ``.tar`` and ``.tar.bz2`` archives of such files; and any of these cut into numbered parts
(``name.tar.bz2.part1``, ``.part0``, ``.part-aa``), which are read as one file. Nothing is unpacked to disk.

A task-3 row has about 10 MB, so a file's rows are never in memory together.
"""

import bz2
import io
import json
import re
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, cast

from agents.common.files import DatasetError, Record, as_object, lines_of, parse_json, shown
from agents.common.text import clean, encodable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = [
    "LABEL_FIELDS", "PAGE_FIELDS", "DatasetError", "Record", "Split", "alternative_answers", "count_rows",
    "dataset_files", "read_records", "read_rows",
]  # fmt: skip

PAGE_FIELDS = ("page_name", "page_url", "page_snippet", "page_result", "page_last_modified")
"""The fields of a search result in the evaluator's batches."""

LABEL_FIELDS = ("domain", "question_type", "static_or_dynamic")
"""Labels of public rows, which agents never see."""

_TEXT_FIELDS = ("interaction_id", "query", "query_time", "answer", *LABEL_FIELDS)
_REQUIRED_FIELDS = ("interaction_id", "query")
_PART = re.compile(r"(?P<stem>.+)\.part[-_.]?(?P<mark>\d+|[a-z]{1,3})", re.IGNORECASE)


class Split:
    """Selects the rows of one split of CRAG and counts the others.

    The public files hold both splits: 0 for training, 1 the public test set. The row's field `split` names it; null
    marks an artificial row.

    Args:
        wanted: The split; None: all rows, without checking the field.
    """

    FIELD = "split"
    ANY = "any"

    def __init__(self, wanted: int | None = 0) -> None:
        self.wanted = wanted
        self.left_out: Counter[int] = Counter()
        """Number of rows of other splits, by split."""

    def __str__(self) -> str:
        return self.ANY if self.wanted is None else str(self.wanted)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``0``, ``1`` or ``any``.

        Raises:
            ValueError: the text has another form.
        """
        if text == cls.ANY:
            return cls(None)
        if not text.isdecimal():
            raise ValueError(f"a split is a number such as 0, or {cls.ANY}; found {text!r}")
        return cls(int(text))

    def holds(self, record: Record) -> bool:
        """Whether to read the row; other rows are counted.

        Raises:
            DatasetError: the row does not name its split.
        """
        if self.wanted is None:
            return True
        found = record.data.get(self.FIELD, "")
        if found is None or (isinstance(found, int) and found == self.wanted):
            return True
        if not isinstance(found, int):
            what = "missing" if found == "" else f"expected a whole number, found {shown(found)}"
            raise DatasetError(
                f'{record.place}, field "{self.FIELD}": {what}; only rows of split {self.wanted} are read '
                f"(--split {self.ANY} reads all rows)"
            )
        self.left_out[found] += 1
        return False

    def report(self) -> None:
        """Print how many rows were left out, if any."""
        if self.left_out:
            parts = [f"{count:,} of split {split}" for split, count in sorted(self.left_out.items())]
            sys.stdout.write(f"left out, because only split {self} is read: {', '.join(parts)}\n")

    def to_card(self) -> dict[str, Any]:
        """The same for a run card."""
        return {"split": str(self), "rows_of_other_splits": {str(key): self.left_out[key] for key in self.left_out}}


def read_rows(path: str | Path, limit: int | None = None, split: Split | None = None) -> Iterator[dict[str, Any]]:
    """The questions of a file, validated and in one form for all releases.

    A row has `interaction_id` and `query`; other official fields are checked if present. Texts are cleaned
    (`agents.common.text`). The alternative answers (``alt_ans`` or ``alternative_answers``, a list or its JSON text
    ``"[]"``) become ``alt_ans: list[str]``. Every search result has the five fields of `PAGE_FIELDS`; null becomes "".
    A ``page_result_file`` in a search result is a path inside the question file's folder; the file's text becomes
    ``page_result``.

    Args:
        path: The file, the first part of a cut file, or the common name of its parts.
        limit: Maximum number of rows.
        split: Leaves out rows of other splits.

    Raises:
        DatasetError: missing file (at once); or, while reading, an invalid row, or no row of the split.
    """
    source = Path(path)
    records = read_records(source, limit, split)
    return (_normalised(record, source.parent) for record in records)


def read_records(path: str | Path, limit: int | None = None, split: Split | None = None) -> Iterator[Record]:
    """The JSON objects of a file with their places, in any form of `read_rows`, without checking fields.

    Raises:
        DatasetError: missing file (at once); or, while reading, a line that is not a JSON object, or no row of `split`.
    """
    source = Path(path)
    if limit is not None and limit < 0:
        raise ValueError(f"limit must not be negative, found {limit}")
    stem, parts = _find_parts(source)
    return _limited_records(source, stem, parts, limit, split or Split(None))


def count_rows(path: str | Path, limit: int | None = None) -> int:
    """The number of rows of `read_rows`, without parsing them (except lines of the first release)."""
    source = Path(path)
    stem, parts = _find_parts(source)
    count = 0
    with _reading(source, parts) as (stream, stack):
        for _, member in _members(source, stem, stream, stack):
            for _, line in lines_of(member, str(source)):
                text = line.strip()
                count += _list_length(text) if text.startswith(b"[") else bool(text)
                if limit is not None and count >= limit:
                    return limit
    return count


def dataset_files(path: str | Path) -> list[Path]:
    """The file, or its parts in order.

    Raises:
        DatasetError: the file or a part is missing.
    """
    return _find_parts(Path(path))[1]


# --- files and parts --------------------------------------------------------------------------------------------------


def _find_parts(path: Path) -> tuple[str, list[Path]]:
    """The name with the format, and the file or its parts in order."""
    match = _PART.fullmatch(path.name)
    if match is None and path.is_file():
        return path.name, [path]
    stem = match["stem"] if match else path.name
    parts: dict[int, Path] = {}
    numbered = False
    for sibling in sorted(path.parent.glob(f"{_escape_glob(stem)}.part*")) if path.parent.is_dir() else []:
        found = _PART.fullmatch(sibling.name)
        if found and found["stem"] == stem:
            numbered = numbered or found["mark"].isdigit()
            parts[_ordinal(found["mark"])] = sibling
    if not parts or (match and not path.is_file()):
        what = "is a folder, not a file" if path.is_dir() else "there is no such file"
        raise DatasetError(f"{path}: {what}")
    first = min(parts)
    missing = sorted(set(range(first, max(parts) + 1)) - set(parts))
    if missing or first > (1 if numbered else 0):
        raise DatasetError(
            f"{path}: parts are missing; found {', '.join(parts[number].name for number in sorted(parts))}"
        )
    return stem, [parts[number] for number in sorted(parts)]


def _escape_glob(text: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", text)


def _ordinal(mark: str) -> int:
    """``10`` -> 10; ``a`` or ``aa`` -> 0, ``ab`` -> 1, ``ba`` -> 26, as `split` names parts."""
    if mark.isdigit():
        return int(mark)
    value = 0
    for letter in mark.lower():
        value = value * 26 + ord(letter) - ord("a")
    return value


class _JoinedFiles(io.RawIOBase):
    """Several files read as one, each opened when it is reached."""

    def __init__(self, paths: list[Path]) -> None:
        self._waiting = list(paths)
        self._current: io.FileIO | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill the buffer from the current file, or from the next non-empty one; 0 at the end."""
        while True:
            if self._current is None:
                if not self._waiting:
                    return 0
                self._current = self._waiting.pop(0).open("rb", buffering=0)
            count = self._current.readinto(buffer)
            if count:
                return count
            self._current.close()
            self._current = None

    def close(self) -> None:
        if self._current is not None:
            self._current.close()
            self._current = None
        super().close()


def _list_length(text: bytes) -> int:
    try:
        return len(json.loads(text))
    except (ValueError, RecursionError):
        return 1


def _limited_records(source: Path, stem: str, parts: list[Path], limit: int | None, split: Split) -> Iterator[Record]:
    if limit == 0:
        return
    number = others = 0
    with _reading(source, parts) as (stream, stack):
        for name, member in _members(source, stem, stream, stack):
            for record in _records_of_lines(name, member):
                if not split.holds(record):
                    others += 1
                    continue
                yield record
                number += 1
                if number == limit:
                    return
    if others and not number:
        raise DatasetError(f"{source}: none of its {others:,} rows is of split {split} (--split {Split.ANY} reads all)")


@contextmanager
def _reading(source: Path, parts: list[Path]) -> Iterator[tuple[IO[bytes], ExitStack]]:
    """The joined parts as one stream, and a stack that closes files opened on it; read errors name the file."""
    try:
        with ExitStack() as stack:
            joined = stack.enter_context(io.BufferedReader(_JoinedFiles(parts), buffer_size=1 << 20))
            yield cast("IO[bytes]", joined), stack
    except (tarfile.TarError, EOFError) as error:
        raise DatasetError(f"{source}: damaged archive, or a part is missing: {error}") from None
    except OSError as error:
        raise DatasetError(f"{source}: cannot be read: {error.strerror or error}") from None


def _members(source: Path, stem: str, stream: IO[bytes], stack: ExitStack) -> Iterator[tuple[str, IO[bytes]]]:
    """The line files inside: the file itself, or the members of the archive, with names for messages."""
    lowered = stem.lower()
    if not lowered.endswith((".tar", ".tar.bz2", ".tbz2")):
        yield str(source), _unpacked(stem, stream, stack)
        return
    mode = "r|" if lowered.endswith(".tar") else "r|bz2"
    archive = stack.enter_context(cast("Any", tarfile.open)(fileobj=stream, mode=mode))
    for entry in archive:
        if not entry.isfile() or Path(entry.name).name.startswith("."):
            continue
        if not entry.name.lower().endswith((".jsonl", ".json", ".jsonl.bz2", ".json.bz2")):
            continue
        member = archive.extractfile(entry)
        with ExitStack() as inner:
            yield f"{source}:{entry.name}", _unpacked(entry.name, inner.enter_context(member), inner)


def _unpacked(name: str, stream: IO[bytes], stack: ExitStack) -> IO[bytes]:
    if name.lower().endswith(".bz2"):
        return cast("IO[bytes]", stack.enter_context(bz2.open(stream, "rb")))
    return stream


def _records_of_lines(name: str, stream: IO[bytes]) -> Iterator[Record]:
    for number, line in lines_of(stream, name):
        if not line.strip():
            continue
        place = f"{name}, line {number}"
        value = parse_json(place, line)
        if not isinstance(value, list):
            yield Record(place, as_object(place, value))
            continue
        for index, row in enumerate(value, start=1):
            here = f"{place}, row {index}"
            yield Record(here, as_object(here, row))


# --- fields -----------------------------------------------------------------------------------------------------------


def _normalised(record: Record, folder: Path) -> dict[str, Any]:
    place, row = record.place, dict(record.data)
    for name in _TEXT_FIELDS:
        value = row.get(name)
        if name in _REQUIRED_FIELDS and name not in row:
            raise DatasetError(f'{place}, field "{name}": missing')
        if value is None and name not in _REQUIRED_FIELDS:
            row.pop(name, None)
        elif not isinstance(value, str):
            raise DatasetError(f'{place}, field "{name}": expected text, found {shown(value)}')
        else:
            row[name] = clean(value)
    row["alt_ans"] = alternative_answers(record)
    row.pop("alternative_answers", None)
    if "search_results" in row:
        row["search_results"] = _search_results(place, row["search_results"], folder)
    return row


def alternative_answers(record: Record) -> list[str]:
    """Alternative answers from either field, given as a list, as its JSON text, or as null.

    Some public rows have a number instead of a text; it becomes text.

    Raises:
        DatasetError: the field has another type.
    """
    name = "alt_ans" if "alt_ans" in record.data else "alternative_answers"
    found = value = record.data.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else []
        except json.JSONDecodeError:
            value = None
    elif value is None:
        value = []
    if not isinstance(value, list) or not all(isinstance(answer, str | int | float) for answer in value):
        raise DatasetError(f'{record.place}, field "{name}": expected a list of texts, found {shown(found)}')
    return [clean(str(answer)) for answer in value]


def _search_results(place: str, value: object, folder: Path) -> list[dict[str, Any]]:
    field = f'{place}, field "search_results'
    if not isinstance(value, list):
        raise DatasetError(f'{field}": expected a list, found {shown(value)}')
    results = []
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise DatasetError(f'{field}[{index}]": expected a JSON object, found {shown(item)}')
        result = dict(item)
        if "page_result_file" in result:
            where = f'{field}[{index}].page_result_file"'
            result["page_result"] = _page_text(where, result.pop("page_result_file"), folder)
        for name in PAGE_FIELDS:
            text = result.get(name)
            if text is not None and not isinstance(text, str):
                raise DatasetError(f'{field}[{index}].{name}": expected text, found {shown(text)}')
            result[name] = encodable(text or "") if name == "page_result" else clean(text)
        results.append(result)
    return results


def _page_text(where: str, name: object, folder: Path) -> str:
    if not isinstance(name, str) or not name:
        raise DatasetError(f"{where}: expected a relative path, found {shown(name)}")
    try:
        root = folder.resolve()
        page = (root / name).resolve()
        if not page.is_relative_to(root):
            fault = "leaves the folder of the question file"
        elif page.exists() and not page.is_file():  # a pipe would wait for ever
            fault = "cannot be read: it is no file"
        else:
            return page.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        fault = "is not UTF-8 text"
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links
        fault = f"cannot be read: {error.strerror if isinstance(error, OSError) else error}"
    raise DatasetError(f"{where}: {name!r} {fault}")
