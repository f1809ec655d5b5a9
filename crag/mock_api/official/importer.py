"""Imports the official graph: each table is made from its official files, completely or not at all.

The same command again makes the tables that are not there yet, so that a kill costs only the current one. Articles,
shares and games are streamed; other files are loaded as a whole, as by the official server. Games and matches without
a date or a team are left out, because no answer of the official server holds them.
"""

import bz2
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import TypeAdapter
from tqdm import tqdm

from crag.mock_api.official.pickles import read_plain
from crag.mock_api.tables import (
    ARTICLE,
    IMPORT_FILE,
    OFFICIAL_FILES,
    STORED,
    TYPES,
    GraphError,
    listings,
    only_official,
    read_only,
    store_path,
    validated,
    writing,
)

LONGEST_LINE = 1 << 28
"""Most bytes of an article, far more than any has. Without a limit, a few bytes of bz2 could fill the memory."""
_POINTER, _LARGEST_POINTER = b"version https://git-lfs", 1024
"""First bytes and most bytes of a Git LFS pointer, which stands for a file that was not fetched."""
_UNREADABLE = (
    *(OSError, EOFError, sqlite3.Error),
    *(TypeError, ValueError, OverflowError, RecursionError, MemoryError),
)
"""Errors of a damaged file, and from writing a value that no table holds: bytes, a number of millions of digits."""

Pairs = Iterable[tuple[str, Any]]


def import_graph(source: Path, out: Path, *, partial: bool = False, say: Callable[[str], None] = print) -> None:
    """Make our tables from the folder `cragkg` in `out`, a new folder or that of an earlier import.

    `partial`: import a graph that lacks files; `say` gets a line for each table. Raises GraphError.
    """
    missing = _missing(source, out, partial=partial)
    out.mkdir(parents=True, exist_ok=True)
    state = {"finished": False, "missing": missing}
    (out / IMPORT_FILE).write_text(json.dumps(state), encoding="utf-8")
    for table, names in OFFICIAL_FILES.items():
        target = store_path(out, table) if table in STORED else out / table
        if target.is_file():
            say(f"{table:40} is there already")
        elif not set(names) & set(missing):
            say(f"{table:40} {_make(table, [source / name for name in names], target):>10,} records")
    if missing:
        say(f"missing, so that their tables are empty: {', '.join(missing)}")
    (out / IMPORT_FILE).write_text(json.dumps(state | {"finished": True}), encoding="utf-8")
    say(f"{out} is complete: crag graph serve --port 8000 --data {out}")


def _missing(source: Path, out: Path, *, partial: bool) -> list[str]:
    """The official files that are not there; raises GraphError if the folders cannot be used."""
    if not only_official(source):
        raise GraphError(f"{source}: holds no official file: pass the folder mock_api/cragkg of the CRAG repository")
    files = list(dict.fromkeys(name for names in OFFICIAL_FILES.values() for name in names))
    missing = [name for name in files if not (source / name).is_file()]
    if missing and not partial:
        raise GraphError(
            f"{source}: {len(missing)} of {len(files)} official files are missing: {', '.join(missing)}: "
            "fetch them, or pass --partial to import the others"
        )
    for path in (source / name for name in files if name not in missing):
        if path.stat().st_size < _LARGEST_POINTER and path.read_bytes().startswith(_POINTER):
            raise GraphError(f"{path}: is only a Git LFS pointer: run `git lfs pull` in that repository")
    used = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    if used and IMPORT_FILE not in used:
        raise GraphError(f"--out {out}: holds {used[0]}, which no import made: pass a new folder")
    return missing


