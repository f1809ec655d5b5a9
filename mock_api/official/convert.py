"""Converts each official file to a table: JSON, JSON lines, CSV, pickles, SQLite of shares and of games."""

import bz2
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter
from tqdm import tqdm

from mock_api.official.pickles import PickleFaultError, read_plain
from mock_api.tables import ARTICLE, TYPES, GraphError, listings, validated
from mock_api.tables.store import writing

LONGEST_LINE = 1 << 28
"""Most bytes of an article, far more than any has. Without a limit, a few bytes of bz2 could fill the memory."""
STORED = frozenset(
    {"finance/finance_price.json", "finance/finance_detailed_price.json", "sports/nba_play_by_play.json"}
)
"""Tables that become stores on disk."""


@dataclass
class Work:
    """A running conversion: official files, the table, and the temporary files of the table and of those beside it.

    `records` counts the records made, `left_out` those that the official server never returns, by reason.
    """

    sources: list[Path]
    table: str
    targets: list[Path]
    records: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def each(self, values: Iterable[Any], total: int, unit: str) -> Iterable[Any]:
        """The values, with a progress bar on standard error if that is a terminal."""
        return tqdm(values, self.sources[0].name, total, unit=unit, disable=None)

    def checked(self, pairs: Iterable[tuple[str, Any]], place: str) -> Iterator[tuple[str, Any]]:
        """The keys and records, counted and checked against the type of the table; raises GraphError."""
        check = TypeAdapter(get_args(TYPES[self.table])[-1]).validate_python
        for key, value in pairs:
            self.records += 1
            yield key, validated(check, value, self.sources[0], f"{place} {key}")

    def write_object(self, pairs: Iterable[tuple[str, Any]]) -> None:
        """Write a table of records by key."""
        self._write("{}", (f"{_json(key)}: {_json(value)}" for key, value in self.checked(pairs, "key")))

    def write_rows(self, rows: Iterable[Any]) -> None:
        """Write a table of records in order."""
        pairs = ((str(number), row) for number, row in enumerate(rows))
        self._write("[]", (_json(row) for _, row in self.checked(pairs, "row")))

    def _write(self, brackets: str, entries: Iterable[str]) -> None:
        # A lone surrogate, which UTF-8 cannot encode, becomes a question mark.
        with self.targets[0].open("w", encoding="utf-8", errors="replace", newline="\n") as target:
            target.write(brackets[0])
            for count, entry in enumerate(entries):
                target.write((",\n" if count else "\n") + entry)
            target.write(f"\n{brackets[1]}\n")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _articles(work: Work) -> None:
    with work.targets[0].open("wb") as target:
        for path in work.sources:
            number = 0
            try:
                with bz2.open(path, "rb") as lines:
                    for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE), b""), start=1):
                        if len(line) == LONGEST_LINE:
                            raise GraphError(f"{path}: line {number}: longer than any article: fetch it again")
                        if line.strip():
                            validated(ARTICLE.validate_json, line, path, f"line {number}")
                            target.write(line.rstrip(b"\r\n") + b"\n")
                            work.records += 1
            except (OSError, EOFError) as error:
                raise GraphError(f"{path}: damaged after line {number} ({error}): fetch it again") from None


def _copied(work: Work) -> None:
    path = work.sources[0]
    content = path.read_bytes()
    if path.suffix == ".dict":
        work.records = len(listings(path, content))
    else:
        work.records = len(validated(TypeAdapter(TYPES[work.table]).validate_json, content, path))
    work.targets[0].write_bytes(content)


def _of_pickle(work: Work) -> None:
    found = _pickled(work, dict)
    work.write_object(work.each(found.items(), len(found), "record"))


def _of_frame(work: Work) -> None:
    rows = _pickled(work, list)
    work.write_rows(work.each(rows, len(rows), "record"))


def _matches(work: Work) -> None:
    """The frame of soccer matches -> rows; the official server never returns those without a date."""
    rows = _pickled(work, list)
    dated = [row for row in rows if isinstance(row, dict) and row.get("date") is not None]
    work.left_out["rows without a date"] += len(rows) - len(dated)
    for row in dated:
        row["date"] = str(row["date"])[:10]
        if isinstance(row.get("season"), int | float):
            row["season"] = str(row["season"])
    work.write_rows(dated)


def _pickled(work: Work, kind: type) -> Any:  # noqa: ANN401 - of that kind
    path = work.sources[0]
    with path.open("rb") as stream:
        value = _plain(str(path), stream, path.stat().st_size)
    if not isinstance(value, kind):
        expected = "a data frame" if kind is list else "a dictionary"
        raise GraphError(f"{path}: {expected} expected, found {type(value).__name__}")
    return value


