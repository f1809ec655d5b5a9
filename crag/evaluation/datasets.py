"""Reads question files, lazily, one row at a time: JSON lines (``.jsonl``), CSV or TSV with a header, also in bz2.

A cut file is read as one (`crag.evaluation.cut_files`). A task-3 row has about 10 MB, so a file's rows are never in
memory together.
"""

import bz2
import io
import json
import re
import sys
import sysconfig
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from crag.core.csv_files import DELIMITERS, CsvReader, fold_name, misspelt_names
from crag.core.files import DatasetError, Record, parse_object, read_lines, shorten_repr
from crag.core.text import counted
from crag.core.utf8_lines import ENCODING, ERRORS, utf8_lines
from crag.evaluation.cut_files import dataset_files, joined_files, name_without_part
from crag.evaluation.question_fields import LABEL_FIELDS, normalise_row
from crag.evaluation.split import Split

_SAMPLE = Path("data/sample/questions.jsonl")
_SAMPLES = (
    _SAMPLE,
    Path(__file__).parents[2] / _SAMPLE,
    Path(sysconfig.get_path("data"), "share/crag", *_SAMPLE.parts[1:]),
)
DEFAULT_DATASET = next(filter(Path.is_file, _SAMPLES), _SAMPLE)
"""The shipped sample: of the repository where the user stands, of this one, or of the installed package."""

QUESTION_FIELDS = (
    *("query", "interaction_id", "query_time", "answer", "alt_ans", "alternative_answers", "search_results"),
    *(*LABEL_FIELDS, "popularity", "split"),
)
"""The fields of a question file that are read."""

RECORD_FIELDS = (
    *QUESTION_FIELDS,
    *("ground_truth", "prediction", "judgement", "verdict", "reason", "note", "occurrence"),  # of a judged file
    *("group", "groups", "source", "calls", "frame", "kg_values", "context", "completion"),  # of training
)
"""The fields that some command reads from some file of records."""

_SAME_MEANING = ({"answer", "ground_truth"}, {"alt_ans", "alternative_answers"})
_QUESTION_TEXTS = frozenset({*QUESTION_FIELDS} - {"split", "search_results"})
"""Without one of these, gold answers, times or slices would vanish without a word."""


class FileForm(NamedTuple):
    """What a file holds.

    Attributes:
        fields: The names that are read, with any capitals and blanks.
        required: A CSV file without one of these columns is refused.
        checked: A CSV file is refused that lacks one of these and has a column with nearly its name.
        is_complete: Columns of other names are ignored, which is said.
    """

    fields: tuple[str, ...] = RECORD_FIELDS
    required: tuple[str, ...] = ("query",)
    checked: frozenset[str] = frozenset()
    is_complete: bool = False


QUESTIONS = FileForm(QUESTION_FIELDS, checked=_QUESTION_TEXTS, is_complete=True)
RECORDS = FileForm()
JUDGED = FileForm(checked=_QUESTION_TEXTS | {"ground_truth", "prediction", "judgement"})
CORRECTIONS = FileForm(required=("interaction_id", "verdict"))

GOLD_FIELDS = ("ground_truth", "answer")
"""The fields that may hold the right answer of a judged row; the first that is not blank counts."""
_WHOLE_NUMBERS = ("split", "occurrence")
_KNOWN = frozenset(RECORD_FIELDS)
"""A set, as it is looked into for every row."""


def read_rows(
    path: str | Path,
    limit: int | None = None,
    split: Split | None = None,
) -> Iterator[dict[str, Any]]:
    """The questions of a file, validated and in one form for all releases.

    A row has a `query`; other official fields are checked if present. A row without an `interaction_id` gets its line
    number as one. Texts are cleaned (`crag.core.text`), and a `query_time` gets CRAG's form. The alternative answers
    (``alt_ans`` or ``alternative_answers``, a list or its JSON text ``"[]"``) become ``alt_ans: list[str]``. Every
    search result has the five fields of `PAGE_FIELDS`; null becomes "". A ``page_result_file`` in a search result is a
    path inside the question file's folder; the file's text becomes ``page_result``.

    Args:
        path: The file, the first part of a cut file, or the common name of its parts.
        limit: Maximum number of rows.
        split: Leaves out rows of other splits.
    Raises DatasetError: missing file (at once); or, while reading, an invalid row, or no row, or none of the split.
    """
    source = Path(path)
    files = dataset_files(source)  # now, not with the first row
    lines = _read_lines(source, files, QUESTIONS)

    of_split = _read_split(source, lines, split or Split(None))
    records = _checked_names(islice(of_split, limit))
    return (normalise_row(record, source.parent) for record in records)


def read_records(
    path: str | Path,
    limit: int | None = None,
    split: Split | None = None,
    form: FileForm = RECORDS,
) -> Iterator[Record]:
    """The JSON objects of a file with their places, in any form of `read_rows`, without checking values.

    A field of `RECORD_FIELDS` may be written with other capitals or blanks.
    Raises DatasetError: missing file (at once); or, while reading, a line that is not a JSON object, or no row, or
    none of `split`.
    """
    source = Path(path)
    files = dataset_files(source)
    lines = _read_lines(source, files, form)
    of_split = _read_split(source, lines, split or Split(None))
    return islice(of_split, limit)


