"""A graph made by hand: one example of everything that the official server treats in a way of its own."""

import json
from pathlib import Path
from typing import Any

GRAMMYS = [
    (2019, "Best New Artist", "Ann Bee", None, None),
    (2019, "Song Of The Year", "Bee Song", "Ann Bee", "Ann Bee, songwriter"),
    (2010, "Album Of The Year", None, "Cee", None),
    (2010, "Best New Artist", "Ann Bee", None, None),
    (1995, "Best New Artist", None, None, "producer"),
]
GAME = {"season_id": "22022", "game_id": "0022200001", "wl_home": "W", "_src": "made up", "invented": 1}

JSON_TABLES: dict[str, Any] = {
    "movie/movie_db.json": {
        "cafe story": {"id": 7, "title": "Café Story", "_src": "made up", "rating": 6.5},
        "spider-man": {"id": 8, "title": "Spider-Man"},
        "story": {"title": "Story, without an id"},
    },
    "movie/person_db.json": {"jo poe": {"id": 9, "name": "Jo Poe", "acted_movies": [7]}},
    "movie/year_db.json": {"1992": {"movie_list": [7], "oscar_awards": []}},
    "finance/finance_price.json": {
        "ACM": {"2024-02-28 00:00:00 EST": {"Open": 1.5, "Volume": 10}},
        "BAD": {"2024-02-28 00:00:00 EST": {"Open": float("nan")}},
    },
    "finance/finance_dividend.json": {"ACM": {}},
    "finance/finance_marketcap.json": {"ACM": 12.5},
    "finance/finance_info.json": {
        "ACM": {"forwardEps": 2.0, "trailingEps": 1.0, "forwardPE": 8},
        "NEW": {"city": "Rome"},
    },
    "music/artist_dict_simplified.json": {
        "Ann Bee": {"birth_date": "1987", "end_date": None, "country": "NO"},
        "The Beés": {"members": ["Ann Bee", "Cee", "Ann Bee"]},
        "THE beés!": {"country": ""},
    },
    "music/song_dict_simplified.json": {"Bee Song": {"author": "Ann Bee", "date": "2019-01-01", "country": "XW"}},
    "music/artist_work_dict.json": {"Ann Bee": ["Bee Song", "Bee Song (live)"]},
    "music/grammy_df.json": [
        dict(zip(("year", "category", "nominee", "artist", "workers"), row, strict=True)) for row in GRAMMYS
    ],
    "music/rank_dict_hot100.json": {
        "1": [
            {"Date": "2024-02-28", "Song": "Bee Song", "Artist": "Ann Bee"},
            {"Date": "2024-02-29", "Song": "Old Song", "Artist": "Cee"},
        ]
    },
    "music/song_dict_hot100.json": {
        "Bee Song": {
            "2024-02-28": ["", "2024-02-28", "Bee Song", "1", "3", "1", "20"],
            "2024-02-29": ["", "2024-02-29", "Bee Song", "40", "40", "1", "-"],
        }
    },
    "sports/nba_columns.json": [
        [name, "TEXT"]
        for name in ("season_id", "game_id", "game_date", "team_name_home", "team_name_away", "wl_home", "pts_home")
    ],
    "sports/nba_game.json": [
        GAME | {"game_date": f"{day} 00:00:00", "team_name_home": home, "team_name_away": away, "pts_home": points}
        for day, home, away, points in (
            ("2022-10-11", "Bulls", "Bucks", 90.0),
            ("2022-10-12", "Jazz", "Bulls", 0.1 + 0.2),
            ("2021-01-01", "Jazz", "Bucks", float("nan")),
        )
    ],
    "sports/nba_play_by_play.json": {
        "columns": ["game_id", "score"],
        "rows": [["0022200001", None], ["0022200002", "2 - 0"], ["0022200001", "4 - 0"]],
    },
    "sports/soccer_team_match_stats.json": [
        {"league": league, "season": "2324", "team": team, "game": "2024-03-01 A'b-Cée", "date": "2024-03-01"}
        | {"venue": venue, "GF": "0", "GA": 0, "Poss": 48.123456789012, "_src": "made up", "invented": 1}
        for league, team, venue in (("L", "A'b", "Home"), ("L", "Cée", "Away"), (None, "A'b", "Home"))
    ],
}

TEXT_TABLES = {
    "open/kg.jsonl": '["Café_Müller", {"summary_text": "A dance."}]\n\n["Müller Café", null]\n["cafe", {}]\n',
    "finance/company_name.dict": ',Name,Symbol\n0,Acme Inc.,ACM\n1,ACME Inc,ACMW\n2,"New, Ltd",NEW\n',
}


def write_graph(root: Path) -> Path:
    """The tables as files under `root`."""
    texts = TEXT_TABLES | {name: json.dumps(table) for name, table in JSON_TABLES.items()}
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root