def _make(table: str, sources: list[Path], target: Path) -> int:
    """Write a table and return the number of its records; raises GraphError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        count = _write(table, sources, unfinished)
        unfinished.replace(target)
    except GraphError:
        raise
    except _UNREADABLE as error:
        reason = str(error) or type(error).__name__
        raise GraphError(f"{sources[-1]}: cannot become a table ({reason}): fetch it again") from None
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def _write(table: str, sources: list[Path], target: Path) -> int:
    if table.endswith(".dict"):
        shutil.copyfile(sources[0], target)
        return len(listings(sources[0], target.read_bytes()))
    pairs = (pair for path in sources for pair in _checked(table, path))
    count = 0
    if table in STORED:
        columns = _columns(sources[0], "play_by_play") if table.endswith("play_by_play.json") else []
        with writing(target, {"columns": [name for name, _ in columns]}) as put:
            for key, value in pairs:
                put(key, value)
                count += 1
        return count
    # A lone surrogate, which UTF-8 cannot encode, becomes a question mark.
    with target.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
        if table.endswith(".jsonl"):
            for pair in pairs:
                stream.write(json.dumps(pair, ensure_ascii=False) + "\n")
                count += 1
            return count
        content = [value for _, value in pairs] if get_origin(TYPES[table]) is list else dict(pairs)
        json.dump(content, stream, ensure_ascii=False)
    return len(content)


def _checked(table: str, path: Path) -> Iterator[tuple[str, Any]]:
    """The keys and records of an official file, checked against the type of the table; raises GraphError."""
    read = _OF_DATABASE.get(table) or _READERS[path.suffix]
    check = TypeAdapter(get_args(TYPES[table])[-1]).validate_python
    for key, value in tqdm(read(table, path), table, unit=" records", disable=None):
        yield key, validated(check, value, path, f"record {key}")


def _pairs(table: str, path: Path, content: object) -> Pairs:
    """The records of a whole table; those of a list are numbered."""
    kind = get_origin(TYPES[table])
    if isinstance(content, dict) and kind is dict:
        return content.items()
    if isinstance(content, list) and kind is list:
        return ((str(number), row) for number, row in enumerate(content))
    raise GraphError(f"{path}: a {kind.__name__} expected, found {type(content).__name__}")


def _of_json(table: str, path: Path) -> Pairs:
    return _pairs(table, path, validated(TypeAdapter(TYPES[table]).validate_json, path.read_bytes(), path))


def _of_pickle(table: str, path: Path) -> Pairs:
    return _pairs(table, path, read_plain(path.read_bytes()))


def _matches(table: str, path: Path) -> Pairs:
    for number, row in _of_pickle(table, path):
        if row.get("date") is not None:
            season = row.get("season")
            season = str(season) if isinstance(season, int | float) else season
            yield number, row | {"date": str(row["date"])[:10], "season": season}


def _articles(_: str, path: Path) -> Pairs:
    with bz2.open(path, "rb") as lines:
        for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE), b""), start=1):
            if len(line) == LONGEST_LINE:
                raise GraphError(f"{path}: line {number}: longer than any article: fetch it again")
            if line.strip():
                yield validated(ARTICLE.validate_json, line, path, f"line {number}")


def _shares(_: str, path: Path) -> Pairs:
    """The shares of a file that the library sqlitedict wrote."""
    _columns(path, "unnamed")
    with read_only(path) as connection:
        for key, value in connection.execute("select key, cast(value as blob) from unnamed order by rowid"):
            yield str(key), read_plain(value)


def _games(_: str, path: Path) -> Pairs:
    names = [name for name, _ in _columns(path, "game")]
    with read_only(path) as connection:
        for number, row in enumerate(connection.execute("select * from game order by rowid")):
            game = dict(zip(names, row, strict=True))
            if None not in (game.get("game_date"), game.get("team_name_home"), game.get("team_name_away")):
                yield str(number), game


def _plays(_: str, path: Path) -> Pairs:
    """The events of each game, preceded by their place in the table of all events."""
    place = [name for name, _ in _columns(path, "play_by_play")].index("game_id") + 1
    question = "select rowid, * from play_by_play where game_id is not null order by game_id, rowid"
    with read_only(path) as connection:
        for game, rows in groupby(connection.execute(question), key=itemgetter(place)):
            yield str(game), [list(row) for row in rows]


def _columns(path: Path, table: str) -> list[tuple[str, str]]:
    """Name and type of each column of a plain table: a view or a virtual table may compute without end."""
    plain = "select 1 from sqlite_master where name = ? and type = 'table' and sql not like 'create virtual%'"
    with read_only(path) as connection:
        if connection.execute(plain, (table,)).fetchone() is None:
            raise GraphError(f"{path}: it has no table {table}: fetch it again")
        return [(fact[1], fact[2]) for fact in connection.execute(f"pragma table_info({table})")]


Reader = Callable[[str, Path], Pairs]
_READERS: Mapping[str, Reader] = {
    ".json": _of_json,
    ".bz2": _articles,
    ".pickle": _of_pickle,
    ".pkl": _matches,
    ".sqlite": _shares,
}
"""Suffix of an official file -> what reads its records."""
_OF_DATABASE: Mapping[str, Reader] = {
    "sports/nba_game.json": _games,
    "sports/nba_columns.json": lambda table, path: _pairs(table, path, _columns(path, "game")),
    "sports/nba_play_by_play.json": _plays,
}
"""Table -> what reads it from the one database of NBA games."""
