"""The sports tables, filled from two endpoints. A row is one game of the requested team."""

from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import Any, NamedTuple

from crag.graph.context import LookupContext, TableQuery, format_days
from crag.graph.entities import League, team_spelling
from crag.graph.results import Cell, NoGameError, NotFoundError, Row
from crag.text.dates import Calendar, DateRange

_MAX_SEASONS = 2
"""Calendar years to search for a team's last or next game."""
_LATEST_DAYS = timedelta(days=31)
"""How far "latest" goes back."""
_MAX_DAYS_BY_MONTH = 62
"""A longer span is asked for by the year."""

_FIRST_KEYS = ("team", "opponent", "date", "venue", "result", "GF", "GA", "league", "season")
"""Keys of a soccer game in the order of sentences; the server's other keys follow."""

_ReadGames = Callable[[LookupContext, str | None, str], list[Row]]
"""Asks for the games of a team (None: any) on a day, or in a month or year."""


# ---- the tables


def _season_games(context: LookupContext, query: TableQuery, step: int) -> list[Row]:
    """A team's games before today (step -1) or after it (1), nearest first; without conditions only one."""
    team, _ = _find_team(context, query.names[0], "soccer")
    today = context.asked_at.date()
    is_past = step < 0  # the day itself is neither past nor next

    # Year by year, away from today, until there are enough.
    games: list[Row] = []
    # The range ends before it, so two years are searched
    final_year = today.year + step * _MAX_SEASONS
    for year in range(today.year, final_year, step):
        games_of_year = _soccer_games(context, team, str(year))
        if is_past:
            games_of_year = [row for row in games_of_year if _day(row) < today]
        else:
            games_of_year = [row for row in games_of_year if _day(row) > today]
        games += sorted(games_of_year, key=_day, reverse=is_past)
        if games and not query.conditions:
            return games[:1]

    if not games:
        whose = team or "any team"
        when = "before" if is_past else "after"
        raise NotFoundError(f"the graph has no game of {whose} {when} {today}")
    return games


get_soccer_last_game = partial(_season_games, step=-1)
get_soccer_next_game = partial(_season_games, step=1)


def _games_on_date(
    context: LookupContext,
    query: TableQuery,
    league: League,
    read: _ReadGames,
) -> list[Row]:
    """The games of the days that the date means, oldest first."""
    span = _requested_days(context, query.names[1])
    team, is_known = _find_team(context, query.names[0], league)

    # A period can have more days than are meant.
    games: list[Row] = []
    for period in _periods(span):
        games_of_period = read(context, team, period)
        games += [row for row in games_of_period if span.contains(_day(row))]
    games.sort(key=_day)

    days = format_days(span.first, span.last)
    if not games:
        # Only of a known team is an empty calendar evidence.
        error_type = NoGameError if is_known else NotFoundError
        raise error_type(f"the graph has no game of {team or 'any team'} on {days}")
    if not span.is_day:
        context.remark(f"games from {days}")
    return games


# ---- the games of the two endpoints


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
            "GF": _goals(game.get("GF")),
            "GA": _goals(game.get("GA")),
            "league": parsed.league,
            "season": parsed.season,
        }
        rows.append(Row(parsed.team or team or "", cells))
    return rows


def _goals(value: Cell) -> Cell:
    """Some replies mix strings ("0") and numbers."""
    return int(str(value)) if str(value).isdecimal() else value


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


get_soccer_on_date = partial(_games_on_date, league="soccer", read=_soccer_games)
get_nba_on_date = partial(_games_on_date, league="nba", read=_nba_games)


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
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _GameKey()
    if not isinstance(parts, tuple) or len(parts) != len(_GameKey._fields):
        return _GameKey()
    return _GameKey(*map(str, parts))


# ---- dates and teams


def _requested_days(context: LookupContext, expression: str | None) -> DateRange:
    """The requested days; "latest" and no date mean every day up to now."""
    today = context.asked_at.date()
    if expression is None:
        return DateRange(date(today.year - 1, 1, 1), today)

    resolved = context.resolve(expression, Calendar.CIVIL)
    if resolved.newest or resolved.range is None:
        return DateRange(today - _LATEST_DAYS, today)
    return resolved.range


def _periods(span: DateRange) -> list[str]:
    """The dates to ask for: the server takes a day, a month or a year, so a few calls cover any span."""
    first = span.first
    last = span.last
    if span.is_day:
        return [first.isoformat()]

    is_long = (last - first).days > _MAX_DAYS_BY_MONTH
    if is_long or first.year != last.year:
        return [str(year) for year in range(first.year, last.year + 1)]
    return [f"{first:%Y}-{month:02}" for month in range(first.month, last.month + 1)]


def _find_team(context: LookupContext, name: str | None, league: League) -> tuple[str | None, bool]:
    """The graph's spelling of the team, and whether it is known."""
    if name is None:
        return None, False

    spelling, is_known = team_spelling(name, league)
    if not is_known:
        context.remark(f'"{name}" is not among the {league} teams known here; it is asked for as written')
    return spelling, is_known


def _day(row: Row) -> date:
    try:
        return date.fromisoformat(str(row.cells["date"]))
    except ValueError:
        # Before every span of days, so that no date expression finds such a game
        return date.min
