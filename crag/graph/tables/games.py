"""Reads games from the two sports endpoints. A row is one game, seen from the requested team."""

from ast import literal_eval
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, NamedTuple

from crag.graph.conditions import digits_as_number
from crag.graph.context import LookupContext
from crag.graph.entities import League, team_spelling
from crag.graph.results import Cell, Row

_FIRST_KEYS = ("team", "opponent", "date", "venue", "result", "GF", "GA", "league", "season")
"""Keys of a soccer game in the order of sentences; the server's other keys follow."""


def read_games(
    context: LookupContext,
    league: League,
    team: str | None,
    period: str,
) -> list[Row]:
    """The games of a team (None: any) on a day, or in a month or year: ``YYYY[-MM[-DD]]``."""
    read = _soccer_games if league == "soccer" else _nba_games
    return read(context, team, period)


def day_of(game: Row) -> date:
    """The day of a game; one without a day is before every span of days, so that no date expression finds it."""
    try:
        return date.fromisoformat(str(game.cells["date"]))
    except ValueError:
        return date.min


# --- soccer -----------------------------------------------------------------------------------------------------------


def _soccer_games(context: LookupContext, team: str | None, period: str) -> list[Row]:
    """Rows of the soccer table. Only the record's key has team, league and season.

    Without a team the server gives every match twice: keep one, from the home team's side if possible.
    """
    reply = context.ask("/sports/soccer/get_games_on_date", date=period, team_name=team)
    games = list(_records(reply))
    if team is None:
        # Of the two records of a game the one that is added last stays, so home sides are added last.
        games.sort(key=lambda record: record[1].get("venue") == "Home")
        record_by_game = {}
        for key, game in games:
            game_name = _parse_game_key(key).game or key
            record_by_game[game_name] = (key, game)
        games = list(record_by_game.values())

    rows: list[Row] = []
    for key, game in games:
        parsed = _parse_game_key(key)
        cells: dict[str, Cell] = {
            **dict.fromkeys(_FIRST_KEYS),
            **game,
            "team": parsed.team,
            "date": str(game.get("date") or "")[:10],
            "GF": digits_as_number(game.get("GF")),
            "GA": digits_as_number(game.get("GA")),
            "league": parsed.league,
            "season": parsed.season,
        }
        rows.append(Row(parsed.team or team or "", cells))
    return rows


# --- the NBA ----------------------------------------------------------------------------------------------------------


def _nba_games(context: LookupContext, team: str | None, period: str) -> list[Row]:
    """Rows of the NBA table, with the requested team first; without a team the home team."""
    reply = context.ask("/sports/nba/get_games_on_date", date=period, team_name=team)
    rows: list[Row] = []
    for _, game in _records(reply):
        is_home = team is None or team == game.get("team_name_home")
        side = "home" if is_home else "away"
        other_side = "away" if is_home else "home"
        cells: dict[str, Cell] = {
            "team": game.get(f"team_name_{side}"),
            "opponent": game.get(f"team_name_{other_side}"),
            "date": str(game.get("game_date") or "")[:10],
            "venue": side.capitalize(),
            "result": game.get(f"wl_{side}"),
            "GF": game.get(f"pts_{side}"),
            "GA": game.get(f"pts_{other_side}"),
        }

        # The team's statistics lose their suffix; the opponent's are left out.
        for key, value in game.items():
            if not key.endswith(f"_{other_side}"):
                cells.setdefault(key.removesuffix(f"_{side}"), value)
        rows.append(Row(str(cells["team"]), cells))
    return rows


# --- records ----------------------------------------------------------------------------------------------------------


def _records(columns: Mapping[str, Mapping[str, Any]] | None) -> Iterable[tuple[str, dict[str, Any]]]:
    """The rows of a column-oriented reply, each with its key."""
    if columns is None:
        return

    keys: dict[str, None] = {}
    for column in columns.values():
        keys |= dict.fromkeys(column)
    for key in keys:
        record = {name: column.get(key) for name, column in columns.items()}
        yield key, record


class _GameKey(NamedTuple):
    league: str = ""
    season: str = ""
    team: str = ""
    game: str = ""


def _parse_game_key(key: str) -> _GameKey:
    """Read the key of a soccer game, a tuple written as a string; `literal_eval` reads it and runs nothing."""
    try:
        parts = literal_eval(key)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _GameKey()
    if not isinstance(parts, tuple) or len(parts) != len(_GameKey._fields):
        return _GameKey()
    return _GameKey(*map(str, parts))


# --- teams ------------------------------------------------------------------------------------------------------------


def find_team(context: LookupContext, name: str | None, league: League) -> tuple[str | None, bool]:
    """The graph's spelling of the team, and whether it is known."""
    if name is None:
        return None, False

    spelling, is_known = team_spelling(name, league)
    if not is_known:
        context.remark(f'"{name}" is not among the {league} teams known here; it is asked for as written')
    return spelling, is_known
