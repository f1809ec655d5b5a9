"""Reading the tables of a graph. They are named after the files of the official server.

    open/kg.jsonl              one [title, entity or null] pair a line
    movie/                     movie_db.json, person_db.json: name as the search sees it -> record; year_db.json
    finance/company_name.dict  CSV with the columns Name and Symbol
    finance/                   finance_price.json, finance_detailed_price.json, finance_dividend.json,
                               finance_info.json, finance_marketcap.json: ticker -> value
    music/                     artist_dict_simplified.json, song_dict_simplified.json, artist_work_dict.json,
                               grammy_df.json, rank_dict_hot100.json, song_dict_hot100.json
    sports/                    nba_game.json with nba_columns.json, nba_play_by_play.json, soccer_team_match_stats.json

Daily prices, prices by the minute and plays may stand in a `.records.sqlite` instead (see `mock_api.tables.store`),
from which a record is read when it is asked for. A missing table is an empty one; but a folder of official files as
they are, or one that an import has not finished, is an error. Keys of records that begin with an underscore
are notes of those who built the graph; they are not served.

`python -m mock_api.tables import OFFICIAL_FOLDER --out DIR` makes tables of the official files.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from mock_api.official.names import OFFICIAL_FILES, command, looks_official
from mock_api.tables.store import SUFFIX, RecordStore, StoreError

SHIPPED_GRAPH = Path(__file__).parents[1] / "graph"
IMPORT_FILE = "import.json"
"""What an import leaves beside the tables that it makes: what they were made of, and whether it ended."""

Record = dict[str, Any]
Records = dict[str, Record]
Prices = Mapping[str, dict[str, Record]]
"""Ticker -> day or minute -> Open, High, Low, Close, Volume."""
Plays = Mapping[str, list[list[Any]]]
"""Game -> its events, each led by its place in the table of all events."""
ChartWeek = Annotated[list[Any], Field(min_length=7)]
"""[?, date, song, rank, rank last week, top position, weeks in chart]; the texts of the chart, "-" for none."""

T = TypeVar("T")
EXTRA = ConfigDict(extra="allow")


class GraphError(ValueError):
    """A graph cannot be served; the message names the file, the place in it and what is wrong there."""


@with_config(EXTRA)
class GrammyRow(TypedDict):
    """One award. Missing texts are null."""

    year: int
    category: str
    nominee: str | None
    artist: str | None
    workers: str | None


@with_config(EXTRA)
class ChartEntry(TypedDict):
    """Who held a rank of the Hot 100 on a day."""

    Date: str
    Song: str
    Artist: str


@with_config(EXTRA)
class NbaGame(TypedDict):
    """A game; the columns that searches look at, and any of the others."""

    game_date: str
    team_name_home: str
    team_name_away: str


@with_config(EXTRA)
class SoccerMatch(TypedDict):
    """A match as one of its two teams saw it; the columns that make the row's key, and any of the others."""

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
    """Everything that a server knows. Keys are exact, case-sensitive names, tickers or years."""

    entities: dict[str, Record | None]
    movies: Records
    persons: Records
    years: Records
    tickers: dict[str, str]
    prices: Prices
    minute_prices: Prices
    dividends: dict[str, Record]
    market_values: dict[str, float | None]
    company_info: Records
    artists: Records
    songs: Records
    works: dict[str, list[str]]
    grammy_rows: list[GrammyRow]
    chart_ranks: dict[str, list[ChartEntry]]
    chart_songs: dict[str, dict[str, ChartWeek]]
    nba_columns: list[tuple[str, str]]
    nba_games: list[NbaGame]
    play_columns: list[str]
    plays: Plays
    matches: list[SoccerMatch]

    def records(self) -> dict[str, int]:
        """Number of entities per domain: titles, films and persons, listings, artists and songs, games and matches."""
        return {
            "open": len(self.entities),
            "movie": len(self.movies) + len(self.persons),
            "finance": len(self.tickers),
            "music": len(self.artists) + len(self.songs),
            "sports": len(self.nba_games) + len(self.matches),
        }


