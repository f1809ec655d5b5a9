"""A job of the import under way, and what all jobs do: check a value, show progress, write a table."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError
from tqdm import tqdm


class ImportFaultError(ValueError):
    """Something cannot be imported; the message names the file and says what to do."""


class Made(NamedTuple):
    """What became of a table: how many records it holds, and what was left out of it, by reason."""

    records: int
    left_out: Mapping[str, int]


@dataclass
class Job:
    """One table, or several that one file gives: what is read, what is written, and how."""

    sources: tuple[str, ...]
    tables: tuple[str, ...]
    make: "Callable[[Work], Made]"


@dataclass
class Work:
    """A job under way: where its files are, where its tables go until they are whole, and its progress bar."""

    sources: tuple[Path, ...]
    targets: tuple[Path, ...]
    quiet: bool
    left_out: Counter[str] = field(default_factory=Counter)

    def bar(self, total: int | None, unit: str) -> "tqdm[Any]":
        """A progress bar on standard error, where that is a terminal."""
        name = self.sources[0].name
        hidden: bool | None = True if self.quiet else None
        return tqdm(total=total, desc=name, unit=unit, unit_scale=unit == "B", disable=hidden)


def checked(shape: TypeAdapter[Any], value: Any, path: Path, place: str, *, is_json: bool = False) -> Any:  # noqa: ANN401
    """A value that has the shape of its table, so that what was imported can be served."""
    try:
        return shape.validate_json(value) if is_json else shape.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ", ".join(part for part in (place, ".".join(map(str, first["loc"]))) if part)
        raise ImportFaultError(f"{path}{', ' + where if where else ''}: {first['msg']}") from None


def counted(values: Iterable[Any], bar: "tqdm[Any]") -> Iterator[Any]:
    """The values as they are; the bar moves with them."""
    for number, value in enumerate(values, start=1):
        yield value
        if number % 1000 == 0:
            bar.update(1000)


def write_object(path: Path, items: Iterable[tuple[str, Any]]) -> int:
    """A JSON object with one record a line; how many there are."""
    entries = (f"{json.dumps(key, ensure_ascii=False)}: {_json(value)}" for key, value in items)
    return _write_lines(path, "{", entries, "}")


def write_list(path: Path, rows: Iterable[Any]) -> int:
    """A JSON list with one row a line; how many there are."""
    return _write_lines(path, "[", map(_json, rows), "]")


def _write_lines(path: Path, start: str, entries: Iterable[str], end: str) -> int:
    count = 0
    # A lone surrogate, which UTF-8 cannot carry, becomes a question mark.
    with path.open("w", encoding="utf-8", errors="replace", newline="\n") as target:
        target.write(start)
        for count, entry in enumerate(entries, start=1):
            target.write(("\n" if count == 1 else ",\n") + entry)
        target.write(f"\n{end}\n")
        target.flush()
        os.fsync(target.fileno())
    return count


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
