"""The official SQLite files -> tables: shares by sqlitedict, whose values are pickles, and the games of the NBA."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from mock_api.official.pickles import PickleFaultError, Plainer, read_pickle
from mock_api.official.work import ImportFaultError, Made, Work, checked, counted, write_list, write_object
from mock_api.tables import NbaGame, Record
from mock_api.tables.store import StoreWriter, writing

_GAMES_OF = "select rowid, * from play_by_play order by rowid"


def by_share(shape: TypeAdapter[Any]) -> Callable[[Work], Made]:
    """A file of sqlitedict, whose values are pickles -> a JSON table."""

    def make(work: Work) -> Made:
        return Made(write_object(work.targets[0], _shares(work, shape)), work.left_out)

    return make


def stored_by_share(work: Work) -> Made:
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


def nba(work: Work) -> Made:
    """The database of NBA games -> columns, games, and a store of the events of each game."""
    path = work.sources[0]
    games, columns, plays = work.targets
    with _database(path) as connection:
        for name in ("game", "play_by_play"):
            if name not in _tables_in(connection):
                raise ImportFaultError(f"{path}: there is no table {name} in it: fetch it again")
        facts = connection.execute("pragma table_info(game)").fetchall()
        columns.write_text(json.dumps([[fact[1], fact[2]] for fact in facts]), encoding="utf-8")
        records = write_list(games, _nba_games(work, connection, [fact[1] for fact in facts]))
        with writing(plays) as store:
            _nba_plays(work, connection, store)
    return Made(records, +work.left_out)


def _nba_games(work: Work, connection: sqlite3.Connection, columns: list[str]) -> Iterator[Record]:
    shape = TypeAdapter(NbaGame)
    count = connection.execute("select count(*) from game").fetchone()[0]
    with work.bar(count, "game") as bar:
        for number, values in enumerate(counted(connection.execute("select * from game order by rowid"), bar)):
            game = dict(zip(columns, values, strict=True))
            if all(game.get(name) is not None for name in ("game_date", "team_name_home", "team_name_away")):
                yield checked(shape, game, work.sources[0], f"row {number} of game")
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
        for row in counted(connection.execute(_GAMES_OF), bar):
            if row[place_of_id] != game:
                _put_events(store, game, events)
                game, events = row[place_of_id], []
            events.append(list(row))
        _put_events(store, game, events)


def _put_events(store: StoreWriter, game: object, events: list[list[Any]]) -> None:
    if events and game is not None:
        store.put(str(game), (store.get(str(game)) or []) + events)


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
        return checked(shape, Plainer(len(content))(read_pickle(content)), path, place)
    except PickleFaultError as error:
        raise ImportFaultError(f"{path}, {place}: {error}") from None
