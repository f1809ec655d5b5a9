"""Reads a graph's folder of tables (the layout of the official server) for sampling.

The results of sampled programs do not come from here: the agent's executor gets them from the server.
"""

import csv
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from mock_api import GraphError
from mock_api.tables import IMPORT_FILE, check_folder, store_path
from mock_api.tables.store import RecordStore

SHARED = Path(__file__).parents[2].parent / "shared/data/kg"
PACKED_GRAPH = SHARED / "cragkg_json.tar.xz"
QUESTIONS = SHARED / "kg_questions_split0.jsonl"
DOMAINS = ("movie", "finance", "music", "sports", "open")
"""Folders of a graph."""
OWN_GRAPH = Path(__file__).parents[2] / "mock_api/graph"

Record = dict[str, Any]


class Graph:
    """The tables of one folder. A missing table counts as empty; a folder without any domain is an error."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not any((folder / domain).is_dir() for domain in DOMAINS):
            raise GraphError(f"{folder}: no graph: it has none of the folders movie, finance, music, sports, open")
        check_folder(folder)

    def _json(self, name: str, empty: Any) -> Any:  # noqa: ANN401 - what a JSON file holds
        path = self.folder / name
        if not path.is_file():
            return empty
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise GraphError(f"{path}: not JSON: {error}") from None

    def _by_share(self, name: str) -> Mapping[str, dict[str, Record]]:
        """Ticker -> day or minute -> figures, read on demand if they are in a store on disk."""
        stored = store_path(self.folder, name)
        prices: Mapping[str, dict[str, Record]] = RecordStore(stored) if stored.is_file() else self._json(name, {})
        return prices

    def size(self, domain: str) -> int:
        """Number of entities of a domain."""
        things = {
            "movie": self.films,
            "finance": self.prices,
            "music": self.artists,
            "sports": self.soccer_games or self.nba_games,
            "open": self.articles,
        }
        return len(things[domain])

    @cached_property
    def films(self) -> list[Record]:
        """Films whose titles fit into a question."""
        records = [film for film in self._json("movie/movie_db.json", {}).values() if film.get("title")]
        return [film for film in records if _speakable(film["title"])]

    @cached_property
    def persons(self) -> list[Record]:
        """Film people whose names fit into a question."""
        return [one for one in self._json("movie/person_db.json", {}).values() if _speakable(one.get("name") or "")]

    @cached_property
    def oscars(self) -> list[Record]:
        """All Oscar nominations, by year."""
        years = self._json("movie/year_db.json", {})
        return [award for year in sorted(years) for award in years[year].get("oscar_awards") or () if award.get("film")]

    @cached_property
    def companies(self) -> dict[str, str]:
        """Ticker -> listed company name."""
        path = self.folder / "finance/company_name.dict"
        if not path.is_file():
            return {}
        with path.open(encoding="utf-8", newline="") as lines:
            return {row["Symbol"]: row["Name"] for row in csv.DictReader(lines)}

    @cached_property
    def prices(self) -> dict[str, dict[str, Record]]:
        """Ticker -> day ``YYYY-MM-DD`` -> Open, High, Low, Close, Volume, if known."""
        raw = self._by_share("finance/finance_price.json")
        return {ticker: {day[:10]: cells for day, cells in days.items()} for ticker, days in raw.items() if days}

    @cached_property
    def prices_now(self) -> list[str]:
        """Tickers with intraday prices."""
        return sorted(self._by_share("finance/finance_detailed_price.json"))

    @cached_property
    def dividends(self) -> dict[str, list[str]]:
        """Ticker -> days of dividends."""
        raw = self._json("finance/finance_dividend.json", {})
        return {ticker: sorted(day[:10] for day in days) for ticker, days in raw.items() if days}

    @cached_property
    def company_facts(self) -> dict[str, Record]:
        """Ticker -> key figures."""
        facts: dict[str, Record] = {t: dict(facts) for t, facts in self._json("finance/finance_info.json", {}).items()}
        for ticker, value in self._json("finance/finance_marketcap.json", {}).items():
            facts.setdefault(ticker, {})["marketCap"] = value
        return facts

    @cached_property
    def artists(self) -> list[Record]:
        """Artists and bands, each with its name."""
        raw = self._json("music/artist_dict_simplified.json", {})
        works = self._json("music/artist_work_dict.json", {})
        found = [{"name": name, **facts, "works": works.get(name, [])} for name, facts in raw.items()]
        known = {artist["name"] for artist in found}
        found += [{"name": name, "works": songs} for name, songs in works.items() if name not in known]
        return [artist for artist in found if _speakable(artist["name"])]

    @cached_property
    def songs(self) -> dict[str, Record]:
        """Songs and albums by title."""
        raw = self._json("music/song_dict_simplified.json", {})
        return {title: facts for title, facts in raw.items() if _speakable(title)}

    @cached_property
    def grammys(self) -> list[Record]:
        """Grammy awards."""
        awards: list[Record] = self._json("music/grammy_df.json", [])
        return awards

    @cached_property
    def charts(self) -> dict[str, list[str]]:
        """Song of the Hot 100 -> its days in the chart."""
        raw = self._json("music/song_dict_hot100.json", {})
        return {song: sorted(days) for song, days in raw.items() if days}

    @cached_property
    def nba_games(self) -> list[Record]:
        """NBA games."""
        games: list[Record] = self._json("sports/nba_game.json", [])
        return games

    @cached_property
    def soccer_games(self) -> list[Record]:
        """Games of soccer clubs, one row for each of the two."""
        games: list[Record] = self._json("sports/soccer_team_match_stats.json", [])
        return games

    @cached_property
    def articles(self) -> list[tuple[str, Record]]:
        """Title and info box of each article."""
        path = self.folder / "open/kg.jsonl"
        if not path.is_file():
            return []
        with path.open(encoding="utf-8") as lines:
            pairs = (json.loads(line) for line in lines if line.strip())
            return [(title, record.get("summary_structured") or {}) for title, record in pairs if record]


def check_whole(folder: Path) -> None:
    """Check that a folder of graph tables has all five domains, unless `import --partial` made it.

    Raises:
        GraphError: domains are missing, official files were not imported, or an import did not finish.
    """
    missing = [domain for domain in DOMAINS if not (folder / domain).is_dir()]
    if len(missing) < len(DOMAINS):
        check_folder(folder)
    if missing and not (folder / IMPORT_FILE).is_file():
        what = "no graph" if len(missing) == len(DOMAINS) else "half a graph"
        raise GraphError(
            f"{folder}: {what}: the folders {', '.join(missing)} are missing; pass the folder that holds "
            f"{', '.join(DOMAINS)}"
        )


def _speakable(name: str) -> bool:
    """Whether a name fits into a question: not too long, with letters or digits, without brackets and quotes."""
    return 1 < len(name) <= 60 and any(c.isalnum() for c in name) and not any(c in name for c in '{}[]"\n')


def graph_files(folders: Sequence[Path]) -> dict[str, Path]:
    """The files of the graphs that `opened` yields, by number of the graph and name in its folder."""
    packed = not folders and PACKED_GRAPH.is_file()
    found = {f"graph 1 {PACKED_GRAPH.name}": PACKED_GRAPH} if packed else {}
    for number, folder in enumerate(folders or [OWN_GRAPH], start=1 + packed):
        tables = sorted(path for path in folder.glob("*/*") if path.is_file())
        found |= {f"graph {number} {path.relative_to(folder).as_posix()}": path for path in tables}
    return found


@contextmanager
def opened(folders: Sequence[Path]) -> Iterator[list[Graph]]:
    """The graphs of the folders; without folders, the packed real graph, if present, and the project's own.

    Raises:
        GraphError: a folder is not a graph, or holds official files that were not imported.
    """
    if folders:
        yield [Graph(folder) for folder in folders]
        return
    if not PACKED_GRAPH.is_file():
        yield [Graph(OWN_GRAPH)]
        return
    with tempfile.TemporaryDirectory() as unpacked:
        shutil.unpack_archive(PACKED_GRAPH, unpacked)
        (real,) = (path.parent for path in Path(unpacked).rglob("movie") if path.is_dir())
        yield [Graph(real), Graph(OWN_GRAPH)]
