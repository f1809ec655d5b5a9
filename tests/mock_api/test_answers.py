"""What each endpoint answers from the hand-made graph: finds, misses and quirks of the official server."""

import ast
from typing import Any

import pytest

from crag.mock_api.answers import SOCCER_COLUMNS
from tests.mock_api.conftest import Client

SOCCER = "/sports/soccer/get_games_on_date"
NBA = "/sports/nba/get_games_on_date"
PLAYS = "/sports/nba/get_play_by_play_data_by_game_ids"
RANK = "/music/get_billboard_rank_date"
AWARDS = "/music/grammy_get_award_count_by_artist"

FINDS: list[tuple[str, object, object]] = [
    ("/open/search_entity_by_name", "CAFÉ müller!", ["Müller Café", "Café_Müller"]),
    ("/open/get_entity", "Café_Müller", {"summary_text": "A dance."}),
    ("/open/get_entity", "Müller Café", None),  # a title may have no article
    ("/movie/get_movie_info", "cafe", [{"id": 7, "title": "Café Story", "rating": 6.5}]),
    ("/movie/get_movie_info", "Spider-Man", []),  # queries are normalised, the keys of the index are not
    ("/movie/get_movie_info_by_id", 8, {"id": 8, "title": "Spider-Man"}),
    ("/movie/get_movie_info_by_id", "8", {"id": 8, "title": "Spider-Man"}),  # numbers may come as text
    ("/movie/get_person_info", "Poe", [{"id": 9, "name": "Jo Poe", "acted_movies": [7]}]),
    ("/movie/get_person_info_by_id", 9, {"id": 9, "name": "Jo Poe", "acted_movies": [7]}),
    ("/movie/get_year_info", "1992", {"movie_list": [7], "oscar_awards": []}),
    ("/movie/get_year_info", " 1992", None),
    ("/finance/get_company_name", "new ltd", ["New, Ltd"]),
    ("/finance/get_ticker_by_name", "New, Ltd", "NEW"),
    ("/finance/get_price_history", "ACM", {"2024-02-28 00:00:00 EST": {"Open": 1.5, "Volume": 10}}),
    ("/finance/get_market_capitalization", "ACM", 12.5),
    ("/finance/get_eps", "ACM", 2.0),  # the forward figures
    ("/finance/get_pe_ratio", "ACM", 8),
    ("/finance/get_eps", "NEW", None),
    ("/finance/get_info", "NEW", {"city": "Rome"}),
    ("/finance/get_dividends_history", "ACM", {}),
    ("/finance/get_dividends_history", "NEW", None),
    ("/music/search_artist_entity_by_name", "the BEÉS", ["The Beés", "THE beés!"]),
    ("/music/search_song_entity_by_name", "song", ["Bee Song"]),
    ("/music/grammy_get_best_artist_by_year", "2019", ["Ann Bee"]),
    (AWARDS, "Ann Bee", 4),  # parts of names in three cells
    (AWARDS, "Bee", 5),
    (AWARDS, "bee", 0),
    (AWARDS, "nan", 8),  # the official server reads a missing cell as the text nan
    ("/music/grammy_get_award_count_by_song", "Bee Song", 1),
    ("/music/get_lifespan", "Ann Bee", ["1987", None]),
    ("/music/get_lifespan", "The Beés", [None, None]),
    ("/music/get_artist_birth_date", "Ann Bee", "1987"),
    ("/music/get_artist_birth_place", "Ann Bee", "NO"),
    ("/music/get_artist_birth_place", "THE beés!", None),
    ("/music/get_song_author", "Bee Song", "Ann Bee"),
    ("/music/get_song_release_date", "Bee Song", "2019-01-01"),
    ("/music/get_song_release_country", "Bee Song", "XW"),
    ("/music/get_artist_all_works", "Ann Bee", ["Bee Song", "Bee Song (live)"]),
]
MISSES: list[tuple[str, object, object]] = [
    *((f"/finance/get_{name}", "acm", None) for name in ("price_history", "market_capitalization", "eps", "info")),
    *((f"/music/get_{name}", "ann bee", None) for name in ("artist_birth_date", "members", "artist_all_works")),
    *(
        (f"/music/grammy_get_best_{kind}_by_year", year, answer)
        for kind in ("artist", "song", "album")
        for year, answer in ((1956, None), (2020, None), (1957, []), (2000, []))
    ),
    ("/open/search_entity_by_name", "zzz", []),
    ("/open/get_entity", "Café Müller", None),
    ("/movie/get_person_info", "zzz", []),
    ("/movie/get_year_info", "2021", None),
    ("/movie/get_movie_info_by_id", 1, None),
    ("/finance/get_ticker_by_name", "acme", None),
    (AWARDS, "zzz", 0),
    ("/music/grammy_get_award_count_by_song", "Bee", 0),
    ("/music/grammy_get_award_date_by_artist", "zzz", []),
    ("/music/get_lifespan", "zzz", [None, None]),
]


