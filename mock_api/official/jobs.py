"""Converts each official file to a table: JSON, JSON lines, CSV, pickles, SQLite of shares and of games."""

import bz2
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, NamedTuple, get_args

from pydantic import TypeAdapter
from tqdm import tqdm

from mock_api.official.frames import read_plain
from mock_api.official.pickles import PickleFaultError
from mock_api.tables import ARTICLE, OFFICIAL_FILES, GraphError, Record, listings, validated
from mock_api.tables.store import StoreWriter, writing

_LONGEST_LINE = 1 << 28
"""Most bytes of an article, far more than any has. Without a limit, a few bytes of bz2 could fill the memory."""


@dataclass
class Work:
    """A running job: its files, the temporary files of its tables, the type of its first table.

    `records` counts the records made, `left_out` those that the official server never returns, by reason.
    """

    sources: list[Path]
    targets: list[Path]
    kind: Any
    quiet: bool
    records: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def bar(self, total: int | None, unit: str) -> "tqdm[Any]":
        """A progress bar on standard error, if that is a terminal."""
        name, hidden = self.sources[0].name, True if self.quiet else None
        return tqdm(total=total, desc=name, unit=unit, unit_scale=unit == "B", disable=hidden)

    def checked(self, value: object, place: str) -> Any:  # noqa: ANN401 - by the type of the table
        """Check a record against the type of its table, and count it."""
        self.records += 1
        return validated(self._record.validate_python, value, self.sources[0], place)

    @cached_property
    def _record(self) -> TypeAdapter[Any]:
        return TypeAdapter(get_args(self.kind)[-1])


class Job(NamedTuple):
    """The files of one table, or of several from one file, and the function that makes them."""

    sources: tuple[str, ...]
    tables: tuple[str, ...]
    make: Callable[[Work], None]


def _counted(values: Iterable[Any], bar: "tqdm[Any]") -> Iterator[Any]:
    with bar:
        for number, value in enumerate(values, start=1):
            yield value
            if number % 1000 == 0:
                bar.update(1000)


# --- JSON, JSON lines, CSV ------------------------------------------------------------------------------------------


def _articles(work: Work) -> None:
    with work.targets[0].open("wb") as target:
        for path in work.sources:
            with path.open("rb") as packed, bz2.open(packed, "rb") as lines, work.bar(path.stat().st_size, "B") as bar:
                number = 0
                try:
                    for number, line in enumerate(iter(lambda: lines.readline(_LONGEST_LINE), b""), start=1):
                        if len(line) == _LONGEST_LINE:
                            raise GraphError(f"{path}: line {number}: longer than any article: fetch it again")
                        if line.strip():
                            validated(ARTICLE.validate_json, line, path, f"line {number}")
                            target.write(line.rstrip(b"\r\n") + b"\n")
                            work.records += 1
                        if number % 500 == 0:
                            bar.update(packed.tell() - bar.n)
                except (OSError, EOFError) as error:
                    raise GraphError(f"{path}: damaged after line {number} ({error}): fetch it again") from None


def _copied(work: Work) -> None:
    path = work.sources[0]
    content = path.read_bytes()
    is_csv = path.suffix == ".dict"
    found = listings(path, content) if is_csv else validated(TypeAdapter(work.kind).validate_json, content, path)
    work.records = len(found)
    work.targets[0].write_bytes(content)


def _write_object(work: Work, items: Iterable[tuple[str, Any]]) -> None:
    _write(work, "{}", (f"{_json(key)}: {_json(work.checked(value, f'key {key}'))}" for key, value in items))


def _write_rows(work: Work, rows: Iterable[Any]) -> None:
    _write(work, "[]", (_json(work.checked(row, f"row {number}")) for number, row in enumerate(rows)))


def _write(work: Work, brackets: str, entries: Iterable[str]) -> None:
    # A lone surrogate, which UTF-8 cannot encode, becomes a question mark.
    with work.targets[0].open("w", encoding="utf-8", errors="replace", newline="\n") as target:
        target.write(brackets[0])
        for count, entry in enumerate(entries):
            target.write((",\n" if count else "\n") + entry)
        target.write(f"\n{brackets[1]}\n")
        target.flush()
        os.fsync(target.fileno())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- pickles --------------------------------------------------------------------------------------------------------


def _of_pickle(work: Work) -> None:
    found = _plain_pickle(work, dict)
    _write_object(work, _counted(found.items(), work.bar(len(found), "record")))


def _of_frame(work: Work) -> None:
    rows = _plain_pickle(work, list)
    _write_rows(work, _counted(rows, work.bar(len(rows), "record")))


def _matches(work: Work) -> None:
    """The frame of soccer matches -> rows; the official server never returns those without a date."""
    found = _plain_pickle(work, list)
    rows = [row for row in found if isinstance(row, dict) and row.get("date") is not None]
    work.left_out["rows without a date"] += len(found) - len(rows)
    for row in rows:
        row["date"] = str(row["date"])[:10]
        if isinstance(row.get("season"), int | float):
            row["season"] = str(row["season"])
    _write_rows(work, rows)


def _plain_pickle(work: Work, kind: type) -> Any:  # noqa: ANN401 - of that kind
    path = work.sources[0]
    with path.open("rb") as stream:
        found = _plain(str(path), stream, path.stat().st_size)
    if not isinstance(found, kind):
        expected = "a data frame" if kind is list else "a dictionary"
        raise GraphError(f"{path}: {expected} expected, found {type(found).__name__}")
    return found


def _plain(place: str, content: bytes | IO[bytes], size: int) -> Any:  # noqa: ANN401 - what a pickle holds
    try:
        return read_plain(content, size)
    except PickleFaultError as error:
        raise GraphError(f"{place}: {error}") from None


