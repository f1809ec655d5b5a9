"""The last and the next games of a team, counted from the time of asking, however far away they are."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from crag.graph.context import LookupContext
from crag.graph.entities import League
from crag.graph.language import Argument
from crag.graph.results import NotFoundError, Row
from crag.graph.tables.games import day_of, read_games
from crag.text.matching import NUMBER_WORDS

_YEARS_BACK = 20
_YEARS_AHEAD = 3
"""Calendar years to search for the last and the next game of a team, one request each until there are enough."""
_MONTHS_BACK = 24
_MONTHS_AHEAD = 12
"""Months to search for the last and the next game of any team: all games of a year are a very large reply."""

_RECENT = timedelta(days=31)
"""How far "recent games" reach, counted from the nearest one."""
_ROWS_OF_A_MONTH = 20
"""More games than a team plays in that time."""

LONGEST_BREAK = timedelta(days=200)
"""Longer than from the end of a team's season to its next game: after that, the graph probably lacks later games."""

_HOUR_OF_LAST_WHISTLE: Mapping[League, int] = {"nba": 22, "soccer": 15}
"""The Pacific hour at which all games of the day are over: European clubs play in their afternoon and evening."""

_COUNT = "|".join(NUMBER_WORDS)
_COUNTS = {**NUMBER_WORDS, "couple": 2}
_NEAREST = re.compile(
    rf"""
    (?: (?:the|a|its|his|her|their|team's) \s )?
    (?: (?P<past> last | latest | most\ recent | recent | previous | prior | past | final )
      | next | upcoming | coming | following )
    (?: \s (?: (?P<count> [1-9][0-9]? | {_COUNT} | couple ) (?:\sof)? | few ) )?
    (?: [\s-] (?:league\ |season\ |scheduled\ )?
        (?:game|match|fixture|meeting|outing|appearance|result)(?:s|es)? (?:\ (?:they\ )?(?:have\ )?played)?
      | \s time (?:\ they\ played)? )?   # not "last week", "next season": those are spans of days
    [\s.]?
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NearestGames:
    """What "last game" (step -1) or "next three games" (step 1) asks for; without `count` the nearest one."""

    step: int
    count: int | None = None


def parse_nearest_games(expression: str) -> NearestGames | None:
    """The games that words such as "latest", "next game" and "last 5 games" mean; None for a day or a span of days.

    >>> parse_nearest_games("last five games")
    NearestGames(step=-1, count=5)
    """
    words = " ".join(expression.split())
    match = _NEAREST.fullmatch(words)
    if match is None:
        return None

    written = match["count"]
    count = None
    if written is not None:
        count = int(written) if written.isdigit() else _COUNTS[written.lower()]
    return NearestGames(-1 if match["past"] else 1, count or None)


def asks_for_last_game(table: str, arguments: Sequence[Argument]) -> bool:
    """Whether a call asks for the last games before the time of asking, by its table or its date."""
    if table == "get_soccer_last_game":
        return True
    for argument in arguments[1:]:
        games = parse_nearest_games(argument) if isinstance(argument, str) else None
        if games is not None and games.step < 0:
            return True
    return False


def find_nearest_games(
    context: LookupContext,
    league: League,
    team: str | None,
    step: int,
    count: int | None,
) -> list[Row]:
    """The games before (step -1) or after (1) the time of asking, the nearest first.

    `count`: so many are enough. None means "recent games": those of a month, counted from the nearest one.
    Raises NotFoundError: there are none.
    """
    enough = count if count is not None else _ROWS_OF_A_MONTH
    games: list[Row] = []
    for period in _periods_away(context.asked_at.date(), step, by_month=team is None):
        games_of_period = read_games(
            context,
            league,
            team,
            period,
        )
        games += [game for game in games_of_period if _is_on_side(game, league, context.asked_at, step)]
        if len(games) >= enough:
            break
    games.sort(key=day_of, reverse=step < 0)

    if not games:
        whose = team or "any team"
        when = "before" if step < 0 else "after"
        raise NotFoundError(f"the graph has no game of {whose} {when} {context.asked_at.date()}")
    nearest = day_of(games[0])
    if step < 0 and context.asked_at.date() - nearest > LONGEST_BREAK:
        context.remark(f"the last game in the graph is that of {nearest}; there may have been others since")
    if count is not None:
        return games[:count]
    return [game for game in games if abs(day_of(game) - nearest) <= _RECENT]


def _periods_away(today: date, step: int, *, by_month: bool) -> Iterator[str]:
    """The years or months to ask for, from that of `today` away from it."""
    if not by_month:
        years = _YEARS_BACK if step < 0 else _YEARS_AHEAD
        for distance in range(years):
            yield str(today.year + step * distance)
        return

    months = _MONTHS_BACK if step < 0 else _MONTHS_AHEAD
    for distance in range(months):
        # Months from 0 to 11, so that the division carries whole years over
        year, month_index = divmod(today.year * 12 + today.month - 1 + step * distance, 12)
        yield f"{year}-{month_index + 1:02}"


def _is_on_side(
    game: Row,
    league: League,
    asked_at: datetime,
    step: int,
) -> bool:
    """Whether a game was played before the time of asking (step -1), or is still to come (1)."""
    day = day_of(game)
    if day == date.min:
        return False

    # A game of the same day counts as played in the evening only: prices of today are not known at noon either.
    is_over = asked_at.hour >= _HOUR_OF_LAST_WHISTLE[league]
    is_past = day < asked_at.date() or (day == asked_at.date() and is_over)
    if step > 0:
        return not is_past
    # A fixture that was called off, or not entered yet, has no result
    return is_past and game.cells.get("result") is not None
