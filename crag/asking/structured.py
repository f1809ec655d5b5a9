"""JSON as tables and lines: a list of objects is a table, another value a line with the names that lead to it."""

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

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
    """A list of objects as rows, the names of their values first; None for other JSON.

    Objects that have hardly a name in common are no table: its blank cells would be millions.
    """
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return None
    cells_of_items = list(map(_cells, value))
    columns = list(dict.fromkeys(name for cells in cells_of_items for name in cells))
    filled = sum(map(len, cells_of_items))
    if len(columns) * len(value) > max(SMALL_TABLE, MOST_CELLS_OF_A_VALUE * filled):
        return None
    return [columns, *([cells.get(column, "") for column in columns] for cells in cells_of_items)]


def to_markup(value: Json) -> str:
    """JSON as HTML: a paragraph for each value, ``opening hours, Monday: 9 to 17``, a table for a list of objects."""
    return "".join(_markup_of(value, ()))


def _markup_of(value: Json, names: tuple[str, ...]) -> Iterator[str]:
    """The HTML of a value and those in it; `names` lead to it."""
    label = ", ".join(names)
    if isinstance(value, Mapping) and len(names) <= MAX_DEPTH:
        for name, inner in value.items():
            yield from _markup_of(inner, (*names, name.replace("_", " ")))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        yield from _markup_of_objects(value, label)
    else:
        texts = [text for _, text in _leaves(value, ()) if text]
        # Sentences stand by themselves.
        if isinstance(value, list) and any(len(_to_text(item)) >= SENTENCE_CHARACTERS for item in value):
            texts = [_to_text(item) for item in value]
        for text in texts:
            yield _paragraph(f"{label}: {text}" if label else text)


def _markup_of_objects(items: Sequence[Json], label: str) -> Iterator[str]:
    """A table, or a paragraph for each object."""
    rows = to_rows(items)
    if rows is not None:
        for page in table_pages([[label], *rows]):
            yield page.html
        return
    if label:
        yield _paragraph(label)
    for item in items:
        yield _paragraph("; ".join(f"{name}: {text}" for name, text in _cells(item).items()))


def _cells(item: Json) -> dict[str, str]:
    """The values of an object by the names that lead to them."""
    return {", ".join(names): text for names, text in _leaves(item, ())}


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>\n"


def _leaves(value: Json, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The values that are neither objects nor lists of them, each with the names that lead to it."""
    if len(names) > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, (*names, name.replace("_", " ")))
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for inner in value:
            yield from _leaves(inner, names)
    elif isinstance(value, list):
        yield names, ", ".join(map(_to_text, value))
    else:
        yield names, _to_text(value)


def _to_text(value: Json) -> str:
    """A value as people write it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
