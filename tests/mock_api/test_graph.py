"""The graph that ships with the project: whether its tables agree with each other."""

import csv
import json
import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from crag.mock_api.search import searchable_form

GRAPH = Path(__file__).parents[2] / "crag" / "mock_api" / "graph"
DAY_KEY = re.compile(r"(\d{4}-\d{2}-\d{2}) 00:00:00 EST")

Record = dict[str, Any]


@cache
def table(name: str) -> Any:
    return json.loads((GRAPH / name).read_text(encoding="utf-8"))


@cache
def entities() -> dict[str, Record]:
    lines = (GRAPH / "open/kg.jsonl").read_text(encoding="utf-8").splitlines()
    return dict(json.loads(line) for line in lines)


@cache
def tickers() -> dict[str, str]:
    with (GRAPH / "finance/company_name.dict").open(encoding="utf-8", newline="") as lines:
        return {row["Symbol"]: row["Name"] for row in csv.DictReader(lines)}


def test_readme_tells_the_number_of_records() -> None:
    readme = (GRAPH / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \w+ \| (\d+) [^|]*\| `([^`]+)` \|$", readme, re.M)
    assert rows
    for number, name in rows:
        if name.endswith(".json"):
            assert int(number) == len(table(name)), name
        else:
            assert int(number) == (len(entities()) if name.endswith(".jsonl") else len(tickers())), name


def test_movie_keys_are_normalised_names_and_ids_are_unique() -> None:
    for records, name in ((table("movie/movie_db.json"), "title"), (table("movie/person_db.json"), "name")):
        assert [searchable_form(record[name]) for record in records.values()] == list(records)
        assert len({record["id"] for record in records.values()}) == len(records)


def dates() -> Iterator[tuple[str, str]]:
    """Every full or partial date of the graph with its place."""
    for film in table("movie/movie_db.json").values():
        yield film["title"], film.get("release_date", "2000")

    for person in table("movie/person_db.json").values():
        yield person["name"], person.get("birthday", "2000")

    for name, artist in table("music/artist_dict_simplified.json").items():
        yield name, artist["birth_date"]
        yield name, artist["end_date"] or "2000"

    for name, song in table("music/song_dict_simplified.json").items():
        yield name, song["date"]

    for rank, entries in table("music/rank_dict_hot100.json").items():
        yield from ((rank, entry["Date"]) for entry in entries)

    for match in table("sports/soccer_team_match_stats.json"):
        yield match["game"], match["date"]

    for game in table("sports/nba_game.json"):
        yield game["matchup_home"], game["game_date"].removesuffix(" 00:00:00")


def test_dates_exist() -> None:
    for place, text in dates():
        full = text + {4: "-01-01", 7: "-01"}.get(len(text), "")
        assert date(1900, 1, 1) < date.fromisoformat(full) < date(2024, 4, 1), place


def test_tickers_of_all_tables_are_listed_and_days_are_trading_days() -> None:
    for name in ("price", "detailed_price", "dividend", "info", "marketcap"):
        assert set(table(f"finance/finance_{name}.json")) <= set(tickers()), name

    prices, dividends = table("finance/finance_price.json"), table("finance/finance_dividend.json")
    for ticker, days in [*prices.items(), *dividends.items()]:
        assert list(days) == sorted(days)
        for key in days:
            found = DAY_KEY.fullmatch(key)
            assert found, key
            assert date.fromisoformat(found[1]).weekday() < 5, (ticker, key)

    assert sum(len(days) >= 5 for days in prices.values()) >= 7

    for days in prices.values():
        for row in days.values():
            assert row.get("Low", 0) <= min(row["Close"], row.get("Open", row["Close"]))
            assert row.get("High", row["Close"]) >= max(row["Close"], row.get("Open", 0))


def test_no_record_bears_out_a_false_premise_of_the_sample() -> None:
    assert not any("SpaceX" in name for name in tickers().values())
    assert not any(
        award["winner"] for award in table("movie/movie_db.json")["the shawshank redemption"]["oscar_awards"]
    )
    assert table("music/artist_dict_simplified.json")["Led Zeppelin"]["end_date"] < "1984"
    assert not {"Marie Curie", "Cristiano Ronaldo"} & set(entities())
