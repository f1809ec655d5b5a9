"""Import of the official graph: each of its files becomes one of our tables, whole or not at all.

Tables are made one after the other and take their place when they are whole; `import.json` beside them says what each
was made of. The same command again makes what is missing, so a kill costs the table that was being made. What is
large is streamed: a line of an article, a share, a game at a time; pickles of dictionaries are held as a whole, as by
the official server.
"""

import bz2
import csv
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError
from tqdm import tqdm

from mock_api.official.names import OFFICIAL_FILES, looks_official
from mock_api.official.pickles import PickleFaultError, Plainer, read_pickle
from mock_api.tables import (
    DOMAINS,
    IMPORT_FILE,
    ChartEntry,
    ChartWeek,
    GrammyRow,
    NbaGame,
    Record,
    SoccerMatch,
    store_path,
)
from mock_api.tables.store import StoreWriter, writing

LOCK_FILE = ".import.lock"
_POINTER = b"version https://git-lfs"
"""How the file begins that git leaves in the place of one which Git LFS has not fetched."""
_GAMES_OF = "select rowid, * from play_by_play order by rowid"
_LONGEST_LINE = 1 << 28
"""Bytes of an article: far more than any has. Without a bound, a few bytes of bz2 could ask for all memory."""
_NO_JSON = (TypeError, ValueError, OverflowError, RecursionError, MemoryError)
"""What writing a value may raise that no table holds: bytes, a number of millions of digits, far too much of it."""


class ImportFaultError(ValueError):
    """Something cannot be imported; the message names the file and says what to do."""


class Made(NamedTuple):
    """What became of a table: how many records it holds, and what was left out of it, by reason."""

    records: int
    left_out: Mapping[str, int]


@dataclass(frozen=True)
class Report:
    """What an import did: tables made now, tables that were there before, a line for each that could not be made."""

    made: Mapping[str, Made]
    kept: tuple[str, ...]
    faults: tuple[str, ...]
    missing: tuple[str, ...]


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


def import_graph(source: Path, out: Path, *, partial: bool = False, quiet: bool = False) -> Report:
    """Make our tables of a folder of official files.

    Args:
        source: The folder `cragkg`.
        out: A new or empty folder, or one that an import has begun or ended: what is there already is kept, unless the
            official file is another one now.
        partial: Import what is there of a graph that lacks files.
        quiet: No progress bars.

    Raises:
        ImportFaultError: nothing can be begun: a wrong folder, missing files, another import into `out`.
    """
    missing = _missing(source, partial=partial)
    _check_out(source, out)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(out / LOCK_FILE, timeout=0):
            return _import(source, out, missing, quiet=quiet)
    except Timeout:
        raise ImportFaultError(f"{out}: another process imports into it: wait for it, or give another --out") from None


def _missing(source: Path, *, partial: bool) -> tuple[str, ...]:
    if not source.is_dir():
        raise ImportFaultError(f"{source}: no such folder")
    there = [name for name in OFFICIAL_FILES if (source / name).is_file()]
    if not looks_official(source):
        near = next(
            (f for f in (source / "cragkg", source / "mock_api/cragkg", source.parent) if looks_official(f)), None
        )
        hint = f"give {near}" if near else "give the folder cragkg of the CRAG repository (mock_api/cragkg)"
        raise ImportFaultError(f"{source}: holds none of the official files, such as music/grammy_df.pickle: {hint}")
    pointers = [name for name in there if _is_pointer(source / name)]
    if pointers:
        raise ImportFaultError(
            f"{source / pointers[0]}: git has not fetched it, only its Git LFS pointer is there "
            f"({len(pointers)} of {len(OFFICIAL_FILES)} files): run `git lfs pull` in that repository"
        )
    missing = tuple(name for name in OFFICIAL_FILES if name not in there)
    if missing and not partial:
        raise ImportFaultError(
            f"{source}: {len(missing)} of {len(OFFICIAL_FILES)} official files are missing: {', '.join(missing)}: "
            "fetch them, or give --partial to import the others"
        )
    return missing


def _is_pointer(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_POINTER)) == _POINTER


