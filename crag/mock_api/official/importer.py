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
from itertools import chain, groupby
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
_POINTER = b"version https://git-lfs"
"""First bytes of a Git LFS pointer, which replaces a file that was not fetched."""
_LARGEST_POINTER = 1024
"""Most bytes of such a pointer."""
_UNREADABLE = (
    OSError,
    EOFError,
    sqlite3.Error,
    TypeError,
    ValueError,
    OverflowError,
    RecursionError,
    MemoryError,
)
"""Errors of a damaged file, and from writing a value that no table holds: bytes, a number of millions of digits."""

KeyedRecords = Iterable[tuple[str, Any]]
"""Key and record of each entry of a table."""


def import_graph(source: Path, out: Path, *, partial: bool = False, say: Callable[[str], None] = print) -> None:
    """Make our tables from the folder `cragkg` in `out`, a new folder or that of an earlier import.

    `partial`: import a graph that lacks files; `say` gets a line for each table. Raises GraphError.
    """
    missing = _missing_files(source, partial=partial)
    _refuse_pointers(source)
    _refuse_foreign_folder(out)

    out.mkdir(parents=True, exist_ok=True)
    # Written first, so that a folder whose import breaks off is not served.
    state = {"finished": False, "missing": missing}
    (out / IMPORT_FILE).write_text(json.dumps(state), encoding="utf-8")

    for table, names in OFFICIAL_FILES.items():
        target = store_path(out, table) if table in STORED else out / table
        # A table gets its name when it is complete, so one that exists is whole.
        if target.is_file():
            say(f"{table:40} is there already")
            continue
        if set(names).isdisjoint(missing):
            sources = [source / name for name in names]
            count = _make_table(table, sources, target)
            say(f"{table:40} {count:>10,} records")

    if missing:
        say(f"missing, so that their tables are empty: {', '.join(missing)}")
    (out / IMPORT_FILE).write_text(json.dumps(state | {"finished": True}), encoding="utf-8")
    say(f"{out} is complete: crag graph serve --port 8000 --data {out}")


def _official_names() -> list[str]:
    """The names of all official files, without repetition."""
    names: dict[str, None] = {}
    for sources in OFFICIAL_FILES.values():
        names |= dict.fromkeys(sources)
    return list(names)


def _missing_files(source: Path, *, partial: bool) -> list[str]:
    """The official files that the folder lacks; raises GraphError if it has none, or lacks some and not `partial`."""
    if not only_official(source):
        raise GraphError(f"{source}: holds no official file: pass the folder mock_api/cragkg of the CRAG repository")

    files = _official_names()
    missing = [name for name in files if not (source / name).is_file()]
    if missing and not partial:
        listed = ", ".join(missing)
        raise GraphError(
            f"{source}: {len(missing)} of {len(files)} official files are missing: {listed}: "
            "fetch them, or pass --partial to import the others"
        )
    return missing


def _refuse_pointers(source: Path) -> None:
    """Raise GraphError if an official file is a Git LFS pointer."""
    for name in _official_names():
        path = source / name
        if not path.is_file() or path.stat().st_size >= _LARGEST_POINTER:
            continue
        if path.read_bytes().startswith(_POINTER):
            raise GraphError(f"{path}: is only a Git LFS pointer: run `git lfs pull` in that repository")


def _refuse_foreign_folder(out: Path) -> None:
    """Raise GraphError if the folder holds files and no import made them."""
    names = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    if names and IMPORT_FILE not in names:
        raise GraphError(f"--out {out}: holds {names[0]}, which no import made: pass a new folder")


def _make_table(table: str, sources: list[Path], target: Path) -> int:
    """Write a table and return the number of its records; raises GraphError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.unfinished")

    try:
        count = _write_table(table, sources, unfinished)
        unfinished.replace(target)
    except GraphError:
        raise
    except _UNREADABLE as error:
        reason = str(error) or type(error).__name__
        raise GraphError(f"{sources[-1]}: cannot become a table ({reason}): fetch it again") from None
    finally:
        unfinished.unlink(missing_ok=True)

    return count


def _write_table(table: str, sources: list[Path], target: Path) -> int:
    """Write a table in its format and return the number of its records."""
    if table.endswith(".dict"):
        shutil.copyfile(sources[0], target)
        return len(listings(sources[0], target.read_bytes()))

    records = chain.from_iterable(_read_checked(table, path) for path in sources)
    if table in STORED:
        columns = _columns(sources[0], "play_by_play") if table.endswith("play_by_play.json") else []
        return _write_store(target, [name for name, _ in columns], records)
    return _write_json(table, target, records)


def _write_store(target: Path, columns: list[str], records: KeyedRecords) -> int:
    count = 0
    with writing(target, {"columns": columns}) as put:
        for key, value in records:
            put(key, value)
            count += 1
    return count


def _write_json(table: str, target: Path, records: KeyedRecords) -> int:
    """Write one document, or a line for each record if the table is ``.jsonl``."""
    # A lone surrogate, which UTF-8 cannot encode, becomes a question mark.
    with target.open("w", encoding="utf-8", errors="replace", newline="\n") as stream:
        if table.endswith(".jsonl"):
            count = 0
            for record in records:
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += 1
            return count

        is_list = get_origin(TYPES[table]) is list
        content = [value for _, value in records] if is_list else dict(records)
        json.dump(content, stream, ensure_ascii=False)
        return len(content)


def _read_checked(table: str, path: Path) -> Iterator[tuple[str, Any]]:
    """The keys and records of an official file, checked against the type of the table; raises GraphError."""
    read = _DATABASE_READERS.get(table) or _READERS[path.suffix]
    *_, record_type = get_args(TYPES[table])
    check = TypeAdapter(record_type).validate_python

    records = tqdm(read(table, path), table, unit=" records", disable=None)
    for key, value in records:
        yield key, validated(check, value, path, f"record {key}")


def _keyed_records(table: str, path: Path, content: object) -> KeyedRecords:
    """The records of a whole table; the keys of a list's records are their numbers."""
    kind = get_origin(TYPES[table])
    if isinstance(content, dict) and kind is dict:
        return content.items()
    if isinstance(content, list) and kind is list:
        return [(str(number), row) for number, row in enumerate(content)]
    raise GraphError(f"{path}: a {kind.__name__} expected, found {type(content).__name__}")


