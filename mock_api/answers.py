"""What the server answers, a class per domain.

Each public method is an endpoint, /DOMAIN/METHOD: its parameters are the fields of the request, it returns the result.
Numbers may come as digits in a string; strings may not come as numbers.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from mock_api.search import NameSearch, WordIndex, rare_word_weights
from mock_api.tables import Record, Records, Tables


class OfficialCrashError(Exception):
    """The official server raises here, so that the client gets a 500 with the plain text `Internal Server Error`."""


class OpenAnswers:
    """Articles of an encyclopedia."""

    def __init__(self, tables: Tables) -> None:
        self._entities = tables.entities
        self._search = NameSearch(tables.entities)

    def search_entity_by_name(self, query: str) -> list[str]:
        """At most ten titles that share words with the query, best first."""
        return self._search(query)

    def get_entity(self, query: str) -> Record | None:
        """The article with exactly this title: summary_text, summary_structured, raw_mediawiki."""
        return self._entities.get(query)


class MovieAnswers:
    """Films, persons and years of the cinema. The search sees the keys of the tables, which are normalised names."""

    FIRST_YEAR = 1990
    LAST_YEAR = 2021

    def __init__(self, tables: Tables) -> None:
        self._persons = list(tables.persons.values())
        self._movies = list(tables.movies.values())
        self._years = tables.years
        self._person_index = WordIndex(list(tables.persons))
        self._movie_index = WordIndex(list(tables.movies))
        self._person_by_id = _by_id(tables.persons)
        self._movie_by_id = _by_id(tables.movies)

    def get_person_info(self, query: str) -> list[Record]:
        """At most ten persons whose names share words with the query, best first."""
        return [self._persons[place] for place in self._person_index.top(query)]

    def get_movie_info(self, query: str) -> list[Record]:
        """At most ten films whose titles share words with the query, best first."""
        return [self._movies[place] for place in self._movie_index.top(query)]

    def get_year_info(self, query: str) -> Record | None:
        """Films and Oscar awards of a year; a text that is no number and a year outside 1990..2021 are crashes."""
        try:
            year = int(query)
        except ValueError as error:
            raise OfficialCrashError(f"not a year: {query!r}") from error
        if not self.FIRST_YEAR <= year <= self.LAST_YEAR:
            raise OfficialCrashError(f"{year} lies outside {self.FIRST_YEAR}..{self.LAST_YEAR}")
        return self._years.get(query)

    def get_movie_info_by_id(self, query: int) -> Record | None:
        """The film with this id."""
        return self._movie_by_id.get(query)

    def get_person_info_by_id(self, query: int) -> Record | None:
        """The person with this id."""
        return self._person_by_id.get(query)


def _by_id(records: Records) -> dict[int, Record]:
    return {record["id"]: record for record in records.values() if "id" in record}


class FinanceAnswers:
    """Listed companies. All but the two name look-ups take a case-sensitive ticker."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._search = NameSearch(tables.tickers, merge_equal=False)

    def get_company_name(self, query: str) -> list[str]:
        """At most ten listing names that share words with the query, best first."""
        return self._search(query)

    def get_ticker_by_name(self, query: str) -> str | None:
        """The ticker of exactly this listing name."""
        return self._tables.tickers.get(query)

    def get_price_history(self, query: str) -> dict[str, Record] | None:
        """Open, High, Low, Close and Volume of each trading day of a year; keys `YYYY-MM-DD 00:00:00 EST`."""
        return self._tables.prices.get(query)

    def get_detailed_price_history(self, query: str) -> dict[str, Record] | None:
        """The same for each minute of five days."""
        return self._tables.minute_prices.get(query)

    def get_dividends_history(self, query: str) -> Record | None:
        """Dividend per share by day of payment; empty where the company is known but pays none."""
        return self._tables.dividends.get(query)

    def get_market_capitalization(self, query: str) -> float | None:
        """Market value of all shares."""
        return self._tables.market_values.get(query)

    def get_eps(self, query: str) -> object:
        """Earnings per share: the forward figure, as on the official server."""
        return self._tables.company_info.get(query, {}).get("forwardEps")

    def get_pe_ratio(self, query: str) -> object:
        """Price to earnings: the forward figure, as on the official server."""
        return self._tables.company_info.get(query, {}).get("forwardPE")

    def get_info(self, query: str) -> Record | None:
        """Everything known about a ticker."""
        return self._tables.company_info.get(query)


