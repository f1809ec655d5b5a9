"""The sports tables, filled from two endpoints (`crag.graph.tables.games`). A row is one game of the requested team."""

from datetime import date
from functools import partial

from crag.graph.context import LookupContext, TableQuery, format_days
from crag.graph.entities import League, team_spelling
from crag.graph.results import NoGameError, NotFoundError, Row
from crag.graph.tables.games import day_of, find_team, read_games
from crag.graph.tables.nearest_games import NearestGames, find_nearest_games, parse_nearest_games
from crag.text.dates import Calendar, DateRange

_MAX_DAYS_BY_MONTH = 62
"""A longer span is asked for by the year."""


# --- the tables -------------------------------------------------------------------------------------------------------


def _season_games(context: LookupContext, query: TableQuery, step: int) -> list[Row]:
    """The last (step -1) or next (1) games of a team, the nearest first: one, or as many as the call needs.

    A team of the NBA is looked up among its games: the NBA has no such tables, and writers use these.
    """
    league = _league_of(query.names[0], "soccer")
    team, _ = find_team(context, query.names[0], league)
    return find_nearest_games(
        context,
        league,
        team,
        step,
        query.rows or 1,
    )


get_soccer_last_game = partial(_season_games, step=-1)
get_soccer_next_game = partial(_season_games, step=1)


def _games_on_date(context: LookupContext, query: TableQuery, league: League) -> list[Row]:
    """The games of the days that the date means, oldest first; for "latest" or "next game" the nearest first."""
    name, expression = query.names
    league = _league_of(name, league)
    team, is_known = find_team(context, name, league)

    requested = _requested_days(context, expression)
    if isinstance(requested, DateRange):
        games = _games_of_days(
            context,
            league,
            team,
            requested,
        )
        if games:
            return games

        # An empty calendar proves something only of a known team, and on days that were asked for.
        if expression is not None:
            error_type = NoGameError if is_known else NotFoundError
            days = format_days(requested.first, requested.last)
            raise error_type(f"the graph has no game of {team or 'any team'} on {days}")
        requested = NearestGames(step=-1)

    # "Last five games" means all five; "latest" the first, which is the nearest.
    context.first_is_meant = requested.count is None
    return find_nearest_games(
        context,
        league,
        team,
        requested.step,
        requested.count or query.rows,
    )


get_soccer_on_date = partial(_games_on_date, league="soccer")
get_nba_on_date = partial(_games_on_date, league="nba")


def _games_of_days(
    context: LookupContext,
    league: League,
    team: str | None,
    span: DateRange,
) -> list[Row]:
    """The games in a span of days, oldest first."""
    games: list[Row] = []
    for period in _periods(span):
        games_of_period = read_games(
            context,
            league,
            team,
            period,
        )
        # A period can have more days than are meant
        games += [game for game in games_of_period if span.contains(day_of(game))]
    games.sort(key=day_of)

    if games and not span.is_day:
        context.remark(f"games from {format_days(span.first, span.last)}")
    return games


# --- dates and teams --------------------------------------------------------------------------------------------------


def _requested_days(context: LookupContext, expression: str | None) -> DateRange | NearestGames:
    """The requested days, or the games nearest to the time of asking; no date means every day up to now."""
    today = context.asked_at.date()
    if expression is None:
        return DateRange(date(today.year - 1, 1, 1), today)

    nearest = parse_nearest_games(expression)
    if nearest is not None:
        return nearest

    resolved = context.resolve(expression, Calendar.CIVIL)
    if resolved.newest or resolved.range is None:
        return NearestGames(step=-1)
    return resolved.range


def _periods(span: DateRange) -> list[str]:
    """The dates to ask for: the server takes a day, a month or a year, so a few requests cover any span."""
    first_day = span.first
    last_day = span.last
    if span.is_day:
        return [first_day.isoformat()]

    is_long = (last_day - first_day).days > _MAX_DAYS_BY_MONTH
    if is_long or first_day.year != last_day.year:
        return [str(year) for year in range(first_day.year, last_day.year + 1)]
    return [f"{first_day:%Y}-{month:02}" for month in range(first_day.month, last_day.month + 1)]


def _league_of(name: str | None, league: League) -> League:
    """The league whose games are asked; the other one if only that one has a team of the name."""
    if name is None:
        return league
    other_league: League = "nba" if league == "soccer" else "soccer"
    is_only_there = not team_spelling(name, league)[1] and team_spelling(name, other_league)[1]
    return other_league if is_only_there else league
