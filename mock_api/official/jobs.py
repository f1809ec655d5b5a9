"""How each official file becomes a table: JSON, JSON lines, CSV, pickles, SQLite of shares and of games."""

import bz2
import csv
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import TypeAdapter, ValidationError
from tqdm import tqdm

from mock_api.official.pickles import PickleFaultError, Plainer, read_pickle
from mock_api.tables import OFFICIAL_FILES, TYPES, Record
from mock_api.tables.store import StoreWriter, writing

_LONGEST_LINE = 1 << 28
"""Bytes of an article: far more than any has. Without a bound, a few bytes of bz2 could ask for all memory."""


class ImportFaultError(ValueError):
    """Something cannot be imported; the message names the file and says what to do."""


class Made(NamedTuple):
    """The records of a new table, and how many were left out of it, by reason."""

    records: int
    left_out: Mapping[str, int]


@dataclass
class Work:
    """A job under way: its files, where its tables go until they are whole, and the shape of one record."""

    sources: tuple[Path, ...]
    targets: tuple[Path, ...]
    shape: TypeAdapter[Any]
    quiet: bool
    left_out: Counter[str] = field(default_factory=Counter)

    def bar(self, total: int | None, unit: str) -> "tqdm[Any]":
        """A progress bar on standard error, where that is a terminal."""
        name, hidden = self.sources[0].name, True if self.quiet else None
        return tqdm(total=total, desc=name, unit=unit, unit_scale=unit == "B", disable=hidden)

    def checked(self, value: Any, place: str) -> Any:  # noqa: ANN401 - by its shape
        """A record that has the shape of its table, so that it can be served."""
        return _checked(self.shape.validate_python, value, self.sources[0], place)


class Job(NamedTuple):
    """The files of one table, or of several that one file gives, and how they are made."""

    sources: tuple[str, ...]
    tables: tuple[str, ...]
    make: Callable[[Work], int]
    """Returns the number of records."""

    def run(self, sources: Iterable[Path], targets: Iterable[Path], *, quiet: bool) -> Made:
        """Make the tables at `targets`; raises ImportFaultError and what reading and writing may raise."""
        kind = TYPES[self.tables[0]]
        work = Work(tuple(sources), tuple(targets), TypeAdapter(get_args(kind)[-1]), quiet)
        records = self.make(work)
        return Made(records, +work.left_out)


def _checked(validate: Callable[[Any], Any], value: object, path: Path, place: str) -> Any:  # noqa: ANN401 - as above
    try:
        return validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ", ".join(part for part in (place, ".".join(map(str, first["loc"]))) if part)
        raise ImportFaultError(f"{path}{', ' + where if where else ''}: {first['msg']}") from None


def _counted(values: Iterable[Any], bar: "tqdm[Any]") -> Iterator[Any]:
    """The values as they are; the bar moves with them."""
    with bar:
        for number, value in enumerate(values, start=1):
            yield value
            if number % 1000 == 0:
                bar.update(1000)


# --- JSON, JSON lines, CSV ------------------------------------------------------------------------------------------


def _articles(work: Work) -> int:
    """Pieces of JSON lines in bz2 -> one file of JSON lines."""
    validate = TypeAdapter(tuple[str, Record | None]).validate_json
    records = 0
    with work.targets[0].open("wb") as target:
        for path in work.sources:
            with path.open("rb") as packed, bz2.open(packed, "rb") as lines, work.bar(path.stat().st_size, "B") as bar:
                number = 0
                try:
                    for number, line in enumerate(iter(lambda: lines.readline(_LONGEST_LINE), b""), start=1):
                        if len(line) == _LONGEST_LINE:
                            raise ImportFaultError(f"{path}, line {number}: no article is so long: fetch it again")
                        if line.strip():
                            _checked(validate, line, path, f"line {number}")
                            target.write(line.rstrip(b"\r\n") + b"\n")
                            records += 1
                        if number % 500 == 0:
                            bar.update(packed.tell() - bar.n)
                except (OSError, EOFError) as error:
                    raise ImportFaultError(f"{path}: damaged after line {number} ({error}): fetch it again") from None
    return records


def _copied(work: Work) -> int:
    """A JSON table of records, which is in our form already."""
    content = work.sources[0].read_bytes()
    records = _checked(TypeAdapter(dict[str, Record]).validate_json, content, work.sources[0], "")
    work.targets[0].write_bytes(content)
    return len(records)


def _listings(work: Work) -> int:
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
        csv.writer(target).writerows([("", "Name", "Symbol"), *((number, *row) for number, row in enumerate(whole))])
    return len(whole)


def _write_object(path: Path, items: Iterable[tuple[str, Any]]) -> int:
    """A JSON object with one record a line; how many there are."""
    entries = (f"{json.dumps(key, ensure_ascii=False)}: {_json(value)}" for key, value in items)
    return _write_lines(path, "{", entries, "}")


def _write_list(path: Path, rows: Iterable[Any]) -> int:
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


# --- pickles --------------------------------------------------------------------------------------------------------


def _of_pickle(work: Work) -> int:
    """A pickle of a dictionary -> a JSON object."""
    found: dict[str, Any] = _plain_pickle(work.sources[0], dict)
    items = _counted(found.items(), work.bar(len(found), "record"))
    return _write_object(work.targets[0], ((key, work.checked(one, f"key {key}")) for key, one in items))