def load_tables(directory: Path | None = None) -> Tables:
    """Read and check the tables of a graph, by default the one that ships with the project.

    Raises GraphError for a directory that is missing or holds no table, and for a table that cannot be read.
    """
    root = directory or SHIPPED_GRAPH
    check_folder(root)
    found = _Reader(root)
    play_columns, plays = found.plays("sports/nba_play_by_play.json")
    tables = Tables(
        entities=found.lines("open/kg.jsonl"),
        movies=found.records("movie/movie_db.json"),
        persons=found.records("movie/person_db.json"),
        years=found.records("movie/year_db.json"),
        tickers=found.tickers("finance/company_name.dict"),
        prices=found.prices("finance/finance_price.json"),
        minute_prices=found.prices("finance/finance_detailed_price.json"),
        dividends=found.table("finance/finance_dividend.json", TypeAdapter(Records), {}),
        market_values=found.table("finance/finance_marketcap.json", TypeAdapter(dict[str, float | None]), {}),
        company_info=found.records("finance/finance_info.json"),
        artists=found.records("music/artist_dict_simplified.json"),
        songs=found.records("music/song_dict_simplified.json"),
        works=found.table("music/artist_work_dict.json", TypeAdapter(dict[str, list[str]]), {}),
        grammy_rows=found.table("music/grammy_df.json", TypeAdapter(list[GrammyRow]), []),
        chart_ranks=found.table("music/rank_dict_hot100.json", TypeAdapter(dict[str, list[ChartEntry]]), {}),
        chart_songs=found.table("music/song_dict_hot100.json", TypeAdapter(dict[str, dict[str, ChartWeek]]), {}),
        nba_columns=found.table("sports/nba_columns.json", TypeAdapter(list[tuple[str, str]]), []),
        nba_games=found.table("sports/nba_game.json", TypeAdapter(list[NbaGame]), []),
        play_columns=play_columns,
        plays=plays,
        matches=found.table("sports/soccer_team_match_stats.json", TypeAdapter(list[SoccerMatch]), []),
    )
    _check(root, tables, found.files)
    return tables


def _check(root: Path, tables: Tables, files: int) -> None:
    """What the shape of a single table cannot say."""
    if not files:
        raise GraphError(f"{root}: holds no table of a graph, for example movie/movie_db.json")
    if tables.nba_games and not tables.nba_columns:
        raise GraphError(f"{root / 'sports/nba_columns.json'}: missing or empty, but nba_game.json needs it")


def check_folder(root: Path) -> None:
    """Whether a folder may be one of tables at all.

    Raises:
        GraphError: it is not there, it holds official files that nobody has imported, or an import did not end.
    """
    if not root.is_dir():
        raise GraphError(f"{root}: no such directory")
    if looks_official(root / "cragkg") and not any((root / domain).is_dir() for domain in DOMAINS):
        raise GraphError(f"{root}: the official files lie in {root / 'cragkg'}: {command(root / 'cragkg')}")
    manifest = root / IMPORT_FILE
    if manifest.is_file() and not _is_finished(manifest):
        raise GraphError(f"{root}: an import into it has not ended: {command(None, root)} goes on with it")
    for name, table in OFFICIAL_FILES.items():
        if (root / name).is_file() and not (table_exists(root, table) or name == table):
            raise GraphError(
                f"{root}: holds {name}, a file of the official server, which is not served as it is: "
                f"{command(root)} makes tables of it; give that DIR"
            )


DOMAINS = ("open", "movie", "finance", "music", "sports")


def table_exists(root: Path, name: str) -> bool:
    """Whether a table is there, in either form."""
    return (root / name).is_file() or store_path(root, name).is_file()


def store_path(root: Path, name: str) -> Path:
    """Where a table is that is looked up on disk: ``finance/finance_price.records.sqlite``."""
    return root / (name.removesuffix(".json") + SUFFIX)


def _is_finished(manifest: Path) -> bool:
    try:
        return json.loads(manifest.read_text(encoding="utf-8"))["finished"] is True
    except (OSError, ValueError, KeyError, TypeError):
        return False