# --- SQLite ---------------------------------------------------------------------------------------------------------


def _by_share(work: Work) -> None:
    _write_object(work, _shares(work))


def _stored_by_share(work: Work) -> None:
    with writing(work.targets[0]) as store:
        for ticker, value in _shares(work):
            store.put(ticker, work.checked(value, f"key {ticker}"))


def _shares(work: Work) -> Iterator[tuple[str, Any]]:
    path = work.sources[0]
    with _database(path) as connection:
        names = _tables_in(connection)
        fitting = [name for name in names if _columns_of(connection, name)[:2] == ["key", "value"]]
        if len(fitting) > 1 and "unnamed" in fitting:
            fitting = ["unnamed"]
        if len(fitting) != 1:
            raise GraphError(f"{path}: one table of key and value expected, found {', '.join(names) or 'none'}")
        table = _quoted(fitting[0])
        count = connection.execute(f"select count(*) from {table}").fetchone()[0]  # noqa: S608 - quoted
        with work.bar(count, "share") as bar:
            for key, value in connection.execute(f"select key, value from {table} order by rowid"):  # noqa: S608 - quoted
                if not isinstance(value, bytes):
                    raise GraphError(f"{path}: key {key}: a pickle expected, found {type(value).__name__}")
                yield str(key), _plain(f"{path}: key {key}", value, len(value))
                bar.update()


def _nba(work: Work) -> None:
    """The database of NBA games -> games, columns, and a store of the events of each game."""
    path = work.sources[0]
    with _database(path) as connection:
        for name in ("game", "play_by_play"):
            if name not in _tables_in(connection):
                raise GraphError(f"{path}: it has no table {name}: fetch it again")
        facts = connection.execute("pragma table_info(game)").fetchall()
        work.targets[1].write_text(json.dumps([[fact[1], fact[2]] for fact in facts]), encoding="utf-8")
        _write(work, "[]", map(_json, _nba_games(work, connection, [fact[1] for fact in facts])))
        with writing(work.targets[2]) as store:
            _nba_plays(work, connection, store)


def _nba_games(work: Work, connection: sqlite3.Connection, columns: list[str]) -> Iterator[Record]:
    bar = work.bar(connection.execute("select count(*) from game").fetchone()[0], "game")
    for number, values in enumerate(_counted(connection.execute("select * from game order by rowid"), bar)):
        game = dict(zip(columns, values, strict=True))
        if all(game.get(name) is not None for name in ("game_date", "team_name_home", "team_name_away")):
            yield work.checked(game, f"row {number} of game")
        else:
            work.left_out["games without a date or a team"] += 1


def _nba_plays(work: Work, connection: sqlite3.Connection, store: StoreWriter) -> None:
    """Events in the order of the table; separate groups of the same game are joined."""
    names = _columns_of(connection, "play_by_play")
    if "game_id" not in names:
        raise GraphError(f"{work.sources[0]}: the table play_by_play has no column game_id: fetch it again")
    store.say("columns", names)
    place_of_id = names.index("game_id") + 1
    bar = work.bar(connection.execute("select max(rowid) from play_by_play").fetchone()[0], "event")
    rows = _counted(connection.execute("select rowid, * from play_by_play order by rowid"), bar)
    for game, events in groupby(rows, key=itemgetter(place_of_id)):
        if game is not None:
            store.put(str(game), (store.get(str(game)) or []) + [list(event) for event in events])


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("pragma trusted_schema = off")
            connection.text_factory = lambda content: content.decode("utf-8", "replace")
            yield connection
    except sqlite3.Error as error:
        raise GraphError(f"{path}: not a SQLite file, or damaged ({error}): fetch it again") from None


def _tables_in(connection: sqlite3.Connection) -> list[str]:
    """Names of plain tables: a view or a virtual table may compute without end."""
    plain = "select name from sqlite_master where type = 'table' and sql not like 'create virtual%'"
    return [name for (name,) in connection.execute(plain)]


def _columns_of(connection: sqlite3.Connection, table: str) -> list[str]:
    return [fact[1] for fact in connection.execute(f"pragma table_info({_quoted(table)})")]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- which file becomes which table ---------------------------------------------------------------------------------

_MAKERS: dict[Callable[[Work], None], tuple[str, ...]] = {
    _copied: ("movie/year_db.json", "movie/person_db.json", "movie/movie_db.json", "finance/company_name.dict"),
    _articles: ("open/kg.jsonl",),
    _by_share: ("finance/finance_marketcap.json", "finance/finance_dividend.json", "finance/finance_info.json"),
    _of_frame: ("music/grammy_df.json",),
    _of_pickle: (
        "music/rank_dict_hot100.json",
        "music/song_dict_hot100.json",
        "music/artist_work_dict.json",
        "music/artist_dict_simplified.json",
        "music/song_dict_simplified.json",
    ),
    _matches: ("sports/soccer_team_match_stats.json",),
    _stored_by_share: ("finance/finance_price.json", "finance/finance_detailed_price.json"),
    _nba: ("sports/nba_game.json",),
}
"""Small tables first, so that faults show early."""
_MORE_TABLES = {"sports/nba_game.json": ("sports/nba_columns.json", "sports/nba_play_by_play.json")}
STORED = frozenset((*_MAKERS[_stored_by_share], "sports/nba_play_by_play.json"))
"""Tables that become stores on disk."""

JOBS = [
    Job(
        tuple(name for name, made in OFFICIAL_FILES.items() if made == table),
        (table, *_MORE_TABLES.get(table, ())),
        make,
    )
    for make, tables in _MAKERS.items()
    for table in tables
]
