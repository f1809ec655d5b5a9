"""A graph of invented things, small enough to know by heart, with the traps of the real one.

Films of one title, a person whose record does not list what they directed, a share without prices of every day, a
ticker that is a word, songs that differ in case, goals that are texts, a game that has not been played, missing values.
"""

import json
from pathlib import Path
from typing import Any

GENRES = {"genres": [{"id": 18, "name": "Drama"}], "original_language": "en"}


def member(name: str, number: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "id": number, **more}


def award(year: int, category: str, name: str, film: str, winner: bool) -> dict[str, Any]:
    return {"year_ceremony": year, "ceremony": year - 1928, "category": category, "name": name, "film": film} | {
        "winner": winner
    }


CY = award(2000, "DIRECTING", "Cy Dee", "The Red Kite", True)
BOB = award(2000, "ACTOR IN A LEADING ROLE", "Bob Ray", "The Red Kite", False)
ART = award(2001, "ART DIRECTION", "Art Direction: Ann Lee; Set Decoration: Bo Peep", "The Red Kite 2", True)

MOVIES = {
    "the red kite": {
        "title": "The Red Kite", "original_title": "Rot", "id": 1, "release_date": "1999-05-01", "budget": 200,
        "revenue": 100, "rating": 7.5, "length": 90, "oscar_awards": [CY, BOB], **GENRES,
        "cast": [
            member("Ann Lee", 11, character="The Queen", gender=1, order=1),
            member("Bob Ray", 12, character="The King (007)", gender=2, order=0),
        ],
        "crew": [member("Cy Dee", 13, job="Director"), member("Ann Lee", 11, job="Producer")],
    },
    "the red kite 2": {
        "title": "The Red Kite 2", "id": 2, "release_date": "2000-07-02", "budget": 300, "revenue": 900, "rating": 6.0,
        "oscar_awards": [ART], **GENRES,
        "cast": [
            member("Ann Lee", 11, character="The Queen", gender=1, order=0),
            member("Bob Ray", 12, character="A Ghost", gender=2, order=5),
        ],
        "crew": [member("Cy Dee", 13, job="Director")],
    },
    "blue door": {
        "title": "Blue Door", "id": 3, "release_date": "1950", "revenue": 5, "budget": 0, "cast": [], "crew": [],
    },
    "blue  door": {
        "title": "Blue Door", "id": 4, "release_date": "2010-01-01", "revenue": 700, "budget": 10, "rating": None,
        "cast": [member("Ann Lee", 11, character="", gender=1, order=0)], "crew": [],
    },
    "borough cultural notes": {
        "title": "Borough: Cultural Notes", "id": 5, "release_date": "2005-02-03", "cast": [], "crew": [],
    },
}  # fmt: skip
PERSONS = {
    "ann lee": {"name": "Ann Lee", "id": 11, "birthday": "1970-01-02", "acted_movies": [1, 2, 4]},
    "ann  lee": {"name": "Ann Lee", "id": 15, "birthday": "1990-09-09", "acted_movies": []},
    "bob ray": {"name": "Bob Ray", "id": 12, "birthday": None, "acted_movies": [1, 2], "oscar_awards": [BOB]},
    "cy dee": {
        "name": "Cy Dee",
        "id": 13,
        "birthday": "1950-05-05",
        "acted_movies": [],
        "directed_movies": [1, 2],
        "oscar_awards": [CY],
    },
    "dan only": {"name": "Dan Only", "id": 14, "birthday": "1980-03-03", "acted_movies": []},
}
YEARS = {
    "2000": {"movie_list": [1], "oscar_awards": [CY, BOB]},
    "2001": {"movie_list": [2], "oscar_awards": [ART]},
}


def bar(price: float, volume: int = 100) -> dict[str, float]:
    return {"Open": price, "High": price + 2, "Low": price - 1, "Close": price + 1, "Volume": volume}


def prices(**days: float) -> dict[str, dict[str, float]]:
    return {f"{day.replace('_', '-')[1:]} 00:00:00 EST": bar(price) for day, price in days.items()}