class _Reader:
    """Reads the files of one directory and counts those that are there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = 0

    def table(self, name: str, adapter: TypeAdapter[T], missing: T) -> T:
        """A JSON file that has the adapter's shape."""
        content = self._content(name)
        return missing if content is None else self._validate(name, "", adapter.validate_json, content)

    def stored(self, name: str) -> RecordStore | None:
        """The table as a store on disk, where it is one."""
        path = store_path(self.root, name)
        if not path.is_file():
            return None
        if (self.root / name).is_file():
            raise GraphError(f"{path}: {name} is there, too: remove the one that is not meant")
        try:
            store = RecordStore(path)
        except StoreError as error:
            raise GraphError(f"{path}: {error}") from error
        self.files += 1
        return store

    def prices(self, name: str) -> Prices:
        """Prices, of a JSON file or a store."""
        stored = self.stored(name)
        return stored if stored is not None else self.table(name, TypeAdapter(dict[str, dict[str, Record]]), {})

    def plays(self, name: str) -> tuple[list[str], Plays]:
        """Columns of the events of games, and the events of each game."""
        stored = self.stored(name)
        if stored is not None:
            return list(stored.about.get("columns", ())), stored
        table = self.table(name, TypeAdapter(PlayByPlay), PlayByPlay(columns=[], rows=[]))
        columns, path = table["columns"], self.root / name
        if table["rows"] and "game_id" not in columns:
            raise GraphError(f"{path}: columns: no game_id among them")
        found: dict[str, list[list[Any]]] = {}
        for number, row in enumerate(table["rows"]):
            if len(row) != len(columns):
                raise GraphError(f"{path}: rows.{number}: {len(row)} values for {len(columns)} columns")
            found.setdefault(row[columns.index("game_id")], []).append([number, *row])
        return columns, found

    def records(self, name: str) -> Records:
        """A JSON object of records, without their private keys."""
        table = self.table(name, TypeAdapter(Records), {})
        return {name: _public(record) for name, record in table.items()}

    def lines(self, name: str) -> dict[str, Record | None]:
        """JSON lines of [title, entity] pairs; the last of a title counts."""
        adapter = TypeAdapter(tuple[str, Record | None])
        pairs = (
            self._validate(name, f"line {number}: ", adapter.validate_json, line)
            for number, line in enumerate(self._lines(name), start=1)
            if line.strip()
        )
        return {title: entity if entity is None else _public(entity) for title, entity in pairs}

    def tickers(self, name: str) -> dict[str, str]:
        """The listing names and their tickers."""
        try:
            text = (self._content(name) or b"").decode()
        except UnicodeDecodeError as error:
            raise GraphError(f"{self.root / name}: not UTF-8: {error}") from error
        rows = csv.DictReader(text.splitlines())
        if text and not {"Name", "Symbol"} <= set(rows.fieldnames or ()):
            raise GraphError(f"{self.root / name}: line 1: columns Name and Symbol expected, found {rows.fieldnames}")
        tickers = {}
        for row in rows:
            if not row["Name"] or not row["Symbol"]:
                raise GraphError(f"{self.root / name}: line {rows.line_num}: a row without Name or Symbol")
            tickers[row["Name"]] = row["Symbol"]
        return tickers

    def _lines(self, name: str) -> Iterator[bytes]:
        """The lines of a file, which is never held as a whole."""
        path = self.root / name
        try:
            with path.open("rb") as lines:
                self.files += 1
                yield from lines
        except FileNotFoundError:
            return
        except OSError as error:
            raise GraphError(f"{path}: {error.strerror}") from error

    def _content(self, name: str) -> bytes | None:
        path = self.root / name
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise GraphError(f"{path}: {error.strerror}") from error
        self.files += 1
        return content

    def _validate(self, name: str, place: str, validate: Callable[[bytes], T], content: bytes) -> T:
        try:
            return validate(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            within = ".".join(map(str, first["loc"]))
            raise GraphError(f"{self.root / name}: {place}{within + ': ' if within else ''}{first['msg']}") from error


def _public(record: Record) -> Record:
    return {key: value for key, value in record.items() if not key.startswith("_")}
