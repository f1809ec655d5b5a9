"""Tables of a graph: JSON files named after those of the official server, see `Tables`.

`open/kg.jsonl` has one [title, entity or null] pair per line, `company_name.dict` is CSV with columns Name and Symbol.
A missing table counts as empty; unconverted official files and an unfinished import are errors. Keys of records that
begin with an underscore are notes of the graph's authors; they are not served.

The official graph has 13 million events of NBA games and a price for each minute of 6,000 shares; as JSON in memory
they would take tens of gigabytes. So prices and plays may be in a SQLite file instead (`.records.sqlite`), which is
read record by record. Its tables: `records` (key, value: zlib of UTF-8 JSON) and `about` (name, value: JSON).

`crag graph import OFFICIAL_FOLDER --out DIR` makes tables from the official files.
"""

import codecs
import csv
import io
import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_origin, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

SHIPPED_GRAPH = Path(__file__).parent / "graph"
IMPORT_FILE = "import.json"
"""Written by an import beside its tables: the files it lacked, and whether it has finished."""

Record = dict[str, Any]
Records = dict[str, Record]
Prices = Mapping[str, dict[str, Record]]
"""Ticker -> day or minute -> Open, High, Low, Close, Volume."""
Plays = Mapping[str, list[list[Any]]]
"""Game -> its events, each preceded by its number in the table of all events."""
ChartWeek = Annotated[list[Any], Field(min_length=7)]
"""[?, date, song, rank, rank last week, top position, weeks in chart]; strings of the chart, "-" for none."""

ARTICLE: TypeAdapter[tuple[str, Record | None]] = TypeAdapter(tuple[str, Record | None])
"""A line of the encyclopedia: title and article."""
T = TypeVar("T")
EXTRA = ConfigDict(extra="allow")
_LEVEL = 1
"""zlib's fastest level: five times smaller, and ten times faster than its best level."""


class GraphError(ValueError):
    """A graph cannot be served or imported; the message names the file, the position in it and the fault."""


@with_config(EXTRA)
class GrammyRow(TypedDict):
    """One award. Missing strings are null."""

    year: int
    category: str
    nominee: str | None
    artist: str | None
    workers: str | None


@with_config(EXTRA)
class ChartEntry(TypedDict):
    """A song and its artist at a rank of the Hot 100 on a day."""

    Date: str
    Song: str
    Artist: str


@with_config(EXTRA)
class NbaGame(TypedDict):
    """A game: the columns that are searched, and any others."""

    game_date: str
    team_name_home: str
    team_name_away: str


@with_config(EXTRA)
class SoccerMatch(TypedDict):
    """A match from the side of one team: the columns of the row's key, and any others."""

    league: str | None
    season: str
    team: str
    game: str
    date: str


class PlayByPlay(TypedDict):
    """Events of NBA games, a row per event."""

    columns: list[str]
    rows: list[list[Any]]


@dataclass(frozen=True)
class Tables:
    """Everything that a server knows. Keys are exact, case-sensitive names, tickers or years.

    A type is annotated with its file, and with the official files (`mock_api/cragkg` of facebookresearch/CRAG) that it
    is imported from.
    """

    entities: Annotated[dict[str, Record | None], "open/kg.jsonl", "open/kg.0.jsonl.bz2", "open/kg.1.jsonl.bz2"]
    movies: Annotated[Records, "movie/movie_db.json", "movie/movie_db.json"]
    persons: Annotated[Records, "movie/person_db.json", "movie/person_db.json"]
    years: Annotated[Records, "movie/year_db.json", "movie/year_db.json"]
    tickers: Annotated[dict[str, str], "finance/company_name.dict", "finance/company_name.dict"]
    prices: Annotated[Prices, "finance/finance_price.json", "finance/finance_price.sqlite"]
    minute_prices: Annotated[Prices, "finance/finance_detailed_price.json", "finance/finance_detailed_price.sqlite"]
    dividends: Annotated[Records, "finance/finance_dividend.json", "finance/finance_dividend.sqlite"]
    market_values: Annotated[
        dict[str, float | None], "finance/finance_marketcap.json", "finance/finance_marketcap.sqlite"
    ]
    company_info: Annotated[Records, "finance/finance_info.json", "finance/finance_info.sqlite"]
    artists: Annotated[Records, "music/artist_dict_simplified.json", "music/artist_dict_simplified.pickle"]
    works: Annotated[dict[str, list[str]], "music/artist_work_dict.json", "music/artist_work_dict.pickle"]
    grammy_rows: Annotated[list[GrammyRow], "music/grammy_df.json", "music/grammy_df.pickle"]
    chart_ranks: Annotated[dict[str, list[ChartEntry]], "music/rank_dict_hot100.json", "music/rank_dict_hot100.pickle"]
    chart_songs: Annotated[
        dict[str, dict[str, ChartWeek]], "music/song_dict_hot100.json", "music/song_dict_hot100.pickle"
    ]
    songs: Annotated[Records, "music/song_dict_simplified.json", "music/song_dict_simplified.pickle"]
    nba_games: Annotated[list[NbaGame], "sports/nba_game.json", "sports/nba.sqlite"]
    nba_columns: Annotated[list[tuple[str, str]], "sports/nba_columns.json", "sports/nba.sqlite"]
    plays: Annotated[Plays, "sports/nba_play_by_play.json", "sports/nba.sqlite"]
    play_columns: list[str]
    matches: Annotated[list[SoccerMatch], "sports/soccer_team_match_stats.json", "sports/soccer_team_match_stats.pkl"]

    def records(self) -> dict[str, int]:
        """Number of entities per domain: titles, films and persons, listings, artists and songs, games and matches."""
        return {
            "open": len(self.entities),
            "movie": len(self.movies) + len(self.persons),
            "finance": len(self.tickers),
            "music": len(self.artists) + len(self.songs),
            "sports": len(self.nba_games) + len(self.matches),
        }


