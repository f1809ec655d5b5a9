"""The sports tables, filled from two endpoints. A row is one game of the requested team."""

from ast import literal_eval
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

from crag.graph.context import LookupContext, TableQuery, days_text
from crag.graph.entities import League, team_spelling
from crag.graph.results import Cell, NoGameError, NotFoundError, Row
from crag.text.dates import Calendar, DateRange

_LAST_SEASONS = 2
"""Calendar years to search for a team's last or next game."""

_FIRST_KEYS = ("team", "opponent", "date", "venue", "result", "GF", "GA", "league", "season")
"""Keys of a soccer game in the order of sentences; the server's other keys follow."""

_GamesOf = Callable[[LookupContext, str | None, str], list[Row]]


def _season_games(context: LookupContext, query: TableQuery, step: int) -> list[Row]:
    """A team's games before today (step -1) or after it (1), nearest first; without conditions only one."""
    team, _ = _team(context, query.names[0], "soccer")
    today, back = context.asked_at.date(), step < 0
    games: list[Row] = []
    for year in range(today.year, today.year + step * _LAST_SEASONS, step):
        rows = [row for row in _soccer(context, team, str(year)) if (_day(row) < today if back else _day(row) > today)]
        games += sorted(rows, key=_day, reverse=back)
        if games and not query.conditions:
            return games[:1]
    if not games:
        when = "before" if back else "after"
        raise NotFoundError(f"the graph has no game of {team or 'any team'} {when} {today}")
    return games


get_soccer_last_game = partial(_season_games, step=-1)
get_soccer_next_game = partial(_season_games, step=1)


def _games_on_date(context: LookupContext, query: TableQuery, league: League, read: _GamesOf) -> list[Row]:
    """The games of the days that the date means, oldest first."""
    span = _span(context, query.names[1])
    team, known = _team(context, query.names[0], league)
    rows = [row for text in _months(span) for row in read(context, team, text)]
    inside = sorted((row for row in rows if span.contains(_day(row))), key=_day)
    if not inside:
        fault = NoGameError if known else NotFoundError
        raise fault(f"the graph has no game of {team or 'any team'} on {days_text(span.first, span.last)}")
    if not span.is_day:
        context.remark(f"games from {days_text(span.first, span.last)}")
    return inside


def _soccer(context: LookupContext, team: str | None, day: str) -> list[Row]:
    """Rows of the soccer table. Only the row's key has team, league and season.

    Without a team the server gives every match twice: keep one, from the home team's side if possible.
    """
    rows: list[Row] = []
    records = list(_records(context.ask("/sports/soccer/get_games_on_date", date=day, team_name=team)))
    if team is None:
        records.sort(key=lambda record: record[1].get("venue") == "Home")
        records = list({_row_key(key)[3] or key: (key, game) for key, game in records}.values())
    for key, game in records:
        league, season, side, _ = _row_key(key)
        cells: dict[str, Cell] = {
            **dict.fromkeys(_FIRST_KEYS),
            **game,
            "team": side,
            "date": str(game.get("date") or "")[:10],
            # Some replies mix texts ("0") and numbers.
            **{goals: int(str(n)) if str(n := game.get(goals)).isdecimal() else n for goals in ("GF", "GA")},
            "league": league,
            "season": season,
        }
        rows.append(Row(side or team or "", cells))
    return rows


def _nba(context: LookupContext, team: str | None, day: str) -> list[Row]:
    """Rows of the NBA table, with the requested team first; without a team the home team."""
    rows: list[Row] = []
    for _, game in _records(context.ask("/sports/nba/get_games_on_date", date=day, team_name=team)):
        own, other = ("home", "away") if team in {None, game.get("team_name_home")} else ("away", "home")
        cells: dict[str, Cell] = {
            "team": game.get(f"team_name_{own}"),
            "opponent": game.get(f"team_name_{other}"),
            "date": str(game.get("game_date") or "")[:10],
            "venue": own.capitalize(),
            "result": game.get(f"wl_{own}"),
            "GF": game.get(f"pts_{own}"),
            "GA": game.get(f"pts_{other}"),
        }
        for key, value in game.items():
            if not key.endswith(f"_{other}"):
                cells.setdefault(key.removesuffix(f"_{own}"), value)
        rows.append(Row(str(cells["team"]), cells))
    return rows


get_soccer_on_date = partial(_games_on_date, league="soccer", read=_soccer)
get_nba_on_date = partial(_games_on_date, league="nba", read=_nba)


def _records(columns: Mapping[str, Mapping[str, Any]] | None) -> Iterable[tuple[str, dict[str, Any]]]:
    """The rows of a column-oriented reply, each with its key."""
    table = columns or {}
    keys = dict.fromkeys(key for column in table.values() for key in column)
    return ((key, {name: column.get(key) for name, column in table.items()}) for key in keys)


def _row_key(key: str) -> Sequence[str]:
    """League, season, team and game from a tuple written as text; a safe literal parser reads it."""
    try:
        parts = literal_eval(key)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        parts = ()
    return [*map(str, parts)] if isinstance(parts, tuple) and len(parts) == 4 else [""] * 4


def _span(context: LookupContext, text: str | None) -> DateRange:
    """The requested days; "latest" and no date mean every day up to now."""
    today = context.asked_at.date()
    if text is None:
        return DateRange(date(today.year - 1, 1, 1), today)
    resolved = context.resolve(text, Calendar.CIVIL)
    if resolved.newest or resolved.range is None:
        return DateRange(today - timedelta(days=31), today)
    return resolved.range


def _months(span: DateRange) -> list[str]:
    """The dates to ask for: the server takes a day, a month or a year, so a few calls cover any span."""
    if span.is_day:
        return [span.first.isoformat()]
    if span.first.year != span.last.year or (span.last - span.first).days > 62:
        return [str(year) for year in range(span.first.year, span.last.year + 1)]
    return [f"{span.first:%Y}-{month:02}" for month in range(span.first.month, span.last.month + 1)]


def _team(context: LookupContext, name: str | None, league: League) -> tuple[str | None, bool]:
    """The graph's spelling of the team, and whether it is known."""
    if name is None:
        return None, False
    spelling, known = team_spelling(name, league)
    if not known:
        context.remark(f'"{name}" is not among the {league} teams known here; it is asked for as written')
    return spelling, known


def _day(row: Row) -> date:
    try:
        return date.fromisoformat(str(row.cells["date"]))
    except ValueError:
        return date.min
