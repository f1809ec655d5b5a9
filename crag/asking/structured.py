"""JSON as tables and lines: a list of objects is a table, another value a line with the names that lead to it."""

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from crag.asking.table_heads import Row
from crag.asking.tables import table_pages

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

MAX_DEPTH = 20
SENTENCE_CHARACTERS = 40
"""The items of a list are a paragraph each if one has this length; shorter ones share a line."""


def read_json_rows(text: str) -> list[Row] | None:
    """A list of objects as rows, the names of their values first; None for other JSON.

    Raises ValueError: it is not JSON.
    """
    value = _load(text)
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return None
    return _to_rows(value)


class JsonLines(NamedTuple):
    """The lines that are JSON as rows, and a note on those that are none ("" if all are)."""

    rows: list[Row]
    note: str


def read_json_lines(text: str) -> JsonLines:
    """A row for each object; other values are rows of one cell. Raises ValueError: no line is JSON."""
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
    return JsonLines(_to_rows([value if isinstance(value, dict) else {"value": value} for value in values]), note)


def json_markup(text: str) -> str:
    """Other JSON: a paragraph for each value, ``opening hours, Monday: 9 to 17``, a table for each list of objects.

    Raises ValueError: no JSON.
    """
    return "".join(_markup_of(_load(text), ()))


def _load(text: str) -> Json:
    try:
        # Numbers stay as they are written: 4200.50, 1e-7
        value: Json = json.loads(text.removeprefix("\ufeff"), parse_float=str)
    except RecursionError:
        raise ValueError("its lists are too deep") from None
    return value


def _to_rows(items: Sequence[Mapping[str, Json]]) -> list[Row]:
    """The names of all values, then the values of each item."""
    cells_of_items = [{", ".join(names): value for names, value in _leaves(item, ())} for item in items]
    columns = list(dict.fromkeys(name for cells in cells_of_items for name in cells))
    return [columns, *([cells.get(column, "") for column in columns] for cells in cells_of_items)]


def _markup_of(value: Json, names: tuple[str, ...]) -> Iterator[str]:
    """The HTML of a value and those in it; `names` lead to it."""
    label = ", ".join(names)
    if isinstance(value, Mapping) and len(names) <= MAX_DEPTH:
        for name, inner in value.items():
            yield from _markup_of(inner, (*names, name.replace("_", " ")))
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for page in table_pages([[label], *_to_rows(value)]):
            yield page.html
    else:
        texts = [text for _, text in _leaves(value, ()) if text]
        # Sentences stand by themselves.
        if isinstance(value, list) and any(len(_to_text(item)) >= SENTENCE_CHARACTERS for item in value):
            texts = [_to_text(item) for item in value]
        for text in texts:
            yield f"<p>{html.escape(f'{label}: {text}' if label else text)}</p>\n"


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
