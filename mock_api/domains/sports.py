"""Soccer matches and NBA games, as tables turned on their side: {column: {row key: value}}.

The official server swallows every exception in this domain: whatever goes wrong, the answer is None.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from mock_api.tables import Tables

Columns = dict[str, dict[str, Any]]

SOCCER_COLUMNS = (
    "date",
    "time",
    "round",
    "day",
    "venue",
    "result",
    "GF",
    "GA",
    "opponent",
    "xG",
    "xGA",
    "Poss",
    "Attendance",
    "Captain",
    "Formation",
    "Referee",
    "match_report",
    "Notes",
)

FLOAT_DIGITS = 10
"""The official server writes its tables with pandas, which keeps so many digits after the point."""

DATE_LENGTHS = {1: 4, 2: 7, 3: 10}
"""Parts of YYYY[-MM[-DD]] and the characters that they take."""


class SportsAnswers:
    """Answers of /sports."""

    def __init__(self, tables: Tables) -> None:
        self._matches = [match for match in tables.matches if match["league"] is not None]
        self._match_dates = _DateIndex([match["date"] for match in self._matches])
        self._games = tables.nba_games
        self._game_columns = [name for name, _ in tables.nba_columns]
        self._game_dates = _DateIndex([game["game_date"] for game in self._games])
        self._play_columns = tables.play_columns
        self._plays = tables.plays

    def soccer_get_games_on_date(self, date: str, team_name: str | None) -> Columns | None:
        """Matches of a day, month or year. Each match has a row per team; the row's key is the text of a tuple."""
        places = self._match_dates.find(date)
        matches = [self._matches[place] for place in places or ()]
        rows = {
            str((match["league"], match["season"], match["team"], match["game"])): _soccer_row(match)
            for match in matches
            if team_name is None or match["team"] == team_name
        }
        return _sideways(SOCCER_COLUMNS, rows)

    def nba_get_games_on_date(self, date: str, team_name: str | None) -> Columns | None:
        """Games of a day, month or year. A date of more than three parts is no filter at all.

        The official server pastes its arguments into SQL: a single quote breaks the statement.
        """
        if "'" in date or "'" in (team_name or ""):
            return None
        places = self._game_dates.find(date)
        games = self._games if places is None else [self._games[place] for place in places]
        if team_name is not None:
            games = [game for game in games if team_name in {game["team_name_home"], game["team_name_away"]}]
        return _sideways(self._game_columns, {str(number): game for number, game in enumerate(games)})

    def nba_get_play_by_play_data_by_game_ids(self, game_ids: list[str]) -> Columns | None:
        """Events of games in the order of the table."""
        if any("'" in game_id for game_id in game_ids):
            return None
        plays = (play for game_id in set(game_ids) for play in self._plays.get(game_id, ()))
        rows = (dict(zip(self._play_columns, row, strict=True)) for _, *row in sorted(plays, key=itemgetter(0)))
        return _sideways(self._play_columns, {str(number): row for number, row in enumerate(rows)})


class _DateIndex:
    """Finds rows by the beginning of their dates."""

    def __init__(self, dates: Iterable[str]) -> None:
        self._places: dict[str, list[int]] = {}
        for place, date in enumerate(dates):
            for length in DATE_LENGTHS.values():
                self._places.setdefault(date[:length], []).append(place)

    def find(self, date: str) -> Sequence[int] | None:
        """Places of the rows of a day, month or year in their order; None for a text of more than three parts."""
        length = DATE_LENGTHS.get(len(date.split("-")))
        if length is None:
            return None
        return self._places.get(date, ()) if len(date) == length else ()


def _soccer_row(match: Mapping[str, Any]) -> dict[str, Any]:
    return {**match, "date": f"{match['date'][:10]}T00:00:00.000"}


def _sideways(columns: Sequence[str], rows: Mapping[str, Mapping[str, Any]]) -> Columns | None:
    """The table by column; a row lacks what it does not know. None without rows."""
    if not rows:
        return None
    return {column: {key: _cell(row.get(column)) for key, row in rows.items()} for column in columns}


def _cell(value: object) -> object:
    if not isinstance(value, float):
        return value
    return round(value, FLOAT_DIGITS) if math.isfinite(value) else None
