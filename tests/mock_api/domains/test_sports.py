import ast
from typing import Any

import pytest

from mock_api.answers import SOCCER_COLUMNS
from tests.mock_api.client import Client

SOCCER = "/sports/soccer/get_games_on_date"
NBA = "/sports/nba/get_games_on_date"
PLAYS = "/sports/nba/get_play_by_play_data_by_game_ids"


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
    ("date", "team", "rows"),
    [
        ("2024-03-01", "Cée", 1),
        ("2024-03", "A'b", 1),
        ("2024", None, 2),
        ("2024-03-01", "cée", 0),
        ("2024-03-01", "", 0),
        ("2024-3", None, 0),
        ("2024-03-01-", None, 0),
        ("", None, 0),
    ],
)
def test_soccer_dates_and_teams(small: Client, date: str, team: str | None, rows: int) -> None:
    assert count(small.ask(SOCCER, date=date, team_name=team)) == rows


@pytest.mark.parametrize(
    ("date", "team", "rows"),
    [
        ("2022-10-11", None, 1),
        ("2022-10", "Bulls", 2),
        ("2022-10-12", "Bulls", 1),
        ("2022", "Jazz", 1),
        ("2022-10-11", "Bulls' or '1'='1", 0),
        ("2022-10-11'", None, 0),
        ("2022-10-11-00", None, 3),  # more than three parts: no date filter
        ("2022-10-11-00", "Jazz", 2),
        ("2022-1", None, 0),
        ("202", None, 0),
    ],
)
def test_nba_dates_and_teams(small: Client, date: str, team: str | None, rows: int) -> None:
    assert count(small.ask(NBA, date=date, team_name=team)) == rows


def test_a_game_has_all_columns_and_no_others(small: Client) -> None:
    table = small.ask(NBA, date="2022")
    assert list(table) == [
        "season_id",
        "game_id",
        "game_date",
        "team_name_home",
        "team_name_away",
        "wl_home",
        "pts_home",
    ]
    assert table["pts_home"] == {"0": 90.0, "1": 0.3}
    assert small.ask(NBA, date="2021")["pts_home"] == {"0": None}  # NaN


def test_play_by_play_keeps_the_order_of_the_table(small: Client) -> None:
    table = small.ask(PLAYS, game_ids=["0022200002", "0022200001", "0022200001", "unknown"])
    assert table == {
        "game_id": {"0": "0022200001", "1": "0022200002", "2": "0022200001"},
        "score": {"0": None, "1": "2 - 0", "2": "4 - 0"},
    }
    assert small.ask(PLAYS, game_ids=["0022200001", "'"]) is None


def count(table: dict[str, dict[str, Any]] | None) -> int:
    return 0 if table is None else len(next(iter(table.values())))
