"""JSON as tables and lines: a list of objects is a table, another value a line with the names that lead to it."""

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias, TypeGuard

from crag.asking.markup_values import markup_lines
from crag.asking.table_heads import Row
from crag.asking.tables import table_pages

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

MAX_DEPTH = 20
SMALL_TABLE = 10_000
"""Cells; a table may be as large as this, however few of them are filled."""
MOST_CELLS_OF_A_VALUE = 20
"""In a larger table, for each cell that is filled."""
SENTENCE_CHARACTERS = 40
"""The items of a list are a paragraph each if one has this length; shorter ones share a line."""


_NUMBER = re.compile(r"[-+]?\d{1,400}(?:\.\d{0,400})?(?:[eE][-+]?\d{1,9})?")
"""As JSON writes it."""


class JsonText(NamedTuple):
    """A value, and a note on the lines that are no JSON ("" if all are)."""

    value: Json
    note: str = ""


def read_json(text: str) -> JsonText:
    """The value of a JSON text. Raises ValueError: it is not JSON."""
    return JsonText(_load(text))


def read_json_lines(text: str) -> JsonText:
    """A list with an object for each line; another value is an object with a value.

    Raises ValueError: no line is JSON.
    """
    values = []
    faults = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(_load(line))
        except ValueError as error:
            faults.append(f"line {number}: {error}")

    if faults and not values:
        raise ValueError(faults[0])
    others = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
    note = f"left out, no JSON: {faults[0]}{others}" if faults else ""
    return JsonText([value if isinstance(value, dict) else {"value": value} for value in values], note)


def _load(text: str) -> Json:
    try:
        # Numbers stay as they are written: 4200.50, 1e-7
        value: Json = json.loads(
            text.removeprefix("\ufeff"), parse_float=str, parse_constant=str, object_pairs_hook=_to_object
        )
    except RecursionError:
        raise ValueError("its lists are too deep") from None
    return value