@pytest.mark.parametrize(("path", "query", "answer"), FINDS + MISSES)
def test_a_query_is_answered_as_by_the_official_server(small: Client, path: str, query: object, answer: object) -> None:
    assert small.ask(path, query=query) == answer


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"rank": 1, "date": "2024-02-28"}, [["Bee Song"], ["Ann Bee"]]),
        ({"rank": "1", "date": None}, [["Bee Song", "Old Song"], ["Ann Bee", "Cee"]]),  # all days, without dates
        ({"rank": 100}, [[], []]),
        ({"rank": 1, "date": "1999-01-01"}, [[], []]),
        ({"rank": 0}, [None, None]),
        ({"rank": 101, "date": "2024-02-28"}, [None, None]),
    ],
)
def test_a_rank_of_the_chart_gives_its_songs_and_artists(
    small: Client, body: dict[str, object], answer: object
) -> None:
    assert small.ask(RANK, **body) == answer


@pytest.mark.parametrize(
    ("date", "attribute", "answer"),
    [
        ("2024-02-28", "rank", "1"),
        ("2024-02-28", "rank_last_week", "3"),
        ("2024-02-28", "top_position", "1"),
        ("2024-02-28", "weeks_in_chart", "20"),
        ("2024-02-28", "unheard of", "1"),
        ("2024-02-29", "rank", "40"),  # new in the chart: the last three columns are in another order
        ("2024-02-29", "rank_last_week", "-"),
        ("2024-02-29", "top_position", "40"),
        ("2024-02-29", "weeks_in_chart", "1"),
        ("x", "rank", None),
    ],
)
def test_chart_attributes_are_texts(small: Client, date: str, attribute: str, answer: str | None) -> None:
    path, body = "/music/get_billboard_attributes", {"date": date, "attribute": attribute}
    assert small.ask(path, **body, song_name="Bee Song") == answer
    assert small.ask(path, **body, song_name="x") is None


def test_lists_without_an_order_and_the_endpoint_without_a_body(small: Client) -> None:
    assert sorted(small.ask("/music/grammy_get_award_date_by_artist", query="Bee")) == [2010, 2019]
    assert sorted(small.ask("/music/get_members", query="The Beés")) == ["Ann Bee", "Cee"]
    assert small.ask("/music/grammy_get_all_awarded_artists") == ["Ann Bee"]
    response = small.session.post(f"{small.url}/music/grammy_get_all_awarded_artists", timeout=60)
    assert response.json() == {"result": ["Ann Bee"]}


def test_a_match_has_a_row_per_team_whose_key_is_the_text_of_a_tuple(small: Client) -> None:
    table = small.ask(SOCCER, date="2024-03-01")
    assert tuple(table) == SOCCER_COLUMNS
    assert [ast.literal_eval(key) for key in table["venue"]] == [
        ("L", "2324", team, "2024-03-01 A'b-Cée") for team in ("A'b", "Cée")
    ]
    row = {column: next(iter(cells.values())) for column, cells in table.items()}
    assert row["date"] == "2024-03-01T00:00:00.000"
    assert (row["GF"], row["GA"], row["Notes"]) == ("0", 0, None)
    assert row["Poss"] == 48.123456789  # ten digits after the point


@pytest.mark.parametrize(
    ("path", "date", "team", "rows"),
    [
        (SOCCER, "2024-03-01", "Cée", 1),
        (SOCCER, "2024-03", "A'b", 1),
        (SOCCER, "2024", None, 2),
        (SOCCER, "2024-03-01", "cée", 0),
        (SOCCER, "2024-03-01", "", 0),
        (SOCCER, "2024-03-02", None, 0),
        (SOCCER, "2024-3", None, 0),
        (SOCCER, "2024-03-01-", None, 0),
        (SOCCER, "", None, 0),
        (NBA, "2022-10-11", None, 1),
        (NBA, "2022-10", "Bulls", 2),
        (NBA, "2022-10-12", "Bulls", 1),
        (NBA, "2022", "Jazz", 1),
        (NBA, "2022-10-11", "bulls", 0),
        (NBA, "2022-10-11", "Bulls' or '1'='1", 0),
        (NBA, "2022-10-11'", None, 0),
        (NBA, "2022-10-11-00", None, 3),  # more than three parts: no date filter
        (NBA, "2022-10-11-00", "Jazz", 2),
        (NBA, "2022-1", None, 0),
        (NBA, "202", None, 0),
    ],
)
def test_games_are_those_of_the_date_and_the_team(
    small: Client, path: str, date: str, team: str | None, rows: int
) -> None:
    table: dict[str, dict[str, Any]] | None = small.ask(path, date=date, team_name=team)
    assert (0 if table is None else len(next(iter(table.values())))) == rows


def test_play_by_play_keeps_the_order_of_the_table(small: Client) -> None:
    table = small.ask(PLAYS, game_ids=["0022200002", "0022200001", "0022200001", "unknown"])
    assert table == {
        "game_id": {"0": "0022200001", "1": "0022200002", "2": "0022200001"},
        "score": {"0": None, "1": "2 - 0", "2": "4 - 0"},
    }
    assert small.ask(PLAYS, game_ids=["0022200001", "'"]) is None
    assert small.ask(PLAYS, game_ids=[]) is None