def _of_frame(work: Work) -> int:
    """A pickle of a frame -> a JSON list of its rows."""
    return _write_rows(work, _plain_pickle(work.sources[0], list))


def _matches(work: Work) -> int:
    """The frame of soccer matches -> rows; one without a date is in no answer of the official server."""
    found: list[Any] = _plain_pickle(work.sources[0], list)
    rows = [row for row in found if isinstance(row, dict) and row.get("date") is not None]
    work.left_out["rows without a date"] += len(found) - len(rows)
    dated = [{**row, "date": str(row["date"])[:10], "season": _text(row.get("season"))} for row in rows]
    return _write_rows(work, dated)


def _write_rows(work: Work, rows: list[Any]) -> int:
    counted = enumerate(_counted(rows, work.bar(len(rows), "record")))
    return _write_list(work.targets[0], (work.checked(row, f"row {number}") for number, row in counted))


def _text(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


def _plain_pickle(path: Path, kind: type) -> Any:  # noqa: ANN401 - of that kind
    try:
        with path.open("rb") as stream:
            found = Plainer(path.stat().st_size)(read_pickle(stream))
    except PickleFaultError as error:
        raise ImportFaultError(f"{path}: {error}") from None
    if not isinstance(found, kind):
        expected = "a data frame" if kind is list else "a dictionary"
        raise ImportFaultError(f"{path}: {expected} expected, found {type(found).__name__}")
    return found


# --- SQLite ---------------------------------------------------------------------------------------------------------


def _by_share(work: Work) -> int:
    """A file of sqlitedict, whose values are pickles -> a JSON table."""
    return _write_object(work.targets[0], _shares(work))


def _stored_by_share(work: Work) -> int:
    """The same -> a store on disk."""
    records = 0
    with writing(work.targets[0]) as store:
        for ticker, value in _shares(work):
            store.put(ticker, value)
            records += 1
    return records


def _shares(work: Work) -> Iterator[tuple[str, Any]]:
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
                yield str(key), _unpickled(work, f"key {key}", value)
                bar.update()


def _unpickled(work: Work, place: str, content: object) -> Any:  # noqa: ANN401 - by its shape
    path = work.sources[0]
    if not isinstance(content, bytes):
        raise ImportFaultError(f"{path}, {place}: a pickle expected, found {type(content).__name__}")
    try:
        return work.checked(Plainer(len(content))(read_pickle(content)), place)
    except PickleFaultError as error:
        raise ImportFaultError(f"{path}, {place}: {error}") from None


def _nba(work: Work) -> int:
    """The database of NBA games -> games, columns, and a store of the events of each game."""
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
    return records


def _nba_games(work: Work, connection: sqlite3.Connection, columns: list[str]) -> Iterator[Record]:
    bar = work.bar(connection.execute("select count(*) from game").fetchone()[0], "game")
    for number, values in enumerate(_counted(connection.execute("select * from game order by rowid"), bar)):
        game = dict(zip(columns, values, strict=True))
        if all(game.get(name) is not None for name in ("game_date", "team_name_home", "team_name_away")):
            yield work.checked(game, f"row {number} of game")
        else:
            work.left_out["games without a date or a team"] += 1


def _nba_plays(work: Work, connection: sqlite3.Connection, store: StoreWriter) -> None:
    """Events in the order of the table; those of a game stand together, and where they do not they are joined."""
    names = _columns_of(connection, "play_by_play")
    if "game_id" not in names:
        raise ImportFaultError(f"{work.sources[0]}: the table play_by_play has no column game_id: fetch it again")
    store.say("columns", names)
    place_of_id = names.index("game_id") + 1
    bar = work.bar(connection.execute("select max(rowid) from play_by_play").fetchone()[0], "event")
    rows = _counted(connection.execute("select rowid, * from play_by_play order by rowid"), bar)
    for game, events in groupby(rows, key=itemgetter(place_of_id)):
        if game is not None:
            store.put(str(game), (store.get(str(game)) or []) + [list(event) for event in events])


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


# --- which file becomes which table ---------------------------------------------------------------------------------

_MAKERS: dict[str, Callable[[Work], int]] = {
    **dict.fromkeys(("movie/year_db.json", "movie/person_db.json", "movie/movie_db.json"), _copied),
    "open/kg.jsonl": _articles,
    "finance/company_name.dict": _listings,
    **{f"finance/finance_{name}.json": _by_share for name in ("marketcap", "dividend", "info")},
    **{f"finance/finance_{name}.json": _stored_by_share for name in ("price", "detailed_price")},
    "music/grammy_df.json": _of_frame,
    **{f"music/{name}_hot100.json": _of_pickle for name in ("rank_dict", "song_dict")},
    **{
        f"music/{name}.json": _of_pickle
        for name in ("artist_work_dict", "artist_dict_simplified", "song_dict_simplified")
    },
    "sports/soccer_team_match_stats.json": _matches,
    "sports/nba_game.json": _nba,
}
"""The small before the large, so that faults show early."""
_MORE_TABLES = {"sports/nba_game.json": ("sports/nba_columns.json", "sports/nba_play_by_play.json")}
STORED = frozenset(
    {"finance/finance_price.json", "finance/finance_detailed_price.json", "sports/nba_play_by_play.json"}
)
"""Tables that become stores on disk."""

JOBS = [
    Job(
        tuple(name for name, made in OFFICIAL_FILES.items() if made == table),
        (table, *_MORE_TABLES.get(table, ())),
        make,
    )
    for table, make in _MAKERS.items()
]