def _to_object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object with a list of the values of a name that occurs several times."""
    named = dict(pairs)
    if len(named) < len(pairs):
        for name in named:
            values = [value for other, value in pairs if other == name]
            named[name] = values if len(values) > 1 else values[0]
    return named


def to_rows(value: Json) -> list[Row] | None:
    """JSON that is a table as rows, the names of its columns first if it has some; None for other JSON.

    That is a list of objects, a list of equally long lists, or an object with columns: ``{"name": ["Ines", "Rolf"],
    "age": [41, 39]}``, also as pandas writes them (``{"name": {"0": "Ines", "1": "Rolf"}, ...}``).
    """
    if isinstance(value, Mapping):
        return _rows_of_columns(value)
    if not isinstance(value, list):
        return None
    return _rows_of_objects(value) if _are_objects(value) else _rows_of_lists(value)


def _are_objects(items: Sequence[Json]) -> TypeGuard[Sequence[Mapping[str, Json]]]:
    return bool(items) and all(isinstance(item, Mapping) for item in items)


def _rows_of_objects(items: Sequence[Mapping[str, Json]]) -> list[Row] | None:
    """Objects as rows, unless they have hardly a name in common: the blank cells would be millions."""
    cells_of_items = list(map(_cells, items))
    columns = list(dict.fromkeys(chain.from_iterable(cells_of_items)))
    filled = sum(map(len, cells_of_items))
    if len(columns) * len(items) > max(SMALL_TABLE, MOST_CELLS_OF_A_VALUE * filled):
        return None

    def to_row(cells: Mapping[str, str]) -> Row:
        return [cells.get(column, "") for column in columns]

    return [columns, *map(to_row, cells_of_items)]


def _rows_of_lists(items: Sequence[Json]) -> list[Row] | None:
    """Lists of plain values as rows, if there are several of the same length."""
    rows = [_texts_of(item) for item in items]
    whole_rows = [row for row in rows if row is not None and len(row) > 1]
    is_table = 1 < len(whole_rows) == len(rows) and len(set(map(len, whole_rows))) == 1
    return list(whole_rows) if is_table else None


def _rows_of_columns(columns: Mapping[str, Json]) -> list[Row] | None:
    """Columns as rows: equally long lists, one of them of numbers, or objects whose names count from 0."""
    lists = []
    for column in columns.values():
        texts = _texts_of(_in_turn(column))
        if not texts:
            return None
        lists.append(texts)

    if len(lists) < 2 or len(set(map(len, lists))) > 1:
        return None
    has_numbers = any(all(map(_NUMBER.fullmatch, texts)) for texts in lists)
    if not has_numbers and not all(isinstance(column, Mapping) for column in columns.values()):
        return None
    return [list(map(_to_words, columns)), *map(list, zip(*lists, strict=True))]


def has_names(value: Json) -> bool:
    """Whether the first row of a table names its columns for certain: it is of objects, or its columns are named."""
    return isinstance(value, Mapping) or (isinstance(value, list) and _are_objects(value))


def _in_turn(value: Json) -> Json:
    """The values of an object whose names count from 0 as a list; any other value as it is."""
    if isinstance(value, Mapping) and list(value) == list(map(str, range(len(value)))):
        return list(value.values())
    return value


def _texts_of(value: Json) -> list[str] | None:
    """A list of plain values as texts; None for anything else."""
    if not isinstance(value, list) or any(isinstance(item, list | Mapping) for item in value):
        return None
    return list(map(_to_text, value))


def to_markup(value: Json) -> str:
    """JSON as HTML: a paragraph for each value, ``opening hours, Monday: 9 to 17``, and tables."""
    return "".join(_markup_of(value, ()))


def _markup_of(value: Json, names: tuple[str, ...]) -> Iterator[str]:
    """The HTML of a value and those in it; `names` lead to it."""
    label = ", ".join(names)
    rows = to_rows(value)
    if rows is not None:
        for page in table_pages(rows, title=label, has_names=has_names(value)):
            yield page.html
    elif isinstance(value, Mapping) and len(names) <= MAX_DEPTH:
        for name, inner in _with_names(value).items():
            yield from _markup_of(inner, (*names, _to_words(name)))
    elif isinstance(value, list) and _are_objects(value):
        if label:
            yield _paragraph(label)
        for item in value:
            yield _paragraph("; ".join(f"{name}: {text}" for name, text in _cells(item).items()))
    else:
        for text in _texts_on_lines(value):
            yield _paragraph(f"{label}: {text}" if label else text)


def _with_names(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """An object in which the names of columns that stand beside a list of rows are the first of these.

    As of ``{"columns": ["name", "age"], "data": [["Ines", 41], ["Rolf", 39]]}``.
    """
    tables: dict[str, list[Row]] = {}
    heads: dict[str, list[str]] = {}
    for name, inner in value.items():
        if not isinstance(inner, list):
            continue
        rows = _rows_of_lists(inner)
        if rows:
            tables[name] = rows
        texts = _texts_of(inner)
        if texts and _are_names(texts):
            heads[name] = texts
    if len(tables) != 1 or len(heads) != 1:
        return value

    [(table, rows)] = tables.items()
    [(head, column_names)] = heads.items()
    if len(rows[0]) != len(column_names):
        return value
    others = {name: inner for name, inner in value.items() if name != head}
    return others | {table: [column_names, *rows]}


def _are_names(texts: Sequence[str]) -> bool:
    return not any(map(_NUMBER.fullmatch, texts))


def _texts_on_lines(value: Json) -> list[str]:
    """A value as lines: short plain values of a list share one, others stand by themselves."""
    if isinstance(value, list):
        texts = [_on_a_line(item, 0) for item in value]
        is_of_short = _texts_of(value) is not None and all(len(text) < SENTENCE_CHARACTERS for text in texts)
        return [", ".join(texts)] if is_of_short and texts else list(filter(None, texts))
    if isinstance(value, str):
        return markup_lines(value)
    text = _on_a_line(value, 0)
    return [text] if text else []


def _cells(item: Json) -> dict[str, str]:
    """The values of an object by the names that lead to them."""
    return {", ".join(names): text for names, text in _leaves(item, ())}


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>\n"


def _leaves(value: Json, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The values that are neither objects nor lists of them, each with the names that lead to it.

    A list inside of which lists or objects are is one value: ``year: 1990, job: cook; year: 1995, job: mate``.
    """
    if len(names) > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, (*names, _to_words(name)))
    elif isinstance(value, list):
        joint = ", " if _texts_of(value) is not None else "; "
        yield names, joint.join(_on_a_line(inner, len(names) + 1) for inner in value)
    else:
        yield names, _to_text(value)


def _on_a_line(value: Json, depth: int) -> str:
    """A value that is an item of a list: ``year: 1990, job: cook``."""
    if depth > MAX_DEPTH:
        return ""
    if isinstance(value, Mapping):
        inner = {_to_words(name): _on_a_line(item, depth + 1) for name, item in value.items()}
        return ", ".join(f"{name}: {text}" for name, text in inner.items() if text)
    if isinstance(value, list):
        return ", ".join(filter(None, (_on_a_line(item, depth + 1) for item in value)))
    return _to_text(value)


def _to_words(name: str) -> str:
    return name.replace("_", " ")


def _to_text(value: Json) -> str:
    """A value as people write it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return " ".join(markup_lines(value))
    return str(value)