_FIELDS: dict[str, Any] = {
    name: kind for name, kind in get_type_hints(Tables, include_extras=True).items() if get_origin(kind) is Annotated
}
TYPES = {kind.__metadata__[0]: kind.__origin__ for kind in _FIELDS.values()}
"""File of a table -> its type."""
OFFICIAL_FILES = {kind.__metadata__[0]: kind.__metadata__[1:] for kind in _FIELDS.values()}
"""File of a table -> the files of the official server that it is made from."""
STORED = frozenset(name for name, kind in TYPES.items() if kind in {Prices, Plays})
"""Tables that may be stores on disk, and are after an import."""


def load_tables(directory: Path | None = None) -> Tables:
    """Read and check the tables of a graph, by default the shipped one; raises GraphError."""
    root = directory or SHIPPED_GRAPH
    check_folder(root)
    if not any(_has_table(root, name) for name in TYPES):
        raise GraphError(f"{root}: holds no table of a graph, for example movie/movie_db.json")

    tables: dict[str, Any] = {}
    for field, kind in _FIELDS.items():
        file_name, *_ = kind.__metadata__
        tables[field] = _read(root, file_name)
    if tables["nba_games"] and not tables["nba_columns"]:
        raise GraphError(f"{root / 'sports/nba_columns.json'}: missing or empty, but nba_game.json needs it")

    tables["play_columns"], tables["plays"] = tables["plays"]
    return Tables(**tables)


def _has_table(root: Path, name: str) -> bool:
    return (root / name).exists() or store_path(root, name).exists()


def check_folder(root: Path) -> None:
    """Check that a folder can hold tables; raises GraphError."""
    if not root.is_dir():
        raise GraphError(f"{root}: no such directory")

    manifest = root / IMPORT_FILE
    if manifest.is_file():
        state = manifest.read_text(encoding="utf-8", errors="replace")
        # Searched, not parsed: a torn file counts as unfinished too.
        if '"finished": true' not in state:
            raise GraphError(
                f"{root}: an import into it has not finished: crag graph import FOLDER --out {root} continues it"
            )

    for table, official in only_official(root):
        if not (root / table).is_file() and not store_path(root, table).is_file():
            raise GraphError(
                f"{root}: holds {official}, a file of the official server, which cannot be served directly: "
                f"crag graph import {root} --out DIR makes tables from it; pass that DIR"
            )


def only_official(folder: Path) -> list[tuple[str, str]]:
    """Files of a folder that only the official graph has, as pairs of our table and the official file."""
    official: list[tuple[str, str]] = []
    for table, names in OFFICIAL_FILES.items():
        other_names = [name for name in names if name != table]
        official += [(table, name) for name in other_names if (folder / name).is_file()]
    return official


def store_path(root: Path, name: str) -> Path:
    """The store of a table that is read from disk: ``finance/finance_price.records.sqlite``."""
    return root / (name.removesuffix(".json") + ".records.sqlite")


def _read(root: Path, name: str) -> Any:  # noqa: ANN401 - as `TYPES` says
    """A table of a folder; plays come with their columns. A missing table is empty. Raises GraphError."""
    path = root / name
    store = store_path(root, name)
    if name in STORED and store.is_file():
        if path.is_file():
            raise GraphError(f"{store}: {path.name} exists as well: remove one of them")
        return _read_store(store, TYPES[name])

    try:
        # The encyclopedia is the only large file: it is read line by line.
        if name.endswith(".jsonl"):
            return _read_entities(path)
        # As editors on Windows write it
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except FileNotFoundError:
        return _empty_table(TYPES[name])
    except OSError as error:
        raise GraphError(f"{path}: {error.strerror}") from error

    return _parse_table(path, TYPES[name], content)


def _read_store(path: Path, kind: object) -> Any:  # noqa: ANN401 - as `TYPES` says
    records = RecordStore(path)
    if kind == Plays:
        return list(records.about.get("columns", ())), records
    return records


def _empty_table(kind: object) -> Any:  # noqa: ANN401 - as `TYPES` says
    if kind == Plays:
        return [], {}
    return [] if get_origin(kind) is list else {}


