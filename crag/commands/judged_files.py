"""Files that `crag judge` reads and writes: those of other tools too, with the names that their columns have there."""

import ast
import bz2
import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crag.core.csv_files import DELIMITERS, fold_name
from crag.core.files import DatasetError, Record, json_line, shorten_repr, write_whole
from crag.evaluation.datasets import GOLD_FIELDS, JUDGED, RECORD_FIELDS, FileForm, read_records

SYNONYMS = {
    "query": ("user_input", "question", "input"),
    "prediction": ("response", "actual_output"),
    "ground_truth": ("reference", "ground_truths", "expected_output"),
}
"""Our columns, and what ragas (from 0.2 on, and before) and DeepEval call them."""
_OLD_RAGAS = ("ground_truth", "ground_truths")
"""Beside one of these `answer` is what the system said: so ragas meant it before its version 0.2."""
_LISTS = frozenset({"ground_truths"})
"""Columns that hold several answers."""
COLUMNS_HINT = "--columns query=NAME,prediction=NAME,answer=NAME says what the columns are called"
UNSUPPORTED = frozenset({".xlsx", ".xls", ".ods", ".parquet", ".feather", ".xml", ".yaml", ".yml", ".html", ".txt"})

Row = dict[str, Any]


class JudgedFile(NamedTuple):
    """The rows of a file as they are, and the same with our names; `names` maps ours to theirs where they differ."""

    rows: list[Row]
    records: list[Record]
    names: Mapping[str, str]


def parse_columns(text: str) -> dict[str, str]:
    """Our names and those of the file; raises ValueError.

    >>> parse_columns("query=user_input, answer=reference")
    {'query': 'user_input', 'answer': 'reference'}
    """
    columns: dict[str, str] = {}
    for part in text.split(","):
        our_name, equals, their_name = (word.strip() for word in part.partition("="))
        if not (equals and their_name) or our_name not in RECORD_FIELDS:
            allowed = "query, prediction, answer, ground_truth, alt_ans"
            raise ValueError(f"must be OURS=THEIRS,... with ours from {allowed} and so on, found {part.strip()!r}")
        columns[our_name] = their_name
    return columns


def read_judged(path: Path, columns: Mapping[str, str] | None = None) -> JudgedFile:
    """Read a file with our names, with the `columns` that the user names, or with those of another tool.

    Raises DatasetError: it cannot be read, or a column is missing.
    """
    columns = columns or {}
    records = _read(path, FileForm(required=(), checked=frozenset()))

    present = _column_names([record.data for record in records])
    names = _find_names(path, present, columns)
    if not names and not any(_has_list_of_golds(record.data) for record in records):
        # Without other names all checks of our own form apply
        try:
            records = _read(path, JUDGED)
        except DatasetError as error:
            error.add_note(COLUMNS_HINT)
            raise
        return JudgedFile([record.data for record in records], records, {})

    has_cells = _suffix(path) in DELIMITERS
    renamed = [Record(record.place, _rename(record.data, names, has_cells=has_cells)) for record in records]
    return JudgedFile([record.data for record in records], renamed, names)


def _column_names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names that occur in any row, in the order of their first occurrence."""
    names: dict[str, None] = {}
    for row in rows:
        names |= dict.fromkeys(row)
    return list(names)


def _has_list_of_golds(row: Mapping[str, Any]) -> bool:
    return any(isinstance(row.get(field), list) for field in GOLD_FIELDS)


def _read(path: Path, form: FileForm) -> list[Record]:
    """The rows of JSON lines, CSV or TSV, or of one JSON array."""
    if _suffix(path) == ".json" and path.is_file():
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        if text.lstrip().startswith("["):
            return _read_array(path, text)
    return list(read_records(path, form=form))


def _read_array(path: Path, text: str) -> list[Record]:
    try:
        rows = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: not valid JSON ({error})") from None

    records: list[Record] = []
    for number, row in enumerate(rows, start=1):
        place = f"{path}, entry {number}"
        if not isinstance(row, dict):
            raise DatasetError(f"{place}: expected a JSON object, found {shorten_repr(row)}")
        records.append(Record(place, row))
    return records


def _find_names(path: Path, present: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Our names and those of the file: the user's, else those of other tools for columns that are missing."""
    by_folded = {fold_name(name): name for name in present}
    names: dict[str, str] = {}
    for our_name, their_name in columns.items():
        column = by_folded.get(fold_name(their_name))
        if column is None:
            listed = ", ".join(present) or "none"
            raise DatasetError(
                f"{path}: --columns {our_name}={their_name}: no row has {their_name!r}; its columns: {listed}"
            )
        names[our_name] = column

    is_old_ragas = "answer" in by_folded and any(name in by_folded for name in _OLD_RAGAS)
    for our_name, synonyms in SYNONYMS.items():
        candidates = [*synonyms, "answer"] if our_name == "prediction" and is_old_ragas else synonyms
        present_synonyms = [by_folded[name] for name in candidates if name in by_folded]
        if present_synonyms and not _has_column(our_name, names, by_folded):
            names[our_name] = present_synonyms[0]
    return names