class MusicAnswers:
    """Artists, songs, the Hot 100 and the Grammys. All but the searches and counts by artist want the exact name."""

    MISSING_TEXT = "nan"
    """How the official server reads a missing cell of the award table when it searches for a part of a name."""
    FIRST_GRAMMY_YEAR = 1957
    LAST_GRAMMY_YEAR = 2019
    LOWEST_RANK = 100

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._artist_search = NameSearch(tables.artists, rare_word_weights, later_first=False)
        self._song_search = NameSearch(tables.songs, rare_word_weights, later_first=False)
        self._credits = [
            tuple(text or self.MISSING_TEXT for text in (row["nominee"], row["artist"], row["workers"]))
            for row in tables.grammy_rows
        ]

    def search_artist_entity_by_name(self, query: str) -> list[str]:
        """At most ten artists that share a word with the query that is not too common, best first."""
        return self._artist_search(query)

    def search_song_entity_by_name(self, query: str) -> list[str]:
        """At most ten songs that share a word with the query that is not too common, best first."""
        return self._song_search(query)

    def get_billboard_rank_date(self, rank: int, date: str | None = None) -> tuple[list[str] | None, list[str] | None]:
        """Songs and artists at a rank: of one day, or of all days without saying which.

        An unknown day gives ([], []), a rank outside 1..100 (None, None).
        """
        if not 1 <= rank <= self.LOWEST_RANK:
            return None, None
        entries = self._tables.chart_ranks.get(str(rank), [])
        if date:
            entries = [entry for entry in entries if entry["Date"] == date][:1]
        return [entry["Song"] for entry in entries], [entry["Artist"] for entry in entries]

    def get_billboard_attributes(self, date: str, attribute: str, song_name: str) -> object:
        """rank_last_week, weeks_in_chart, top_position or rank of a song on a day; for any other attribute the rank.

        A song that was not in the chart the week before has its last three columns in another order.
        """
        week = self._tables.chart_songs.get(song_name, {}).get(date)
        if week is None:
            return None
        if week[6] == "-":
            columns = {"rank_last_week": 6, "weeks_in_chart": 5, "top_position": 4}
        else:
            columns = {"rank_last_week": 4, "weeks_in_chart": 6, "top_position": 5}
        return week[columns.get(attribute, 3)]

    def grammy_get_best_artist_by_year(self, query: int) -> list[Any] | None:
        """Best New Artist of a year; None outside 1957..2019."""
        return self._winners("Best New Artist", query)

    def grammy_get_award_count_by_artist(self, query: str) -> int:
        """In how many nominee, artist and workers cells the text occurs: one award may count three times."""
        return sum(query in text for row in self._credits for text in row)

    def grammy_get_award_count_by_song(self, query: str) -> int:
        """Awards whose nominee is exactly this text."""
        return sum(row["nominee"] == query for row in self._tables.grammy_rows)

    def grammy_get_best_song_by_year(self, query: int) -> list[Any] | None:
        """Song Of The Year; None outside 1957..2019."""
        return self._winners("Song Of The Year", query)

    def grammy_get_award_date_by_artist(self, query: str) -> list[int]:
        """Years of the awards that `grammy_get_award_count_by_artist` counts, each once, in no order."""
        rows = zip(self._tables.grammy_rows, self._credits, strict=True)
        return list({row["year"] for row, texts in rows if any(query in text for text in texts)})

    def grammy_get_best_album_by_year(self, query: int) -> list[Any] | None:
        """Album Of The Year; None outside 1957..2019."""
        return self._winners("Album Of The Year", query)

    def grammy_get_all_awarded_artists(self) -> list[str]:
        """Best New Artists of all years, in the order of the table."""
        nominees = (row["nominee"] for row in self._tables.grammy_rows if row["category"] == "Best New Artist")
        return list(dict.fromkeys(nominee for nominee in nominees if nominee is not None))

    def get_artist_birth_place(self, query: str) -> object:
        """ISO code of a country."""
        return self._tables.artists.get(query, {}).get("country") or None

    def get_artist_birth_date(self, query: str) -> object:
        """Day, month or year of birth; of a band, when it began."""
        return self._tables.artists.get(query, {}).get("birth_date") or None

    def get_members(self, query: str) -> list[str] | None:
        """Members of a band, past and present, in an order that differs from one server process to the next."""
        members = self._tables.artists.get(query, {}).get("members")
        return None if members is None else list(set(members))

    def get_lifespan(self, query: str) -> list[Any]:
        """Dates of birth and death; both None where either is not recorded at all."""
        artist = self._tables.artists.get(query, {})
        if "birth_date" not in artist or "end_date" not in artist:
            return [None, None]
        return [artist["birth_date"], artist["end_date"]]

    def get_song_author(self, query: str) -> object:
        """Who wrote a song."""
        return self._tables.songs.get(query, {}).get("author") or None

    def get_song_release_country(self, query: str) -> object:
        """ISO code of a country, XW for the world."""
        return self._tables.songs.get(query, {}).get("country") or None

    def get_song_release_date(self, query: str) -> object:
        """Day, month or year."""
        return self._tables.songs.get(query, {}).get("date") or None

    def get_artist_all_works(self, query: str) -> list[str] | None:
        """Everything an artist released, live sets and remixes among them."""
        return self._tables.works.get(query)

    def _winners(self, category: str, year: int) -> list[Any] | None:
        """Nominees of a category; a missing one is NaN as on the official server, whose answer is then a 500."""
        if not self.FIRST_GRAMMY_YEAR <= year <= self.LAST_GRAMMY_YEAR:
            return None
        rows = (row for row in self._tables.grammy_rows if row["category"] == category and row["year"] == year)
        return [math.nan if row["nominee"] is None else row["nominee"] for row in rows]