def _parse_table(path: Path, kind: Any, content: bytes) -> Any:  # noqa: ANN401 - as `TYPES` says
    if path.suffix == ".dict":
        return listings(path, content)
    if kind == Plays:
        return _parse_plays(path, content)

    table = validated(TypeAdapter(kind).validate_json, content, path)
    if kind == Records:
        return {key: _public(record) for key, record in table.items()}
    return table


def _parse_plays(path: Path, content: bytes) -> tuple[list[str], Plays]:
    """The columns of an event, and the events of each game."""
    table = validated(TypeAdapter(PlayByPlay).validate_json, content, path)
    columns = table["columns"]
    rows = table["rows"]
    if rows and "game_id" not in columns:
        raise GraphError(f"{path}: columns: no game_id among them")

    plays: dict[str, list[list[Any]]] = {}
    for number, row in enumerate(rows):
        if len(row) != len(columns):
            raise GraphError(f"{path}: rows.{number}: {len(row)} values for {len(columns)} columns")
        game_id = row[columns.index("game_id")]
        plays.setdefault(game_id, []).append([number, *row])
    return columns, plays


def _read_entities(path: Path) -> dict[str, Record | None]:
    """Read [title, entity] pairs line by line; the last pair of a title counts."""
    entities: dict[str, Record | None] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            title, entity = validated(ARTICLE.validate_json, text, path, f"line {number}")
            entities[title] = _public(entity) if entity else entity
    return entities


def listings(path: Path, content: bytes) -> dict[str, str]:
    """The listing names of a CSV and their tickers, without incomplete rows; raises GraphError."""
    try:
        stream = io.StringIO(content.decode("utf-8-sig"), newline="")
        rows = csv.DictReader(stream)
        columns = set(rows.fieldnames or ())
        if content and not {"Name", "Symbol"} <= columns:
            raise GraphError(f"{path}: line 1: columns Name and Symbol expected, found {rows.fieldnames}")
        return {row["Name"]: row["Symbol"] for row in rows if row["Name"] and row["Symbol"]}
    except (UnicodeDecodeError, csv.Error) as error:
        raise GraphError(f"{path}: not a CSV in UTF-8: {error}") from error


def validated(validate: Callable[[Any], T], content: object, path: Path, position: str = "") -> T:
    """Validate the content of a file with a method of a `TypeAdapter`.

    `position` says where in the file the content is: ``line 7``. Raises GraphError with the first fault.
    """
    try:
        return validate(content)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, fault["loc"]))
        parts = [str(path), position, field, fault["msg"]]
        raise GraphError(": ".join(part for part in parts if part)) from None


def _public(record: Record) -> Record:
    """A record without the notes of the graph's authors."""
    return {key: value for key, value in record.items() if not key.startswith("_")}


class RecordStore(Mapping[str, Any]):
    """The records of a file, read on demand. Each look-up opens the file: there is nothing to close."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._select("select name, value from about") as rows:
            self.about: dict[str, Any] = {name: json.loads(value) for name, value in rows}
            """Facts about all records, such as the columns of plays."""

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - what JSON holds
        with self._select("select value from records where key = ?", key) as rows:
            for (value,) in rows:
                return json.loads(zlib.decompress(value))
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        with self._select("select key from records order by rowid") as rows:
            yield from (key for (key,) in rows)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @contextmanager
    def _select(self, statement: str, *values: str) -> Iterator[Iterator[tuple[Any, ...]]]:
        """The rows of a select statement; GraphError if the file is damaged, also while they are read."""
        try:
            with read_only(self._path) as connection:
                yield connection.execute(statement, values)
        except (sqlite3.Error, zlib.error) as error:
            raise GraphError(f"{self._path}: not a store of records, or damaged ({error}): make it again") from error


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a SQLite database that may come from anywhere; bytes that are not UTF-8 are replaced."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        # Views and triggers of a foreign database must not call functions with side effects.
        connection.execute("pragma trusted_schema = off")
        connection.text_factory = lambda content: content.decode("utf-8", "replace")
        yield connection


@contextmanager
def writing(path: Path, about: Mapping[str, object]) -> Iterator[Callable[[str, object], None]]:
    """Give a function that puts a record by its key into a new store; `about` are facts about all records."""
    path.unlink(missing_ok=True)

    with closing(sqlite3.connect(path)) as connection:
        # An import that is killed makes the table again: safe writes would only cost time.
        connection.execute("pragma journal_mode = off")
        connection.execute("pragma synchronous = off")
        connection.execute("create table records (key text primary key, value blob not null)")
        connection.execute("create table about (name text primary key, value text not null)")

        facts = [(name, json.dumps(value)) for name, value in about.items()]
        connection.executemany("insert into about values (?, ?)", facts)

        def put(key: str, value: object) -> None:
            plain = json.dumps(value, ensure_ascii=False).encode()
            content = zlib.compress(plain, _LEVEL)
            connection.execute("insert or replace into records values (?, ?)", (key, content))

        yield put
        connection.commit()

    # The records must be on disk before the import says that it has finished.
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
