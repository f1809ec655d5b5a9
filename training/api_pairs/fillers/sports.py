"""Fillers about soccer and NBA games."""

from datetime import date, datetime, timedelta

from agents.dates import Calendar, resolve_date
from training.api_pairs.fillers.base import (
    Draw,
    Filler,
    Filling,
    NothingToDrawError,
    asking_time,
    filling,
    moment,
    name_gap,
    same,
)
from training.api_pairs.graph import Record
from training.api_pairs.templates import Gap, words


def _league(draw: Draw, game: Record) -> dict[str, Gap]:
    """The league as the graph writes it, as people say it, or nothing."""
    written = str(game.get("league") or "").lower()
    said = draw.rng.choice((written, written, written.partition("-")[2] or written))
    short = said.partition("-")[2] or said
    in_league = draw.rng.choice((f"in {said}", f"in {said}", f"in the {short}", "")) if said else ""
    return {"league": same(said), "in_league": same(in_league)}


def _soccer_filling(draw: Draw, game: Record, asked_at: datetime, **gaps: Gap) -> Filling:
    return filling(draw, {"team": game["team"]}, asked_at, **(_league(draw, game) | gaps))


def _played(draw: Draw) -> list[Record]:
    rows = [row for row in draw.graph.soccer_games if row.get("result") is not None and row.get("team")]
    return [row for row in rows if not draw.has or row.get(draw.has) is not None]


def _last_game(draw: Draw) -> Filling:
    game = draw.one(_played(draw))
    day = date.fromisoformat(game["date"]) + timedelta(days=draw.rng.randint(1, 4))
    return _soccer_filling(draw, game, moment(day, draw.rng))


def _two_last_games(draw: Draw) -> Filling:
    games = draw.several(_played(draw))
    if games[0]["team"] == games[1]["team"]:
        raise NothingToDrawError
    day = max(date.fromisoformat(game["date"]) for game in games) + timedelta(days=1)
    found = filling(draw, {"team": games[0]["team"], "team2": games[1]["team"]})
    return Filling(found.gaps, found.names, moment(day, draw.rng), found.plain)


def _next_game(draw: Draw) -> Filling:
    game = draw.one([row for row in draw.graph.soccer_games if row.get("team")])
    if draw.has and game.get(draw.has) is None:
        raise NothingToDrawError
    day = date.fromisoformat(game["date"]) - timedelta(days=draw.rng.randint(1, 4))
    return _soccer_filling(draw, game, moment(day, draw.rng))


def _soccer_day(draw: Draw) -> Filling:
    game = draw.one(_played(draw) if draw.has else draw.graph.soccer_games)
    day = date.fromisoformat(game["date"])
    asked_at = moment(day + timedelta(days=draw.rng.randint(0 if draw.has else -6, 8)), draw.rng)
    fitting = [said for said in words()["soccer"]["day"] if _is_meant(said, asked_at, day)]
    if draw.rng.random() < 0.85 and fitting:
        said = on_day = draw.one(fitting)
        possessive = f"{said}'s"
    else:
        said, on_day, possessive = day.isoformat(), f"on {day.isoformat()}", "that day's"
    did = "did" if day < asked_at.date() else "will"
    gaps = {"day": same(said), "on_day": same(on_day), "day_possessive": same(possessive), "did": same(did)}
    return _soccer_filling(draw, game, asked_at, **gaps)


def _is_meant(said: str, asked_at: datetime, day: date) -> bool:
    found = resolve_date(said, asked_at, Calendar.CIVIL)
    return bool(found and found.range and found.range.first <= day <= found.range.last)


def _soccer_today(draw: Draw) -> Filling:
    game = draw.one(_played(draw))
    return _soccer_filling(draw, game, moment(date.fromisoformat(game["date"]), draw.rng))


def _nickname(team: str) -> str:
    return " ".join(team.split()[-2:]) if team.endswith("Trail Blazers") else team.rsplit(maxsplit=1)[-1]


def _nba(draw: Draw, game: Record, side: str = "home", **gaps: Gap) -> Filling:
    """A team by its full name or its nickname."""
    team = game[f"team_name_{side}"]
    found = filling(draw, {"team": _nickname(team) if draw.rng.random() < 0.45 else team}, **gaps)
    return Filling(found.gaps, {"team": team.lower()}, asking_time("sports", draw.rng), found.plain)


def _nba_game(draw: Draw) -> Filling:
    key = f"{draw.has}_home"
    game = draw.one([one for one in draw.graph.nba_games if not draw.has or one.get(key) is not None])
    day = date.fromisoformat(game["game_date"][:10])
    said = day.isoformat() if draw.rng.random() < 0.7 else f"{day:%B} {day.day}, {day.year}".lower()
    side = "home" if draw.has else draw.rng.choice(("home", "away"))
    return _nba(draw, game, side, date=Gap(said, day.isoformat()), date_said=same(said))


def _time_span(draw: Draw, game: Record) -> dict[str, Gap]:
    """The month of the game, or its year unless a short span is wanted."""
    month = game["game_date"][:7]
    kind = draw.rng.random()
    if draw.has != "short" and kind < 0.4:
        year = month[:4]
        said = draw.rng.choice((f"in {year}", f"in {year}", f"during {year}", f"in the year {year}"))
        return {"month": same(year), "in_month": same(said)}
    spelled = f"{date.fromisoformat(game['game_date'][:10]):%B %Y}".lower()
    said = draw.rng.choice((f"in {month}", f"during {month}", f"in {spelled}", f"in {month}"))
    return {"month": Gap(said, month), "in_month": same(said)}


def _nba_months(draw: Draw) -> Filling:
    game = draw.one(draw.graph.nba_games)
    return _nba(draw, game, draw.rng.choice(("home", "away")), **_time_span(draw, game))


def _two_nba(*, rivals: bool) -> Filler:
    def fill(draw: Draw) -> Filling:
        game, other = draw.one(draw.graph.nba_games), draw.one(draw.graph.nba_games)
        if not rivals and other["team_name_away"] == game["team_name_home"]:
            raise NothingToDrawError
        first, second = game["team_name_home"], (game if rivals else other)["team_name_away"]
        names = {"team": first, "team2": second}
        if draw.rng.random() < 0.3:
            names = {gap: name.split()[-1] if "Trail" not in name else name for gap, name in names.items()}
        found = filling(draw, names, **_time_span(draw, game))
        owners = {"team": first.lower(), "team2": second.lower()}
        return Filling(found.gaps, owners, asking_time("sports", draw.rng), found.plain)

    return fill


def _any_team(draw: Draw) -> Filling:
    teams = sorted({row["team"] for row in draw.graph.soccer_games if row.get("team")})
    nba = sorted({game["team_name_home"] for game in draw.graph.nba_games})
    team = draw.one(teams if draw.rng.random() < 0.5 else nba)
    return Filling({"team": name_gap(team)}, {"team": team.lower()})


FILLERS: dict[str, Filler] = {
    "last soccer game": _last_game,
    "two last soccer games": _two_last_games,
    "next soccer game": _next_game,
    "soccer day": _soccer_day,
    "soccer today": _soccer_today,
    "nba game": _nba_game,
    "nba months": _nba_months,
    "two nba teams": _two_nba(rivals=False),
    "nba rivals": _two_nba(rivals=True),
    "any team": _any_team,
}
