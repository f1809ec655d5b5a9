"""Reads question files, lazily, one row at a time: JSON lines (``.jsonl``), CSV with a header (``.csv``), also in bz2.

A file cut into numbered parts (``name.jsonl.bz2.part1``) is read as one. A task-3 row has about 10 MB, so a file's rows
are never in memory together.
"""

import bz2
import csv
import io
import json
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, TypeVar, cast

from crag.core.files import DatasetError, Record, lines_of, parse_object, shown
from crag.core.text import clean, encodable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = [
    "DEFAULT_DATASET", "LABEL_FIELDS", "PAGE_FIELDS", "DatasetError", "Record", "Split", "alternative_answers",
    "count_rows", "dataset_files", "joined_files", "read_records", "read_rows",
]  # fmt: skip

_SAMPLE = Path("data/sample/questions.jsonl")
_SAMPLES = (
    _SAMPLE,
    Path(__file__).parents[2] / _SAMPLE,
    Path(sysconfig.get_path("data"), "share/crag", *_SAMPLE.parts[1:]),
)
DEFAULT_DATASET = next(filter(Path.is_file, _SAMPLES), _SAMPLE)
"""The shipped sample: of the repository where the user stands, of this one, or of the installed package."""

PAGE_FIELDS = ("page_name", "page_url", "page_snippet", "page_result", "page_last_modified")
"""The fields of a search result in the evaluator's batches."""

LABEL_FIELDS = ("domain", "question_type", "static_or_dynamic")
"""Labels of public rows, which agents never see."""

_TEXT_FIELDS = ("query", "interaction_id", "query_time", "answer", *LABEL_FIELDS)
_Kind = TypeVar("_Kind")
_PART = re.compile(r"(?P<stem>.{1,250})\.part(?P<number>\d{1,9})")


class Split:
    """Selects the rows of one split of CRAG and counts the others.

    The public files hold both splits: 0 for training, 1 the public test set. The row's field `split` names it; null
    marks an artificial row. `wanted` None takes all rows without checking the field; `left_out` is by split.
    """

    FIELD = "split"
    ANY = "any"

    def __init__(self, wanted: int | None = 0) -> None:
        self.wanted = wanted
        self.left_out: Counter[int] = Counter()

    def __str__(self) -> str:
        return self.ANY if self.wanted is None else str(self.wanted)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``0``, ``1`` or ``any``; raises ValueError."""
        if text != cls.ANY and not text.isdecimal():
            raise ValueError(f"a split is a number such as 0, or {cls.ANY}; found {text!r}")
        return cls(None if text == cls.ANY else int(text))

    def holds(self, record: Record) -> bool:
        """Whether to read the row; other rows are counted; raises DatasetError: the row does not name its split."""
        found = record.data.get(self.FIELD, "")
        if self.wanted is None or found is None:
            return True
        if not isinstance(found, int):
            what = "missing" if found == "" else f"expected a whole number, found {shown(found)}"
            raise DatasetError(f'{record.place}, field "{self.FIELD}": {what}; --split {self.ANY} reads all rows')
        if found != self.wanted:
            self.left_out[found] += 1
        return found == self.wanted

    def report(self) -> None:
        """Print how many rows were left out, if any."""
        if self.left_out.total():
            parts = [f"{count:,} of split {split}" for split, count in sorted(self.left_out.items())]
            sys.stdout.write(f"left out, because only split {self} is read: {', '.join(parts)}\n")

    def to_card(self) -> dict[str, Any]:
        """The same for a run card."""
        return {
            "split": str(self),
            "rows_of_other_splits": {str(key): count for key, count in (+self.left_out).items()},
        }


def read_rows(path: str | Path, limit: int | None = None, split: Split | None = None) -> Iterator[dict[str, Any]]:
    """The questions of a file, validated and in one form for all releases.

    A row has a `query`; other official fields are checked if present. A row without an `interaction_id` gets its line
    number as one. Texts are cleaned
    (`crag.core.text`). The alternative answers (``alt_ans`` or ``alternative_answers``, a list or its JSON text
    ``"[]"``) become ``alt_ans: list[str]``. Every search result has the five fields of `PAGE_FIELDS`; null becomes "".
    A ``page_result_file`` in a search result is a path inside the question file's folder; the file's text becomes
    ``page_result``.

    Args:
        path: The file, the first part of a cut file, or the common name of its parts.
        limit: Maximum number of rows.
        split: Leaves out rows of other splits.
    Raises DatasetError: missing file (at once); or, while reading, an invalid row, or no row of the split.
    """
    folder = Path(path).parent
    records = read_records(path, limit, split)
    return (_normalised(record, folder) for record in records)


def read_records(path: str | Path, limit: int | None = None, split: Split | None = None) -> Iterator[Record]:
    """The JSON objects of a file with their places, in any form of `read_rows`, without checking fields.
    Raises DatasetError: missing file (at once); or, while reading, a line that is not a JSON object, or no row of
    `split`.
    """
    return islice(_records_of(Path(path), dataset_files(path), split or Split(None)), limit)


def _records_of(source: Path, files: Sequence[Path], split: Split) -> Iterator[Record]:
    chosen = others = 0
    for place, line in _lines(source, files):
        record = Record(place, parse_object(place, line))
        if split.holds(record):
            chosen += 1
            yield record
        else:
            others += 1
    if others and not chosen:
        raise DatasetError(f"{source}: none of its {others:,} rows is of split {split} (--split {Split.ANY} reads all)")


def count_rows(path: str | Path, limit: int | None = None) -> int:
    """The number of rows of `read_rows`, without parsing them."""
    return sum(1 for _ in islice(_lines(Path(path), dataset_files(path)), limit))


def dataset_files(path: str | Path) -> list[Path]:
    """The file, or its parts in order; raises DatasetError: the file or a part is missing, or it is an archive."""
    path = Path(path)
    match = _PART.fullmatch(path.name)
    stem = match["stem"] if match else path.name
    if stem.lower().endswith((".tar", ".tar.bz2", ".tbz2", ".tar.gz", ".zip")):
        raise DatasetError(f"{path}: an archive is not read; `crag data fetch` unpacks those of CRAG")
    if match is None and path.is_file():
        return [path]
    siblings = [_PART.fullmatch(sibling.name) for sibling in path.parent.iterdir()] if path.parent.is_dir() else []
    parts = {int(part["number"]): path.with_name(part[0]) for part in siblings if part and part["stem"] == stem}
    if not parts or (match and not path.is_file()):
        raise DatasetError(f"{path}: {'is a folder, not a file' if path.is_dir() else 'there is no such file'}")
    found = [parts[number] for number in sorted(parts)]
    if min(parts) > 1 or max(parts) - min(parts) >= len(parts):
        raise DatasetError(f"{path}: parts are missing; found {', '.join(part.name for part in found)}")
    return found


class _JoinedFiles(io.RawIOBase):
    """Several files read as one."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files = [path.open("rb", buffering=0) for path in paths]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill the buffer from the first file that has something left; 0 at the end."""
        return next((count for file in self._files if (count := file.readinto(buffer))), 0)

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