def _has_column(our_name: str, names: Mapping[str, str], by_folded: Mapping[str, str]) -> bool:
    """Whether the file or the user has a column of our name, which no other of our columns takes."""
    for name in GOLD_FIELDS if our_name == "ground_truth" else (our_name,):
        if name in names or (name in by_folded and by_folded[name] not in names.values()):
            return True
    return False


def _rename(row: Mapping[str, Any], names: Mapping[str, str], *, has_cells: bool) -> Row:
    """The row with our names. An empty cell of a CSV file, which is left out there, is an empty text or no gold."""
    taken = set(names.values())
    renamed = {name: value for name, value in row.items() if name not in taken}
    for our_name, their_name in names.items():
        value = row.get(their_name)
        if value is None and has_cells and our_name == "prediction":
            value = ""
        if their_name in row or has_cells:
            renamed[our_name] = value

    # Several right answers in one field
    for gold in GOLD_FIELDS:
        answers = renamed.get(gold)
        if has_cells and names.get(gold) in _LISTS:
            answers = _read_list(answers)
        if isinstance(answers, list):
            renamed[gold] = answers[0] if answers else None
            renamed["alt_ans"] = [*answers[1:], *(renamed.get("alt_ans") or [])]
    return renamed


def _read_list(cell: object) -> object:
    """The list in a cell, as JSON or as Python prints it (`DataFrame.to_csv`); any other cell as it is.

    >>> _read_list("['Ida Larsen', 'I. Larsen']")
    ['Ida Larsen', 'I. Larsen']
    """
    text = cell.strip() if isinstance(cell, str) else ""
    if not (text.startswith("[") and text.endswith("]")):
        return cell
    try:
        values = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return cell
    return [str(value) for value in values] if isinstance(values, list) else cell


def describe_names(path: Path, names: Mapping[str, str]) -> str:
    """Which columns were taken for ours, in one line."""
    differing = [f"{our_name} is {their_name!r}" for our_name, their_name in names.items() if our_name != their_name]
    return f"{path}: {', '.join(differing)}"


# --- what is written --------------------------------------------------------------------------------------------------


def check_format(path: Path) -> None:
    """Raise DatasetError for a name of a format that is not written."""
    if _suffix(path) in UNSUPPORTED:
        raise DatasetError(f"{path}: the verdicts are written as .jsonl, .json, .csv or .tsv, also as .bz2")


def write_judged(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows in the format that the file's name tells: .csv, .tsv, .json, else JSON lines; .bz2 packs them."""
    suffix = _suffix(path)
    if suffix in DELIMITERS:
        content = _format_table(rows, DELIMITERS[suffix]).encode("utf-8", errors="replace")
    elif suffix == ".json":
        content = json.dumps(rows, ensure_ascii=False, indent=1).encode("utf-8", errors="replace") + b"\n"
    else:
        content = b"".join(map(json_line, rows))
    write_whole(path, bz2.compress(content) if path.suffix.lower() == ".bz2" else content)


def _suffix(path: Path) -> str:
    """``.csv`` of ``a.CSV.bz2``."""
    return Path(path.name.lower().removesuffix(".bz2")).suffix


def _format_table(rows: Sequence[Row], delimiter: str) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _column_names(rows), delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_cells(row) for row in rows)
    return text.getvalue()


def _cells(row: Mapping[str, Any]) -> dict[str, object]:
    """Lists, objects, true and false as JSON, which the reader of these files understands; null as an empty cell."""
    cells: dict[str, object] = {}
    for name, value in row.items():
        is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        cells[name] = value if is_plain or value is None else json.dumps(value, ensure_ascii=False)
    return cells


def columns_of(parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """All columns that the user named, perhaps in several options."""
    columns: dict[str, str] = {}
    for part in parts:
        columns |= part
    return columns