LISTINGS = {
    "Abacus Inc. Common Stock": "ABC",
    "Abacus Inc. Warrant": "ABCW",
    "Thin Holdings Corporation Class A Common Stock": "THN",
    "The Gap Between Limited Ordinary Shares": "WIDE",
    "Gap Filler plc American Depositary Shares": "GAP",
}
PRICES = {
    "ABC": prices(_2024_02_22=10, _2024_02_23=12, _2024_02_26=11, _2024_02_27=14, _2024_02_28=13),
    "THN": prices(_2024_01_10=1.0, _2024_02_21=0.5),
}
MINUTES = {
    "ABC": {
        f"2024-02-28 {time}:00 EST": bar(price) for time, price in (("09:30", 12.5), ("09:31", 12.7), ("09:32", 99))
    }
}
DIVIDENDS = {
    "ABC": {
        "2023-05-01 00:00:00 EST": 0.1,
        "2023-08-01 00:00:00 EST": 0.2,
        "2024-02-01 00:00:00 EST": 0.3,
    },
    "THN": {},
}
INFO = {
    "ABC": {
        "longName": "Abacus Inc.", "forwardEps": 2.5, "forwardPE": 20.25, "fullTimeEmployees": 12345,
        "exDividendDate": 1708473600,
        "companyOfficers": [{"name": "Ms. Ada Count", "title": "CEO"}], "priceToBook": 7.5, "address2": "",
    },
    "GAP": {"longName": "Gap Filler plc", "forwardEps": -1.0},
}  # fmt: skip

ARTISTS = {
    "Zoe Vox": {"country": "GB", "birth_date": "1987", "end_date": None, "members": None},
    "ZOE VOX": {"country": "US", "birth_date": "1960-01-01", "end_date": None, "members": None},
    "The Wrens Choir": {"country": "US", "birth_date": "1990", "end_date": "2001", "members": ["Ida", "Max", "Jo"]},
    "Max Trio": {"country": "US", "birth_date": "1995", "end_date": None, "members": ["Max", "Lu", "Jo"]},
}
WORKS = {
    "Zoe Vox": ["Hello Moon", "Second Song", "2011-04-08: Live Somewhere", "Undated", "Hello Moon"],
    "Max Trio": [],
}
SONGS = {
    "Hello Moon": {"author": "Zoe Vox", "country": "XW", "date": "2010-03-04"},
    "hello moon": {"author": "Nobody", "country": "US", "date": "1999"},
    "Second Song": {"author": "Zoe Vox", "country": "GB", "date": "2010"},
    "2011-04-08: Live Somewhere": {"author": "Zoe Vox", "country": "GB", "date": "2011-04-08"},
    "Undated": {"author": "Zoe Vox", "country": "GB", "date": None},
    "\u00f7": {"author": "Zoe Vox", "country": "GB", "date": "2017-03-03"},
}
GRAMMYS = [
    {"year": year, "category": category, "nominee": nominee, "artist": artist, "workers": None}
    for year, category, nominee, artist in (
        (2018, "Best New Artist", "Zoe Vox", None),
        (2018, "Song Of The Year", "Hello Moon", "Zoe Vox"),
        (2018, "Album Of The Year", None, "Max Trio"),
        (2012, "Best Pop Song", "Second Song", "Zoe Vox"),
    )
]
RANKS = {
    "1": [{"Date": "2024-02-28", "Song": "Hello Moon", "Artist": "Zoe Vox"}],
    "2": [{"Date": "2024-02-28", "Song": "Second Song", "Artist": "Zoe Vox"}],
}
CHARTED = {"Hello Moon": {"2024-02-28": [None, "2024-02-28", "Hello Moon", "1", "2", "1", "7"]}}


def match(date: str, home: str, away: str, goals: tuple[Any, Any] | None) -> list[dict[str, Any]]:
    """A match as its two teams saw it."""
    rows = []
    for team, other, venue in ((home, away, "Home"), (away, home, "Away")):
        row: dict[str, Any] = {"league": "ENG-Premier League", "season": "2324", "game": f"{date} {home}-{away}"}
        row |= {"team": team, "opponent": other, "venue": venue, "date": date, "time": "15:00:00", "result": None}
        if goals is not None:
            ours, theirs = goals if team == home else goals[::-1]
            difference = int(ours) - int(theirs)
            row |= {"GF": ours, "GA": theirs, "Captain": "Cap Tain"}
            row["result"] = "D" if not difference else "W" if difference > 0 else "L"
        rows.append(row)
    return rows


