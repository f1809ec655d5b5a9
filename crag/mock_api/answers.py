"""The server's answers: path -> a function whose parameters are the fields of the request.

Numbers may be digits in a string; strings may not be numbers. If the official server crashes, the function raises
ValueError.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeVar

from crag.mock_api.search import NameSearch, WordIndex
from crag.mock_api.tables import GrammyRow, Record, Records, Tables

Row = TypeVar("Row")
Answer = Callable[..., Any]

Columns = dict[str, dict[str, Any]]
"""A table by column, as pandas writes it: {column: {row key: value}}."""

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
"""Columns of the reply about soccer matches, in the order of the official server."""

NBA_DATE_PARTS = 3
"""Year, month and day, separated by hyphens."""

_LOOKUPS: Mapping[str, tuple[str, str | None, str]] = {
    "/open/get_entity": ("entities", None, "The article of this title: summary_text, summary_structured."),
    "/finance/get_ticker_by_name": ("tickers", None, "The ticker of exactly this listing name."),
    "/finance/get_price_history": ("prices", None, "Prices and volume of each trading day of a year."),
    "/finance/get_detailed_price_history": ("minute_prices", None, "Prices and volume of each minute of five days."),
    "/finance/get_dividends_history": ("dividends", None, "Dividend per share by day; empty if none is paid."),
    "/finance/get_market_capitalization": ("market_values", None, "Market value of all shares."),
    "/finance/get_eps": ("company_info", "forwardEps", "Forward earnings per share, as on the official server."),
    "/finance/get_pe_ratio": ("company_info", "forwardPE", "Forward price to earnings, as on the official server."),
    "/finance/get_info": ("company_info", None, "Everything known about a ticker."),
    "/music/get_artist_birth_place": ("artists", "country", "ISO code of a country."),
    "/music/get_artist_birth_date": ("artists", "birth_date", "Day, month or year of birth, or a band's beginning."),
    "/music/get_song_author": ("songs", "author", "Who wrote a song."),
    "/music/get_song_release_country": ("songs", "country", "ISO code of a country, XW for the world."),
    "/music/get_song_release_date": ("songs", "date", "Day, month or year."),
    "/music/get_artist_all_works": ("works", None, "All that an artist released, live sets and remixes too."),
}
"""Path -> table, field of its record (None: the whole record) and description, for exact case-sensitive names."""


def build_answers(tables: Tables) -> dict[str, Answer]:
    """The 38 endpoints of the official server over a graph: path -> function."""
    answers: dict[str, Answer] = {}
    for path, (table, field, description) in _LOOKUPS.items():
        answers[path] = _lookup(getattr(tables, table), field, description)

    answers |= {
        "/open/search_entity_by_name": NameSearch(tables.entities),
        "/finance/get_company_name": NameSearch(tables.tickers, merge_equal=False),
        "/music/search_artist_entity_by_name": NameSearch(tables.artists, rare_only=True),
        "/music/search_song_entity_by_name": NameSearch(tables.songs, rare_only=True),
        "/movie/get_person_info": _record_search(tables.persons),
        "/movie/get_person_info_by_id": _lookup_by_id(tables.persons),
        "/movie/get_movie_info": _record_search(tables.movies),
        "/movie/get_movie_info_by_id": _lookup_by_id(tables.movies),
        "/movie/get_year_info": _year_lookup(tables.years),
        "/music/grammy_get_best_artist_by_year": _winners(tables.grammy_rows, "Best New Artist"),
        "/music/grammy_get_best_song_by_year": _winners(tables.grammy_rows, "Song Of The Year"),
        "/music/grammy_get_best_album_by_year": _winners(tables.grammy_rows, "Album Of The Year"),
    }

    for name, method in _public_methods(MusicAnswers(tables)).items():
        answers[f"/music/{name}"] = method
    for name, method in _public_methods(SportsAnswers(tables)).items():
        # soccer_get_games_on_date -> /sports/soccer/get_games_on_date
        answers[f"/sports/{name.replace('_', '/', 1)}"] = method

    return answers


def _public_methods(answers: object) -> dict[str, Answer]:
    """The methods of an object by name, in the order of its class; constants and private names are left out."""
    names = [name for name in vars(type(answers)) if name[0].islower()]
    return {name: getattr(answers, name) for name in names}


def _lookup(table: Mapping[str, Any], field: str | None, description: str) -> Answer:
    """A function that finds the record of an exact name, or one field of it; an empty string counts as missing."""

    def look_up(query: str) -> object:
        value = table.get(query)
        if field is not None and value is not None:
            value = value.get(field)
        return None if value == "" else value

    look_up.__doc__ = description
    return look_up


def _record_search(records: Records) -> Answer:
    rows = list(records.values())
    index = WordIndex(list(records))

    def search(query: str) -> list[Record]:
        """At most ten records whose keys (normalised names) share words with the query, best first."""
        return [rows[position] for position in index.top(query)]

    return search


def _lookup_by_id(records: Records) -> Answer:
    by_id = {record["id"]: record for record in records.values() if "id" in record}

    def look_up(query: int) -> Record | None:
        """The record with this id."""
        return by_id.get(query)

    return look_up


def _year_lookup(years: Records) -> Answer:
    def look_up(query: str) -> Record | None:
        """Films and Oscar awards of a year; the official server crashes without a number from 1990 to 2021."""
        if not 1990 <= int(query) <= 2021:
            raise ValueError(f"{query} is outside 1990..2021")
        return years.get(query)

    return look_up


def _winners(awards: Sequence[GrammyRow], category: str) -> Answer:
    def look_up(query: int) -> list[Any] | None:
        """Winners of a year; a missing name is NaN as on the official server, whose answer is then a 500."""
        if not 1957 <= query <= 2019:
            return None

        nominees = [row["nominee"] for row in awards if row["category"] == category and row["year"] == query]
        return [math.nan if nominee is None else nominee for nominee in nominees]

    return look_up


class MusicAnswers:
    """The Hot 100, the Grammys, and members and lifespans of artists."""

    MISSING_TEXT = "nan"
    """A missing cell of the award table, when the official server searches for a part of a name."""
    LOWEST_RANK = 100

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._awards = tables.grammy_rows
        self._credits: list[tuple[str, str, str]] = []
        """Nominee, artist and workers of each award, in the order of the awards."""

        for row in tables.grammy_rows:
            nominee = row["nominee"] or self.MISSING_TEXT
            artist = row["artist"] or self.MISSING_TEXT
            workers = row["workers"] or self.MISSING_TEXT
            self._credits.append((nominee, artist, workers))

    def get_billboard_rank_date(self, rank: int, date: str | None = None) -> tuple[list[str] | None, list[str] | None]:
        """Songs and artists at a rank, of one day or of all days (without the dates).

        An unknown day gives ([], []), a rank outside 1..100 (None, None).
        """
        if not 1 <= rank <= self.LOWEST_RANK:
            return None, None

        entries = self._tables.chart_ranks.get(str(rank), [])
        if date:
            of_day = [entry for entry in entries if entry["Date"] == date]
            entries = of_day[:1]

        songs = [entry["Song"] for entry in entries]
        artists = [entry["Artist"] for entry in entries]
        return songs, artists

    def get_billboard_attributes(self, date: str, attribute: str, song_name: str) -> object:
        """rank_last_week, weeks_in_chart, top_position or rank of a song on a day; for any other attribute the rank.

        A song that was not in the chart the week before has its last three columns in another order.
        """
        week = self._tables.chart_songs.get(song_name, {}).get(date)
        if week is None:
            return None

        if week[6] == "-":  # a new song: top position, weeks in chart, rank last week
            columns = {"rank_last_week": 6, "weeks_in_chart": 5, "top_position": 4}
        else:
            columns = {"rank_last_week": 4, "weeks_in_chart": 6, "top_position": 5}
        return week[columns.get(attribute, 3)]

    def grammy_get_award_count_by_artist(self, query: str) -> int:
        """Number of nominee, artist and workers cells that contain the query: one award may count three times."""
        count = 0
        for cells in self._credits:
            count += sum(query in cell for cell in cells)
        return count

    def grammy_get_award_count_by_song(self, query: str) -> int:
        """Awards whose nominee is exactly the query."""
        return sum(row["nominee"] == query for row in self._awards)

    def grammy_get_award_date_by_artist(self, query: str) -> list[int]:
        """Years of the awards that `grammy_get_award_count_by_artist` counts, each once, in no order."""
        years: set[int] = set()
        for award, cells in zip(self._awards, self._credits, strict=True):
            if any(query in cell for cell in cells):
                years.add(award["year"])
        return list(years)

    def grammy_get_all_awarded_artists(self) -> list[str]:
        """Best New Artists of all years, in the order of the table."""
        nominees: dict[str, None] = {}
        for award in self._awards:
            if award["category"] == "Best New Artist" and award["nominee"] is not None:
                nominees[award["nominee"]] = None
        return list(nominees)

    def get_members(self, query: str) -> list[str] | None:
        """Members of a band, past and present, in an order that differs from one server process to the next."""
        members = self._tables.artists.get(query, {}).get("members")
        return None if members is None else list(set(members))

    def get_lifespan(self, query: str) -> list[Any]:
        """Dates of birth and death; both None if one is not recorded."""
        artist = self._tables.artists.get(query, {})
        if "birth_date" in artist and "end_date" in artist:
            return [artist["birth_date"], artist["end_date"]]
        return [None, None]


class SportsAnswers:
    """Soccer matches and NBA games, as tables by column: {column: {row key: value}}.

    The official server swallows every exception in this domain and answers None.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._game_columns = [name for name, _ in tables.nba_columns]
        matches = [match for match in tables.matches if match["league"] is not None]
        self._matches_on = _group_by_date(matches, itemgetter("date"))
        self._games_on = _group_by_date(tables.nba_games, itemgetter("game_date"))

    def soccer_get_games_on_date(self, date: str, team_name: str | None = None) -> Columns | None:
        """Matches of a day, month or year. Each match has a row per team; its key is a tuple, written as a string."""
        rows: dict[str, Mapping[str, Any]] = {}
        for match in self._matches_on.get(date, ()):
            if team_name not in {None, match["team"]}:
                continue
            key = (match["league"], match["season"], match["team"], match["game"])
            day = match["date"][:10]
            rows[str(key)] = {**match, "date": f"{day}T00:00:00.000"}
        return _by_column(SOCCER_COLUMNS, rows)

    def nba_get_games_on_date(self, date: str, team_name: str | None = None) -> Columns | None:
        """Games of a day, month or year. A date of more than three parts does not filter.

        The official server pastes its arguments into SQL: a single quote breaks the statement.
        """
        if "'" in f"{date}{team_name or ''}":
            return None

        has_more_parts = date.count("-") >= NBA_DATE_PARTS
        games = self._tables.nba_games if has_more_parts else self._games_on.get(date, [])
        if team_name is not None:
            games = [game for game in games if team_name in (game["team_name_home"], game["team_name_away"])]

        rows = {str(number): game for number, game in enumerate(games)}
        return _by_column(self._game_columns, rows)

    def nba_get_play_by_play_data_by_game_ids(self, game_ids: list[str]) -> Columns | None:
        """Events of games in the order of the table."""
        if any("'" in game_id for game_id in game_ids):
            return None

        plays: list[list[Any]] = []
        # Each game once, however often it was asked for.
        for game_id in set(game_ids):
            plays += self._tables.plays.get(game_id, ())
        plays.sort(key=itemgetter(0))

        columns = self._tables.play_columns
        rows: dict[str, Record] = {}
        for number, (_, *values) in enumerate(plays):  # the first value is the event's number
            rows[str(number)] = dict(zip(columns, values, strict=True))
        return _by_column(columns, rows)


def _group_by_date(rows: Sequence[Row], get_date: Callable[[Row], str]) -> dict[str, list[Row]]:
    """Year (1999), month (1999-12) and day (1999-12-31) -> the rows of that time."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        date = get_date(row)
        # A set, because the beginnings of a short date such as "1999" are equal.
        for beginning in {date[:4], date[:7], date[:10]}:
            groups.setdefault(beginning, []).append(row)
    return groups


def _by_column(columns: Sequence[str], rows: Mapping[str, Mapping[str, Any]]) -> Columns | None:
    """Rows by key as a table by column; None if there are no rows."""
    if not rows:
        return None

    table: Columns = {}
    for column in columns:
        table[column] = {key: _cell(row.get(column)) for key, row in rows.items()}
    return table


def _cell(value: object) -> object:
    """Floats as pandas writes them on the official server, with ten digits after the point."""
    if not isinstance(value, float):
        return value
    return round(value, 10) if math.isfinite(value) else None
