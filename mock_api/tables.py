"""Reading the JSON tables of a graph. They are named after the files of the official server.

    open/kg.jsonl              one [title, entity or null] pair a line
    movie/                     movie_db.json, person_db.json: name as the search sees it -> record; year_db.json
    finance/company_name.dict  CSV with the columns Name and Symbol
    finance/                   finance_price.json, finance_detailed_price.json, finance_dividend.json,
                               finance_info.json, finance_marketcap.json: ticker -> value
    music/                     artist_dict_simplified.json, song_dict_simplified.json, artist_work_dict.json,
                               grammy_df.json, rank_dict_hot100.json, song_dict_hot100.json
    sports/                    nba_game.json with nba_columns.json, nba_play_by_play.json, soccer_team_match_stats.json

A missing table is an empty one. Keys of records that begin with an underscore are notes of those who built the graph;
they are not served.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

SHIPPED_GRAPH = Path(__file__).parent / "graph"

Record = dict[str, Any]
Records = dict[str, Record]
Prices = dict[str, dict[str, Record]]
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
    plays: PlayByPlay
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
    if not root.is_dir():
        raise GraphError(f"{root}: no such directory")
    found = _Reader(root)
    tables = Tables(
        entities=found.lines("open/kg.jsonl"),
        movies=found.records("movie/movie_db.json"),
        persons=found.records("movie/person_db.json"),
        years=found.records("movie/year_db.json"),
        tickers=found.tickers("finance/company_name.dict"),
        prices=found.table("finance/finance_price.json", TypeAdapter(Prices), {}),
        minute_prices=found.table("finance/finance_detailed_price.json", TypeAdapter(Prices), {}),
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
        plays=found.table("sports/nba_play_by_play.json", TypeAdapter(PlayByPlay), PlayByPlay(columns=[], rows=[])),
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
    columns = tables.plays["columns"]
    if tables.plays["rows"] and "game_id" not in columns:
        raise GraphError(f"{root / 'sports/nba_play_by_play.json'}: columns: no game_id among them")
    for number, row in enumerate(tables.plays["rows"]):
        if len(row) != len(columns):
            place = root / "sports/nba_play_by_play.json"
            raise GraphError(f"{place}: rows.{number}: {len(row)} values for {len(columns)} columns")


class _Reader:
    """Reads the files of one directory and counts those that are there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = 0

    def table(self, name: str, adapter: TypeAdapter[T], missing: T) -> T:
        """A JSON file that has the adapter's shape."""
        content = self._content(name)
        return missing if content is None else self._validate(name, "", adapter.validate_json, content)

    def records(self, name: str) -> Records:
        """A JSON object of records, without their private keys."""
        table = self.table(name, TypeAdapter(Records), {})
        return {name: _public(record) for name, record in table.items()}

    def lines(self, name: str) -> dict[str, Record | None]:
        """JSON lines of [title, entity] pairs; the last of a title counts."""
        adapter = TypeAdapter(tuple[str, Record | None])
        pairs = (
            self._validate(name, f"line {number}: ", adapter.validate_json, line)
            for number, line in enumerate((self._content(name) or b"").splitlines(), start=1)
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
