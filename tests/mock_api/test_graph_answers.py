"""The graph that ships with the project: whether it answers the questions of the sample."""

import json
import re
from collections.abc import Callable
from functools import cache

import pytest

from tests.mock_api.shipped_graph import ROOT, Record, entities, movies, persons, table, tickers

SAMPLE = ROOT / "data" / "sample" / "questions.jsonl"


@cache
def questions() -> dict[str, Record]:
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    return {row["query"]: row for row in rows}


def oscar_winner(year: int, category: str) -> Record:
    found = table("movie/year_db.json")[str(year)]["oscar_awards"]
    return next(award for award in found if award["category"] == category and award["winner"])


def acting_oscars_of(title: str) -> int:
    film = movies()[title]
    return sum(award["winner"] and award["category"].startswith("ACT") for award in film["oscar_awards"])


def main_span(bridge: str) -> float:
    found = re.search(r"([\d.]+) m\b", entities()[bridge]["summary_structured"]["mainspan"])
    assert found
    return float(found[1])


def films_of(director: str, word: str) -> list[str]:
    made = persons()[director]["directed_movies"]
    return [film["title"] for film in movies().values() if film["id"] in made and word in film["title"].split()]


def age_on(day: str, birthday: str) -> int:
    return int(day[:4]) - int(birthday[:4]) - (day[5:] < birthday[5:])


def nba_score(day: str) -> str:
    games = [game for game in table("sports/nba_game.json") if game["game_date"].startswith(day)]
    return f"{games[0]['pts_away']:.0f}-{games[0]['pts_home']:.0f}"


def artist(name: str) -> Record:
    found: Record = table("music/artist_dict_simplified.json")[name]
    return found


def grammy_album(year: int) -> str:
    rows = table("music/grammy_df.json")
    return next(str(row["nominee"]) for row in rows if (row["year"], row["category"]) == (year, "Album Of The Year"))


BY_LOOKING_UP: dict[str, Callable[[], object]] = {
    "which film won the academy award for best international feature film at the 92nd ceremony?": lambda: oscar_winner(
        2020, "INTERNATIONAL FEATURE FILM"
    )["film"],
    "who are the four members of abba?": lambda: artist("ABBA")["members"],
    "under which ticker symbol is the walt disney company traded?": lambda: next(
        ticker for ticker, name in tickers().items() if name.startswith("Walt Disney Company")
    ),
    "which record was named album of the year at the 56th annual grammy awards?": lambda: grammy_album(2013),
    "how many dollars before tax did someone with 80 shares of meta platforms get from the company's first cash "
    "dividend?": lambda: f"${80 * next(iter(table('finance/finance_dividend.json')['META'].values())):.0f}",
    "which has the longer main span, the golden gate bridge or the humber bridge?": lambda: max(
        "Golden Gate Bridge", "Humber Bridge", key=main_span
    ),
    "which movie opened first in american cinemas, blade runner or e.t. the extra-terrestrial?": lambda: min(
        (movies()[key] for key in ("blade runner", "et the extraterrestrial")), key=lambda m: m["release_date"]
    )["title"],
    "who was born earlier, freddie mercury or david bowie?": lambda: min(
        "Freddie Mercury", "David Bowie", key=lambda name: artist(name)["birth_date"]
    ),
    "what are the three films of the before trilogy that richard linklater directed?": lambda: films_of(
        "richard linklater", "Before"
    ),
    "how many of the four acting oscars at the 95th academy awards went to the cast of everything everywhere all at "
    "once?": lambda: acting_oscars_of("everything everywhere all at once"),
    "who composed the score of terry gilliam's film brazil?": lambda: (
        [member["name"] for member in movies()["brazil"]["crew"] if member["job"] == "Original Music Composer"]
    ),
    "what was the final score of the lakers' game in milwaukee last night?": lambda: nba_score("2024-03-26"),
    "how old was amy winehouse on the day back to black was released?": lambda: age_on(
        table("music/song_dict_simplified.json")["Back to Black"]["date"], artist("Amy Winehouse")["birth_date"]
    ),
    "what was nvidia's closing share price yesterday?": lambda: (
        "$" + str(table("finance/finance_price.json")["NVDA"]["2024-03-08 00:00:00 EST"]["Close"])
    ),
}
"""Questions of the sample with the answer that the records of the graph give."""

IN_ARTICLES = {
    "which player was the finals mvp when san antonio won the 2014 nba championship?": ("2014 NBA Finals", "MVP"),
    "what is the capital of the country in which mount kilimanjaro stands?": ("Tanzania", "capital"),
    "in which city was the director of the film that won best picture at the 93rd academy awards born?": (
        "Chloé Zhao",
        "birth_place",
    ),
    "who was the head coach of the team that won the 2019 nba finals?": ("2019 NBA Finals", "champion_coach"),
    "how many fifa world cup finals have been decided by a penalty shoot-out?": (
        "FIFA World Cup",
        "finals decided on penalties",
    ),
    "how many countries does the danube pass through or touch?": ("Danube", "number_of_countries"),
    "which four teams played in the semi-finals of the 2018 fifa world cup?": ("2018 FIFA World Cup", None),
    "how many studio albums did the american band nirvana put out?": ("Nirvana (band)", "studio_albums"),
    "how many times has apple split its stock since it went public?": ("Apple Inc.", "stock_splits"),
    "how old was neil armstrong when he first walked on the moon?": ("Neil Armstrong", None),
    "in what city was the band that won the eurovision song contest in 2021 founded?": ("Måneskin", "origin"),
    "which two car groups merged to become stellantis?": ("Stellantis", "predecessors"),
    "who are the reigning champions of the africa cup of nations?": ("Africa Cup of Nations", "current champions"),
    "which company was added to the dow jones industrial average most recently?": (
        "Dow Jones Industrial Average",
        "latest_addition",
    ),
    "which country is the newest member of nato?": ("NATO", "newest_member"),
    "at how many points did the nikkei 225 close yesterday?": ("Nikkei 225", "close_2024_03_04"),
    "how many steps does a visitor climb to reach the top of the tower of ulm minster?": ("Ulm Minster", "tower steps"),
    "who won the football league cup final at wembley last sunday?": ("2024 EFL Cup final", "winner"),
}
"""Questions of the sample with the article that answers them: title and infobox line, None for the text."""


@pytest.mark.parametrize("query", BY_LOOKING_UP)
def test_records_answer_the_sample(query: str) -> None:
    found = BY_LOOKING_UP[query]()
    text = ", ".join(found) if isinstance(found, list) else str(found)
    assert text.lower() == questions()[query]["answer"]


@pytest.mark.parametrize("query", IN_ARTICLES)
def test_articles_answer_the_sample(query: str) -> None:
    title, line = IN_ARTICLES[query]
    article = entities()[title]
    text = (article["summary_structured"][line] if line else article["summary_text"]).lower()
    parts = re.split(r", (?!\d)", questions()[query]["answer"])
    assert all(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) for part in parts)


def test_only_false_premises_of_the_sample_stay_without_an_answer() -> None:
    unanswered = {query for query, row in questions().items() if row["question_type"] == "false_premise"}
    assert set(questions()) - set(BY_LOOKING_UP) - set(IN_ARTICLES) == unanswered


def test_no_record_bears_out_a_false_premise() -> None:
    assert not any("SpaceX" in name for name in tickers().values())
    shawshank = movies()["the shawshank redemption"]
    assert not any(award["winner"] for award in shawshank["oscar_awards"])
    assert artist("Led Zeppelin")["end_date"] < "1984"
    assert not {"Marie Curie", "Cristiano Ronaldo"} & set(entities())