def _lines(source: Path, parts: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """The lines that are not blank, with their places; the rows of a CSV file become lines of JSON."""
    name = _PART.sub(r"\g<stem>", source.name).lower()
    packed = name.endswith(".bz2")
    with joined_files(source, parts) as stream, ExitStack() as stack:
        unpacked = cast("IO[bytes]", stack.enter_context(bz2.open(stream))) if packed else stream
        if name.removesuffix(".bz2").endswith(".csv"):
            yield from _csv_lines(source, unpacked)
            return
        for number, line in lines_of(unpacked, str(source)):
            if line.strip():
                yield f"{source}, line {number}", line


def _csv_lines(source: Path, stream: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    """Empty cells are left out. Raises DatasetError: no column `query`, or no CSV in UTF-8."""
    rows = csv.DictReader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""), strict=True)
    try:
        if "query" not in (rows.fieldnames or ()):
            there = ", ".join(rows.fieldnames or ["nothing"])
            raise DatasetError(f'{source}, line 1: the header has no column "query", only {there}')
        for row in rows:
            cells = {name: cell for name, cell in row.items() if name and cell}
            yield f"{source}, line {rows.line_num}", json.dumps(cells).encode()
    except (csv.Error, UnicodeDecodeError) as error:
        raise DatasetError(f"{source}, line {rows.line_num + 1}: not CSV in UTF-8 ({error})") from None


# --- fields -----------------------------------------------------------------------------------------------------------


def _normalised(record: Record, folder: Path) -> dict[str, Any]:
    place, row = record.place, dict(record.data)
    for name in _TEXT_FIELDS:
        if row.get(name) is None and name != "query":
            row.pop(name, None)
        else:
            row[name] = clean(_checked(place, name, row.get(name), str, "text"))
    row.setdefault("interaction_id", place.rpartition(", ")[2])
    row["alt_ans"] = alternative_answers(record)
    row.pop("alternative_answers", None)
    if "search_results" in row:
        results = _checked(place, "search_results", row["search_results"], list, "a list")
        row["search_results"] = [
            _search_result(place, f"search_results[{index}]", item, folder) for index, item in enumerate(results)
        ]
    return row


def _checked(place: str, field: str, value: object, kind: type[_Kind], what: str) -> _Kind:
    if not isinstance(value, kind):
        found = f"expected {what}, found {shown(value)}"
        raise DatasetError(f'{place}, field "{field}": {"missing or null" if value is None else found}')
    return value


def alternative_answers(record: Record) -> list[str]:
    """Alternative answers from either field, given as a list, as its JSON text, or as null.

    Some public rows have a number instead of a text; it becomes text.
    Raises DatasetError: the field has another type.
    """
    name = "alt_ans" if "alt_ans" in record.data else "alternative_answers"
    found = value = record.data.get(name) or []
    if isinstance(value, str):
        with suppress(json.JSONDecodeError):
            value = json.loads(value.strip() or "[]")
    if not isinstance(value, list) or not all(isinstance(answer, str | int | float) for answer in value):
        raise DatasetError(f'{record.place}, field "{name}": expected a list of texts, found {shown(found)}')
    return [clean(str(answer)) for answer in value]


def _search_result(place: str, field: str, value: object, folder: Path) -> dict[str, Any]:
    result = dict(_checked(place, field, value, dict, "a JSON object"))
    if "page_result_file" in result:
        name = f"{field}.page_result_file"
        result["page_result"] = _page_text(place, name, result.pop("page_result_file"), folder)
    for name in PAGE_FIELDS:
        text = _checked(place, f"{field}.{name}", "" if result.get(name) is None else result[name], str, "text")
        result[name] = encodable(text) if name == "page_result" else clean(text)
    return result


def _page_text(place: str, field: str, value: object, folder: Path) -> str:
    name, root = _checked(place, field, value, str, "a relative path"), folder.resolve()
    try:
        page = (root / name).resolve()
        if not page.is_relative_to(root):
            fault = "leaves the folder of the question file"
        elif page.exists() and not page.is_file():  # a pipe would wait for ever
            fault = "cannot be read: it is no file"
        else:
            return page.read_text(encoding="utf-8")
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links
        fault = f"cannot be read: {error.strerror if isinstance(error, OSError) else error}"
    raise DatasetError(f'{place}, field "{field}": {name!r} {fault}')
