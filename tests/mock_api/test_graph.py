"""The graph that ships with the project: whether its tables agree with each other."""

import json
import re
from collections.abc import Iterator
from datetime import date, datetime

from tests.mock_api.shipped_graph import GRAPH, Record, entities, movies, persons, table, tickers

MAX_BYTES = 1_000_000
OSCAR_YEARS = range(1990, 2022)
DAY_KEY = re.compile(r"(\d{4}-\d{2}-\d{2}) 00:00:00 EST")
LEAST = {"open": 45, "movie": 90, "finance": 45, "music": 130}
"""The fewest entities of a domain."""


def awards(records: dict[str, Record]) -> set[str]:
    """The awards of records, each as one comparable text."""
    return {json.dumps(award) for record in records.values() for award in record.get("oscar_awards", [])}


def normalise(name: str) -> str:
    """A name as the search of the official server sees it."""
    return " ".join(re.sub(r"[!-/:-@\[-`{-~]", "", name.lower().replace("_", " ")).split())


def test_size_and_number_of_entities() -> None:
    counts = {
        "open": len(entities()),
        "movie": len(movies()),
        "finance": len(tickers()),
        "music": len(table("music/artist_dict_simplified.json")) + len(table("music/song_dict_simplified.json")),
    }
    assert all(counts[domain] >= least for domain, least in LEAST.items()), counts
    assert sum(counts.values()) >= 300
    assert sum(path.stat().st_size for path in GRAPH.rglob("*.*") if path.is_file()) < MAX_BYTES


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
    for records, name in ((movies(), "title"), (persons(), "name")):
        assert [normalise(record[name]) for record in records.values()] == list(records)
        assert len({record["id"] for record in records.values()}) == len(records)


def test_films_and_persons_name_each_other() -> None:
    names = {person["id"]: person["name"] for person in persons().values()}
    acted = {(film["id"], role["id"]) for film in movies().values() for role in film.get("cast", [])}
    directed = {
        (film["id"], member["id"])
        for film in movies().values()
        for member in film.get("crew", [])
        if member["job"] == "Director"
    }
    for field, pairs in (("acted_movies", acted), ("directed_movies", directed)):
        assert pairs == {(film, person["id"]) for person in persons().values() for film in person.get(field, [])}
    for film in movies().values():
        assert [role["order"] for role in film.get("cast", [])] == list(range(len(film.get("cast", []))))
        for member in film.get("cast", []) + film.get("crew", []):
            assert names[member["id"]] == member["name"]


def test_years_hold_the_awards_and_films_of_the_year() -> None:
    years = table("movie/year_db.json")
    assert list(years) == [str(year) for year in OSCAR_YEARS]
    listed = {json.dumps(award) for year in years.values() for award in year["oscar_awards"]}
    of_films = {award for award in awards(movies()) if json.loads(award)["year_ceremony"] in OSCAR_YEARS}
    assert listed == of_films
    assert awards(persons()) <= awards(movies())
    for year, record in years.items():
        assert all(award["year_ceremony"] == int(year) for award in record["oscar_awards"])
        released = [film["id"] for film in movies().values() if film.get("release_date", "").startswith(year)]
        assert sorted(record["movie_list"]) == sorted(released)


def dates() -> Iterator[tuple[str, str]]:
    """Every full or partial date of the graph with its place."""
    for film in movies().values():
        yield film["title"], film.get("release_date", "2000")
    for person in persons().values():
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


def test_soccer_rows_of_a_match_mirror_each_other() -> None:
    rows = table("sports/soccer_team_match_stats.json")
    by_match: dict[tuple[str, str], list[Record]] = {}
    for row in rows:
        by_match.setdefault((row["league"], row["game"]), []).append(row)
    opposite = {"W": "L", "L": "W", "D": "D", None: None}
    for (_, game), pair in by_match.items():
        one, other = pair
        assert game in (f"{one['date']} {one['team']}-{other['team']}", f"{one['date']} {other['team']}-{one['team']}")
        assert (one["opponent"], other["opponent"]) == (other["team"], one["team"])
        assert (one["GF"], one["GA"], one["result"]) == (other["GA"], other["GF"], opposite[other["result"]])
        assert {one["venue"], other["venue"]} in ({"Home", "Away"}, {"Neutral"})
        assert one["day"] == datetime.fromisoformat(one["date"]).strftime("%a")
        assert (one["result"] is None) == (one["date"] > "2024-03-15")
        if one["result"]:
            margin = int(one["GF"]) - int(one["GA"])
            assert one["result"] == ("W" if margin > 0 else "L" if margin < 0 else "D")


def test_nba_games_agree_with_themselves() -> None:
    games = table("sports/nba_game.json")
    columns = [name for name, _ in table("sports/nba_columns.json")]
    ids = [game["game_id"] for game in games if game["game_id"]]
    assert len(ids) == len(set(ids))
    assert len(columns) == 55
    for game in games:
        assert set(game) <= set(columns)
        margin = game["pts_home"] - game["pts_away"]
        assert (game["plus_minus_home"], game["plus_minus_away"]) == (margin, -margin)
        assert (game["wl_home"], game["wl_away"]) == (("W", "L") if margin > 0 else ("L", "W"))
        home, away = game["team_abbreviation_home"], game["team_abbreviation_away"]
        assert (game["matchup_home"], game["matchup_away"]) == (f"{home} vs. {away}", f"{away} @ {home}")
        kind, season = {"Regular Season": "2", "Playoffs": "4"}[game["season_type"]], int(game["season_id"][1:])
        assert game["season_id"][0] == kind
        assert season == int(game["game_date"][:4]) - (int(game["game_date"][5:7]) < 9)
        assert not game["game_id"] or game["game_id"].startswith(f"00{kind}{season % 100}")