def _read_json(table: str, path: Path) -> KeyedRecords:
    content = validated(TypeAdapter(TYPES[table]).validate_json, path.read_bytes(), path)
    return _keyed_records(table, path, content)


def _read_pickle(table: str, path: Path) -> KeyedRecords:
    return _keyed_records(table, path, read_plain(path.read_bytes()))


def _read_matches(table: str, path: Path) -> KeyedRecords:
    """The soccer matches that have a date."""
    for number, row in _read_pickle(table, path):
        if row.get("date") is None:
            continue
        season = row.get("season")
        if isinstance(season, int | float):
            season = str(season)
        yield number, row | {"date": str(row["date"])[:10], "season": season}


def _read_articles(_: str, path: Path) -> KeyedRecords:
    """The articles of the encyclopedia, a line of JSON each."""
    with bz2.open(path, "rb") as stream:
        lines = iter(lambda: stream.readline(LONGEST_LINE), b"")
        for number, line in enumerate(lines, start=1):
            if len(line) == LONGEST_LINE:
                raise GraphError(f"{path}: line {number}: longer than any article: fetch it again")
            if line.strip():
                yield validated(ARTICLE.validate_json, line, path, f"line {number}")


def _read_shares(_: str, path: Path) -> KeyedRecords:
    """The shares of a file that the library sqlitedict wrote."""
    _columns(path, "unnamed")
    with read_only(path) as connection:
        for key, value in connection.execute("select key, cast(value as blob) from unnamed order by rowid"):
            yield str(key), read_plain(value)


def _read_games(_: str, path: Path) -> KeyedRecords:
    """The NBA games that have a date and two teams."""
    names = [name for name, _ in _columns(path, "game")]
    with read_only(path) as connection:
        rows = connection.execute("select * from game order by rowid")
        for number, row in enumerate(rows):
            game = dict(zip(names, row, strict=True))
            searched = [game.get(name) for name in ("game_date", "team_name_home", "team_name_away")]
            if None not in searched:
                yield str(number), game


def _read_game_columns(table: str, path: Path) -> KeyedRecords:
    return _keyed_records(table, path, _columns(path, "game"))


def _read_plays(_: str, path: Path) -> KeyedRecords:
    """The events of each game, preceded by their number in the table of all events."""
    names = [name for name, _ in _columns(path, "play_by_play")]
    game_id = itemgetter(names.index("game_id") + 1)  # the first value of a row is its rowid
    # Sorted by game, because `groupby` joins only rows that are neighbours.
    statement = "select rowid, * from play_by_play where game_id is not null order by game_id, rowid"
    with read_only(path) as connection:
        for game, rows in groupby(connection.execute(statement), key=game_id):
            yield str(game), [list(row) for row in rows]


def _columns(path: Path, table: str) -> list[tuple[str, str]]:
    """Name and type of each column of a plain table: a view or a virtual table may compute without end."""
    is_plain = "select 1 from sqlite_master where name = ? and type = 'table' and sql not like 'create virtual%'"
    with read_only(path) as connection:
        if connection.execute(is_plain, (table,)).fetchone() is None:
            raise GraphError(f"{path}: it has no table {table}: fetch it again")
        rows = connection.execute(f"pragma table_info({table})")
        # A row: number, name, type, and three more facts.
        return [(name, kind) for _, name, kind, *_ in rows]


Reader = Callable[[str, Path], KeyedRecords]
"""Reads the records of a table (its name) from an official file."""
_READERS: Mapping[str, Reader] = {
    ".json": _read_json,
    ".bz2": _read_articles,
    ".pickle": _read_pickle,
    ".pkl": _read_matches,
    ".sqlite": _read_shares,
}
"""Suffix of an official file -> its reader."""
_DATABASE_READERS: Mapping[str, Reader] = {
    "sports/nba_game.json": _read_games,
    "sports/nba_columns.json": _read_game_columns,
    "sports/nba_play_by_play.json": _read_plays,
}
"""Table -> its reader from the one database of NBA games, nba.sqlite."""
