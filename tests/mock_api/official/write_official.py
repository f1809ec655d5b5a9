"""Tables of ours -> the files of the official server, as its authors' tools write them."""

import bz2
import json
import pickle
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from crag.mock_api.answers import SOCCER_COLUMNS

COPIED = ("movie/movie_db.json", "movie/person_db.json", "movie/year_db.json", "finance/company_name.dict")
DICTIONARIES = (
    "artist_dict_simplified", "song_dict_simplified", "rank_dict_hot100", "song_dict_hot100", "artist_work_dict",
)  # fmt: skip
LEVELS = ("league", "season", "team", "game")


def write_official(tables: Path, out: Path) -> Path:
    """All official files of a graph; a table that the graph lacks is an empty one."""
    import pandas as pd

    for domain in ("open", "movie", "finance", "music", "sports"):
        (out / domain).mkdir(parents=True, exist_ok=True)

    for name in COPIED:
        shutil.copy(tables / name, out / name)

    for name in ("price", "detailed_price", "dividend", "marketcap", "info"):
        write_sqlitedict(out / f"finance/finance_{name}.sqlite", _read(tables, f"finance/finance_{name}.json", {}))

    for name in DICTIONARIES:
        (out / f"music/{name}.pickle").write_bytes(pickle.dumps(_read(tables, f"music/{name}.json", {}), protocol=4))

    awards = pd.DataFrame(_read(tables, "music/grammy_df.json", []))
    (out / "music/grammy_df.pickle").write_bytes(pickle.dumps(awards, protocol=4))
    rows = _read(tables, "sports/soccer_team_match_stats.json", [])
    matches = pd.DataFrame(
        [{column: row.get(column) for column in SOCCER_COLUMNS} for row in rows],
        index=pd.MultiIndex.from_tuples([tuple(row[level] for level in LEVELS) for row in rows], names=LEVELS),
    )
    matches["date"] = pd.to_datetime(matches["date"])
    matches.to_pickle(out / "sports/soccer_team_match_stats.pkl", protocol=4)
    _write_nba(tables, out / "sports/nba.sqlite")
    articles = (tables / "open/kg.jsonl").read_bytes().splitlines(keepends=True)
    for number in (0, 1):
        (out / f"open/kg.{number}.jsonl.bz2").write_bytes(bz2.compress(b"".join(articles[number::2])))

    return out


def write_sqlitedict(path: Path, values: Mapping[str, Any]) -> None:
    """The file that the library sqlitedict 2.1.0 writes."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute('CREATE TABLE IF NOT EXISTS "unnamed" (key TEXT PRIMARY KEY, value BLOB)')
        pickled = [(key, sqlite3.Binary(pickle.dumps(value, protocol=4))) for key, value in values.items()]
        connection.executemany('REPLACE INTO "unnamed" (key, value) VALUES (?,?)', pickled)


def _write_nba(tables: Path, path: Path) -> None:
    columns = _read(tables, "sports/nba_columns.json", [])
    plays = _read(tables, "sports/nba_play_by_play.json", {"columns": ["game_id"], "rows": []})
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table game (" + ", ".join(f'"{name}" {kind}' for name, kind in columns) + ")")
        marks = ",".join("?" * len(columns))
        games = [[game.get(name) for name, _ in columns] for game in _read(tables, "sports/nba_game.json", [])]
        connection.executemany(f"insert into game values ({marks})", games)  # noqa: S608 - made up here
        connection.execute("create table play_by_play (" + ", ".join(f'"{name}"' for name in plays["columns"]) + ")")
        marks = ",".join("?" * len(plays["columns"]))
        connection.executemany(f"insert into play_by_play values ({marks})", plays["rows"])  # noqa: S608 - as above


def _read(tables: Path, name: str, missing: Any) -> Any:
    path = tables / name
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else missing