MATCHES = [
    *match("2023-12-30", "Everton", "Fulham", (9, 0)),
    *match("2024-02-10", "Everton", "Arsenal", ("1", 1)),
    *match("2024-02-24", "Arsenal", "Everton", (10, "2")),
    *match("2024-03-02", "Fulham", "Everton", (0, 3)),
    *match("2024-03-30", "Everton", "Luton Town", None),
]


def game(date: str, home: str, away: str, points: tuple[int, int], kind: str = "Regular Season") -> dict[str, Any]:
    won = points[0] > points[1]
    return {
        "game_date": f"{date} 00:00:00", "team_name_home": home, "team_name_away": away, "season_type": kind,
        "game_id": "0022", "wl_home": "W" if won else "L", "wl_away": "L" if won else "W",
        "pts_home": float(points[0]), "pts_away": float(points[1]),
        "reb_home": 40.0, "reb_away": 50.0,
    }  # fmt: skip


GAMES = [
    game("2022-10-11", "Chicago Bulls", "Milwaukee Bucks", (127, 104), "Pre Season"),
    game("2022-12-01", "Milwaukee Bucks", "Chicago Bulls", (120, 90)),
    game("2022-12-31", "Chicago Bulls", "Utah Jazz", (101, 100)),
]
ARTICLES: list[tuple[str, dict[str, Any] | None]] = [
    (
        "Tall Tower",
        {
            "summary_text": "The Tall Tower stands in Foo.",
            "summary_structured": {
                "name": "Tall Tower",
                "height": "{{convert|828|m|abbr=on}}",
                "location": "[[Foo (city)|Foo]]<ref>x</ref>",
                "empty": "",
            },
            "raw_mediawiki": "...",
        },
    ),
    ("Tall Tower (novel)", None),
    (
        "Grey Abbey",
        {
            "summary_text": "Grey Abbey is a ruin in Foo. "
            + " ".join(f"Stone {number} of its walls is grey." for number in range(90))
            + " "
            + "Its roof was taken off in 1536.The monks went to Bar. In 1602 the poet Ann Lee wrote of it.",
            "summary_structured": {f"map_{number}": "a map of Foo" for number in range(40)}
            | {"tower_height": "{{convert|61|m|ft|0}}", "visitors": "{{nowrap|12,500 a year}}"},
            "raw_mediawiki": "...",
        },
    ),
    ("Abbey", {"summary_text": "An abbey is a house of monks.", "summary_structured": {}, "raw_mediawiki": "..."}),
    ("The Who", {"summary_text": "The Who are a band.", "summary_structured": {}, "raw_mediawiki": "..."}),
    ("Python", {"summary_text": "Python may refer to:", "summary_structured": {}, "raw_mediawiki": "..."}),
    (
        "Python (programming language)",
        {"summary_text": "Python was made in 1991.", "summary_structured": {}, "raw_mediawiki": "..."},
    ),
]


def write_graph(folder: Path) -> None:
    tables: dict[str, Any] = {
        "movie/movie_db": MOVIES, "movie/person_db": PERSONS, "movie/year_db": YEARS,
        "finance/finance_price": PRICES, "finance/finance_detailed_price": MINUTES,
        "finance/finance_dividend": DIVIDENDS,
        "finance/finance_marketcap": {"ABC": 1234567890.0, "GAP": 5.0}, "finance/finance_info": INFO,
        "music/artist_dict_simplified": ARTISTS, "music/song_dict_simplified": SONGS, "music/artist_work_dict": WORKS,
        "music/grammy_df": GRAMMYS, "music/rank_dict_hot100": RANKS, "music/song_dict_hot100": CHARTED,
        "sports/soccer_team_match_stats": MATCHES, "sports/nba_game": GAMES,
        "sports/nba_columns": [[name, "TEXT"] for name in GAMES[0]],
    }  # fmt: skip
    for name, table in tables.items():
        path = folder / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(table), encoding="utf-8")
    rows = [f"{number},{name},{ticker}" for number, (name, ticker) in enumerate(LISTINGS.items())]
    (folder / "finance/company_name.dict").write_text("\n".join([",Name,Symbol", *rows]), encoding="utf-8")
    (folder / "open").mkdir()
    (folder / "open/kg.jsonl").write_text("\n".join(map(json.dumps, ARTICLES)), encoding="utf-8")