def _plain(place: str, content: Any, size: int) -> Any:  # noqa: ANN401 - bytes or a file; what a pickle holds
    try:
        return read_plain(content, size)
    except PickleFaultError as error:
        raise GraphError(f"{place}: {error}") from None


def _by_share(work: Work) -> None:
    work.write_object(_shares(work))


def _stored_by_share(work: Work) -> None:
    with writing(work.targets[0]) as store:
        for ticker, value in work.checked(_shares(work), "key"):
            store.put(ticker, value)


def _shares(work: Work) -> Iterator[tuple[str, Any]]:
    """The shares of a file that the library sqlitedict wrote."""
    path = work.sources[0]
    with _database(path) as ask:
        count = next(ask("select count(*) from unnamed"))[0]
        for key, value in work.each(ask("select key, value from unnamed order by rowid"), count, "share"):
            if not isinstance(value, bytes):
                raise GraphError(f"{path}: key {key}: a pickle expected, found {type(value).__name__}")
            yield str(key), _plain(f"{path}: key {key}", value, len(value))


def _nba(work: Work) -> None:
    """The database of NBA games -> games, columns, and a store of the events of each game in their order."""
    path = work.sources[0]
    with _database(path) as ask:
        # Plain tables only: a view or a virtual table may compute without end.
        plain = "select name from sqlite_master where type = 'table' and sql not like 'create virtual%'"
        if missing := {"game", "play_by_play"} - {name for (name,) in ask(plain)}:
            raise GraphError(f"{path}: it has no table {min(missing)}: fetch it again")
        columns = [(fact[1], fact[2]) for fact in ask("pragma table_info(game)")]
        work.targets[1].write_text(json.dumps(columns), encoding="utf-8")
        count = next(ask("select count(*) from game"))[0]
        games = work.each(ask("select * from game order by rowid"), count, "game")
        whole = [dict(zip((name for name, _ in columns), game, strict=True)) for game in games]
        needed = ("game_date", "team_name_home", "team_name_away")
        known = [game for game in whole if all(game.get(name) is not None for name in needed)]
        work.left_out["games without a date or a team"] += len(whole) - len(known)
        work.write_rows(known)
        names = [fact[1] for fact in ask("pragma table_info(play_by_play)")]
        if "game_id" not in names:
            raise GraphError(f"{path}: the table play_by_play has no column game_id: fetch it again")
        count = next(ask("select max(rowid) from play_by_play"))[0] or 0
        events = work.each(ask("select rowid, * from play_by_play order by rowid"), count, "event")
        with writing(work.targets[2]) as store:
            store.say("columns", names)
            for game, rows in groupby(events, key=itemgetter(names.index("game_id") + 1)):
                if game is not None:  # events of a game may stand in several groups
                    store.put(str(game), (store.get(str(game)) or []) + [list(row) for row in rows])


Ask = Callable[[str], sqlite3.Cursor]


@contextmanager
def _database(path: Path) -> Iterator[Ask]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("pragma trusted_schema = off")
            connection.text_factory = lambda content: content.decode("utf-8", "replace")
            yield connection.execute
    except sqlite3.Error as error:
        raise GraphError(f"{path}: not a SQLite file, or damaged ({error}): fetch it again") from None


_MADE_BY: dict[Callable[[Work], None], tuple[str, ...]] = {
    _copied: ("movie/year_db.json", "movie/person_db.json", "movie/movie_db.json", "finance/company_name.dict"),
    _articles: ("open/kg.jsonl",),
    _by_share: ("finance/finance_marketcap.json", "finance/finance_dividend.json", "finance/finance_info.json"),
    _of_frame: ("music/grammy_df.json",),
    _of_pickle: (
        *("music/rank_dict_hot100.json", "music/song_dict_hot100.json", "music/artist_work_dict.json"),
        *("music/artist_dict_simplified.json", "music/song_dict_simplified.json"),
    ),
    _matches: ("sports/soccer_team_match_stats.json",),
    _stored_by_share: ("finance/finance_price.json", "finance/finance_detailed_price.json"),
    _nba: ("sports/nba_game.json",),
}
MAKERS = {table: make for make, tables in _MADE_BY.items() for table in tables}
"""Table -> what makes it; small tables first, so that faults show early."""
MADE_BESIDE = {"sports/nba_game.json": ("sports/nba_columns.json", "sports/nba_play_by_play.json")}