def _read_split(source: Path, lines: Iterator[tuple[str, bytes]], split: Split) -> Iterator[Record]:
    # Known only at the end of the file, as rows are read one at a time
    is_empty = True
    left_out = 0
    for place, line in lines:
        data = parse_object(place, line)
        record = Record(place, _fold_fields(place, data))
        if split.holds(record):
            is_empty = False
            yield record
        else:
            left_out += 1

    if not is_empty:
        return
    if not left_out:
        raise DatasetError(f"{source}: it has no rows")
    rows = counted(left_out, "row")
    raise DatasetError(f"{source}: of {rows} none is of split {split} (--split {Split.ANY} reads all)")


def count_rows(path: str | Path, limit: int | None = None, split: Split | None = None) -> int:
    """The number of rows of `read_rows`, and a check of each. Raises DatasetError: as while reading."""
    return sum(1 for _ in read_rows(path, limit, split))


def is_question_file(path: Path) -> bool:
    """Whether the name is that of a file with fields, so not of plain text."""
    name = name_without_part(path).lower().removesuffix(".bz2")
    return Path(name).suffix in {*DELIMITERS, ".jsonl", ".json"}


def _read_lines(source: Path, parts: Sequence[Path], form: FileForm) -> Iterator[tuple[str, bytes]]:
    """The lines that are not blank, with their places; the rows of a CSV file become lines of JSON."""
    name = name_without_part(source).lower()
    with joined_files(source, parts) as stream, ExitStack() as stack:
        unpacked = stream
        if name.endswith(".bz2"):
            unpacked = cast("IO[bytes]", stack.enter_context(bz2.open(stream)))

        # "questions.csv.bz2" is CSV too
        delimiter = DELIMITERS.get(Path(name.removesuffix(".bz2")).suffix)
        if delimiter is not None:
            yield from _read_csv(source, unpacked, delimiter, form)
            return
        for number, line in read_lines(unpacked, str(source)):
            if line.strip():
                yield f"{source}, line {number}", line


def _read_csv(
    source: Path,
    stream: IO[bytes],
    delimiter: str,
    form: FileForm,
) -> Iterator[tuple[str, bytes]]:
    """The rows as lines of JSON with their places.

    Empty cells are left out, but a gold answer becomes null and a prediction stays an empty string: that the file has
    the column says that the row has none.
    Raises DatasetError: a required column is missing, one is misspelt, or it is not CSV in UTF-8.
    """
    text = io.TextIOWrapper(stream, encoding=ENCODING, errors=ERRORS, newline="")
    reader = CsvReader(utf8_lines(text, source), str(source), form.fields, form.required, delimiter=delimiter)
    _check_spelling(f"{reader.place}: unknown column", reader.columns, form)
    if form.is_complete:
        _report_ignored(source, _ignored_columns(reader.columns, form))

    for row in reader:
        values = _cell_values(row.cells)
        yield f"{source}, line {row.line}", json.dumps(values).encode()


def _ignored_columns(columns: Sequence[str], form: FileForm) -> tuple[str, ...]:
    ignored: list[str] = []
    for number, name in enumerate(columns, start=1):
        if name not in form.fields:
            ignored.append(name or f"column {number} without a name")
    return tuple(ignored)


def _cell_values(cells: Mapping[str, str]) -> dict[str, str | int | None]:
    """The cells of a row by column, with whole numbers parsed; see `_read_csv` about empty ones."""
    values: dict[str, str | int | None] = {}
    for name, cell in cells.items():
        if name in _WHOLE_NUMBERS and re.fullmatch(r"\d{1,9}", cell):
            values[name] = int(cell)
        # An empty prediction is an answer that was empty, not a missing column
        elif cell or name == "prediction":
            values[name] = cell
        elif name in GOLD_FIELDS:
            values[name] = None
    return values


@cache  # a file is read several times in a run, but one line is enough
def _report_ignored(source: Path, columns: Sequence[str]) -> None:
    if columns:
        sys.stderr.write(f"{source}: columns that are ignored: {', '.join(columns)}\n")


def _check_spelling(fault: str, names: Collection[str], form: FileForm) -> None:
    """Raise DatasetError if a name is a misspelt field that is missing."""
    # Only a field that is missing can be the one that was meant
    missing = form.checked.difference(names)
    for synonyms in _SAME_MEANING:
        if synonyms.intersection(names, form.fields):
            missing -= synonyms

    unknown = [name for name in names if name not in form.fields]
    for name, meant in misspelt_names(unknown, sorted(missing)).items():
        raise DatasetError(f'{fault} {shorten_repr(name)}: did you mean "{meant}"? Correct it, or give it another name')


def _checked_names(records: Iterator[Record]) -> Iterator[Record]:
    """The records; raises DatasetError if a field is misspelt. Each name is checked where it first occurs."""
    # Grows with the names seen, so that most rows cost one comparison
    checked = set(QUESTION_FIELDS)
    for record in records:
        if not checked.issuperset(record.data):
            checked.update(record.data)
            _check_spelling(f"{record.place}: unknown field", record.data, QUESTIONS)
        yield record


def _fold_fields(place: str, data: dict[str, Any]) -> dict[str, Any]:
    """The object with the names of `RECORD_FIELDS` where only capitals and blanks differ.
    Raises DatasetError: a field occurs twice.
    """
    # The usual case: nothing to rename
    if _KNOWN.issuperset(data):
        return data

    folded: dict[str, Any] = {}
    for name, value in data.items():
        official_name = fold_name(name)
        target = official_name if official_name in _KNOWN else name

        # Twice: two odd spellings of one field, or an odd spelling beside the official one.
        is_beside_official = target != name and target in data
        if target in folded or is_beside_official:
            raise DatasetError(f'{place}: the field "{target}" occurs twice, once as {shorten_repr(name)}')
        folded[target] = value
    return folded