Columns = dict[str, dict[str, Any]]
SOCCER_COLUMNS = (
    *("date", "time", "round", "day", "venue", "result", "GF", "GA", "opponent", "xG", "xGA", "Poss", "Attendance"),
    *("Captain", "Formation", "Referee", "match_report", "Notes"),
)


class SportsAnswers:
    """Soccer matches and NBA games, as tables by column: {column: {row key: value}}.

    The official server swallows every exception in this domain: whatever goes wrong, the answer is None.
    """

    def __init__(self, tables: Tables) -> None:
        self._matches = [match for match in tables.matches if match["league"] is not None]
        self._match_dates = _DateIndex([match["date"] for match in self._matches])
        self._games = tables.nba_games
        self._game_columns = [name for name, _ in tables.nba_columns]
        self._game_dates = _DateIndex([game["game_date"] for game in self._games])
        self._play_columns = tables.play_columns
        self._plays = tables.plays

    def soccer_get_games_on_date(self, date: str, team_name: str | None = None) -> Columns | None:
        """Matches of a day, month or year. Each match has a row per team; the row's key is the text of a tuple."""
        places = self._match_dates.find(date)
        rows = {
            str((match["league"], match["season"], match["team"], match["game"])): {
                **match,
                "date": f"{match['date'][:10]}T00:00:00.000",
            }
            for match in (self._matches[place] for place in places or ())
            if team_name is None or match["team"] == team_name
        }
        return _by_column(SOCCER_COLUMNS, rows)

    def nba_get_games_on_date(self, date: str, team_name: str | None = None) -> Columns | None:
        """Games of a day, month or year. A date of more than three parts is no filter at all.

        The official server pastes its arguments into SQL: a single quote breaks the statement.
        """
        if "'" in date or "'" in (team_name or ""):
            return None
        places = self._game_dates.find(date)
        games = self._games if places is None else [self._games[place] for place in places]
        if team_name is not None:
            games = [game for game in games if team_name in {game["team_name_home"], game["team_name_away"]}]
        return _by_column(self._game_columns, {str(number): game for number, game in enumerate(games)})

    def nba_get_play_by_play_data_by_game_ids(self, game_ids: list[str]) -> Columns | None:
        """Events of games in the order of the table."""
        if any("'" in game_id for game_id in game_ids):
            return None
        plays = (play for game_id in set(game_ids) for play in self._plays.get(game_id, ()))
        rows = (dict(zip(self._play_columns, row, strict=True)) for _, *row in sorted(plays, key=itemgetter(0)))
        return _by_column(self._play_columns, {str(number): row for number, row in enumerate(rows)})


class _DateIndex:
    """Finds rows by the beginning of their dates."""

    LENGTHS = {1: 4, 2: 7, 3: 10}  # noqa: RUF012 - a constant
    """Parts of YYYY[-MM[-DD]] and their characters."""

    def __init__(self, dates: Iterable[str]) -> None:
        self._places: dict[str, list[int]] = {}
        for place, date in enumerate(dates):
            for length in self.LENGTHS.values():
                self._places.setdefault(date[:length], []).append(place)

    def find(self, date: str) -> Sequence[int] | None:
        """Places of the rows of a day, month or year in their order; None for a text of more than three parts."""
        length = self.LENGTHS.get(len(date.split("-")))
        if length is None:
            return None
        return self._places.get(date, ()) if len(date) == length else ()


def _by_column(columns: Sequence[str], rows: Mapping[str, Mapping[str, Any]]) -> Columns | None:
    """The table by column; a cell that a row lacks is None. None without rows."""
    if not rows:
        return None
    return {column: {key: _cell(row.get(column)) for key, row in rows.items()} for column in columns}


def _cell(value: object) -> object:
    """Floats as pandas writes them on the official server, with ten digits after the point."""
    if not isinstance(value, float):
        return value
    return round(value, 10) if math.isfinite(value) else None
