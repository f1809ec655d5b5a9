"""Single values and labels as people write them."""

import re
import tomllib
from functools import cache
from pathlib import Path

from agents.kg.conditions import exact_number
from agents.kg.results import Cell, Row, Value
from agents.kg.schema import Column, Table, Type

MOST_LISTED = 25
"""Items of a list that are written out; the rest are counted."""

_CODES = {"birth_place": "countries", "release_country": "countries", "original_language": "languages"}
_RESULTS = {"W": "win", "D": "draw", "L": "loss"}
_CAPITAL = re.compile(r"\b[A-Z](?=[a-z])")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_AFTER_HEAD = re.compile(r" of | to |,")


def readable(value: Cell, column: Column | None = None) -> str:
    """A value as people write it: thousands separated, dollars marked, lists joined, codes and flags in words."""
    if value is None:
        return "unknown"
    if isinstance(value, tuple):
        shown = [_one(one, column) for one in value[:MOST_LISTED] if not isinstance(one, Row)]
        rest = [f"{len(value) - MOST_LISTED:,} more"] if len(value) > MOST_LISTED else []
        if column is not None and column.name == "lifespan":
            return " to ".join(shown)
        *first, last = [*shown, *rest] or [""]
        return f"{', '.join(first)} and {last}" if first else last
    return _one(value, column)


def label(table: Table, key: str) -> str:
    """A key in words: "closing price", "full-time employees"."""
    column = table.columns.get(key)
    if column is not None:
        return _title(column)
    words = " ".join(_CAMEL.sub(" ", key).replace("_", " ").split())
    return _CAPITAL.sub(lambda letter: letter.group().lower(), words)


def verb(value: Cell, column: Column | None) -> str:
    """The form of "to be" that the value and its label want."""
    if column is None or column.name == "lifespan":
        return "is"
    head = _AFTER_HEAD.split(_title(column), maxsplit=1)[0]
    if isinstance(value, tuple):
        return "are" if head.endswith("s") or len(value) > 1 else "is"
    return "are" if column.type is Type.NUMBER and head.endswith("s") else "is"


def grouped(number: float, decimals: int = 3) -> str:
    """12,345 or 3.12 or 0.0341: thousands separated, no decimals that say nothing, four digits of a small number."""
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.{decimals}f}".rstrip("0").rstrip(".") if abs(number) >= 1 else f"{number:.4g}"


def money(number: float) -> str:
    """$1,234.50 or $0.0341 or -$5."""
    whole = number == int(number) or abs(number) < 1
    return f"{'-' if number < 0 else ''}${grouped(abs(number)) if whole else f'{abs(number):,.2f}'}"


def _title(column: Column) -> str:
    """The label; of a column that is labelled with a key in camel case, what it means."""
    return column.meaning if column.label == column.name and _CAMEL.search(column.name) else column.label


def _one(value: Value, column: Column | None) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    kind = column.type if column is not None else Type.TEXT
    if kind in {Type.YEAR, Type.YEARS}:
        return str(value)
    number = exact_number(value) if isinstance(value, int | float) or kind in {Type.NUMBER, Type.MONEY} else None
    if column is None or number is None:
        return grouped(number) if number is not None else _words(str(value), column)
    if kind is Type.MONEY:
        return money(number)
    return f"{grouped(number)} {column.unit}" if column.unit else grouped(number)


def _words(text: str, column: Column | None) -> str:
    """Codes in words; the code itself stays, since a question may ask for it."""
    if column is not None and column.name in _CODES:
        name = _codes()[_CODES[column.name]].get(text)
        return f"{name} ({text})" if name else text
    if column is not None and column.name == "result":
        return _RESULTS.get(text, text)
    return text


@cache
def _codes() -> dict[str, dict[str, str]]:
    data: dict[str, dict[str, str]] = tomllib.loads((Path(__file__).parent / "codes.toml").read_text("utf-8"))
    return data


__all__ = ["MOST_LISTED", "grouped", "label", "money", "readable", "verb"]