def _check_out(source: Path, out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise ImportFaultError(f"--out {out}: is a file: give a folder")
    if out.exists() and out.resolve() == source.resolve():
        raise ImportFaultError(f"--out {out}: is the folder of the official files: give another")
    used = sorted(path.name for path in out.iterdir() if path.name != LOCK_FILE) if out.is_dir() else []
    if used and IMPORT_FILE not in used:
        raise ImportFaultError(f"--out {out}: holds {used[0]}, which no import made: give a new folder")


def _import(source: Path, out: Path, missing: tuple[str, ...], *, quiet: bool) -> Report:
    state = _read_state(out)
    state["finished"] = False
    made: dict[str, Made] = {}
    kept: list[str] = []
    faults: list[str] = []
    for job in JOBS:
        sources = [source / name for name in job.sources if name not in missing]
        if not sources:
            continue
        if len(sources) < len(job.sources):
            names = ", ".join(name for name in job.sources if name in missing)
            faults.append(f"{source}: {names} is missing, and its other half alone is not imported")
            continue
        stamp = {path.relative_to(source).as_posix(): _stamp(path) for path in sources}
        done = state["tables"].get(job.tables[0], {})
        if done.get("sources") == stamp and all(_table(out, name).is_file() for name in job.tables):
            kept += job.tables
            continue
        _write_state(out, state)
        try:
            made[job.tables[0]] = result = _make(job, sources, out, quiet=quiet)
        except ImportFaultError as error:
            faults.append(str(error))
            continue
        state["tables"][job.tables[0]] = {
            "sources": stamp,
            "records": result.records,
            "left_out": dict(result.left_out),
        }
    state["finished"] = not faults
    state["missing"] = list(missing)
    _write_state(out, state)
    return Report(made, tuple(kept), tuple(faults), missing)


def _make(job: Job, sources: list[Path], out: Path, *, quiet: bool) -> Made:
    targets = [_table(out, name) for name in job.tables]
    unfinished = [path.with_name(f".{path.name}.unfinished") for path in targets]
    for path in targets:
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        result = job.make(Work(tuple(sources), tuple(unfinished), quiet))
        for path, target in zip(unfinished, targets, strict=True):
            path.replace(target)
    except ImportFaultError:
        raise
    except _NO_JSON as error:
        reason = str(error) or type(error).__name__
        raise ImportFaultError(f"{sources[0]}: a value that no table can hold ({reason}): fetch it again") from None
    except (OSError, EOFError, sqlite3.Error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        raise ImportFaultError(f"{sources[0]}: cannot be read or its table not written: {reason}") from None
    finally:
        for path in unfinished:
            path.unlink(missing_ok=True)
    return result


def _table(out: Path, name: str) -> Path:
    return store_path(out, name) if name in STORED else out / name


def _stamp(path: Path) -> list[int]:
    facts = path.stat()
    return [facts.st_size, facts.st_mtime_ns]


def _read_state(out: Path) -> dict[str, Any]:
    try:
        state = json.loads((out / IMPORT_FILE).read_text(encoding="utf-8"))
        return {"tables": dict(state["tables"])}
    except FileNotFoundError:
        return {"tables": {}}
    except (ValueError, KeyError, TypeError) as error:
        raise ImportFaultError(f"{out / IMPORT_FILE}: damaged ({error}): give a new folder") from None


def _write_state(out: Path, state: Mapping[str, Any]) -> None:
    unfinished = out / f".{IMPORT_FILE}.unfinished"
    unfinished.write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(out / IMPORT_FILE)


# --- what every kind of file becomes ----------------------------------------------------------------------------------


def _articles(work: Work) -> Made:
    """Pieces of JSON lines in bz2 -> one file of JSON lines."""
    shape = TypeAdapter(tuple[str, Record | None])
    records = 0
    with work.targets[0].open("wb") as target:
        for path in work.sources:
            size = path.stat().st_size
            with path.open("rb") as packed, bz2.open(packed, "rb") as lines, work.bar(size, "B") as bar:
                number = 0
                try:
                    for number, line in enumerate(iter(lambda: lines.readline(_LONGEST_LINE), b""), start=1):
                        if len(line) == _LONGEST_LINE:
                            raise ImportFaultError(f"{path}, line {number}: no article is so long: fetch it again")
                        if line.strip():
                            _checked(shape, line, path, f"line {number}", is_json=True)
                            target.write(line.rstrip(b"\r\n") + b"\n")
                            records += 1
                        if number % 500 == 0:
                            bar.update(packed.tell() - bar.n)
                except (OSError, EOFError) as error:
                    raise ImportFaultError(f"{path}: damaged after line {number} ({error}): fetch it again") from None
    return Made(records, work.left_out)


def _copied(work: Work) -> Made:
    """A JSON table of records, which is in our form already."""
    path = work.sources[0]
    content = path.read_bytes()
    records = _checked(TypeAdapter(dict[str, Record]), content, path, "", is_json=True)
    work.targets[0].write_bytes(content)
    return Made(len(records), work.left_out)


def _listings(work: Work) -> Made:
    """The CSV of company names; a row without a name or a ticker, which no question can reach, is left out."""
    path = work.sources[0]
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines)
            if not {"Name", "Symbol"} <= set(reader.fieldnames or ()):
                raise ImportFaultError(f"{path}: columns Name and Symbol expected, found {reader.fieldnames}")
            rows = [(row["Name"], row["Symbol"]) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ImportFaultError(f"{path}: no CSV in UTF-8 ({error}): fetch it again") from None
    whole = [(" ".join(name.splitlines()), ticker) for name, ticker in rows if name and ticker]
    work.left_out["rows without name or ticker"] += len(rows) - len(whole)
    with work.targets[0].open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target)
        writer.writerows([("", "Name", "Symbol"), *((number, *row) for number, row in enumerate(whole))])
    return Made(len(whole), +work.left_out)


def _by_share(shape: TypeAdapter[Any]) -> Callable[[Work], Made]:
    """A file of sqlitedict, whose values are pickles -> a JSON table."""

    def make(work: Work) -> Made:
        return Made(_write_object(work.targets[0], _shares(work, shape)), work.left_out)

    return make


def _stored_by_share(work: Work) -> Made:
    """The same -> a store on disk."""
    records = 0
    with writing(work.targets[0]) as store:
        for ticker, value in _shares(work, TypeAdapter(dict[str, Record])):
            store.put(ticker, value)
            records += 1
    return Made(records, work.left_out)


def _shares(work: Work, shape: TypeAdapter[Any]) -> Iterator[tuple[str, Any]]:
    path = work.sources[0]
    with _database(path) as connection:
        names = _tables_in(connection)
        fitting = [name for name in names if _columns_of(connection, name)[:2] == ["key", "value"]]
        if len(fitting) > 1 and "unnamed" in fitting:
            fitting = ["unnamed"]
        if len(fitting) != 1:
            raise ImportFaultError(f"{path}: one table of key and value expected, found {', '.join(names) or 'none'}")
        table = _quoted(fitting[0])
        count = connection.execute(f"select count(*) from {table}").fetchone()[0]  # noqa: S608 - quoted
        with work.bar(count, "share") as bar:
            for key, value in connection.execute(f"select key, value from {table} order by rowid"):  # noqa: S608 - quoted
                yield str(key), _unpickled(path, f"key {key}", value, shape)
                bar.update()


def _of_pickle(shape: TypeAdapter[Any]) -> Callable[[Work], Made]:
    """A pickle of a dictionary -> a JSON object."""

    def make(work: Work) -> Made:
        path = work.sources[0]
        found: dict[str, Any] = _plain_pickle(path, dict)
        with work.bar(len(found), "record") as bar:
            items = ((key, _checked(shape, one, path, f"key {key}")) for key, one in _told(found.items(), bar))
            return Made(_write_object(work.targets[0], items), work.left_out)

    return make


def _of_frame(shape: TypeAdapter[Any]) -> Callable[[Work], Made]:
    """A pickle of a frame -> a JSON list of its rows."""

    def make(work: Work) -> Made:
        path = work.sources[0]
        found: list[Any] = _plain_pickle(path, list)
        with work.bar(len(found), "record") as bar:
            rows = (_checked(shape, row, path, f"row {number}") for number, row in enumerate(_told(found, bar)))
            return Made(_write_list(work.targets[0], rows), work.left_out)

    return make


def _plain_pickle(path: Path, kind: type) -> Any:  # noqa: ANN401 - of that kind
    size = path.stat().st_size
    try:
        with path.open("rb") as stream:
            found = Plainer(size)(read_pickle(stream))
    except PickleFaultError as error:
        raise ImportFaultError(f"{path}: {error}") from None
    if not isinstance(found, kind):
        due = "a data frame" if kind is list else "a dictionary"
        raise ImportFaultError(f"{path}: {due} expected, found {type(found).__name__}")
    return found


def _matches(work: Work) -> Made:
    """The frame of soccer matches -> rows; one without a date is in no answer of the official server."""
    path = work.sources[0]
    shape = TypeAdapter(SoccerMatch)
    found: list[Any] = _plain_pickle(path, list)
    rows = [row for row in found if isinstance(row, dict) and row.get("date") is not None]
    work.left_out["rows without a date"] += len(found) - len(rows)
    dated = ({**row, "date": str(row["date"])[:10], "season": _text(row.get("season"))} for row in rows)
    checked = (_checked(shape, row, path, f"row {number}") for number, row in enumerate(dated))
    return Made(_write_list(work.targets[0], checked), +work.left_out)


def _text(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


def _nba(work: Work) -> Made:
    """The database of NBA games -> columns, games, and a store of the events of each game."""
    path = work.sources[0]
    games, columns, plays = work.targets
    with _database(path) as connection:
        for name in ("game", "play_by_play"):
            if name not in _tables_in(connection):
                raise ImportFaultError(f"{path}: there is no table {name} in it: fetch it again")
        facts = connection.execute("pragma table_info(game)").fetchall()
        columns.write_text(json.dumps([[fact[1], fact[2]] for fact in facts]), encoding="utf-8")
        records = _write_list(games, _nba_games(work, connection, [fact[1] for fact in facts]))
        with writing(plays) as store:
            _nba_plays(work, connection, store)
    return Made(records, +work.left_out)


def _nba_games(work: Work, connection: sqlite3.Connection, columns: list[str]) -> Iterator[Record]:
    shape = TypeAdapter(NbaGame)
    count = connection.execute("select count(*) from game").fetchone()[0]
    with work.bar(count, "game") as bar:
        for number, values in enumerate(_told(connection.execute("select * from game order by rowid"), bar)):
            game = dict(zip(columns, values, strict=True))
            if all(game.get(name) is not None for name in ("game_date", "team_name_home", "team_name_away")):
                yield _checked(shape, game, work.sources[0], f"row {number} of game")
            else:
                work.left_out["games without a date or a team"] += 1


def _nba_plays(work: Work, connection: sqlite3.Connection, store: StoreWriter) -> None:
    """Events in the order of the table; those of a game stand together, and where they do not they are joined."""
    names = _columns_of(connection, "play_by_play")
    if "game_id" not in names:
        raise ImportFaultError(f"{work.sources[0]}: the table play_by_play has no column game_id: fetch it again")
    store.say("columns", names)
    place_of_id = names.index("game_id") + 1
    total = connection.execute("select max(rowid) from play_by_play").fetchone()[0]
    with work.bar(total, "event") as bar:
        game, events = "", list[list[Any]]()
        for row in _told(connection.execute(_GAMES_OF), bar):
            if row[place_of_id] != game:
                _put_events(store, game, events)
                game, events = row[place_of_id], []
            events.append(list(row))
        _put_events(store, game, events)


def _put_events(store: StoreWriter, game: object, events: list[list[Any]]) -> None:
    if events and game is not None:
        store.put(str(game), (store.get(str(game)) or []) + events)


# --- reading and writing ----------------------------------------------------------------------------------------------


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    """A SQLite file, which is only read."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("pragma trusted_schema = off")
            connection.text_factory = lambda content: content.decode("utf-8", "replace")
            yield connection
    except sqlite3.Error as error:
        raise ImportFaultError(f"{path}: no SQLite file, or damaged ({error}): fetch it again") from None


def _tables_in(connection: sqlite3.Connection) -> list[str]:
    """Names of what holds rows: a view may compute without end, and so may a virtual table."""
    plain = "select name from sqlite_master where type = 'table' and sql not like 'create virtual%'"
    return [name for (name,) in connection.execute(plain)]


def _columns_of(connection: sqlite3.Connection, table: str) -> list[str]:
    return [fact[1] for fact in connection.execute(f"pragma table_info({_quoted(table)})")]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unpickled(path: Path, place: str, content: object, shape: TypeAdapter[Any]) -> Any:  # noqa: ANN401 - by its shape
    if not isinstance(content, bytes):
        raise ImportFaultError(f"{path}, {place}: a pickle expected, found {type(content).__name__}")
    try:
        return _checked(shape, Plainer(len(content))(read_pickle(content)), path, place)
    except PickleFaultError as error:
        raise ImportFaultError(f"{path}, {place}: {error}") from None


def _checked(shape: TypeAdapter[Any], value: Any, path: Path, place: str, *, is_json: bool = False) -> Any:  # noqa: ANN401
    """A value that has the shape of its table, so that what was imported can be served."""
    try:
        return shape.validate_json(value) if is_json else shape.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ", ".join(part for part in (place, ".".join(map(str, first["loc"]))) if part)
        raise ImportFaultError(f"{path}{', ' + where if where else ''}: {first['msg']}") from None


def _told(values: Iterable[Any], bar: "tqdm[Any]") -> Iterator[Any]:
    for number, value in enumerate(values, start=1):
        yield value
        if number % 1000 == 0:
            bar.update(1000)


def _write_object(path: Path, items: Iterable[tuple[str, Any]]) -> int:
    """A JSON object with one record a line."""
    entries = (f"{json.dumps(key, ensure_ascii=False)}: {_json(value)}" for key, value in items)
    return _write_lines(path, "{", entries, "}")


def _write_list(path: Path, rows: Iterable[Any]) -> int:
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


STORED = frozenset(
    {"finance/finance_price.json", "finance/finance_detailed_price.json", "sports/nba_play_by_play.json"}
)
"""Tables that become stores on disk."""

_ANYTHING = TypeAdapter[Any](dict[str, Any])
JOBS = (
    *(Job((f"movie/{name}.json",), (f"movie/{name}.json",), _copied) for name in ("year_db", "person_db", "movie_db")),
    Job(("open/kg.0.jsonl.bz2", "open/kg.1.jsonl.bz2"), ("open/kg.jsonl",), _articles),
    Job(("finance/company_name.dict",), ("finance/company_name.dict",), _listings),
    *(
        Job((f"finance/finance_{name}.sqlite",), (f"finance/finance_{name}.json",), make)
        for name, make in (
            ("marketcap", _by_share(TypeAdapter(float | None))),
            ("dividend", _by_share(_ANYTHING)),
            ("info", _by_share(_ANYTHING)),
            ("price", _stored_by_share),
            ("detailed_price", _stored_by_share),
        )
    ),
    Job(("music/grammy_df.pickle",), ("music/grammy_df.json",), _of_frame(TypeAdapter(GrammyRow))),
    *(
        Job((f"music/{name}.pickle",), (f"music/{name}.json",), _of_pickle(shape))
        for name, shape in (
            ("rank_dict_hot100", TypeAdapter(list[ChartEntry])),
            ("song_dict_hot100", TypeAdapter(dict[str, ChartWeek])),
            ("artist_work_dict", TypeAdapter(list[str])),
            ("artist_dict_simplified", _ANYTHING),
            ("song_dict_simplified", _ANYTHING),
        )
    ),
    Job(("sports/soccer_team_match_stats.pkl",), ("sports/soccer_team_match_stats.json",), _matches),
    Job(
        ("sports/nba.sqlite",),
        ("sports/nba_game.json", "sports/nba_columns.json", "sports/nba_play_by_play.json"),
        _nba,
    ),
)
"""The small before the large, so that what is wrong shows early."""


def told(report: Report, out: Path) -> str:
    """The lines that a person reads at the end."""
    lines = []
    for table, made in report.made.items():
        left = "".join(f", left out {count:,} {reason}" for reason, count in made.left_out.items())
        lines.append(f"{table:40} {made.records:>10,} records{left}")
    if report.kept:
        lines.append(f"done already: {len(report.kept)} tables")
    domains = ", ".join(sorted({name.split("/")[0] for name in report.missing}, key=DOMAINS.index))
    if report.missing:
        lines.append(f"missing, hence empty: {', '.join(report.missing)} ({domains})")
    if not report.faults:
        lines.append(f"{out} is whole: python -m mock_api --port 8000 --data {out}")
    return "\n".join(lines)
